// Both sides are walked, so that a member of either is seen.
#include "render/promote/difference.h"

#include "base/json_place.h"

namespace sluice::promote {
namespace {

std::string below(std::string pointer, std::string_view member) {
  append_pointer_token(pointer, member);
  return pointer;
}

void differ(const std::string& pointer, const json::value& left, const json::value& right,
            std::vector<Difference>& all) {
  if (left == right) return;
  if (!left.is_object() || !right.is_object()) {
    all.push_back({pointer, left, right});
    return;
  }
  for (const auto& each : left.as_object()) {
    const auto* other = right.as_object().if_contains(each.key());
    differ(below(pointer, each.key()), each.value(), other ? *other : json::value(), all);
  }
  for (const auto& each : right.as_object()) {
    if (!left.as_object().contains(each.key())) differ(below(pointer, each.key()), json::value(), each.value(), all);
  }
}

}  // namespace

std::vector<Difference> differences_of(const json::value& left, const json::value& right) {
  std::vector<Difference> all;
  differ("", left, right, all);
  return all;
}

}  // namespace sluice::promote
