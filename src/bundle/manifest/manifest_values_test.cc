// Each kind of text: what is one and what is none.
#include "bundle/manifest/manifest_values.h"

#include <gtest/gtest.h>

#include <regex>

namespace sluice::bundle {
namespace manifest_values_test {

template <class T>
std::string verdict(std::string_view text) {
  auto parsed = JsonScalar<T>::parse(text);
  return parsed ? "" : parsed.error().message;
}

// Whether parse and the pattern of the JSON Schema say the same.
template <class T>
void expect_pattern_agrees(std::initializer_list<const char*> texts) {
  std::regex pattern{std::string(JsonScalar<T>::kPattern)};
  for (const char* text : texts) {
    EXPECT_EQ(verdict<T>(text).empty(), std::regex_search(text, pattern)) << text;
  }
}

TEST(ManifestValues, PatternsSayWhatTheParsersSay) {
  expect_pattern_agrees<Name>({"a", "shop-2", "Shop", "-a", "a-", "2a", "", "a_b"});
  expect_pattern_agrees<Version>({"1.2.0", "1.0-rc.1+b5", "", "-1", "1 2"});
  expect_pattern_agrees<VariableName>({"PATH", "_x1", "1X", "A-B", ""});
  expect_pattern_agrees<UrlPath>({"/", "/a/b", "a", "", "/a b"});
  expect_pattern_agrees<HostName>({"shop.example", "*.shop.example", "*", "Shop.example", "a..b", ""});
  expect_pattern_agrees<HeaderName>({"X-Session", "sid", "a.b_c", "", "a b", "a:b", "a=b", "\xc3\xa4"});
  expect_pattern_agrees<Duration>({"30s", "1m30s", "s", "", "30"});
  expect_pattern_agrees<ByteCount>({"256MB", "1TB", "0MB", "5", "MB", "1mb"});
  expect_pattern_agrees<FindingHash>({"sha256:00", ""});
}

TEST(ManifestValues, SayWhatIsWrong) {
  EXPECT_EQ(verdict<Name>("Shop"),
            R"("Shop" is not a name: small letters, digits and hyphens, a letter first, at most 63)");
  EXPECT_EQ(verdict<InnerPath>("../x"),
            R"("../x" is not inside the bundle: a path has no "/" before it and no ".." in it)");
  EXPECT_EQ(verdict<InnerPath>("/x"),
            R"("/x" is not inside the bundle: a path has no "/" before it and no ".." in it)");
  EXPECT_EQ(verdict<InnerPath>("a/..b"), "");
  EXPECT_EQ(verdict<ByteCount>("12"), R"("12" is not a number of bytes: digits and KB, MB, GB or TB, such as 256MB)");
  EXPECT_EQ(verdict<ByteCount>("99999999TB").substr(0, 12), R"("99999999TB")");
}

TEST(ManifestValues, PrintAsTheyAreWritten) {
  EXPECT_EQ(JsonScalar<ByteCount>::parse("512MB")->bytes, uint64_t{512} << 20);
  EXPECT_EQ(JsonScalar<ByteCount>::print({uint64_t{512} << 20}), "512MB");
  EXPECT_EQ(JsonScalar<ByteCount>::print({1536 << 10}), "1536KB");
  EXPECT_EQ(JsonScalar<Duration>::print(*JsonScalar<Duration>::parse("90s")), "1m30s");
}

}  // namespace manifest_values_test
}  // namespace sluice::bundle
