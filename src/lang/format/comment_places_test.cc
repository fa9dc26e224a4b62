// Where comments go.
#include "lang/format/comment_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/format/print.h"

namespace sluice::lang {
namespace comment_places_test {

using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<const Comment*>& comments) {
  std::vector<std::string> all;
  for (const Comment* each : comments) all.push_back(each->text);
  return all;
}

Comment comment(uint32_t line, uint32_t column, std::string text, bool own_line) {
  Comment made;
  made.at = {{line, column}};
  made.text = std::move(text);
  made.own_line = own_line;
  return made;
}

TEST(CommentPlaces, ACommentBelongsToWhatFollowsItOrToItsLine) {
  Block root{.shape = Block::Shape::indented,
             .children = {{.anchor = {2, 1}, .head = "a"}, {.anchor = {4, 1}, .head = "b"}}};
  std::vector<Comment> comments = {comment(1, 1, "above a", true), comment(2, 5, "behind a", false),
                                   comment(3, 1, "above b", true), comment(5, 1, "last", true)};
  attach_comments(root, comments);
  EXPECT_THAT(texts(root.children[0].leading), ElementsAre("above a"));
  EXPECT_THAT(texts(root.children[0].trailing), ElementsAre("behind a"));
  EXPECT_THAT(texts(root.children[1].leading), ElementsAre("above b"));
  EXPECT_THAT(texts(root.closing), ElementsAre("last"));
}

TEST(CommentPlaces, BlocksInAnotherOrderGetTheCommentsOfTheirPlaces) {
  Block root{.shape = Block::Shape::indented,
             .children = {{.anchor = {4, 1}, .head = "b"}, {.anchor = {2, 1}, .head = "a"}}};
  std::vector<Comment> comments = {comment(1, 1, "above a", true), comment(3, 1, "above b", true)};
  attach_comments(root, comments);
  EXPECT_THAT(texts(root.children[0].leading), ElementsAre("above b"));
  EXPECT_THAT(texts(root.children[1].leading), ElementsAre("above a"));
}

TEST(CommentPlaces, ItemsAreThoseOfTheOuterLists) {
  std::string head = "x: [ a: { p: 1 };";
  head += kSoftBreak;
  head += "b: \"];\" ]";
  std::vector<std::string> found;
  for (const HeadItem& each : items_of(head)) found.push_back(head.substr(each.begin, each.end - each.begin));
  EXPECT_THAT(found, ElementsAre("a: { p: 1 }", "b: \"];\""));
}

}  // namespace comment_places_test
}  // namespace sluice::lang
