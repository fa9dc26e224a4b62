// From types to schemas, one case a kind.
#include "lang/codegen/generate_schema.h"

#include <boost/json.hpp>
#include <limits>

#include "lang/codegen/cpp_names.h"

namespace sluice::lang {
namespace {

json::object primitive_schema(std::string_view name) {
  if (name == "Int") {
    return {{"type", "integer"},
            {"minimum", std::numeric_limits<int64_t>::min()},
            {"maximum", std::numeric_limits<int64_t>::max()}};
  }
  if (name == "Float") return {{"type", "number"}};
  if (name == "Bool") return {{"type", "boolean"}};
  if (name == "Bytes") return {{"type", "string"}, {"contentEncoding", "base64"}};
  if (name == "DateTime") return {{"type", "string"}, {"format", "date-time"}};
  if (name == "Request" || name == "Sealed") return {{"type", "string"}, {"x-sluice-type", name}};
  return {{"type", "string"}};
}

json::object object_of(const std::vector<FieldDecl>& fields) {
  json::object properties;
  json::array required;
  for (const FieldDecl& field : fields) {
    bool is_option = field.type[0].kind == Type::Kind::option;
    properties[field.name] = schema_of(is_option ? field.type[0].inner[0] : field.type[0]);
    if (!is_option) required.emplace_back(json::string(field.name));
  }
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

json::object described(json::object schema, const std::string& title, const std::string& prose) {
  json::object all{{"title", title}};
  if (!prose.empty()) all["description"] = one_line(prose);
  for (auto& member : schema) all[member.key()] = std::move(member.value());
  return all;
}

}  // namespace

json::object schema_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::primitive:
      return primitive_schema(type.name);
    case Type::Kind::named:
      return {{"type", "string"}, {"x-sluice-type", type.name}};
    case Type::Kind::list:
      return {{"type", "array"}, {"items", schema_of(type.inner[0])}};
    case Type::Kind::set:
      return {{"type", "array"}, {"items", schema_of(type.inner[0])}, {"uniqueItems", true}};
    case Type::Kind::option:
      return schema_of(type.inner[0]);
    case Type::Kind::record:
      return object_of(type.fields);
    case Type::Kind::names:
    case Type::Kind::literals: {
      json::array values;
      for (const std::string& literal : type.literals) values.emplace_back(json::string(literal));
      return {{"enum", std::move(values)}};
    }
    case Type::Kind::mapping:
      return {{"type", "object"}, {"additionalProperties", schema_of(type.inner[1])}};
  }
  return {};
}

json::object generate_schema(const Concept& spec) {
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"$id", "urn:sluice:concept:" + spec.name + ":" + std::to_string(spec.version.value_or(0))}};
  json::object defs;
  for (const Action& action : spec.actions) {
    std::string name = spec.name + "/" + action.name;
    defs[action.name] = described(object_of(action.params), name, action.description);
    for (const Variant& variant : action.variants) {
      defs[action.name + "." + variant.name] =
          described(object_of(variant.fields), name + " => " + variant.name, variant.prose);
    }
  }
  schema["title"] = spec.name;
  if (!spec.purpose.empty()) schema["description"] = one_line(spec.purpose);
  schema["$defs"] = std::move(defs);
  return schema;
}

}  // namespace sluice::lang
