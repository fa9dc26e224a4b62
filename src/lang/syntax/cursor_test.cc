// How a parser stands among tokens, stops at an error and goes on.
#include "lang/syntax/cursor.h"

#include <gtest/gtest.h>

#include <memory>

namespace sluice::lang {
namespace cursor_test {

TEST(Cursor, SaysWhatWasExpectedAndWhatStandsThere) {
  Diagnostics found;
  Cursor cursor("a b", "x", found);
  EXPECT_EQ(cursor.expect_name("a name").text, "a");
  cursor.expect(":", "after the name");
  ASSERT_EQ(found.all().size(), 1u);
  EXPECT_EQ(found.all()[0].text, "expected `:` after the name, found `b`");
  EXPECT_EQ(found.all()[0].mark, (Mark{1, 3}));
}

TEST(Cursor, StopsAtTheFirstErrorAndIsSilentUntilItRecovers) {
  Diagnostics found;
  Cursor cursor("a } { b }\nword c", "x", found);
  cursor.fail_here("nothing");
  EXPECT_TRUE(cursor.ended());
  EXPECT_FALSE(cursor.accept("a"));
  cursor.expect("z", "");
  EXPECT_EQ(found.errors(), 1u);
  cursor.recover(0, {"word"});
  EXPECT_TRUE(cursor.at("}"));  // it closes what lies at depth 0
  cursor.take();
  cursor.fail_here("nothing");
  cursor.recover(0, {"word"});
  EXPECT_TRUE(cursor.at("word"));  // braces in between pair
}

TEST(Cursor, LooksAheadWithoutLosingComments) {
  Diagnostics found;
  Cursor cursor("a # one\n b c # two\n d", "x", found);
  EXPECT_TRUE(cursor.after().is("b"));
  EXPECT_TRUE(cursor.third().is("d"));
  while (!cursor.ended()) cursor.take();
  EXPECT_EQ(cursor.take_comments().size(), 2u);
}

TEST(Cursor, BoundsNesting) {
  Diagnostics found;
  Cursor cursor("a", "x", found);
  std::vector<std::unique_ptr<Cursor::Nested>> levels;
  for (int i = 0; i < kMaxDepth; ++i) levels.push_back(std::make_unique<Cursor::Nested>(cursor));
  EXPECT_FALSE(found.failed());
  Cursor::Nested one_more(cursor);
  ASSERT_TRUE(found.failed());
  EXPECT_EQ(found.all()[0].text, "nested more than 100 deep");
  levels.clear();
}

TEST(Cursor, LiftsCommentsOutOfBraces) {
  std::vector<Comment> comments(3);
  for (uint32_t i = 0; i < 3; ++i) {
    comments[i].at = {{i + 1, 5}};
    comments[i].depth = 1;
  }
  lift_comments(comments, {{{2, 1}, {2, 9}}});
  EXPECT_EQ(comments[0].depth, 1u);
  EXPECT_EQ(comments[1].depth, 0u);
  EXPECT_EQ(comments[2].depth, 1u);
}

}  // namespace cursor_test
}  // namespace sluice::lang
