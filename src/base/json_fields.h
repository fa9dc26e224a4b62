// How a C++ type stands for JSON, said once for reading (json_reader.h), writing (json_writer.h) and JSON Schema
// (json_schema.h). A struct is described with Boost.Describe:
//
//   struct App {
//     std::string name;                 // required
//     std::optional<std::string> note;  // may be left out
//     uint16_t port = 8080;             // may be left out and then keeps its default, as it stands in kDefaulted
//     static constexpr std::string_view kDefaulted[] = {"port"};
//   };
//   BOOST_DESCRIBE_STRUCT(App, (), (name, note, port))
//
// Members may be bool, integers, double, std::string, std::vector<T>, std::map<std::string, T>, std::optional<T>,
// OrNull<T> (always there, and null without a value), described structs and enums (by their enumerators' names),
// json::value (anything), types with a JsonScalar, and a std::variant of types that differ in their kind of JSON. A
// name that is a C++ word is written with an underscore at its end, which is not part of it: `default_` is "default".
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/document.h"
#include "base/result.h"

namespace sluice {

// A value that stands in JSON even where there is none, as null: documents that people read name all their fields.
template <class T>
struct OrNull : std::optional<T> {
  using std::optional<T>::optional;
};

// Specialise it for a type of one's own that is a string in JSON:
//
//   template <> struct JsonScalar<Ulid> {
//     static constexpr std::string_view kExpected = "a ULID";       // "expected a ULID, found a number"
//     static constexpr std::string_view kPattern = "^[0-9A-Z]{26}$";  // for JSON Schema; may be empty
//     static Result<Ulid> parse(std::string_view text);              // its error needs a message alone
//     static std::string print(const Ulid& id);
//   };
template <class T>
struct JsonScalar;

namespace fields {

template <class T, template <class...> class Template>
inline constexpr bool kIs = false;
template <template <class...> class Template, class... Args>
inline constexpr bool kIs<Template<Args...>, Template> = true;

template <class T>
concept Scalar = requires { JsonScalar<T>::kExpected; };
template <class T>
concept Optional = kIs<T, std::optional>;
template <class T>
concept Nullable = kIs<T, OrNull>;
template <class T>
concept Vector = kIs<T, std::vector>;
template <class T>
concept Variant = kIs<T, std::variant>;
template <class T>
concept Map = kIs<T, std::map> && std::same_as<typename T::key_type, std::string>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;
template <class T>
concept Struct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value && !Scalar<T> && !Nullable<T>;

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

// The name in JSON of a described member or enumerator.
constexpr std::string_view json_name(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// Calls visit(name, pointer to member) for each member of T in order.
template <Struct T, class Visit>
constexpr void for_each_member(Visit&& visit) {
  boost::mp11::mp_for_each<Members<T>>([&](auto member) { visit(json_name(member.name), member.pointer); });
}

template <class T, class Member>
using MemberType = std::remove_cvref_t<decltype(std::declval<T>().*std::declval<Member>())>;

template <Enum T>
std::vector<std::string_view> enumerator_names() {
  std::vector<std::string_view> names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
      [&](auto enumerator) { names.push_back(json_name(enumerator.name)); });
  return names;
}

// Whether every name in T's kDefaulted is a member, so that a misspelt one does not compile.
template <Struct T>
constexpr bool defaulted_are_members() {
  if constexpr (requires { T::kDefaulted; }) {
    for (std::string_view name : T::kDefaulted) {
      bool found = false;
      for_each_member<T>([&](std::string_view member, auto) { found = found || member == name; });
      if (!found) return false;
    }
  }
  return true;
}

template <Struct T>
constexpr bool is_defaulted(std::string_view name) {
  static_assert(defaulted_are_members<T>(), "kDefaulted names something that is not a described member");
  if constexpr (requires { T::kDefaulted; }) {
    for (std::string_view defaulted : T::kDefaulted) {
      if (defaulted == name) return true;
    }
  }
  return false;
}

// Whether JSON of this kind can stand for a T: how a variant's alternative is chosen.
template <class T>
constexpr bool fits(json::kind kind) {
  if constexpr (std::same_as<T, json::value>) {
    return true;
  } else if constexpr (std::same_as<T, bool>) {
    return kind == json::kind::bool_;
  } else if constexpr (Integer<T>) {
    return kind == json::kind::int64 || kind == json::kind::uint64;
  } else if constexpr (std::floating_point<T>) {
    return kind == json::kind::double_ || kind == json::kind::int64 || kind == json::kind::uint64;
  } else if constexpr (Scalar<T> || Enum<T> || std::same_as<T, std::string>) {
    return kind == json::kind::string;
  } else if constexpr (Nullable<T>) {
    return kind == json::kind::null || fits<typename T::value_type>(kind);
  } else if constexpr (Vector<T>) {
    return kind == json::kind::array;
  } else if constexpr (Variant<T>) {
    return []<class... Ts>(std::type_identity<std::variant<Ts...>>, json::kind k) { return (fits<Ts>(k) || ...); }(
               std::type_identity<T>{}, kind);
  } else {
    static_assert(Map<T> || Struct<T>, "this type has no meaning in JSON: describe it, or give it a JsonScalar");
    return kind == json::kind::object;
  }
}

}  // namespace fields
}  // namespace sluice
