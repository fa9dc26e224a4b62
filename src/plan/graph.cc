// Kahn's algorithm, a wave at a time. What is left when no node is free any more is on a cycle or behind one: walking
// back from any of it, always to something that is left, must come round.
#include "plan/graph.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

namespace sluice::plan {
namespace {

constexpr std::array<std::string_view, kNodeKinds> kNames = {"external-dependency-check",
                                                             "provision-storage",
                                                             "migrate-storage",
                                                             "deploy-concept",
                                                             "configure-transport",
                                                             "traffic-split",
                                                             "register-sync",
                                                             "register-integration",
                                                             "remove-concept"};

// Counting sort of edges by one of their ends.
void index_edges(size_t nodes, std::span<const uint32_t> keys, std::span<const uint32_t> values,
                 std::vector<uint32_t>& first, std::vector<uint32_t>& sorted) {
  first.assign(nodes + 1, 0);
  for (uint32_t key : keys) first[key + 1]++;
  for (size_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
  sorted.resize(values.size());
  std::vector<uint32_t> at(first.begin(), first.end() - (nodes == 0 ? 0 : 1));
  for (size_t i = 0; i < keys.size(); ++i) sorted[at[keys[i]]++] = values[i];
}

std::string id_of(const std::vector<std::string>& targets, const Graph::Node& node) {
  return std::string(name_of(node.kind)) + "/" + targets[node.target];
}

}  // namespace

std::string_view name_of(NodeKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<NodeKind> kind_named(std::string_view name) {
  auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<NodeKind>(found - kNames.begin());
}

std::string Graph::id(uint32_t node) const { return id_of(targets, nodes[node]); }

uint32_t GraphMaker::add(NodeKind kind, const std::string& target) {
  auto [found, fresh] = numbers_.try_emplace(target, static_cast<uint32_t>(targets_.size()));
  if (fresh) targets_.push_back(target);
  nodes_.push_back({.kind = kind, .target = found->second});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

MadeGraph GraphMaker::finish() && {
  numbers_.clear();
  const size_t count = nodes_.size();
  std::ranges::sort(edges_,
                    [](const Edge& a, const Edge& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  edges_.erase(std::unique(edges_.begin(), edges_.end(),
                           [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; }),
               edges_.end());
  std::vector<uint32_t> from, to;
  from.reserve(edges_.size());
  to.reserve(edges_.size());
  for (const Edge& each : edges_) {
    from.push_back(each.from);
    to.push_back(each.to);
    nodes_[each.to].waits++;
  }
  std::vector<uint32_t> first, next;
  index_edges(count, from, to, first, next);

  std::vector<uint32_t> order;  // old numbers in the order of the new ones
  order.reserve(count);
  std::vector<uint32_t> left(count);
  for (uint32_t i = 0; i < count; ++i) {
    left[i] = nodes_[i].waits;
    if (left[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    const uint32_t node = order[at];
    for (uint32_t i = first[node]; i < first[node + 1]; ++i) {
      nodes_[next[i]].wave = std::max(nodes_[next[i]].wave, nodes_[node].wave + 1);
      if (--left[next[i]] == 0) order.push_back(next[i]);
    }
  }
  if (order.size() < count) {
    std::vector<uint32_t> first_before, before;
    index_edges(count, to, from, first_before, before);
    std::vector<uint32_t> path;
    std::vector<uint32_t> place(count, 0);  // in the path, from 1
    auto is_left = [&](uint32_t node) { return left[node] > 0; };
    uint32_t at = 0;
    while (!is_left(at)) at++;
    while (place[at] == 0) {
      path.push_back(at);
      place[at] = static_cast<uint32_t>(path.size());
      for (uint32_t i = first_before[at]; i < first_before[at + 1]; ++i) {
        if (!is_left(before[i])) continue;
        at = before[i];
        break;
      }
    }
    MadeGraph made;
    for (size_t i = path.size(); i >= place[at]; --i) made.cycle.push_back(id_of(targets_, nodes_[path[i - 1]]));
    made.cycle.push_back(made.cycle.front());
    return made;
  }
  // A breadth-first order is one by waves only if every edge leads exactly one wave on.
  std::ranges::stable_sort(order, {}, [&](uint32_t node) { return nodes_[node].wave; });
  std::vector<uint32_t> number(count);
  Graph graph;
  graph.nodes.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    number[order[i]] = i;
    graph.nodes.push_back(nodes_[order[i]]);
  }
  graph.targets = std::move(targets_);
  for (uint32_t& each : from) each = number[each];
  for (uint32_t& each : to) each = number[each];
  index_edges(count, from, to, graph.first_after, graph.after);
  index_edges(count, to, from, graph.first_before, graph.before);
  return {.graph = std::move(graph), .cycle = {}};
}

json::object to_json(const Graph& graph) {
  json::array targets, nodes, edges;
  targets.reserve(graph.targets.size());
  nodes.reserve(graph.nodes.size() * 2);
  edges.reserve(graph.edges() * 2);
  for (const std::string& each : graph.targets) targets.emplace_back(each);
  for (const Graph::Node& each : graph.nodes) {
    nodes.emplace_back(static_cast<int64_t>(each.kind));
    nodes.emplace_back(static_cast<int64_t>(each.target));
  }
  for (uint32_t from = 0; from < graph.size(); ++from) {
    for (uint32_t to : graph.after_of(from)) {
      edges.emplace_back(static_cast<int64_t>(from));
      edges.emplace_back(static_cast<int64_t>(to));
    }
  }
  return {{"targets", std::move(targets)}, {"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

Result<Graph> read_graph(const json::value& value) {
  const Error invalid{.code = Code::invalid, .message = "this is not the graph of a plan"};
  const json::object* fields = value.if_object();
  const json::array* lists[3] = {};
  for (size_t i = 0; const char* name : {"targets", "nodes", "edges"}) {
    const json::value* found = fields == nullptr ? nullptr : fields->if_contains(name);
    lists[i] = found == nullptr ? nullptr : found->if_array();
    if (lists[i++] == nullptr) return invalid;
  }
  const auto& [targets, nodes, edges] = lists;
  if (nodes->size() % 2 != 0 || edges->size() % 2 != 0) return invalid;
  auto number = [](const json::value& each, size_t limit) -> std::optional<uint32_t> {
    if (!each.is_int64() || each.get_int64() < 0 || static_cast<uint64_t>(each.get_int64()) >= limit) {
      return std::nullopt;
    }
    return static_cast<uint32_t>(each.get_int64());
  };
  GraphMaker maker;
  for (size_t i = 0; i < nodes->size(); i += 2) {
    auto kind = number((*nodes)[i], kNodeKinds), target = number((*nodes)[i + 1], targets->size());
    if (!kind || !target || !(*targets)[*target].is_string()) return invalid;
    maker.add(static_cast<NodeKind>(*kind), std::string((*targets)[*target].get_string()));
  }
  for (size_t i = 0; i < edges->size(); i += 2) {
    auto from = number((*edges)[i], nodes->size() / 2), to = number((*edges)[i + 1], nodes->size() / 2);
    if (!from || !to || *from >= *to) return invalid;
    maker.edge(*from, *to);
  }
  MadeGraph made = std::move(maker).finish();
  if (!made.graph) return invalid;
  return *std::move(made.graph);
}

std::string to_dot(const Graph& graph, const std::string& name) {
  std::string text = "digraph \"" + name + "\" {\n  rankdir=LR;\n  node [shape=box];\n";
  for (uint32_t i = 0; i < graph.size(); ++i) text += "  n" + std::to_string(i) + " [label=\"" + graph.id(i) + "\"];\n";
  for (uint32_t i = 0; i < graph.size(); ++i) {
    for (uint32_t to : graph.after_of(i)) text += "  n" + std::to_string(i) + " -> n" + std::to_string(to) + ";\n";
  }
  return text + "}\n";
}

std::string to_mermaid(const Graph& graph) {
  std::string text = "graph LR\n";
  for (uint32_t i = 0; i < graph.size(); ++i) text += "  n" + std::to_string(i) + "[\"" + graph.id(i) + "\"]\n";
  for (uint32_t i = 0; i < graph.size(); ++i) {
    for (uint32_t to : graph.after_of(i)) text += "  n" + std::to_string(i) + " --> n" + std::to_string(to) + "\n";
  }
  return text;
}

}  // namespace sluice::plan
