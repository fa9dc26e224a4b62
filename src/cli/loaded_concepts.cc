// A concept and its handlers fit if the same actions run the same way and end in the same variants.
#include "cli/loaded_concepts.h"

#include <algorithm>

namespace sluice::cli {
namespace {

bool fits(const lang::ActionSymbol& action, const lang::ActionBinding* handler) {
  return handler != nullptr && handler->runs == action.runs &&
         std::ranges::equal(handler->variants, action.variants, {}, {}, &lang::VariantSymbol::name);
}

}  // namespace

const lang::ConceptBinding* LoadedConcepts::find(std::string_view name) const {
  auto found = std::ranges::find(concepts, name, &lang::ConceptBinding::name);
  return found == concepts.end() ? nullptr : *found;
}

Result<void> check_handlers(const LoadedConcepts& loaded, const lang::CheckedKit& kit) {
  for (const lang::ConceptSymbol& symbol : kit.symbols().concepts) {
    const lang::ConceptBinding* binding = loaded.find(symbol.name);
    if (binding == nullptr) continue;
    for (const lang::ActionSymbol& action : symbol.actions) {
      if (fits(action, binding->action(action.name))) continue;
      return Error{.code = Code::invalid,
                   .message = "the handlers of " + symbol.name + " in this program were made for another " +
                              symbol.name + ": " + action.name + " differs",
                   .next = "give the concept another name, or run the kit with the program that was built for it"};
    }
  }
  return {};
}

}  // namespace sluice::cli
