// Read backwards, a line has a sibling after it exactly if its depth was seen since the last shallower line.
#include "base/tree.h"

#include <algorithm>
#include <bitset>
#include <cassert>
#include <vector>

namespace sluice {

std::string render(std::span<const TreeLine> lines, const Terminal& terminal) {
  using Depths = std::bitset<kDeepestTreeLine + 1>;
  std::vector<Depths> continued(lines.size());  // per line: the depths at which a sibling still comes
  Depths coming;
  for (size_t i = lines.size(); i-- > 0;) {
    assert(lines[i].depth <= (i == 0 ? 0 : lines[i - 1].depth + 1));
    size_t depth = std::min(lines[i].depth, kDeepestTreeLine);
    continued[i] = coming;
    coming.set(depth);
    for (size_t below = depth + 1; below <= kDeepestTreeLine && coming.any(); ++below) coming.reset(below);
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t depth = std::min(lines[i].depth, kDeepestTreeLine);
    for (size_t level = 1; level < depth; ++level) text += continued[i][level] ? "│  " : "   ";
    if (depth > 0) text += continued[i][depth] ? "├─ " : "└─ ";
    std::string shown = printable(lines[i].text);
    size_t drawn = 3 * depth;
    if (terminal.tty) shown = truncate_to_width(shown, std::max<size_t>(terminal.width, drawn + 10) - drawn);
    text += terminal.paint(lines[i].style, shown) + '\n';
  }
  return text;
}

}  // namespace sluice
