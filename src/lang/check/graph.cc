// Tarjan's algorithm with a stack of its own, and walks over the parts in their order.
#include "lang/check/graph.h"

#include <algorithm>

namespace sluice::lang {

Parts parts_of(const Graph& graph, const std::vector<bool>& skip) {
  constexpr size_t kNone = kNoPart;
  Parts parts{.of = std::vector<size_t>(graph.size(), kNone)};
  std::vector<size_t> index(graph.size(), kNone), low(graph.size());
  std::vector<bool> on_stack(graph.size());
  std::vector<size_t> stack;
  struct Frame {
    size_t node, next;
  };
  size_t count = 0;
  for (size_t start = 0; start < graph.size(); ++start) {
    if (index[start] != kNone || skip[start]) continue;
    std::vector<Frame> frames = {{start, 0}};
    while (!frames.empty()) {
      auto& [node, next] = frames.back();
      if (next == 0) {
        index[node] = low[node] = count++;
        stack.push_back(node);
        on_stack[node] = true;
      }
      bool deeper = false;
      while (next < graph[node].size()) {
        size_t to = graph[node][next++];
        if (skip[to]) continue;
        if (index[to] == kNone) {
          frames.push_back({to, 0});
          deeper = true;
          break;
        }
        if (on_stack[to]) low[node] = std::min(low[node], index[to]);
      }
      if (deeper) continue;
      size_t done = node;
      if (low[done] == index[done]) {
        size_t top;
        do {
          top = stack.back();
          stack.pop_back();
          on_stack[top] = false;
          parts.of[top] = parts.count;
        } while (top != done);
        ++parts.count;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[done]);
    }
  }
  return parts;
}

Reach::Reach(const Graph& graph) : parts_(parts_of(graph, std::vector<bool>(graph.size()))), between_(parts_.count) {
  for (size_t node = 0; node < graph.size(); ++node) {
    for (uint32_t to : graph[node]) {
      between_[parts_.of[node]].push_back(static_cast<uint32_t>(parts_.of[to]));
    }
  }
  for (auto& edges : between_) {
    std::ranges::sort(edges);
    edges.erase(std::ranges::unique(edges).begin(), edges.end());
  }
}

void Reach::from(const std::vector<std::vector<uint32_t>>& origins) {
  at_.assign(parts_.count, 0);
  into_.assign(parts_.count, 0);
  for (size_t i = 0; i < origins.size(); ++i) {
    for (uint32_t node : origins[i]) at_[parts_.of[node]] |= uint64_t{1} << i;
  }
  for (size_t part = parts_.count; part-- > 0;) {
    for (uint32_t to : between_[part]) {
      into_[to] |= at_[part];
      at_[to] |= at_[part];
    }
  }
}

}  // namespace sluice::lang
