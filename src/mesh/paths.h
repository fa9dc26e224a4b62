// Two ways from one vertex to another that share no link, together as short as two such ways can be; one where there
// are not two. Deterministic: the same graph gives the same paths, whatever else changed.
//
// Suurballe's algorithm on links of equal length: distances from the source make all lengths 0, 1 or 2, so that the
// second search is a walk over three buckets. One search costs the number of links.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::mesh {

class Graph {
 public:
  explicit Graph(size_t vertices) : edges_of_(vertices) {}

  // A link between two vertices, and its number.
  size_t add(size_t a, size_t b);

  using Path = std::vector<size_t>;  // the numbers of its links, in order

  // The shorter one first; empty if there is no way at all. `from` and `to` differ.
  std::vector<Path> disjoint_paths(size_t from, size_t to) const;

  size_t other_end(size_t edge, size_t vertex) const {
    return ends_[edge].first == vertex ? ends_[edge].second : ends_[edge].first;
  }

 private:
  // How many links each vertex is away from `from`; -1: there is no way. One search serves all pairs of a source.
  const std::vector<int32_t>& distances(size_t from) const;

  std::vector<std::pair<size_t, size_t>> ends_;
  std::vector<std::vector<size_t>> edges_of_;
  mutable size_t searched_ = SIZE_MAX;
  mutable std::vector<int32_t> distances_;
};

}  // namespace sluice::mesh
