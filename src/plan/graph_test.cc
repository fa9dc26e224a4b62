// Waves, cycles, and graphs as text.
#include "plan/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/json.h"

namespace sluice::plan {
namespace graph_test {

using testing::ElementsAre;

TEST(PlanGraph, IsNumberedInWaves) {
  GraphMaker maker;
  const uint32_t web = maker.add(NodeKind::deploy_concept, "web"), a = maker.add(NodeKind::deploy_concept, "a"),
                 b = maker.add(NodeKind::deploy_concept, "b"), store = maker.add(NodeKind::deploy_concept, "store");
  maker.edge(a, web);
  maker.edge(b, web);
  maker.edge(store, a);
  maker.edge(store, b);
  maker.edge(store, b);
  const Graph graph = *std::move(maker).finish().graph;
  std::vector<std::string> ids;
  for (uint32_t i = 0; i < graph.size(); ++i) ids.push_back(std::to_string(graph.nodes[i].wave) + " " + graph.id(i));
  EXPECT_THAT(
      ids, ElementsAre("0 deploy-concept/store", "1 deploy-concept/a", "1 deploy-concept/b", "2 deploy-concept/web"));
  EXPECT_EQ(graph.edges(), 4U) << "an edge counts once";
  EXPECT_THAT(graph.after_of(0), ElementsAre(1U, 2U));
  EXPECT_THAT(graph.before_of(3), ElementsAre(1U, 2U));
  EXPECT_EQ(to_dot(*read_graph(to_json(graph)), "p"), to_dot(graph, "p"));
  EXPECT_THAT(to_dot(graph, "p"), testing::HasSubstr("n0 -> n1;"));
  EXPECT_THAT(to_mermaid(graph), testing::HasSubstr("n1 --> n3"));
}

TEST(PlanGraph, TellsACycleOfAThousand) {
  GraphMaker maker;
  for (int i = 0; i < 1'010; ++i) maker.add(NodeKind::deploy_concept, "c" + std::to_string(i));
  for (uint32_t i = 0; i < 1'000; ++i) maker.edge(i, (i + 1) % 1'000);
  for (uint32_t i = 1'000; i < 1'010; ++i) maker.edge(i - 1, i);  // behind it, not on it
  const auto cycle = std::move(maker).finish().cycle;
  ASSERT_EQ(cycle.size(), 1'001U);
  EXPECT_EQ(cycle.front(), cycle.back());
  for (size_t i = 0; i + 1 < cycle.size(); ++i) {
    const int from = std::stoi(cycle[i].substr(16)), to = std::stoi(cycle[i + 1].substr(16));
    EXPECT_EQ(to, (from + 1) % 1'000);
  }
}

TEST(PlanGraph, RefusesTextThatIsNone) {
  for (const char* text :
       {"{}", R"({"targets":[],"nodes":[0],"edges":[]})", R"({"targets":["a"],"nodes":[0,1],"edges":[]})",
        R"({"targets":["a"],"nodes":[0,0,1,0],"edges":[1,0]})"}) {
    EXPECT_FALSE(read_graph(parse_json(text)->root)) << text;
  }
}

TEST(PlanGraph, RandomGraphsRespectTheirEdges) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    GraphMaker maker;
    const uint32_t count = 1 + random() % 60;
    for (uint32_t i = 0; i < count; ++i) maker.add(NodeKind::traffic_split, std::to_string(i));
    std::vector<std::pair<std::string, std::string>> edges;
    for (uint32_t i = 0; i < count * 2; ++i) {
      uint32_t from = random() % count, to = random() % count;
      if (from == to) continue;
      if (from > to) std::swap(from, to);
      maker.edge(from, to);
      edges.emplace_back(std::to_string(from), std::to_string(to));
    }
    const Graph graph = *std::move(maker).finish().graph;
    std::map<std::string, uint32_t> place;
    for (uint32_t i = 0; i < graph.size(); ++i) place[graph.target_of(i)] = i;
    for (const auto& [from, to] : edges) {
      EXPECT_LT(graph.nodes[place[from]].wave, graph.nodes[place[to]].wave);
    }
    for (uint32_t i = 0; i < graph.size(); ++i) EXPECT_EQ(graph.before_of(i).size(), graph.nodes[i].waits);
  }
}

}  // namespace graph_test
}  // namespace sluice::plan
