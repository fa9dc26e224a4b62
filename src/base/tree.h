// Trees for people, drawn with ├─, └─ and │.
//
// A tree is its lines in pre-order, each with its depth; the roots have depth 0. So a tree of any depth is built and
// drawn without recursion.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/terminal.h"

namespace sluice {

struct TreeLine {
  size_t depth = 0;  // at most one more than the line before
  std::string text;  // plain: what could disturb the screen is shown escaped
  Style style = Style::plain;
};

// Lines below this depth are drawn at it.
constexpr size_t kDeepestTreeLine = 64;

// The tree's lines, each ended by a line break; cut with … on a terminal that is too narrow.
std::string render(std::span<const TreeLine> lines, const Terminal& terminal);

}  // namespace sluice
