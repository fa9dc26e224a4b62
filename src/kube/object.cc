// Looking into trees that may be of any shape.
#include "kube/object.h"

namespace sluice::kube {

std::string ObjectRef::group() const {
  const size_t slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

std::string ObjectRef::version() const {
  const size_t slash = api_version.find('/');
  return slash == std::string::npos ? api_version : api_version.substr(slash + 1);
}

std::string to_string(const ObjectRef& ref) {
  return ref.kind + "/" + ref.name + (ref.name_space.empty() ? "" : " in " + ref.name_space);
}

ObjectRef ref_of(const json::value& object) {
  return {.api_version = text_at(object, {"apiVersion"}),
          .kind = text_at(object, {"kind"}),
          .name_space = text_at(object, {"metadata", "namespace"}),
          .name = text_at(object, {"metadata", "name"})};
}

const json::value& at(const json::value& object, std::initializer_list<std::string_view> keys) {
  static const json::value kNothing;
  const json::value* found = &object;
  for (std::string_view key : keys) {
    const json::object* map = found->if_object();
    found = map == nullptr ? nullptr : map->if_contains(key);
    if (found == nullptr) return kNothing;
  }
  return *found;
}

std::string text_at(const json::value& object, std::initializer_list<std::string_view> keys) {
  const json::value& found = at(object, keys);
  return found.is_string() ? std::string(found.get_string()) : "";
}

int64_t number_at(const json::value& object, std::initializer_list<std::string_view> keys) {
  const json::value& found = at(object, keys);
  if (!found.is_number()) return 0;
  boost::system::error_code failure;
  const auto number = found.to_number<int64_t>(failure);
  return failure ? 0 : number;
}

bool flag_at(const json::value& object, std::initializer_list<std::string_view> keys) {
  const json::value& found = at(object, keys);
  return found.is_bool() && found.get_bool();
}

const json::array& list_at(const json::value& object, std::initializer_list<std::string_view> keys) {
  static const json::array kNone;
  const json::value& found = at(object, keys);
  return found.is_array() ? found.get_array() : kNone;
}

const json::object& map_at(const json::value& object, std::initializer_list<std::string_view> keys) {
  static const json::object kNone;
  const json::value& found = at(object, keys);
  return found.is_object() ? found.get_object() : kNone;
}

const json::value& condition(const json::value& object, std::string_view type) {
  static const json::value kNothing;
  for (const json::value& each : list_at(object, {"status", "conditions"})) {
    if (text_at(each, {"type"}) == type) return each;
  }
  return kNothing;
}

}  // namespace sluice::kube
