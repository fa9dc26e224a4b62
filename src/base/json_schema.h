// json_schema<T>: the JSON Schema (draft 2020-12) of what read<T> accepts, from the same description
// (base/json_fields.h). A field is required unless it is optional or defaulted; fields that are not described are
// refused. Structs within T stand under $defs, once each, so that a type may contain itself.
//
//   write_pretty(json_schema<App>("An app", "urn:sluice:schema:app"))
#pragma once

#include <boost/core/type_name.hpp>
#include <boost/json.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/json_writer.h"

namespace sluice {

template <class T>
json::value json_schema(std::string_view title, std::string_view id);

namespace schema {

// A type's name under $defs: "deploy.Step" for sluice::deploy::Step.
std::string definition_name(std::string_view type_name);

// The schema of a value of type T. Structs other than Root are added to definitions on their first use; Root is "#".
template <class T, class Root>
json::object schema_of(json::object& definitions);

template <fields::Struct T, class Root>
json::object struct_schema(json::object& definitions) {
  json::object properties;
  json::array required;
  const T defaults{};
  fields::for_each_member<T>([&](std::string_view name, auto pointer) {
    using Member = std::remove_cvref_t<decltype(defaults.*pointer)>;
    if constexpr (fields::Optional<Member>) {
      properties.emplace(name, schema_of<typename Member::value_type, Root>(definitions));
    } else {
      json::object property = schema_of<Member, Root>(definitions);
      if (fields::is_defaulted<T>(name)) {
        property.emplace("default", to_json(defaults.*pointer));
      } else {
        required.emplace_back(name);
      }
      properties.emplace(name, std::move(property));
    }
  });
  json::object schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema.emplace("required", std::move(required));
  schema.emplace("additionalProperties", false);
  return schema;
}

template <class T, class Root>
json::object schema_of(json::object& definitions) {
  using namespace fields;
  if constexpr (std::same_as<T, json::value>) {
    return {};
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (Integer<T>) {
    return {{"type", "integer"},
            {"minimum", to_json(std::numeric_limits<T>::min())},
            {"maximum", to_json(std::numeric_limits<T>::max())}};
  } else if constexpr (std::floating_point<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::same_as<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (Scalar<T>) {
    json::object schema = {{"type", "string"}, {"description", JsonScalar<T>::kExpected}};
    if (!JsonScalar<T>::kPattern.empty()) schema.emplace("pattern", JsonScalar<T>::kPattern);
    return schema;
  } else if constexpr (Enum<T>) {
    json::array names;
    for (std::string_view name : enumerator_names<T>()) names.emplace_back(name);
    return {{"type", "string"}, {"enum", std::move(names)}};
  } else if constexpr (Nullable<T>) {
    return {
        {"anyOf", json::array{schema_of<typename T::value_type, Root>(definitions), json::object{{"type", "null"}}}}};
  } else if constexpr (Vector<T>) {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type, Root>(definitions)}};
  } else if constexpr (Map<T>) {
    return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type, Root>(definitions)}};
  } else if constexpr (Variant<T>) {
    json::array alternatives;
    [&]<class... Ts>(std::type_identity<std::variant<Ts...>>) {
      (alternatives.push_back(schema_of<Ts, Root>(definitions)), ...);
    }(std::type_identity<T>{});
    return {{"anyOf", std::move(alternatives)}};
  } else if constexpr (std::same_as<T, Root>) {
    return {{"$ref", "#"}};
  } else {
    std::string name = definition_name(boost::core::type_name<T>());
    if (!definitions.contains(name)) {
      definitions.emplace(name, nullptr);  // first, so that a struct within itself ends here
      definitions[name] = struct_schema<T, Root>(definitions);
    }
    return {{"$ref", "#/$defs/" + name}};
  }
}

}  // namespace schema

template <class T>
json::value json_schema(std::string_view title, std::string_view id) {
  json::object definitions;
  json::object body;
  if constexpr (fields::Struct<T>) {
    body = schema::struct_schema<T, T>(definitions);
  } else {
    body = schema::schema_of<T, void>(definitions);
  }
  json::object schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", id}, {"title", title}};
  for (auto& member : body) schema.emplace(member.key(), std::move(member.value()));
  if (!definitions.empty()) schema.emplace("$defs", std::move(definitions));
  return schema;
}

}  // namespace sluice
