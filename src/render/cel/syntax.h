// The text of a CEL expression as a tree, with the macros recognised.
//
// A macro (`has`, `all`, `exists`, `exists_one`, `map`, `filter`, the ones with two variables, `optMap`, `cel.bind`) is
// a node of its own and not written out as a general loop: it is shorter to check and faster to evaluate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "render/cel/value.h"

namespace sluice::cel {

struct Function;

enum class Syntax : uint8_t {
  constant,
  name,          // text; `absolute` for one that begins with a dot
  select,        // parts[0].text, `optional` for .?, `test` within has()
  index,         // parts[0][parts[1]], `optional` for [?
  call,          // text(parts…); with `receiver` parts[0] stands before the dot
  list,          // parts; `spread[i]` where an element is written with ?
  map,           // keys and values by turns; `spread[i]` of entry i
  conditional,   // parts[0] ? parts[1] : parts[2]
  every,         // parts[0] && parts[1] && …
  some,          // parts[0] || parts[1] || …
  loop,          // over parts[0]; see Loop
  optional_map,  // optMap (and optFlatMap: `optional`) over parts[0] with parts[1]
  bind,          // cel.bind: parts[0] is `first` in parts[1]
};

enum class Loop : uint8_t { all, exists, exists_one, filter, transform_list, transform_map, transform_entry };

struct Node {
  Syntax what = Syntax::constant;
  uint32_t offset = 0;
  std::string text;
  std::vector<Node> parts;  // of a loop: the range, the condition (if `conditional`) and what comes of each (if any)
  std::vector<bool> spread;
  Value constant;
  std::string first, second;  // the variables of a loop; second is empty where there is one
  Loop loop = Loop::all;
  bool absolute = false, optional = false, test = false, receiver = false, conditional = false;

  // What the checker found.
  int32_t slot = -1;                   // of a name, a loop's first variable, or a select that is a variable with dots
  const Function* function = nullptr;  // of a call
};

// Bytes, and how deep it may be nested.
inline constexpr size_t kMaxExpression = 64 << 10;
inline constexpr int kMaxDepth = 200;

struct Expression {
  std::string text;
  Node root;
  Arena constants;  // what the constants in the tree point at
};

// `invalid`, with line and column in the expression.
Result<std::unique_ptr<Expression>> parse(std::string_view text);

Position place_of(std::string_view text, uint32_t offset);

}  // namespace sluice::cel
