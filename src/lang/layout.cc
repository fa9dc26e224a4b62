// Two passes: comments find their blocks, then blocks become lines.
//
// Comments attach by place in the source, so it does not matter that the formatter may have put the blocks in another
// order. Whatever a comment forces on the layout (a block over several lines) must be forced again when the result is
// read, or formatting twice would differ from formatting once. A comment of its own line does that, and so does one
// behind the open brace or behind the last child, since it is printed in the same place again.
#include "lang/layout.h"

#include <algorithm>

#include "lang/print.h"
#include "lang/text.h"

namespace sluice::lang {
namespace {

constexpr uint32_t kIndent = 2;

bool before(Mark a, Mark b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); }

std::string flat(std::string text) {
  std::ranges::replace(text, kSoftBreak, ' ');
  std::ranges::replace(text, kStrongBreak, ' ');
  return text;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Fills lines of `columns` with the pieces of `text` between breaks; every line after the first begins with `next`.
std::vector<std::string> fill(const std::string& text, char at, uint32_t columns, const std::string& next) {
  std::vector<std::string> lines;
  for (const auto& piece : split(text, at)) {
    if (!lines.empty() && count_code_points(lines.back()) + 1 + count_code_points(piece) <= columns) {
      lines.back() += ' ' + piece;
    } else {
      lines.push_back(lines.empty() ? piece : next + piece);
    }
  }
  return lines;
}

// A head as lines: whole if it fits, else broken at strong breaks, and where that is not enough at soft ones.
std::vector<std::string> wrap(const std::string& text, uint32_t columns) {
  if (count_code_points(flat(text)) <= columns) return {flat(text)};
  std::vector<std::string> lines;
  for (const auto& part : split(text, kStrongBreak)) {
    std::string indent = lines.empty() ? "" : std::string(kIndent, ' ');
    for (auto& line : fill(indent + part, kSoftBreak, columns, std::string(2 * kIndent, ' '))) lines.push_back(line);
  }
  return lines;
}

// An item of a list in a head, without its separator.
struct Item {
  size_t begin, end;
};

// The items of all lists of a head that are not inside another list.
std::vector<Item> items_of(std::string_view head) {
  std::vector<Item> items;
  uint32_t depth = 0;
  size_t begin = 0;
  auto end_item = [&](size_t end) {
    while (begin < end && head[begin] == ' ') ++begin;
    while (end > begin && head[end - 1] == ' ') --end;
    if (end > begin) items.push_back({begin, end});
  };
  for (size_t at = 0; at < head.size(); ++at) {
    char c = head[at];
    if (c == '"') {
      for (++at; at < head.size() && head[at] != '"'; ++at) {
        if (head[at] == '\\') ++at;
      }
    } else if (c == '[' || c == '(' || c == '{') {
      if (depth++ == 0) begin = at + 1;
    } else if (c == ']' || c == ')' || c == '}') {
      if (depth > 0 && --depth == 0) end_item(at);
    } else if (depth == 1 && (c == ';' || c == ',') && at + 1 < head.size() && head[at + 1] == kSoftBreak) {
      end_item(at);
      begin = at + 2;
    }
  }
  return items;
}

std::string sign(const Comment& comment) {
  bool tight = comment.text.empty() || comment.text[0] == '#' || comment.text[0] == '!';
  return tight ? "#" + comment.text : "# " + comment.text;
}

// A head with comments inside its lists: what opens such a list, an item a line, what closes it. Of several comments
// behind one line the last stays there and the others go above the next, where they are found again as comments before
// it.
std::vector<std::string> wrap_items(const Block& block, const std::string& suffix, uint32_t columns) {
  using Where = Block::Inner::Where;
  std::string head = block.head + suffix;
  std::vector<Item> items = items_of(block.head);
  auto chosen = [&](Where where, size_t item) {
    std::vector<std::string> found;
    for (const Block::Inner& each : block.inner) {
      if (each.where == where && each.item == item) found.push_back(sign(*each.comment));
    }
    return found;
  };
  const std::string deeper(2 * kIndent, ' ');
  auto ends_list = [&](size_t i) { return i + 1 == items.size() || items[i + 1].begin != items[i].end + 2; };
  std::vector<std::string> lines;
  std::string current;  // the line that is being filled, outside of lists that are taken apart
  size_t written = 0;   // of the head
  auto fill_to = [&](size_t end) {
    std::string text = flat(head.substr(written, end - written));
    if (current.empty() && !lines.empty()) text.erase(0, text.find_first_not_of(' '));
    current += text;
    written = end;
  };
  auto end_line = [&] {
    current.erase(current.find_last_not_of(' ') + 1);
    lines.push_back(lines.empty() ? current : std::string(kIndent, ' ') + current);
    current.clear();
  };
  for (size_t i = 0; i < items.size();) {
    size_t past = i + 1;
    while (!ends_list(past - 1)) ++past;
    bool apart = std::ranges::any_of(block.inner, [&](const Block::Inner& each) {
      return (each.item >= i && each.item < past) || (each.item == items.size() && past == items.size());
    });
    if (!apart) {
      fill_to(items[past - 1].end);
      i = past;
      continue;
    }
    fill_to(items[i].begin);
    end_line();
    std::vector<std::string> above;
    if (i == 0) above = chosen(Where::open, 0);
    if (!above.empty()) {
      lines.back() += "  " + above.back();
      above.pop_back();
    }
    for (; i < past; ++i) {
      for (std::string& comment : chosen(Where::before, i)) above.push_back(std::move(comment));
      std::vector<std::string> behind = chosen(Where::behind, i);
      for (size_t k = 0; k + 1 < behind.size(); ++k) above.push_back(behind[k]);
      for (const std::string& comment : above) lines.push_back(deeper + comment);
      above.clear();
      written = items[i].end + (ends_list(i) ? 0 : 1);
      std::string text = head.substr(items[i].begin, written - items[i].begin);
      for (const std::string& part : wrap(text, columns - 2 * kIndent)) lines.push_back(deeper + part);
      if (!behind.empty()) lines.back() += "  " + behind.back();
    }
    if (past == items.size()) {
      for (const std::string& comment : chosen(Where::before, items.size())) lines.push_back(deeper + comment);
    }
  }
  fill_to(head.size());
  end_line();
  return lines;
}

// ------------------------------------------------------------------------------------- comments find their blocks

struct Place {
  Block* block;
  std::vector<std::pair<Block*, size_t>> path;  // from the root: parent, and which child leads on
};

class Attachment {
 public:
  explicit Attachment(Block& root) : root_(root) {
    collect(root, {});
    std::ranges::stable_sort(places_,
                             [](const Place& a, const Place& b) { return before(a.block->anchor, b.block->anchor); });
    uint32_t line = 0;
    for (auto& place : places_) {
      place.block->first_on_line = place.block->anchor.line != line;
      line = place.block->anchor.line;
    }
  }

  void attach(const Comment& comment) {
    auto next =
        std::ranges::find_if(places_, [&](const Place& place) { return before(comment.at, place.block->anchor); });
    const Place* last = next == places_.begin() ? nullptr : &*std::prev(next);
    if (last != nullptr && is_in_list(comment, *last)) {
      attach_inside(comment, *last->block);
    } else if (Block* ended = last != nullptr && comment.closed ? ended_by(comment, *last) : nullptr;
               ended != nullptr && ended->closed == nullptr) {
      ended->closed = &comment;
    } else if (last != nullptr && !comment.own_line && ended == nullptr) {
      last->block->trailing.push_back(&comment);
    } else if (last != nullptr && comment.inside) {
      last->block->leading.push_back(&comment);
    } else if (next == places_.end() || (comment.closes && last != nullptr)) {
      attach_after(comment, last);
    } else {
      next->block->leading.push_back(&comment);
    }
  }

 private:
  void collect(Block& block, const std::vector<std::pair<Block*, size_t>>& path) {
    if (block.anchor.line > 0) places_.push_back({&block, path});
    for (size_t i = 0; i < block.children.size(); ++i) {
      auto longer = path;
      longer.emplace_back(&block, i);
      collect(block.children[i], longer);
    }
  }

  // Lists in brackets are told by the lexer; braces of a line are those that no block around it has.
  static bool is_in_list(const Comment& comment, const Place& place) {
    const Block& block = *place.block;
    if (block.items.empty() || items_of(block.head).size() != block.items.size()) return false;
    if (comment.inside) return true;
    if (block.shape != Block::Shape::line) return false;
    auto depth = std::ranges::count_if(place.path, [](const auto& each) {
      return each.first->shape == Block::Shape::braces || each.first->shape == Block::Shape::compact;
    });
    return comment.depth > depth;
  }

  // The block whose brace stands before the comment; none if it is one of a line's own.
  static Block* ended_by(const Comment& comment, const Place& place) {
    uint32_t depth = 0;
    auto path = place.path;
    path.emplace_back(place.block, 0);
    for (const auto& [block, index] : path) {
      bool braces = block->shape == Block::Shape::braces || block->shape == Block::Shape::compact;
      if (braces && ++depth > comment.depth) return block;
    }
    return nullptr;
  }

  static void attach_inside(const Comment& comment, Block& block) {
    using Where = Block::Inner::Where;
    auto next = std::ranges::find_if(block.items, [&](Mark item) { return before(comment.at, item); });
    auto index = static_cast<size_t>(next - block.items.begin());
    if (comment.own_line) {
      block.inner.push_back({Where::before, index, &comment});
    } else if (index == 0) {
      block.inner.push_back({Where::open, 0, &comment});
    } else {
      block.inner.push_back({Where::behind, index - 1, &comment});
    }
  }

  // At the end of the block whose braces are the innermost around the comment.
  void attach_after(const Comment& comment, const Place* last) {
    Block* around = &root_;
    size_t child = root_.children.size();
    uint32_t depth = 0;
    if (last != nullptr) {
      auto path = last->path;
      path.emplace_back(last->block, last->block->children.size());
      for (const auto& [block, index] : path) {
        bool braces = block->shape == Block::Shape::braces || block->shape == Block::Shape::compact;
        if (block != &root_ && !braces) continue;
        if (braces && ++depth > comment.depth) break;
        around = block;
        child = index;
      }
    }
    if (child + 1 < around->children.size()) {
      around->children[child + 1].leading.push_back(&comment);
    } else {
      around->closing.push_back(&comment);
    }
  }

  Block& root_;
  std::vector<Place> places_;
};

// -------------------------------------------------------------------------------------------- blocks become lines

class Printer {
 public:
  explicit Printer(const std::vector<uint32_t>& blank_lines) : blank_lines_(blank_lines) {}

  std::string print(const Block& root) {
    print_children(root, 0);
    return std::move(out_);
  }

 private:
  using Comments = std::vector<const Comment*>;

  bool blank_before(Mark mark) const { return std::ranges::binary_search(blank_lines_, mark.line - 1); }

  void blank_line() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void line(uint32_t indent, const std::string& text) { out_ += std::string(indent, ' ') + text + '\n'; }

  static std::string behind(const Comment* comment) { return comment ? "  " + sign(*comment) : ""; }

  // Lines of code with the comments behind them: the last comment ends the last line, the others go above.
  void code(uint32_t indent, const std::vector<std::string>& lines, const Comments& trailing) {
    for (size_t i = 0; i + 1 < trailing.size(); ++i) line(indent, sign(*trailing[i]));
    for (size_t i = 0; i < lines.size(); ++i) {
      bool last = i + 1 == lines.size();
      line(indent, lines[i] + (last && !trailing.empty() ? "  " + sign(*trailing.back()) : ""));
    }
  }

  void print_children(const Block& parent, uint32_t indent) {
    bool first = true;
    for (const auto& child : parent.children) {
      bool blank = parent.blanks == Block::Blanks::always;
      bool kept = parent.blanks != Block::Blanks::none;
      bool any = false;
      for (const Comment* comment : child.leading) {
        if (!first && ((blank && !any) || (kept && blank_before(comment->at)))) blank_line();
        line(indent, sign(*comment));
        any = true;
        first = false;
      }
      bool source_blank = child.first_on_line && blank_before(child.anchor);
      if (!first && !child.joins_above && ((blank && !any) || (kept && source_blank))) blank_line();
      print_block(child, indent);
      first = false;
    }
    for (const Comment* comment : parent.closing) {
      if (!first && parent.blanks != Block::Blanks::none && blank_before(comment->at)) blank_line();
      line(indent, sign(*comment));
      first = false;
    }
  }

  void print_block(const Block& block, uint32_t indent) {
    switch (block.shape) {
      case Block::Shape::line:
        return code(indent, wrapped(block, "", kLineColumns - indent), block.trailing);
      case Block::Shape::prose:
        return print_prose(block, indent);
      case Block::Shape::indented:
        code(indent, wrap(block.head, kLineColumns - indent), block.trailing);
        return print_children(block, indent + kIndent);
      case Block::Shape::compact:
        if (print_hanging(block, indent)) return;
        [[fallthrough]];
      case Block::Shape::braces:
        code(indent, wrapped(block, " {", kLineColumns - indent), block.trailing);
        print_children(block, indent + kIndent);
        return line(indent, "}" + behind(block.closed));
    }
  }

  // A head and what follows it.
  static std::vector<std::string> wrapped(const Block& block, const std::string& suffix, uint32_t columns) {
    if (!block.inner.empty()) return wrap_items(block, suffix, columns);
    return wrap(block.head + suffix, columns);
  }

  void print_prose(const Block& block, uint32_t indent) {
    uint32_t columns = kLineColumns - indent;
    if (block.text.empty()) return code(indent, wrapped(block, "", columns), block.trailing);
    std::string whole = flat(block.head) + " { " + block.text + " }";
    bool fits = block.inner.empty() && count_code_points(whole) <= columns;
    if (fits) return code(indent, {whole}, block.trailing);
    auto lines = wrapped(block, " {", columns);
    for (const auto& text : fill(block.text, ' ', columns - kIndent, "")) lines.push_back("  " + text);
    lines.push_back("}");
    code(indent, lines, block.trailing);
  }

  // `when { first` with the other children below the first; false if something does not fit or a comment stands
  // between.
  bool print_hanging(const Block& block, uint32_t indent) {
    std::string open = flat(block.head) + " { ";
    uint32_t hang = indent + count_code_points(open);
    if (!block.trailing.empty() || !block.closing.empty() || block.children.empty()) return false;
    for (const auto& child : block.children) {
      if (!child.leading.empty() || !child.inner.empty() || child.shape != Block::Shape::line) return false;
      // Only one comment fits behind a line, and behind the last one stands the brace.
      if (child.trailing.size() > (&child == &block.children.back() ? 0 : 1)) return false;
      if (hang + count_code_points(flat(child.head)) + 2 > kLineColumns) return false;
    }
    for (size_t i = 0; i < block.children.size(); ++i) {
      const Block& child = block.children[i];
      bool last = i + 1 == block.children.size();
      std::string text = flat(child.head) + (last ? " }" + behind(block.closed) : "");
      code(i == 0 ? indent : hang, {i == 0 ? open + text : text}, child.trailing);
    }
    return true;
  }

  const std::vector<uint32_t>& blank_lines_;
  std::string out_;
};

}  // namespace

std::string lay_out(Block root, const std::vector<Comment>& comments, const std::vector<uint32_t>& blank_lines) {
  Attachment attachment(root);
  for (const auto& comment : comments) attachment.attach(comment);
  return Printer(blank_lines).print(root);
}

}  // namespace sluice::lang
