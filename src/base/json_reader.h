// read<T>: a JSON tree into a C++ type, strictly. A field that the type does not have, one that is missing, a value of
// the wrong kind and a number out of range are errors of code `invalid` that carry a JSON pointer and, for a Document
// with marks, the position. The first error ends it. Which types, and how they are described: base/json_fields.h.
//
//   auto document = parse_json(text, "app.json");
//   if (!document) return document.error();
//   auto app = read<App>(*document);   // app.json:3:7: /prot: unknown field, did you mean "port"?
//
// null stands for nothing but itself: an optional field is left out, not null. An integer is not read from 1.0.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/json_place.h"
#include "base/result.h"

namespace sluice {

template <class T>
Result<T> read(const Document& document);
template <class T>
Result<T> read(const json::value& value);

namespace reader {

// The errors, each at its place.
Error wrong_kind(std::string_view expected, const json::value& found, const Place& place);
Error missing_field(std::string_view expected, const Place& field);
Error unknown_field(std::string_view name, std::span<const std::string_view> known, const Place& field);
Error unknown_name(std::string_view found, std::span<const std::string_view> known, const Place& place);
Error refused_scalar(Error error, const Place& place);

// Reads an integer that must lie between least and most.
Result<int64_t> read_signed(const json::value& value, int64_t least, int64_t most, const Place& place);
Result<uint64_t> read_unsigned(const json::value& value, uint64_t most, const Place& place);

// What a T is called in "expected …".
template <class T>
std::string expected() {
  using namespace fields;
  if constexpr (std::same_as<T, json::value>) {
    return "any value";
  } else if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (Integer<T>) {
    return "an integer";
  } else if constexpr (std::floating_point<T>) {
    return "a number";
  } else if constexpr (Scalar<T>) {
    return std::string(JsonScalar<T>::kExpected);
  } else if constexpr (Enum<T>) {
    std::string text = "one of";
    for (std::string_view name : enumerator_names<T>()) {
      text.append(text == "one of" ? " " : ", ").append(name);
    }
    return text;
  } else if constexpr (std::same_as<T, std::string>) {
    return "a string";
  } else if constexpr (Nullable<T>) {
    return expected<typename T::value_type>() + " or null";
  } else if constexpr (Vector<T>) {
    return "an array";
  } else if constexpr (Variant<T>) {
    return []<class First, class... Rest>(std::type_identity<std::variant<First, Rest...>>) {
      std::string text = expected<First>();
      ((text += " or " + expected<Rest>()), ...);
      return text;
    }(std::type_identity<T>{});
  } else {
    return "an object";
  }
}

// Reads a value into target, which is new, or says what is wrong with it. It returns no Result<T>, and what concerns
// all structs is in the .cc: this is compiled for every type that is ever read, so it must be little.
template <class T>
std::optional<Error> read_into(const json::value& value, const Place& place, T& target);

// How members of one type are read, whatever their struct.
struct Reading {
  std::string (*expected)();
  std::optional<Error> (*read)(const json::value& value, const Place& place, void* member);
};

template <class T>
inline constexpr Reading kReading{
    .expected = [] { return expected<T>(); },
    .read = [](const json::value& value, const Place& place,
               void* member) { return read_into(value, place, *static_cast<T*>(member)); }};
template <class T>
inline constexpr Reading kReading<std::optional<T>>{
    .expected = nullptr,  // nobody misses it
    .read = [](const json::value& value, const Place& place, void* member) {
      return read_into(value, place, static_cast<std::optional<T>*>(member)->emplace());
    }};

struct Member {
  std::string_view name;
  bool required;
  void* at;
  const Reading* reading;
};

std::optional<Error> read_members(const json::object& object, const Place& place, std::span<const Member> members);

template <fields::Struct T>
std::optional<Error> read_struct(const json::object& object, const Place& place, T& target) {
  return [&]<class... D>(boost::mp11::mp_list<D...>) {
    const std::array<Member, sizeof...(D)> members{
        Member{fields::json_name(D::name),
               !fields::Optional<fields::MemberType<T, decltype(D::pointer)>> &&
                   !fields::is_defaulted<T>(fields::json_name(D::name)),
               &(target.*D::pointer), &kReading<fields::MemberType<T, decltype(D::pointer)>>}...};
    return read_members(object, place, members);
  }(boost::mp11::mp_rename<fields::Members<T>, boost::mp11::mp_list>{});
}

template <fields::Enum T>
std::optional<Error> read_enum(std::string_view text, const Place& place, T& target) {
  bool found = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
    if (fields::json_name(enumerator.name) != text) return;
    target = enumerator.value;
    found = true;
  });
  if (found) return std::nullopt;
  return unknown_name(text, fields::enumerator_names<T>(), place);
}

