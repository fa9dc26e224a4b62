// Checks, defaults and types, by the long form alone: the short one was expanded.
#include "render/component/schema.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "render/cel/text.h"
#include "render/cel/value.h"

namespace sluice::component {
namespace {

constexpr int kDeepestSchema = 64;

const json::value* part(const json::object& schema, std::string_view name) { return schema.if_contains(name); }

const json::object* object_part(const json::object& schema, std::string_view name) {
  const auto* found = schema.if_contains(name);
  return found ? found->if_object() : nullptr;
}

std::string type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    default:
      return "object";
  }
}

bool whole(const json::value& value) {
  return value.is_int64() || value.is_uint64() ||
         (value.is_double() && std::floor(value.get_double()) == value.get_double());
}

bool has_type(const json::value& value, std::string_view wanted) {
  if (wanted == "integer") return whole(value);
  if (wanted == "number") return value.is_number();
  return type_name(value) == wanted;
}

bool same_value(const json::value& left, const json::value& right) {
  cel::Arena arena;
  return cel::equal(cel::from_json(left, arena), cel::from_json(right, arena));
}

// How two numbers stand to each other, whatever their types.
int compare_numbers(const json::value& left, const json::value& right) {
  cel::Arena arena;
  return cel::compare(cel::from_json(left, arena), cel::from_json(right, arena)).value_or(0);
}

std::string pointer_token(std::string_view name) {
  std::string text;
  for (const char each : name) text += each == '~' ? "~0" : each == '/' ? "~1" : std::string(1, each);
  return text;
}

}  // namespace

Result<Schema> Schema::parse(const json::value& declared) {
  Schema schema;
  if (declared.is_null()) {
    schema.root_ = {{"type", "object"}, {"additionalProperties", false}};
    return schema;
  }
  const auto* fields = declared.if_object();
  if (!fields) return Error{.code = Code::invalid, .message = "a schema is a map of fields"};
  if (const auto* given = fields->if_contains("openAPIV3Schema")) {
    if (!given->is_object())
      return Error{.code = Code::invalid, .message = "openAPIV3Schema is a map", .path = "/openAPIV3Schema"};
    schema.root_ = given->as_object();
    if (!schema.root_.contains("type")) schema.root_["type"] = "object";
    return schema;
  }
  auto expanded = expand_short_schema(*fields);
  if (!expanded) return expanded.error();
  schema.root_ = std::move(*expanded);
  return schema;
}

