// Arguments in their order.
#include "engine/named_row.h"

namespace sluice::engine {

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

}  // namespace sluice::engine
