// The first way follows falling distances. In the second search a link of the first way may be walked only backwards,
// which takes it out of both; what is left of the two walks is then put together into two ways.
#include "mesh/paths.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace sluice::mesh {

size_t Graph::add(size_t a, size_t b) {
  const size_t number = ends_.size();
  ends_.emplace_back(a, b);
  edges_of_[a].push_back(number);
  edges_of_[b].push_back(number);
  searched_ = SIZE_MAX;
  return number;
}

const std::vector<int32_t>& Graph::distances(size_t from) const {
  if (searched_ == from) return distances_;
  searched_ = from;
  distances_.assign(edges_of_.size(), -1);
  distances_[from] = 0;
  std::vector<size_t> queue = {from};
  for (size_t next = 0; next < queue.size(); ++next) {
    for (size_t edge : edges_of_[queue[next]]) {
      const size_t there = other_end(edge, queue[next]);
      if (distances_[there] >= 0) continue;
      distances_[there] = distances_[queue[next]] + 1;
      queue.push_back(there);
    }
  }
  return distances_;
}

std::vector<Graph::Path> Graph::disjoint_paths(size_t from, size_t to) const {
  const std::vector<int32_t>& far = distances(from);
  if (far[to] < 0) return {};
  // The first way, from its end; and of each link on it the vertex that it leads to.
  constexpr size_t kNone = SIZE_MAX;
  std::vector<std::pair<size_t, size_t>> first;  // link, vertex that it leads to
  for (size_t at = to; at != from;) {
    for (size_t edge : edges_of_[at]) {
      const size_t before = other_end(edge, at);
      if (far[before] != far[at] - 1) continue;
      first.emplace_back(edge, at);
      at = before;
      break;
    }
  }
  const auto leads_to = [&](size_t edge) {
    for (const auto& [each, vertex] : first) {
      if (each == edge) return vertex;
    }
    return kNone;
  };
  // The second search: shortest by reduced lengths, which are 1 + far(u) - far(v), or 0 back along the first way.
  std::vector<uint8_t> on_first(edges_of_.size(), 0);
  for (const auto& [edge, vertex] : first) on_first[vertex] = on_first[other_end(edge, vertex)] = 1;
  std::vector<int32_t> best(edges_of_.size(), -1);
  std::vector<size_t> came_by(edges_of_.size(), kNone);
  std::vector<uint8_t> done(edges_of_.size(), 0);
  std::array<std::vector<size_t>, 3> buckets;
  best[from] = 0;
  buckets[0].push_back(from);
  size_t waiting = 1;
  for (int32_t length = 0; waiting > 0 && done[to] == 0; ++length) {
    std::vector<size_t>& bucket = buckets[static_cast<size_t>(length) % 3];
    for (size_t i = 0; i < bucket.size(); ++i) {
      const size_t here = bucket[i];
      --waiting;
      if (done[here] != 0 || best[here] != length) continue;
      done[here] = 1;
      for (size_t edge : edges_of_[here]) {
        const size_t there = other_end(edge, here);
        if (done[there] != 0) continue;
        int32_t step = 1 + far[here] - far[there];
        if (on_first[here] != 0 && on_first[there] != 0) {
          const size_t used = leads_to(edge);
          if (used == there) continue;  // it is taken
          if (used == here) step = 0;
        }
        if (best[there] >= 0 && best[there] <= length + step) continue;
        best[there] = length + step;
        came_by[there] = edge;
        buckets[static_cast<size_t>(length + step) % 3].push_back(there);
        ++waiting;
      }
    }
    bucket.clear();
  }
  if (done[to] == 0) {
    Path only;
    for (auto each = first.rbegin(); each != first.rend(); ++each) only.push_back(each->first);
    return {only};
  }
  // Links that one of the two walks uses: those that both use, in opposite directions, drop out.
  std::vector<std::pair<size_t, size_t>> steps;  // link, vertex that it leads to
  std::vector<size_t> dropped;
  for (size_t at = to; at != from; at = other_end(came_by[at], at)) {
    const size_t edge = came_by[at];
    if (leads_to(edge) != kNone) {
      dropped.push_back(edge);
    } else {
      steps.emplace_back(edge, at);
    }
  }
  for (const auto& each : first) {
    if (std::ranges::find(dropped, each.first) == dropped.end()) steps.push_back(each);
  }
  std::vector<Path> paths;
  for (int i = 0; i < 2; ++i) {
    Path path;
    for (size_t at = from; at != to;) {
      auto next =
          std::ranges::find_if(steps, [&](const auto& step) { return other_end(step.first, step.second) == at; });
      assert(next != steps.end());
      path.push_back(next->first);
      at = next->second;
      steps.erase(next);
    }
    paths.push_back(std::move(path));
  }
  if (paths[1].size() < paths[0].size()) std::swap(paths[0], paths[1]);
  return paths;
}

}  // namespace sluice::mesh
