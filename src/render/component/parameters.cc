// Overlaid, completed and checked, in this order.
#include "render/component/parameters.h"

#include <functional>

namespace sluice::component {
namespace {

const json::value* at(const Placed& placed, const std::string& pointer) {
  if (!placed.value) return nullptr;
  boost::system::error_code failed;
  const auto* found = placed.value->find_pointer(pointer, failed);
  return failed ? nullptr : found;
}

// The leaves of a value, by pointer.
void each_leaf(const json::value& value, const std::string& pointer,
               const std::function<void(const std::string&)>& visit) {
  const auto* object = value.if_object();
  if (!object || object->empty()) {
    if (!pointer.empty()) visit(pointer);
    return;
  }
  for (const auto& [name, inner] : *object) {
    std::string place = pointer + "/";
    for (const char each : name) place += each == '~' ? "~0" : each == '/' ? "~1" : std::string(1, each);
    each_leaf(inner, place, visit);
  }
}

}  // namespace

Result<Schema> whole_schema(const ParameterSchemas& schemas) {
  auto parameters = Schema::parse(schemas.parameters);
  if (!parameters) {
    auto error = parameters.error();
    error.path = "/spec/schema/parameters" + error.path;
    return error;
  }
  if (schemas.envOverrides.is_null()) return parameters;
  auto overrides = Schema::parse(schemas.envOverrides);
  if (!overrides) {
    auto error = overrides.error();
    error.path = "/spec/schema/envOverrides" + error.path;
    return error;
  }
  json::value merged = overrides->document();
  overlay(merged, parameters->document());
  for (const char* list : {"required"}) {
    json::array names;
    for (const auto* schema : {&parameters->document(), &overrides->document()}) {
      const auto* given = schema->if_contains(list);
      if (given && given->is_array()) names.insert(names.end(), given->as_array().begin(), given->as_array().end());
    }
    if (!names.empty()) merged.as_object()[list] = std::move(names);
  }
  return Schema::parse(json::object{{"openAPIV3Schema", merged}});
}

void overlay(json::value& base, const json::value& over) {
  auto* into = base.if_object();
  const auto* fields = over.if_object();
  if (!into || !fields) {
    base = over;
    return;
  }
  for (const auto& [name, value] : *fields) {
    if (auto* there = into->if_contains(name)) {
      overlay(*there, value);
    } else {
      (*into)[name] = value;
    }
  }
}

Parameters Parameters::make(const ParameterSchemas& schemas, const Document& schema_document, const Placed& own,
                            const Placed& settings, std::vector<Error>& faults) {
  Parameters made;
  made.own_ = own;
  made.settings_ = settings;
  made.schema_document_ = &schema_document;
  const auto fault = [&](const Document& document, std::string path, std::string message) {
    faults.push_back(
        {.code = Code::invalid, .message = std::move(message), .path = path, .position = document.position_of(path)});
  };
  auto schema = whole_schema(schemas);
  if (!schema) {
    fault(schema_document, schema.error().path, schema.error().message);
    return made;
  }
  made.schema_ = std::move(*schema);
  if (own.value && !own.value->is_null()) made.value_ = *own.value;
  if (settings.value && !settings.value->is_null()) {
    const auto allowed = schemas.envOverrides.is_null() ? made.schema_ : *Schema::parse(schemas.envOverrides);
    each_leaf(*settings.value, "", [&](const std::string& pointer) {
      if (allowed.knows(pointer)) return;
      fault(*settings.document, settings.pointer + pointer,
            made.schema_.knows(pointer)
                ? "this parameter is not among those that an environment may override (schema.envOverrides)"
                : "there is no such parameter");
    });
    overlay(made.value_, *settings.value);
  }
  made.schema_.add_defaults(made.value_);
  for (const auto& each : made.schema_.check(made.value_)) {
    const bool by_settings = at(settings, each.path) && !each.path.empty();
    const auto& placed = by_settings ? settings : own;
    fault(placed.document ? *placed.document : schema_document, placed.pointer + each.path, each.message);
  }
  return made;
}

std::vector<Origin> Parameters::origins(const std::string& pointer) const {
  std::vector<Origin> all;
  for (const auto& [owner, placed] :
       {std::pair<const char*, const Placed*>{"settings", &settings_}, {"component", &own_}}) {
    if (const auto* found = at(*placed, pointer)) {
      all.push_back({owner, *found, placed->document->position_of(placed->pointer + pointer)});
    }
  }
  json::value fallback = json::object{};
  schema_.add_defaults(fallback);
  boost::system::error_code failed;
  if (const auto* found = fallback.find_pointer(pointer, failed); found && !failed) {
    all.push_back({"default", *found, schema_document_->position_of("/spec/schema/parameters" + pointer)});
  } else if (all.empty()) {
    if (const auto* value = value_.find_pointer(pointer, failed); value && !failed) {
      all.push_back({"default", *value, schema_document_->position_of("/spec/schema/parameters" + pointer)});
    }
  }
  return all;
}

}  // namespace sluice::component
