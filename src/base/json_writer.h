// to_json: a C++ type into a JSON tree, the reverse of read<T> (base/json_reader.h) for the types of
// base/json_fields.h. Fields stand in the order of their description; an optional without a value is left out.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "base/document.h"
#include "base/json_fields.h"

namespace sluice {

template <class T>
json::value to_json(const T& value) {
  using namespace fields;
  if constexpr (std::same_as<T, json::value> || std::same_as<T, bool> || std::floating_point<T>) {
    return value;
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<uint64_t>(value);
  } else if constexpr (std::same_as<T, std::string>) {
    return json::string(value);
  } else if constexpr (Scalar<T>) {
    return json::string(JsonScalar<T>::print(value));
  } else if constexpr (Enum<T>) {
    return json::string(json_name(boost::describe::enum_to_string(value, "")));
  } else if constexpr (Vector<T>) {
    json::array array;
    array.reserve(value.size());
    for (const auto& element : value) array.push_back(to_json<typename T::value_type>(element));
    return array;
  } else if constexpr (Map<T>) {
    json::object object;
    object.reserve(value.size());
    for (const auto& [key, element] : value) object.emplace(key, to_json(element));
    return object;
  } else if constexpr (Variant<T>) {
    return std::visit([](const auto& alternative) { return to_json(alternative); }, value);
  } else {
    static_assert(Struct<T>, "this type has no meaning in JSON: describe it, or give it a JsonScalar");
    json::object object;
    for_each_member<T>([&](std::string_view name, auto pointer) {
      const auto& member = value.*pointer;
      if constexpr (Optional<std::remove_cvref_t<decltype(member)>>) {
        if (member) object.emplace(name, to_json(*member));
      } else {
        object.emplace(name, to_json(member));
      }
    });
    return object;
  }
}

}  // namespace sluice
