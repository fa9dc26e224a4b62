// Graph is what a plan does, and in which order: nodes with a kind and a target, and edges from what comes first to
// what waits for it. Nodes are numbered in waves: those of a wave wait for nothing but earlier waves, and the first
// wave waits for nothing at all.
//
//   GraphMaker maker;
//   uint32_t deploy = maker.add(NodeKind::deploy_concept, "shop");
//   maker.edge(deploy, maker.add(NodeKind::traffic_split, "shop"));
//   MadeGraph made = std::move(maker).finish();      // the graph, or a cycle
//
// Everything here is linear in nodes and edges, and takes some 30 bytes for each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/document.h"
#include "base/result.h"

namespace sluice::plan {

enum class NodeKind : uint8_t {
  external_dependency_check,
  provision_storage,
  migrate_storage,
  deploy_concept,
  configure_transport,
  traffic_split,
  register_sync,
  register_integration,
  remove_concept,
};
constexpr size_t kNodeKinds = 9;
// "deploy-concept"
std::string_view name_of(NodeKind kind);
std::optional<NodeKind> kind_named(std::string_view name);

struct Graph {
  struct Node {
    NodeKind kind = NodeKind::deploy_concept;
    uint32_t target = 0;  // of `targets`
    uint32_t wave = 0;
    uint32_t waits = 0;  // for so many nodes
  };

  std::vector<std::string> targets;
  std::vector<Node> nodes;  // by wave
  // What follows from node n is after[first_after[n]] up to after[first_after[n + 1]]; likewise what it waits for.
  std::vector<uint32_t> first_after, after, first_before, before;

  size_t size() const { return nodes.size(); }
  size_t edges() const { return after.size(); }
  size_t waves() const { return nodes.empty() ? 0 : nodes.back().wave + 1; }
  std::span<const uint32_t> after_of(uint32_t node) const {
    return {after.data() + first_after[node], first_after[node + 1] - first_after[node]};
  }
  std::span<const uint32_t> before_of(uint32_t node) const {
    return {before.data() + first_before[node], first_before[node + 1] - first_before[node]};
  }
  const std::string& target_of(uint32_t node) const { return targets[nodes[node].target]; }
  // "deploy-concept/shop"
  std::string id(uint32_t node) const;
};

struct MadeGraph {
  std::optional<Graph> graph;
  std::vector<std::string> cycle;  // "deploy-concept/a", …, and the first once more, if there is no graph
};

class GraphMaker {
 public:
  uint32_t add(NodeKind kind, const std::string& target);
  void edge(uint32_t from, uint32_t to) { edges_.push_back({from, to}); }
  size_t size() const { return nodes_.size(); }

  MadeGraph finish() &&;

 private:
  struct Edge {
    uint32_t from;
    uint32_t to;
  };

  std::vector<std::string> targets_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of targets
  std::vector<Graph::Node> nodes_;
  std::vector<Edge> edges_;
};

// As few bytes as text can have: {"targets": […], "nodes": [kind, target, …], "edges": [from, to, …]}, and back. What
// is not a graph in waves is `invalid`.
json::object to_json(const Graph& graph);
Result<Graph> read_graph(const json::value& value);

// For other tools.
std::string to_dot(const Graph& graph, const std::string& name);
std::string to_mermaid(const Graph& graph);

}  // namespace sluice::plan
