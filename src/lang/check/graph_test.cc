// Parts and reach.
#include "lang/check/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::lang {
namespace graph_test {

TEST(Graph, NodesOnACircleAreOnePart) {
  Graph graph = {{1}, {2}, {1, 3}, {}};
  Parts parts = parts_of(graph, {false, false, false, false});
  EXPECT_EQ(parts.count, 3u);
  EXPECT_EQ(parts.of[1], parts.of[2]);
  EXPECT_GT(parts.of[0], parts.of[1]);
  EXPECT_GT(parts.of[2], parts.of[3]);
}

TEST(Graph, ASkippedNodeBreaksACircle) {
  Parts parts = parts_of({{1}, {2}, {0}}, {false, false, true});
  EXPECT_EQ(parts.count, 2u);
  EXPECT_EQ(parts.of[2], kNoPart);
}

TEST(Graph, AChainAsLongAsAFileIsWalked) {
  constexpr uint32_t kLong = 1'000'000;
  Graph chain(kLong);
  for (uint32_t i = 0; i + 1 < kLong; ++i) chain[i].push_back(i + 1);
  Reach reach(chain);
  reach.from({{0}, {kLong - 1}});
  EXPECT_TRUE(reach.reached(0, kLong - 1));
  EXPECT_FALSE(reach.reached(1, kLong - 1));
}

TEST(Graph, AnOriginIsReachedOnlyByAnEdge) {
  Reach reach({{1}, {0}, {0}, {3}, {}});
  reach.from({{0}, {2}, {3}, {2, 4}});
  EXPECT_TRUE(reach.reached(0, 0));
  EXPECT_TRUE(reach.reached(1, 1));
  EXPECT_FALSE(reach.reached(1, 2));
  EXPECT_TRUE(reach.reached(2, 3));
  EXPECT_FALSE(reach.reached(3, 4));
  EXPECT_TRUE(reach.reached(3, 0));
}

}  // namespace graph_test
}  // namespace sluice::lang
