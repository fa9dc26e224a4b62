// Ways that share no link, against a search through all of them.
#include "mesh/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/random.h"

namespace sluice::mesh {
namespace paths_test {

bool leads(const Graph& graph, const Graph::Path& path, size_t from, size_t to) {
  for (size_t edge : path) from = graph.other_end(edge, from);
  return from == to;
}

bool share_a_link(const Graph::Path& a, const Graph::Path& b) {
  return std::ranges::any_of(a, [&](size_t edge) { return std::ranges::find(b, edge) != b.end(); });
}

TEST(Paths, TheShorterComesFirst) {
  Graph graph(4);
  graph.add(0, 1);
  graph.add(1, 2);
  graph.add(0, 2);
  const auto paths = graph.disjoint_paths(0, 2);
  EXPECT_EQ(paths, (std::vector<Graph::Path>{{2}, {0, 1}}));
  EXPECT_TRUE(graph.disjoint_paths(0, 3).empty());
}

TEST(Paths, ParallelLinksAreTwoWays) {
  Graph graph(2);
  graph.add(0, 1);
  EXPECT_EQ(graph.disjoint_paths(0, 1).size(), 1U);
  graph.add(1, 0);
  EXPECT_EQ(graph.disjoint_paths(0, 1), (std::vector<Graph::Path>{{1}, {0}}));
}

// The shortest way alone would cut the other off.
TEST(Paths, TheTrapIsAvoided) {
  Graph graph(6);
  graph.add(0, 1);
  graph.add(1, 2);
  graph.add(2, 5);
  graph.add(0, 2 + 1);
  graph.add(3, 2);
  graph.add(1, 4);
  graph.add(4, 5);
  const auto paths = graph.disjoint_paths(0, 5);
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_FALSE(share_a_link(paths[0], paths[1]));
}

TEST(Paths, AreAsShortAsTwoCanBe) {
  SeededRandom random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t vertices = 2 + random.below(6);
    Graph graph(vertices);
    std::vector<std::pair<size_t, size_t>> edges;
    for (size_t i = random.below(11); i > 0; --i) {
      const size_t a = random.below(vertices);
      const size_t b = random.below(vertices);
      if (a == b) continue;
      graph.add(a, b);
      edges.emplace_back(a, b);
    }
    // All ways from 0 to 1.
    std::vector<Graph::Path> all;
    Graph::Path path;
    std::set<size_t> seen = {0};
    std::function<void(size_t)> walk = [&](size_t at) {
      if (at == 1) return all.push_back(path);
      for (size_t edge = 0; edge < edges.size(); ++edge) {
        if (edges[edge].first != at && edges[edge].second != at) continue;
        const size_t there = graph.other_end(edge, at);
        if (!seen.insert(there).second) continue;
        path.push_back(edge);
        walk(there);
        path.pop_back();
        seen.erase(there);
      }
    };
    walk(0);
    size_t shortest = SIZE_MAX;
    size_t shortest_two = SIZE_MAX;
    for (const Graph::Path& one : all) {
      shortest = std::min(shortest, one.size());
      for (const Graph::Path& two : all) {
        if (!share_a_link(one, two)) shortest_two = std::min(shortest_two, one.size() + two.size());
      }
    }
    const auto found = graph.disjoint_paths(0, 1);
    for (const Graph::Path& each : found) EXPECT_TRUE(leads(graph, each, 0, 1));
    if (all.empty()) {
      EXPECT_TRUE(found.empty());
    } else if (shortest_two == SIZE_MAX) {
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(found[0].size(), shortest);
    } else {
      ASSERT_EQ(found.size(), 2U);
      EXPECT_FALSE(share_a_link(found[0], found[1]));
      EXPECT_LE(found[0].size(), found[1].size());
      EXPECT_EQ(found[0].size() + found[1].size(), shortest_two);
    }
  }
}

}  // namespace paths_test
}  // namespace sluice::mesh
