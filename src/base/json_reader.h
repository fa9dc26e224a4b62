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

#include <cstdint>
#include <limits>
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

template <class T>
Result<T> read_value(const json::value& value, const Place& place);

template <fields::Struct T>
Result<T> read_struct(const json::object& object, const Place& place) {
  T result{};
  std::optional<Error> error;
  // In the order of the text, so that the first error is the first that a person meets.
  for (const auto& member : object) {
    std::string_view key(member.key().data(), member.key().size());
    Place field = place.member(key);
    bool known = false;
    fields::for_each_member<T>([&](std::string_view name, auto pointer) {
      if (known || name != key) return;
      known = true;
      auto& target = result.*pointer;
      using Target = std::remove_reference_t<decltype(target)>;
      if constexpr (fields::Optional<Target>) {
        auto read = read_value<typename Target::value_type>(member.value(), field);
        if (read) {
          target = *std::move(read);
        } else {
          error = std::move(read).error();
        }
      } else {
        auto read = read_value<Target>(member.value(), field);
        if (read) {
          target = *std::move(read);
        } else {
          error = std::move(read).error();
        }
      }
    });
    if (!known) return unknown_field(key, fields::member_names<T>(), field);
    if (error) return *std::move(error);
  }
  fields::for_each_member<T>([&](std::string_view name, auto pointer) {
    using Target = std::remove_reference_t<decltype(result.*pointer)>;
    if constexpr (!fields::Optional<Target>) {
      if (error || fields::is_defaulted<T>(name) || object.contains(name)) return;
      error = missing_field(expected<Target>(), place.member(name));
    }
  });
  if (error) return *std::move(error);
  return result;
}

template <fields::Enum T>
Result<T> read_enum(std::string_view text, const Place& place) {
  std::optional<T> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
    if (fields::json_name(enumerator.name) == text) found = enumerator.value;
  });
  if (found) return *found;
  return unknown_name(text, fields::enumerator_names<T>(), place);
}

template <class T, class First, class... Rest>
Result<T> read_alternative(const json::value& value, const Place& place) {
  if (fields::fits<First>(value.kind())) {
    auto read = read_value<First>(value, place);
    if (!read) return std::move(read).error();
    return T(*std::move(read));
  }
  if constexpr (sizeof...(Rest) > 0) {
    return read_alternative<T, Rest...>(value, place);
  } else {
    return wrong_kind(expected<T>(), value, place);
  }
}

template <class T>
Result<T> read_value(const json::value& value, const Place& place) {
  using namespace fields;
  static_assert(!Optional<T>, "only a member of a struct can be optional");
  if constexpr (std::same_as<T, json::value>) {
    return value;
  } else if constexpr (Variant<T>) {
    return []<class... Ts>(std::type_identity<std::variant<Ts...>>, const json::value& v, const Place& p) {
      return read_alternative<T, Ts...>(v, p);
    }(std::type_identity<T>{}, value, place);
  } else {
    if (!fits<T>(value.kind())) return wrong_kind(expected<T>(), value, place);
    if constexpr (std::same_as<T, bool>) {
      return value.get_bool();
    } else if constexpr (std::signed_integral<T>) {
      auto number = read_signed(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), place);
      if (!number) return std::move(number).error();
      return static_cast<T>(*number);
    } else if constexpr (std::unsigned_integral<T>) {
      auto number = read_unsigned(value, std::numeric_limits<T>::max(), place);
      if (!number) return std::move(number).error();
      return static_cast<T>(*number);
    } else if constexpr (std::floating_point<T>) {
      return value.template to_number<double>();
    } else if constexpr (Scalar<T>) {
      auto parsed = JsonScalar<T>::parse(std::string_view(value.get_string().data(), value.get_string().size()));
      if (!parsed) return refused_scalar(std::move(parsed).error(), place);
      return parsed;
    } else if constexpr (Enum<T>) {
      return read_enum<T>(std::string_view(value.get_string().data(), value.get_string().size()), place);
    } else if constexpr (std::same_as<T, std::string>) {
      return std::string(value.get_string().data(), value.get_string().size());
    } else if constexpr (Vector<T>) {
      T result;
      result.reserve(value.get_array().size());
      for (const json::value& element : value.get_array()) {
        auto read = read_value<typename T::value_type>(element, place.element(result.size()));
        if (!read) return std::move(read).error();
        result.push_back(*std::move(read));
      }
      return result;
    } else if constexpr (Map<T>) {
      T result;
      for (const auto& member : value.get_object()) {
        std::string_view key(member.key().data(), member.key().size());
        auto read = read_value<typename T::mapped_type>(member.value(), place.member(key));
        if (!read) return std::move(read).error();
        result.emplace(key, *std::move(read));
      }
      return result;
    } else {
      return read_struct<T>(value.get_object(), place);
    }
  }
}

}  // namespace reader

template <class T>
Result<T> read(const json::value& value) {
  return reader::read_value<T>(value, Place());
}

template <class T>
Result<T> read(const Document& document) {
  auto result = reader::read_value<T>(document.root, Place());
  if (result) return result;
  Error error = std::move(result).error();
  error.position = document.position_of(error.path);
  return error;
}

}  // namespace sluice
