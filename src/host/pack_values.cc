// Walks a value beside its type.
#include "host/pack_values.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sluice::host {
namespace {

using Kind = lang::Shape::Kind;

std::string found_instead(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "nothing";
    case json::kind::bool_:
      return "a truth value";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a text";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
  }
  return "";
}

void replace_in(const lang::Types& types, lang::TypeId type, json::value& value,
                const std::function<std::string(const std::string&)>& replace) {
  const lang::Shape& shape = types[type];
  if (value.is_null()) return;
  if (shape.kind == Kind::sealed && value.is_string()) {
    value = replace(std::string(value.get_string()));
  } else if (shape.kind == Kind::option) {
    replace_in(types, shape.inner[0], value, replace);
  } else if ((shape.kind == Kind::list || shape.kind == Kind::set) && value.is_array()) {
    for (json::value& each : value.get_array()) replace_in(types, shape.inner[0], each, replace);
  } else if (shape.kind == Kind::mapping && value.is_object()) {
    for (auto& each : value.get_object()) replace_in(types, shape.inner[1], each.value(), replace);
  } else if (shape.kind == Kind::record && value.is_object()) {
    for (size_t i = 0; i < shape.names.size(); ++i) {
      if (json::value* member = value.get_object().if_contains(shape.names[i])) {
        replace_in(types, shape.inner[i], *member, replace);
      }
    }
  }
}

}  // namespace

std::string fault_of_value(const lang::Types& types, lang::TypeId type, const json::value& value,
                           const std::string& name) {
  const lang::Shape& shape = types[type];
  auto expected = [&] { return name + ": expected " + types.name(type) + ", found " + found_instead(value); };
  switch (shape.kind) {
    case Kind::option:
      return value.is_null() ? "" : fault_of_value(types, shape.inner[0], value, name);
    case Kind::sealed:
    case Kind::request:
      return value.is_string() ? "" : expected();
    case Kind::list:
    case Kind::set: {
      if (!value.is_array()) return expected();
      std::string fault;
      for (size_t i = 0; i < value.get_array().size() && fault.empty(); ++i) {
        fault = fault_of_value(types, shape.inner[0], value.get_array()[i], name + "[" + std::to_string(i) + "]");
      }
      return fault;
    }
    case Kind::mapping: {
      if (!value.is_object()) return expected();
      std::string fault;
      for (const auto& each : value.get_object()) {
        if (fault.empty()) {
          fault = fault_of_value(types, shape.inner[1], each.value(), name + "." + std::string(each.key()));
        }
      }
      return fault;
    }
    case Kind::record: {
      if (!value.is_object()) return expected();
      std::vector<lang::FieldSymbol> fields;
      for (size_t i = 0; i < shape.names.size(); ++i)
        fields.push_back({.name = shape.names[i], .type = shape.inner[i]});
      std::string fault = fault_of_fields(types, fields, value.get_object());
      return fault.empty() ? "" : name + "." + fault;
    }
    default:
      return types.literal_fits(value, type) == lang::Fit::yes ? "" : expected();
  }
}

std::string fault_of_fields(const lang::Types& types, const std::vector<lang::FieldSymbol>& fields,
                            const json::object& object) {
  for (const auto& each : object) {
    if (!lang::find_field(fields, each.key())) return std::string(each.key()) + ": there is no such field";
  }
  for (const lang::FieldSymbol& field : fields) {
    const json::value* value = object.if_contains(field.name);
    if (value == nullptr && types[field.type].kind == Kind::option) continue;
    if (value == nullptr) return field.name + ": it is missing";
    if (std::string fault = fault_of_value(types, field.type, *value, field.name); !fault.empty()) return fault;
  }
  return "";
}

json::object with_sealed(const lang::Types& types, const std::vector<lang::FieldSymbol>& fields, json::object object,
                         const std::function<std::string(const std::string&)>& replace) {
  for (const lang::FieldSymbol& field : fields) {
    if (json::value* value = object.if_contains(field.name)) replace_in(types, field.type, *value, replace);
  }
  return object;
}

}  // namespace sluice::host
