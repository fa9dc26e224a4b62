// Where comments belong among the blocks of lang/format/layout.h. For the layout's own files only.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lang/format/layout.h"

namespace sluice::lang {

// An item of a list in a head, without its separator.
struct HeadItem {
  size_t begin, end;
};

// The items of all lists of a head that are not inside another list.
std::vector<HeadItem> items_of(std::string_view head);

// Every comment finds the block that it stands before, behind or in. The comments must outlive the blocks.
void attach_comments(Block& root, const std::vector<Comment>& comments);

}  // namespace sluice::lang
