// A directed graph of numbered nodes, for the questions of the checker: which nodes lie on a circle with one another,
// and what can be reached from where. Both cost the number of edges, and nothing here recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice::lang {

using Graph = std::vector<std::vector<uint32_t>>;  // for each node, where its edges lead

constexpr size_t kNoPart = std::numeric_limits<size_t>::max();

// The strongly connected part of each node (Tarjan). Parts are numbered so that an edge never leads to a part with a
// greater number. A node that `skip` names is left out, with its edges, and has no part.
struct Parts {
  std::vector<size_t> of;
  size_t count = 0;
};
Parts parts_of(const Graph& graph, const std::vector<bool>& skip);

// Answers what can be reached, for 64 origins in one walk: with many origins a walk for each would cost the square.
class Reach {
 public:
  static constexpr size_t kAtOnce = 64;

  explicit Reach(const Graph& graph);

  // Walks from up to 64 origins; each is a set of nodes.
  void from(const std::vector<std::vector<uint32_t>>& origins);
  // Whether the last walk came from this origin to the node by at least one edge.
  bool reached(size_t origin, uint32_t node) const { return (into_[parts_.of[node]] >> origin & 1) != 0; }

 private:
  Parts parts_;
  Graph between_;               // edges between parts, and of a part to itself
  std::vector<uint64_t> at_;    // by part: the origins that stand there or have come there
  std::vector<uint64_t> into_;  // by part: the origins that have come there by an edge
};

}  // namespace sluice::lang
