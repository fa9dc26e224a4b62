// Arguments in their order.
#include "engine/named_row.h"

namespace sluice::engine {
namespace {

using Kind = lang::Shape::Kind;

// What is no text where a key must be is for the handler's own check to refuse.
Result<void> check_key_in(const lang::Types& types, lang::TypeId type, const json::value& value,
                          const std::string& path) {
  const lang::Shape& shape = types[types.present(type)];
  if (shape.kind == Kind::parameter && value.is_string()) {
    const json::string& key = value.get_string();
    if (!key.empty() && key.find('\0') == json::string::npos) return {};
    return Error{.code = Code::invalid,
                 .message = path.substr(1) + (key.empty() ? " is empty" : " has a NUL in it"),
                 .next = "give the name or the id of what is meant",
                 .path = path};
  }
  if ((shape.kind == Kind::list || shape.kind == Kind::set) && value.is_array()) {
    for (size_t i = 0; i < value.get_array().size(); ++i) {
      auto sound = check_key_in(types, shape.inner[0], value.get_array()[i], path + "/" + std::to_string(i));
      if (!sound) return sound;
    }
  }
  if (shape.kind == Kind::record && value.is_object()) {
    for (size_t i = 0; i < shape.names.size(); ++i) {
      const json::value* field = value.get_object().if_contains(shape.names[i]);
      if (field == nullptr) continue;
      if (auto sound = check_key_in(types, shape.inner[i], *field, path + "/" + shape.names[i]); !sound) return sound;
    }
  }
  return {};
}

}  // namespace

std::optional<NamedRow> named_row(const lang::Symbols& symbols, lang::ActionRef action, const json::object& input) {
  const lang::ConceptSymbol& owner = symbols.concepts[action.concept_];
  for (const lang::FieldSymbol& param : symbols.action(action).params) {
    const lang::Shape& shape = symbols.types[symbols.types.present(param.type)];
    const json::value* value = input.if_contains(param.name);
    if (shape.kind != lang::Shape::Kind::parameter || shape.owner != owner.name) continue;
    if (value == nullptr || !value->is_string()) continue;
    bool is_first = !owner.source->params.empty() && owner.source->params[0].text == shape.name;
    return NamedRow{is_first ? owner.name : owner.name + "[" + shape.name + "]", std::string(value->get_string())};
  }
  return std::nullopt;
}

Result<void> check_keys(const lang::Symbols& symbols, lang::ActionRef action, const json::object& input) {
  for (const lang::FieldSymbol& param : symbols.action(action).params) {
    const json::value* value = input.if_contains(param.name);
    if (value == nullptr) continue;
    auto sound = check_key_in(symbols.types, param.type, *value, "/" + param.name);
    if (!sound) {
      Error error = sound.error();
      error.message = symbols.name(action) + ": " + error.message;
      return error;
    }
  }
  return {};
}

}  // namespace sluice::engine
