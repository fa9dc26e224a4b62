// Handlers carry the contract that they were made from.
#include "host/loaded_concepts.h"

#include <algorithm>

#include "host/pack_concepts.h"
#include "lang/run/contract.h"

namespace sluice::host {
namespace {

Error made_for_another(const std::string& name, const std::string& difference) {
  return {.code = Code::invalid,
          .message = "the handlers of " + name + " in this program were made for another " + name + ": " + difference,
          .next = "give the concept another name, or run the kit with the program that was built for it"};
}

// The first line that one of them has and the other has not.
std::string difference_of(const std::vector<std::string>& ours, const std::vector<std::string>& theirs) {
  auto only_in = [](const std::vector<std::string>& one, const std::vector<std::string>& other) {
    auto found = std::ranges::find_if(one, [&](const auto& line) { return std::ranges::count(other, line) == 0; });
    return found == one.end() ? std::string() : *found;
  };
  if (std::string line = only_in(theirs, ours); !line.empty()) return "they do not have `" + line + "`";
  if (std::string line = only_in(ours, theirs); !line.empty()) return "they have `" + line + "`";
  return "";
}

}  // namespace

const lang::ConceptBinding* LoadedConcepts::find(std::string_view name) const {
  auto found = std::ranges::find(concepts, name, &lang::ConceptBinding::name);
  return found == concepts.end() ? nullptr : *found;
}

std::vector<const lang::ConceptBinding*> handlers_of_packs(const LoadedConcepts& loaded,
                                                           const std::shared_ptr<const lang::CheckedKit>& kit) {
  return loaded.packs == nullptr ? std::vector<const lang::ConceptBinding*>() : loaded.packs->bind(kit);
}

Result<void> check_handlers(const LoadedConcepts& loaded, const lang::CheckedKit& kit) {
  for (const lang::KitConcept& each : kit.kit().concepts) {
    const lang::ConceptBinding* binding = loaded.find(each.tree.name);
    if (binding == nullptr) continue;
    std::string difference = difference_of(binding->contract, lang::contract_of(each.tree));
    if (!difference.empty()) return made_for_another(each.tree.name, difference);
  }
  return {};
}

}  // namespace sluice::host
