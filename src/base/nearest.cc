// Damerau's distance in its simple form (no letter is touched twice), three rows at a time.
#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice {

size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<size_t> before_last(to.size() + 1);
  std::vector<size_t> last(to.size() + 1);
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (size_t i = 1; i <= from.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[to.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return std::nullopt;
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> found;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord * 2) continue;
    size_t distance = edit_distance(word, candidate);
    if (distance < best && distance < std::max(word.size(), candidate.size())) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return nearest(word, std::span<const std::string_view>(views));
}

}  // namespace sluice
