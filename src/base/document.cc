// Finds a node's mark by counting nodes on the way to it.
#include "base/document.h"

#include <boost/json.hpp>

namespace sluice {
size_t count_nodes(const json::value& node) {
  size_t nodes = 1;
  if (const auto* object = node.if_object()) {
    for (const auto& member : *object) nodes += count_nodes(member.value());
  } else if (const auto* array = node.if_array()) {
    for (const auto& element : *array) nodes += count_nodes(element);
  }
  return nodes;
}

namespace {

// Takes the first token off a pointer ("/a~1b/c" gives "a/b") and undoes its escapes.
std::string take_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  std::string_view raw = pointer.substr(0, pointer.find('/'));
  pointer.remove_prefix(raw.size());
  std::string token;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '~' && i + 1 < raw.size()) {
      token += raw[++i] == '1' ? '/' : '~';
    } else {
      token += raw[i];
    }
  }
  return token;
}

}  // namespace

std::optional<Position> Document::position_of(std::string_view pointer) const {
  if (marks.empty()) return std::nullopt;
  const json::value* node = &root;
  size_t index = 0;  // of node, in pre-order
  while (!pointer.empty() && pointer.front() == '/') {
    std::string token = take_token(pointer);
    const json::value* child = nullptr;
    size_t ahead = index + 1;
    if (const auto* object = node->if_object()) {
      for (const auto& member : *object) {
        if (member.key() == token) {
          child = &member.value();
          break;
        }
        ahead += count_nodes(member.value());
      }
    } else if (const auto* array = node->if_array()) {
      size_t place = 0;
      for (const auto& element : *array) {
        if (std::to_string(place++) == token) {
          child = &element;
          break;
        }
        ahead += count_nodes(element);
      }
    }
    if (child == nullptr) break;
    node = child;
    index = ahead;
  }
  if (index >= marks.size()) return std::nullopt;
  return Position{file, marks[index].line, marks[index].column};
}

}  // namespace sluice
