// Pointers are spelt from the leaf's chain of parents.
#include "base/json_place.h"

#include <vector>

namespace sluice {

std::string Place::pointer() const {
  std::vector<const Place*> way;
  for (const Place* place = this; place->parent_ != nullptr; place = place->parent_) way.push_back(place);
  std::string text;
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    const Place& place = **step;
    if (place.is_element_) {
      append_pointer_token(text, std::to_string(place.index_));
    } else {
      append_pointer_token(text, place.key_);
    }
  }
  return text;
}

void append_pointer_token(std::string& pointer, std::string_view token) {
  pointer += '/';
  for (char c : token) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

}  // namespace sluice
