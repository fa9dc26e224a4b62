// reversal: the action that undoes another one is there, can be repeated, and gets its arguments. They are taken by
// name from the completion, then from the request. An outcome of the engine's own after which the work may be done has
// no fields unless `finish` makes it a declared variant, which is C++: what it lacks then is not judged here, and
// Flow/undo ends in `stuck`.
#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {

void check_reversal(ConceptSymbol& owner, ActionSymbol& action, const Symbols& symbols, Report& report) {
  if (!action.source->reversal || action.source->reversal->action.empty()) return;
  const Reversal& reversal = *action.source->reversal;
  const std::string& file = owner.source->file;
  Place place = report.word(file, reversal.at, reversal.action);
  if (action.runs == Runs::query) {
    report.error(place, "reversal", quoted(action.name) + " is a query: there is nothing to undo",
                 "leave `reversal:` out");
    return;
  }
  auto found = std::ranges::find(owner.actions, reversal.action, &ActionSymbol::name);
  if (found == owner.actions.end()) {
    report.error(place, "reversal", quoted(owner.name) + " has no action " + quoted(reversal.action),
                 did_you_mean(reversal.action, names_of(owner.actions)));
    return;
  }
  if (found->runs == Runs::query) {
    report.error(place, "reversal", quoted(reversal.action) + " is a query: it undoes nothing",
                 "name the action that takes back what " + quoted(action.name) + " did");
    return;
  }
  if (found->runs == Runs::effect && found->source->retry != Retry::safe) {
    report.error(place, "reversal",
                 quoted(reversal.action) + " undoes " + quoted(action.name) +
                     ", so it is repeated until it is done, but it is not `retry: safe`",
                 "declare " + quoted(reversal.action) + " `retry: safe`, and let it succeed on what is not there");
  }
  ReversalSymbol result{.action = static_cast<size_t>(found - owner.actions.begin())};
  std::vector<const VariantSymbol*> compensated;
  if (auto ok = find_variant(action, "ok")) compensated.push_back(&action.variants[*ok]);
  for (const Name& name : reversal.variants) {
    if (auto variant = find_variant(action, name.text)) {
      result.variants.push_back(*variant);
      compensated.push_back(&action.variants[*variant]);
    } else {
      report.error(place_of(file, name), "reversal", quoted(action.name) + " has no variant " + quoted(name.text),
                   did_you_mean(name.text, names_of(action.variants)));
    }
  }
  for (const FieldSymbol& param : found->params) {
    bool optional = symbols.types[param.type].kind == Shape::Kind::option;
    auto request = find_field(action.params, param.name);
    for (const VariantSymbol* variant : compensated) {
      auto completion = find_field(variant->fields, param.name);
      if (!completion && !request && optional) continue;
      if (!completion && !request) {
        report.error(place, "reversal",
                     quoted(reversal.action) + " needs " + quoted(param.name) + ", which neither " +
                         quoted(action.name + " => " + variant->name) + " nor its arguments have",
                     "add the field, or name an action that can do without it");
        break;
      }
      TypeId given = completion ? variant->fields[*completion].type : action.params[*request].type;
      if (symbols.types.assignable(given, param.type) == Fit::no) {
        report.error(place, "reversal",
                     quoted(param.name) + " of " + quoted(reversal.action) + " is " + symbols.types.name(param.type) +
                         ", but " + quoted(action.name) + " gives " + symbols.types.name(given),
                     "give both the same type, or name another action");
        break;
      }
    }
  }
  action.reversal = std::move(result);
}

}  // namespace sluice::lang
