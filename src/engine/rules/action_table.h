// ActionTable leads between the actions of the loaded kit, their names and their handlers.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/check/check.h"
#include "lang/run/binding.h"

namespace sluice::engine {

class ActionTable {
 public:
  // The handlers must outlive it. Names that were given out before last on.
  void load(const lang::Symbols& symbols, const std::vector<const lang::ConceptBinding*>& concepts);

  std::optional<lang::ActionRef> find(std::string_view name) const;
  // "Concept/action"
  const std::string& name(lang::ActionRef action) const { return *rows_[action.concept_][action.action].name; }
  // Null: its concept is not loaded.
  const lang::ActionBinding* binding(lang::ActionRef action) const {
    return rows_[action.concept_][action.action].binding;
  }
  bool is_timer(lang::ActionRef action) const { return action == timer_wait_; }
  bool is_undo(lang::ActionRef action) const { return action == flow_undo_; }

 private:
  struct Row {
    const std::string* name;
    const lang::ActionBinding* binding;
  };
  std::vector<std::vector<Row>> rows_;  // by concept and action
  std::set<std::string> names_;         // only grows, so that others may look
  std::unordered_map<std::string, lang::ActionRef> by_name_;
  lang::ActionRef timer_wait_, flow_undo_;
};

}  // namespace sluice::engine
