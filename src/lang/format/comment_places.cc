// Comments attach by place in the source, so it does not matter that the formatter may have put the blocks in another
// order. Whatever a comment forces on the layout (a block over several lines) must be forced again when the result is
// read, or formatting twice would differ from formatting once. A comment of its own line does that, and so does one
// behind the open brace or behind the last child, since it is printed in the same place again.
#include "lang/format/comment_places.h"

#include <algorithm>
#include <utility>

#include "lang/format/print.h"

namespace sluice::lang {
namespace {

bool before(Mark a, Mark b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); }

struct BlockPlace {
  Block* block;
  std::vector<std::pair<Block*, size_t>> path;  // from the root: parent, and which child leads on
};

class Attachment {
 public:
  explicit Attachment(Block& root) : root_(root) {
    collect(root, {});
    std::ranges::stable_sort(
        places_, [](const BlockPlace& a, const BlockPlace& b) { return before(a.block->anchor, b.block->anchor); });
    uint32_t line = 0;
    for (auto& place : places_) {
      place.block->first_on_line = place.block->anchor.line != line;
      line = place.block->anchor.line;
    }
  }

  void attach(const Comment& comment) {
    // The places are in order, and there may be as many comments as blocks.
    auto next = std::ranges::upper_bound(places_, Mark(comment.at), before,
                                         [](const BlockPlace& place) { return place.block->anchor; });
    const BlockPlace* last = next == places_.begin() ? nullptr : &*std::prev(next);
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
  static bool is_in_list(const Comment& comment, const BlockPlace& place) {
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
  static Block* ended_by(const Comment& comment, const BlockPlace& place) {
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
  void attach_after(const Comment& comment, const BlockPlace* last) {
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
  std::vector<BlockPlace> places_;
};

}  // namespace

std::vector<HeadItem> items_of(std::string_view head) {
  std::vector<HeadItem> items;
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

void attach_comments(Block& root, const std::vector<Comment>& comments) {
  Attachment attachment(root);
  for (const Comment& comment : comments) attachment.attach(comment);
}

}  // namespace sluice::lang
