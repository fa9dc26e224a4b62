// Lines, breaks and the places of comments.
#include "lang/format/layout.h"

#include <gtest/gtest.h>

#include "lang/format/print.h"

namespace sluice::lang {
namespace layout_test {

Block line(uint32_t at, std::string head) { return {.anchor = {at, 1}, .head = std::move(head)}; }

Comment comment(uint32_t at, std::string text) {
  Comment made;
  made.at = {{at, 1}};
  made.text = std::move(text);
  return made;
}

TEST(Layout, ACompactBlockSharesItsLineUntilACommentStandsInIt) {
  Block block{
      .shape = Block::Shape::compact, .anchor = {1, 1}, .head = "when", .children = {line(2, "a"), line(4, "b")}};
  Block root{.shape = Block::Shape::indented, .children = {block}};
  EXPECT_EQ(lay_out(root, {}, {}), "when { a\n       b }\n");
  EXPECT_EQ(lay_out(root, {comment(3, "why")}, {}), "when {\n  a\n  # why\n  b\n}\n");
}

TEST(Layout, BreaksFirstAtStrongBreaks) {
  std::string half(60, 'x');
  Block root{.shape = Block::Shape::indented,
             .children = {line(1, half + kSoftBreak + "y" + kStrongBreak + half + kSoftBreak + half)}};
  EXPECT_EQ(lay_out(root, {}, {}), half + " y\n  " + half + "\n    " + half + "\n");
}

TEST(Layout, KeepsOneBlankLine) {
  Block root{.shape = Block::Shape::indented,
             .children = {line(1, "a"), line(4, "b"), line(5, "c")},
             .blanks = Block::Blanks::kept};
  EXPECT_EQ(lay_out(root, {}, {2, 3}), "a\n\nb\nc\n");
}

TEST(Layout, ASecondCommentBehindALineGoesAboveIt) {
  Block root{.shape = Block::Shape::indented, .children = {line(1, "a")}};
  Comment one = comment(2, "one"), two = comment(3, "two");
  one.own_line = two.own_line = false;
  EXPECT_EQ(lay_out(root, {one, two}, {}), "# one\na  # two\n");
}

}  // namespace layout_test
}  // namespace sluice::lang
