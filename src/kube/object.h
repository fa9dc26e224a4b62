// Objects of Kubernetes as JSON trees, and how one is named.
#pragma once

#include <boost/json.hpp>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sluice::kube {

namespace json = boost::json;

struct ObjectRef {
  std::string api_version;  // "apps/v1", "v1"
  std::string kind;
  std::string name_space;  // empty: the kind has none
  std::string name;

  // "apps" of "apps/v1"; empty of "v1". And "v1".
  std::string group() const;
  std::string version() const;

  auto operator<=>(const ObjectRef&) const = default;
};

// "Deployment/web"; with its namespace: "Deployment/web in shop".
std::string to_string(const ObjectRef& ref);
ObjectRef ref_of(const json::value& object);

// What stands at the end of these keys; null if there is nothing.
const json::value& at(const json::value& object, std::initializer_list<std::string_view> keys);
// The same as a text, a number, true or false; empty, 0 and false of everything else.
std::string text_at(const json::value& object, std::initializer_list<std::string_view> keys);
int64_t number_at(const json::value& object, std::initializer_list<std::string_view> keys);
bool flag_at(const json::value& object, std::initializer_list<std::string_view> keys);

// The list or the map there; an empty one if there is none.
const json::array& list_at(const json::value& object, std::initializer_list<std::string_view> keys);
const json::object& map_at(const json::value& object, std::initializer_list<std::string_view> keys);

// The condition of this type in status.conditions; null if there is none.
const json::value& condition(const json::value& object, std::string_view type);

}  // namespace sluice::kube
