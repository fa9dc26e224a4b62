// Two passes: comments find their blocks (lang/format/comment_places.h), then blocks become lines.
#include "lang/format/layout.h"

#include <algorithm>

#include "lang/format/comment_places.h"
#include "lang/format/print.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

constexpr uint32_t kIndent = 2;

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
  std::vector<HeadItem> items = items_of(block.head);
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
  attach_comments(root, comments);
  return Printer(blank_lines).print(root);
}

}  // namespace sluice::lang
