// to_json: a C++ type into a JSON tree, the reverse of read<T> (base/json_reader.h) for the types of
// base/json_fields.h. Fields stand in the order of their description; an optional without a value is left out.
#pragma once

#include <array>
#include <boost/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/document.h"
#include "base/json_fields.h"

namespace sluice {

template <class T>
json::value to_json(const T& value);

namespace writer {

// A member to write: what concerns all structs is in the .cc, as this is compiled for every type that is ever written.
struct Member {
  std::string_view name;
  const void* at;
  void (*write)(const void* member, std::string_view name, json::object& into);
};

json::object write_members(std::span<const Member> members);

template <class T>
void write_member(const void* member, std::string_view name, json::object& into) {
  if constexpr (fields::Optional<T>) {
    const T& value = *static_cast<const T*>(member);
    if (value) into.emplace(name, to_json(*value));
  } else {
    into.emplace(name, to_json(*static_cast<const T*>(member)));
  }
}

}  // namespace writer

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
  } else if constexpr (Nullable<T>) {
    return value ? to_json(*value) : json::value();
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
    return [&]<class... D>(boost::mp11::mp_list<D...>) -> json::value {
      const std::array<writer::Member, sizeof...(D)> members{writer::Member{
          json_name(D::name), &(value.*D::pointer), &writer::write_member<MemberType<T, decltype(D::pointer)>>}...};
      return writer::write_members(members);
    }(boost::mp11::mp_rename<Members<T>, boost::mp11::mp_list>{});
  }
}

}  // namespace sluice
