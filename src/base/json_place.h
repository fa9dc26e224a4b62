// A Place is where a walk over a JSON tree stands: a chain of frames on the stack, one a level, so that a walk pays
// nothing for knowing its way and only an error spells it out as a JSON pointer (RFC 6901).
//
//   void walk(const json::value& node, const Place& place) {
//     for (auto& member : node.as_object()) walk(member.value(), place.member(member.key()));
//   }
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

class Place {
 public:
  // The root of a document.
  Place() = default;

  // A child of this place. The parent, and the key, must outlive the child.
  Place member(std::string_view key) const { return Place(this, key, 0, false); }
  Place element(size_t index) const { return Place(this, {}, index, true); }

  // "/spec/ports/0"; empty for the root.
  std::string pointer() const;

 private:
  Place(const Place* parent, std::string_view key, size_t index, bool is_element)
      : parent_(parent), key_(key), index_(index), is_element_(is_element) {}

  const Place* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
  bool is_element_ = false;
};

// Appends "/" and the token with its '~' and '/' escaped.
void append_pointer_token(std::string& pointer, std::string_view token);

}  // namespace sluice