// What a schema refers to; null where that is nothing or leads in a ring.
const json::object* Schema::resolve(const json::object& schema) const {
  const json::object* current = &schema;
  for (int hops = 0; hops < kDeepestSchema; ++hops) {
    const auto* reference = part(*current, "$ref");
    if (!reference) return current;
    if (!reference->is_string() || !reference->as_string().starts_with("#/")) return nullptr;
    const json::object* place = &root_;
    std::string_view rest = std::string_view(reference->as_string()).substr(2);
    while (place && !rest.empty()) {
      const size_t end = std::min(rest.find('/'), rest.size());
      place = object_part(*place, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!place) return nullptr;
    current = place;
  }
  return nullptr;
}

void Schema::add_defaults(json::value& value) const { add_defaults(root_, value, 0); }

void Schema::add_defaults(const json::object& given, json::value& value, int depth) const {
  const auto* schema = depth > kDeepestSchema ? nullptr : resolve(given);
  if (!schema) return;
  if (auto* object = value.if_object()) {
    const auto* properties = object_part(*schema, "properties");
    if (properties) {
      for (const auto& [name, property] : *properties) {
        const auto* field = property.if_object();
        if (!field) continue;
        if (!object->contains(name)) {
          const auto* fallback = part(*field, "default");
          const auto* resolved = fallback ? nullptr : resolve(*field);
          if (resolved) fallback = part(*resolved, "default");
          if (!fallback) continue;
          (*object)[name] = *fallback;
        }
        add_defaults(*field, (*object)[name], depth + 1);
      }
    }
    if (const auto* others = object_part(*schema, "additionalProperties")) {
      for (auto& [name, inner] : *object) {
        if (!properties || !properties->contains(name)) add_defaults(*others, inner, depth + 1);
      }
    }
  } else if (auto* items = value.if_array()) {
    if (const auto* item = object_part(*schema, "items")) {
      for (auto& each : *items) add_defaults(*item, each, depth + 1);
    }
  }
}

std::vector<SchemaFault> Schema::check(const json::value& value) const {
  std::vector<SchemaFault> faults;
  check(root_, value, "", faults, 0);
  return faults;
}

bool Schema::holds(const json::value& schema, const json::value& value, int depth) const {
  if (const auto* yes = schema.if_bool()) return *yes;
  std::vector<SchemaFault> faults;
  if (const auto* object = schema.if_object()) check(*object, value, "", faults, depth);
  return faults.empty();
}

void Schema::check(const json::object& given, const json::value& value, const std::string& path,
                   std::vector<SchemaFault>& faults, int depth) const {
  const auto* schema = depth > kDeepestSchema ? nullptr : resolve(given);
  if (!schema) {
    faults.push_back({path, "the schema refers to what it does not have, or is too deep"});
    return;
  }
  const auto* nullable = part(*schema, "nullable");
  const bool may_be_null = value.is_null() && nullable && nullable->is_bool() && nullable->as_bool();
  // Where the values are listed, null is one of them or it is none.
  if (may_be_null && !part(*schema, "enum")) return;
  if (const auto* type = part(*schema, "type")) {
    std::string wanted;
    bool fits = may_be_null;
    const auto consider = [&](const json::value& name) {
      if (!name.is_string()) return;
      wanted += (wanted.empty() ? "" : " or ") + std::string(name.as_string());
      fits = fits || has_type(value, name.as_string());
    };
    if (const auto* names = type->if_array()) {
      for (const auto& name : *names) consider(name);
    } else {
      consider(*type);
    }
    if (!fits) {
      faults.push_back({path, "expected " + wanted + ", found " + type_name(value)});
      return;
    }
  }
  if (const auto* choices = part(*schema, "enum"); choices && choices->is_array()) {
    const auto& listed = choices->as_array();
    if (std::none_of(listed.begin(), listed.end(), [&](const json::value& each) { return same_value(each, value); })) {
      faults.push_back({path, "expected one of " + json::serialize(listed)});
    }
  }
  if (const auto* only = part(*schema, "const"); only && !same_value(*only, value)) {
    faults.push_back({path, "expected " + json::serialize(*only)});
  }
  check_size(*schema, value, path, faults);
  if (const auto* object = value.if_object()) check_members(*schema, *object, path, faults, depth);
  if (const auto* items = value.if_array()) {
    if (const auto* item = object_part(*schema, "items")) {
      for (size_t index = 0; index < items->size(); ++index) {
        check(*item, (*items)[index], path + "/" + std::to_string(index), faults, depth + 1);
      }
    }
  }
  check_choices(*schema, value, path, faults, depth);
}

void Schema::check_size(const json::object& schema, const json::value& value, const std::string& path,
                        std::vector<SchemaFault>& faults) const {
  const auto limit = [&](std::string_view name) -> const json::value* {
    const auto* found = part(schema, name);
    return found && found->is_number() ? found : nullptr;
  };
  const auto between = [&](size_t size, std::string_view least, std::string_view most, std::string_view of) {
    const json::value actual(size);
    if (const auto* bound = limit(least); bound && compare_numbers(actual, *bound) < 0) {
      faults.push_back({path, "expected at least " + json::serialize(*bound) + " " + std::string(of)});
    }
    if (const auto* bound = limit(most); bound && compare_numbers(actual, *bound) > 0) {
      faults.push_back({path, "expected at most " + json::serialize(*bound) + " " + std::string(of)});
    }
  };
  if (value.is_number()) {
    const auto flagged = [&](std::string_view name) {
      const auto* flag = part(schema, name);
      return flag && flag->is_bool() && flag->as_bool();
    };
    if (const auto* bound = limit("minimum")) {
      const int order = compare_numbers(value, *bound);
      if (order < 0 || (order == 0 && flagged("exclusiveMinimum"))) {
        faults.push_back(
            {path, "expected " + std::string(order == 0 ? "more than " : "at least ") + json::serialize(*bound)});
      }
    }
    if (const auto* bound = limit("maximum")) {
      const int order = compare_numbers(value, *bound);
      if (order > 0 || (order == 0 && flagged("exclusiveMaximum"))) {
        faults.push_back(
            {path, "expected " + std::string(order == 0 ? "less than " : "at most ") + json::serialize(*bound)});
      }
    }
    if (const auto* bound = limit("exclusiveMinimum"); bound && compare_numbers(value, *bound) <= 0) {
      faults.push_back({path, "expected more than " + json::serialize(*bound)});
    }
    if (const auto* bound = limit("exclusiveMaximum"); bound && compare_numbers(value, *bound) >= 0) {
      faults.push_back({path, "expected less than " + json::serialize(*bound)});
    }
    if (const auto* bound = limit("multipleOf")) {
      const double parts = value.to_number<double>() / bound->to_number<double>();
      if (std::fabs(parts - std::round(parts)) > 1e-9 * std::max(1.0, std::fabs(parts))) {
        faults.push_back({path, "expected a multiple of " + json::serialize(*bound)});
      }
    }
  }
  if (const auto* text = value.if_string()) {
    between(cel::length_of(*text), "minLength", "maxLength", "characters");
    if (const auto* pattern = part(schema, "pattern"); pattern && pattern->is_string()) {
      RE2::Options options;
      options.set_log_errors(false);
      const RE2 expression(re2::StringPiece(pattern->as_string().data(), pattern->as_string().size()), options);
      if (!expression.ok()) {
        faults.push_back({path, "the schema's pattern cannot be read: " + expression.error()});
      } else if (!RE2::PartialMatch(re2::StringPiece(text->data(), text->size()), expression)) {
        faults.push_back({path, "expected text that matches " + std::string(pattern->as_string())});
      }
    }
  }
  if (const auto* items = value.if_array()) {
    between(items->size(), "minItems", "maxItems", "items");
    if (const auto* unique = part(schema, "uniqueItems"); unique && unique->is_bool() && unique->as_bool()) {
      for (size_t left = 0; left < items->size(); ++left) {
        for (size_t right = left + 1; right < items->size(); ++right) {
          if (same_value((*items)[left], (*items)[right])) {
            faults.push_back(
                {path, "the items " + std::to_string(left) + " and " + std::to_string(right) + " are the same"});
          }
        }
      }
    }
  }
  if (const auto* object = value.if_object()) between(object->size(), "minProperties", "maxProperties", "fields");
}

void Schema::check_members(const json::object& schema, const json::object& value, const std::string& path,
                           std::vector<SchemaFault>& faults, int depth) const {
  const auto* properties = object_part(schema, "properties");
  if (const auto* required = part(schema, "required"); required && required->is_array()) {
    for (const auto& name : required->as_array()) {
      if (name.is_string() && !value.contains(name.as_string())) {
        faults.push_back({path, "'" + std::string(name.as_string()) + "' is missing"});
      }
    }
  }
  const auto* others = part(schema, "additionalProperties");
  for (const auto& [name, inner] : value) {
    const auto place = path + "/" + pointer_token(name);
    const auto* property = properties ? properties->if_contains(name) : nullptr;
    if (property) {
      if (const auto* field = property->if_object()) check(*field, inner, place, faults, depth + 1);
    } else if (others && others->is_bool() && !others->as_bool()) {
      std::string known;
      if (properties) {
        for (const auto& [each, unused] : *properties) known += (known.empty() ? "" : ", ") + std::string(each);
      }
      faults.push_back({place, "there is no such field" + (known.empty() ? std::string() : "; there are " + known)});
    } else if (others && others->is_object()) {
      check(others->as_object(), inner, place, faults, depth + 1);
    }
  }
}

void Schema::check_choices(const json::object& schema, const json::value& value, const std::string& path,
                           std::vector<SchemaFault>& faults, int depth) const {
  const auto count = [&](const json::array& schemas) {
    return std::count_if(schemas.begin(), schemas.end(),
                         [&](const json::value& each) { return holds(each, value, depth + 1); });
  };
  if (const auto* all = part(schema, "allOf"); all && all->is_array()) {
    for (const auto& each : all->as_array()) {
      if (each.is_object()) check(each.as_object(), value, path, faults, depth + 1);
    }
  }
  if (const auto* any = part(schema, "anyOf"); any && any->is_array() && count(any->as_array()) == 0) {
    faults.push_back({path, "this fits none of the schemas under anyOf"});
  }
  if (const auto* one = part(schema, "oneOf"); one && one->is_array()) {
    if (const auto fitting = count(one->as_array()); fitting != 1) {
      faults.push_back(
          {path, "this fits " + std::to_string(fitting) + " of the schemas under oneOf, and must fit one"});
    }
  }
  if (const auto* never = part(schema, "not"); never && holds(*never, value, depth + 1)) {
    faults.push_back({path, "this fits the schema under not"});
  }
}

bool Schema::knows(std::string_view pointer) const {
  const json::object* schema = &root_;
  while (!pointer.empty()) {
    schema = resolve(*schema);
    if (!schema) return false;
    const auto* type = part(*schema, "type");
    if (type && type->is_string() && type->as_string() != "object") return false;
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    std::string name;
    for (size_t at = 0; at < end; ++at) {
      const bool escape = pointer[at] == '~' && at + 1 < end;
      name += !escape ? pointer[at] : pointer[++at] == '1' ? '/' : '~';
    }
    pointer.remove_prefix(end);
    const auto* properties = object_part(*schema, "properties");
    const auto* property = properties ? properties->if_contains(name) : nullptr;
    if (!property) {
      const auto* others = part(*schema, "additionalProperties");
      if (others && others->is_object()) {
        schema = &others->as_object();
        continue;
      }
      return !others ? !properties : others->is_bool() && others->as_bool();
    }
    if (!property->is_object()) return true;
    schema = &property->as_object();
  }
  return true;
}

const cel::Type* Schema::type(cel::TypePool& pool) const { return type_of(root_, pool, 0); }

const cel::Type* Schema::type_of(const json::object& given, cel::TypePool& pool, int depth) const {
  const auto* schema = depth > kDeepestSchema ? nullptr : resolve(given);
  const auto* type = schema ? part(*schema, "type") : nullptr;
  if (!type || !type->is_string() || schema->contains("nullable")) return pool.dynamic();
  const auto& name = type->as_string();
  if (name == "string") return pool.basic(cel::TypeKind::string);
  if (name == "integer") return pool.basic(cel::TypeKind::integer);
  if (name == "number") return pool.dynamic();  // an int or a double, as it is written
  if (name == "boolean") return pool.basic(cel::TypeKind::boolean);
  if (name == "array") {
    const auto* items = object_part(*schema, "items");
    return pool.list(items ? type_of(*items, pool, depth + 1) : pool.dynamic());
  }
  if (name != "object") return pool.dynamic();
  const auto* properties = object_part(*schema, "properties");
  const auto* others = part(*schema, "additionalProperties");
  if (!properties) {
    const auto* values = others ? others->if_object() : nullptr;
    return pool.map(pool.basic(cel::TypeKind::string), values ? type_of(*values, pool, depth + 1) : pool.dynamic());
  }
  cel::Type made{.kind = cel::TypeKind::object};
  for (const auto& [field, property] : *properties) {
    made.fields[std::string(field)] =
        property.is_object() ? type_of(property.as_object(), pool, depth + 1) : pool.dynamic();
  }
  if (!others || !others->is_bool() || others->as_bool()) made.other_fields = pool.dynamic();
  return pool.make(std::move(made));
}

}  // namespace sluice::component
