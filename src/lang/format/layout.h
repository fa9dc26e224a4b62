// Lines, indentation and comments of formatted source. The formatter says what there is as a tree of Blocks; the
// layout decides what shares a line, breaks what is too long, and puts every comment back: one on a line of its own
// before the block that it stood before, or at the end of the block that it ended; one behind code at the end of that
// code's line, and one behind a closing brace behind that brace. One inside a list of arguments or fields stays with
// the argument that it stood behind or before, and the list then has an argument a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/syntax/ast.h"

namespace sluice::lang {

constexpr uint32_t kLineColumns = 110;

struct Block {
  enum class Shape {
    line,      // head
    prose,     // head { text }
    braces,    // head { children, a line each }
    compact,   // the same, but on one line, or hanging from the first, where that fits
    indented,  // head, then children below it without braces
  };
  Shape shape = Shape::line;
  Mark anchor;              // where it stood in the source; line 0: comments cannot attach to it
  std::string head;         // with the breaks of print.h
  std::string text;         // prose
  std::vector<Mark> items;  // where the items of the head's lists stood: `a` and `b` of `x: [ a: 1; b: 2 ]`
  std::vector<Block> children;
  enum class Blanks { none, kept, always } blanks = Blanks::none;  // blank lines between the children
  bool joins_above = false;                                        // never a blank line before it

  // What the layout finds out.
  std::vector<const Comment*> leading, trailing, closing;  // before it, at its line's end, after its last child
  const Comment* closed = nullptr;                         // behind its closing brace
  bool first_on_line = false;                              // in the source
  struct Inner {                                           // a comment inside the head's lists
    enum class Where { open, before, behind } where;       // behind what opens the list; before or behind the item
    size_t item;
    const Comment* comment;
  };
  std::vector<Inner> inner;
};

// `root` is an indented block without a head.
std::string lay_out(Block root, const std::vector<Comment>& comments, const std::vector<uint32_t>& blank_lines);

}  // namespace sluice::lang
