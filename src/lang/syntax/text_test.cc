// What source text may hold, and how names and strings are printed.
#include "lang/syntax/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::lang {
namespace text_test {

// The one diagnostic of a text that is refused, as `line:column text`.
std::string refusal(std::string_view text) {
  Diagnostics found;
  EXPECT_FALSE(check_source(text, "x", found));
  if (found.all().size() != 1) return "";
  const Diagnostic& one = found.all()[0];
  return std::to_string(one.mark.line) + ":" + std::to_string(one.mark.column) + " " + one.text;
}

TEST(SourceText, RefusesWhatNoSourceShouldHold) {
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("ab\n\xff"), "2:1 invalid UTF-8");
  EXPECT_EQ(refusal("a\0b"sv), "1:2 the file holds a NUL byte");
  EXPECT_EQ(refusal("é\x01"), "1:2 control character U+0001");
  EXPECT_EQ(refusal("a\rb"), "1:2 a carriage return that no line feed follows");
  EXPECT_EQ(refusal("x \xE2\x80\xAE y"), "1:3 U+202E changes the direction of text and can hide code");
  EXPECT_EQ(refusal("x\xE2\x81\xA6"), "1:2 U+2066 changes the direction of text and can hide code");
  EXPECT_EQ(refusal(std::string(kMaxSourceBytes + 1, ' ')),
            "1:1 the text has 8388609 bytes; a source file may have 8388608");
}

TEST(SourceText, AcceptsTabsCrLfAndAByteOrderMark) {
  Diagnostics found;
  EXPECT_TRUE(check_source("\xEF\xBB\xBF\ta\r\nb — 漢\n", "x", found));
}

TEST(SourceText, QuotesSoThatTheLexerReadsItBack) {
  EXPECT_EQ(quote("a\"b\\c\n\t{{x"), R"("a\"b\\c\n\t\{{x")");
  EXPECT_EQ(quote("\xE2\x80\xAE\x01"), R"("\u{202e}\u{1}")");
  EXPECT_EQ(quote("—漢"), "\"—漢\"");
}

TEST(SourceText, FindsBlankLines) { EXPECT_THAT(blank_lines("a\n\n \t\r\nb\n"), testing::ElementsAre(2, 3)); }

TEST(SourceText, RefusesALargeFileBySizeAlone) {
  TestingFolder folder;
  std::string path = folder.path() + "/large.sync";
  {
    // Sparse: it takes no space, and reading it whole would still cost fifty megabytes.
    RealDisk disk;
    auto file = disk.open(path, {.write = true, .create = true});
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write_at(50 * 1024 * 1024 - 1, "x"));
  }
  auto text = read_source(path);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, path + " has 52428800 bytes; a source file may have 8388608");
  EXPECT_EQ(text.error().code, Code::limit);
  EXPECT_EQ(read_source(folder.path() + "/none").error().code, Code::not_found);
  EXPECT_EQ(read_source(folder.path()).error().code, Code::invalid);
}

TEST(SourceText, RefusesWhatCannotBeSeen) {
  EXPECT_EQ(refusal("# a\xE2\x80\x8B"), "1:4 U+200B cannot be seen and can hide code");
  EXPECT_EQ(refusal("\"\xE2\x81\xA0\""), "1:2 U+2060 cannot be seen and can hide code");
  EXPECT_EQ(refusal("\xC2\xAD"), "1:1 U+00AD cannot be seen and can hide code");
  EXPECT_EQ(refusal("\xF3\xA0\x81\x81"), "1:1 U+0E0041 cannot be seen and can hide code");
  Diagnostics found;
  EXPECT_TRUE(check_source("# \xE2\x9D\xA4\xEF\xB8\x8F", "x", found));  // a heart, and how it is to look
  EXPECT_EQ(quote("\xE2\x80\x8B"), R"("\u{200b}")");
}

}  // namespace text_test
}  // namespace sluice::lang