template <class T, class First, class... Rest>
std::optional<Error> read_alternative(const json::value& value, const Place& place, T& target) {
  if (fields::fits<First>(value.kind())) return read_into(value, place, target.template emplace<First>());
  if constexpr (sizeof...(Rest) > 0) {
    return read_alternative<T, Rest...>(value, place, target);
  } else {
    return wrong_kind(expected<T>(), value, place);
  }
}

template <class T, class Number>
std::optional<Error> take_number(Result<Number> number, T& target) {
  if (!number) return std::move(number).error();
  target = static_cast<T>(*number);
  return std::nullopt;
}

template <class T>
std::optional<Error> read_into(const json::value& value, const Place& place, T& target) {
  using namespace fields;
  static_assert(!Optional<T>, "only a member of a struct can be optional");
  if constexpr (std::same_as<T, json::value>) {
    target = value;
  } else if constexpr (Nullable<T>) {
    target.reset();
    if (!value.is_null()) return read_into(value, place, target.emplace());
  } else if constexpr (Variant<T>) {
    return [&]<class... Ts>(std::type_identity<std::variant<Ts...>>) {
      return read_alternative<T, Ts...>(value, place, target);
    }(std::type_identity<T>{});
  } else {
    if (!fits<T>(value.kind())) return wrong_kind(expected<T>(), value, place);
    if constexpr (std::same_as<T, bool>) {
      target = value.get_bool();
    } else if constexpr (std::signed_integral<T>) {
      return take_number(read_signed(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), place),
                         target);
    } else if constexpr (std::unsigned_integral<T>) {
      return take_number(read_unsigned(value, std::numeric_limits<T>::max(), place), target);
    } else if constexpr (std::floating_point<T>) {
      target = value.template to_number<double>();
    } else if constexpr (Scalar<T>) {
      auto parsed = JsonScalar<T>::parse(std::string_view(value.get_string().data(), value.get_string().size()));
      if (!parsed) return refused_scalar(std::move(parsed).error(), place);
      target = *std::move(parsed);
    } else if constexpr (Enum<T>) {
      return read_enum<T>(std::string_view(value.get_string().data(), value.get_string().size()), place, target);
    } else if constexpr (std::same_as<T, std::string>) {
      target.assign(value.get_string().data(), value.get_string().size());
    } else if constexpr (std::same_as<T, std::vector<bool>>) {
      target.clear();
      for (const json::value& element : value.get_array()) {
        bool each = false;
        if (auto error = read_into(element, place.element(target.size()), each)) return error;
        target.push_back(each);
      }
    } else if constexpr (Vector<T>) {
      target.clear();
      target.reserve(value.get_array().size());
      for (const json::value& element : value.get_array()) {
        Place at = place.element(target.size());
        if (auto error = read_into(element, at, target.emplace_back())) return error;
      }
    } else if constexpr (Map<T>) {
      target.clear();
      for (const auto& member : value.get_object()) {
        std::string_view key(member.key().data(), member.key().size());
        if (auto error = read_into(member.value(), place.member(key), target[std::string(key)])) return error;
      }
    } else {
      return read_struct(value.get_object(), place, target);
    }
  }
  return std::nullopt;
}

}  // namespace reader

template <class T>
Result<T> read(const json::value& value) {
  Result<T> result{T{}};
  if (auto error = reader::read_into(value, Place(), *result)) return *std::move(error);
  return result;
}

template <class T>
Result<T> read(const Document& document) {
  Result<T> result = read<T>(document.root);
  if (result) return result;
  Error error = std::move(result).error();
  error.position = document.position_of(error.path);
  return error;
}

}  // namespace sluice
