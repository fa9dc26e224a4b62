// The records of a kit by kind: an action with the literals that its records are known to have. What a sync starts is
// of one kind, and a pattern takes the kinds whose literals agree with its own; so are told apart two uses of one
// action, such as the timers "soak" and "retry". For the checker's own files only.
//
// The first kinds are those of which nothing is known, one an action, with the action's number: what is called from
// outside or started with variables alone. Literals count only in fields for which some pattern names one. Where
// comparing an action's would take too long, all that is started of it is of the first kind.
#pragma once

#include <vector>

#include "lang/check/check_literals.h"
#include "lang/check/check_parts.h"

namespace sluice::lang {

struct Kinds {
  Kinds(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs);

  struct Kind {
    size_t action;
    Literals given;
  };

  std::vector<ActionRef> actions;  // by number
  std::vector<Kind> all;

  size_t number(ActionRef ref) const { return numbers_[ref.concept_][ref.action]; }
  // What an effect that starts something starts, one kind a target.
  const std::vector<size_t>& started(size_t sync, size_t effect) const { return started_[sync][effect]; }
  // What a pattern takes; of one that leaves its action open, by the place in PatternSymbol::open.
  const std::vector<size_t>& taken(size_t sync, size_t pattern, size_t open = 0) const;
  // What is known of a record that a pattern which names its action has taken.
  size_t meant(size_t sync, size_t pattern) const { return meant_[sync][pattern]; }

 private:
  using Wanted = std::map<Literals, std::vector<size_t>>;  // with the kinds that agree

  size_t kind(size_t action, Literals given);
  void compare();

  std::vector<std::vector<size_t>> numbers_;                          // by concept and action
  std::vector<Wanted> wanted_;                                        // by action
  std::vector<std::map<Literals, size_t>> by_literals_;               // by action
  std::vector<std::vector<std::vector<size_t>>> started_;             // by sync and effect
  std::vector<std::vector<std::vector<Wanted::value_type*>>> taken_;  // by sync and pattern
  std::vector<std::vector<size_t>> meant_;                            // by sync and pattern
};

}  // namespace sluice::lang
