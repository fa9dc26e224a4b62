// Positions are found by pointer, and by the nearest ancestor where the node is missing.
#include "base/document.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice {
namespace document_test {

// {"a/b": [1, {"c": 2}], "d": 3} with a mark that tells each node apart.
Document sample() {
  return Document{.root = json::parse(R"({"a/b": [1, {"c": 2}], "d": 3})"),
                  .file = "x.json",
                  .marks = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}}};
}

TEST(Document, FindsNodesByPointer) {
  Document doc = sample();
  EXPECT_EQ(doc.position_of(""), (Position{"x.json", 1, 1}));
  EXPECT_EQ(doc.position_of("/a~1b"), (Position{"x.json", 1, 2}));
  EXPECT_EQ(doc.position_of("/a~1b/0"), (Position{"x.json", 1, 3}));
  EXPECT_EQ(doc.position_of("/a~1b/1/c"), (Position{"x.json", 1, 5}));
  EXPECT_EQ(doc.position_of("/d"), (Position{"x.json", 1, 6}));
}

TEST(Document, FallsBackToTheNearestAncestor) {
  Document doc = sample();
  EXPECT_EQ(doc.position_of("/a~1b/1/missing"), (Position{"x.json", 1, 4}));
  EXPECT_EQ(doc.position_of("/missing"), (Position{"x.json", 1, 1}));
  EXPECT_EQ((Document{.root = 1, .file = "x", .marks = {}}).position_of(""), std::nullopt);
}

}  // namespace document_test
}  // namespace sluice
