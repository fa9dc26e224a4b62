// Built anew with every kit.
#include "engine/rules/action_table.h"

#include <algorithm>

namespace sluice::engine {

void ActionTable::load(const lang::Symbols& symbols, const std::vector<const lang::ConceptBinding*>& concepts) {
  rows_.clear();
  by_name_.clear();
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    const lang::ConceptSymbol& symbol = symbols.concepts[c];
    auto loaded = std::ranges::find(concepts, symbol.name, &lang::ConceptBinding::name);
    std::vector<Row>& rows = rows_.emplace_back();
    for (size_t a = 0; a < symbol.actions.size(); ++a) {
      const std::string& name = *names_.insert(symbols.name({c, a})).first;
      rows.push_back({&name, loaded == concepts.end() ? nullptr : (*loaded)->action(symbol.actions[a].name)});
      by_name_[name] = {c, a};
    }
  }
  timer_wait_ = by_name_.at("Timer/wait");
  flow_undo_ = by_name_.at("Flow/undo");
}

std::optional<lang::ActionRef> ActionTable::find(std::string_view name) const {
  auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sluice::engine
