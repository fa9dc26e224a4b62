// Who starts, matches and answers what, by number, for the checks of what follows from what. For the checker's own
// files only.
//
// Only plain patterns count as matching an outcome (`caused by` and `latest` never trigger), and only those that name
// their concept, or whose sync answers: a sync on `?c/?a` records, it does not handle. What is started is told apart by
// its literals (lang/check/check_kinds.h).
#pragma once

#include <set>
#include <vector>

#include "lang/check/check_kinds.h"
#include "lang/check/check_parts.h"

namespace sluice::lang {

struct FlowIndex {
  FlowIndex(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds);

  struct Start {
    size_t sync;    // in the list of checked syncs
    size_t effect;  // in its then
  };

  const Kit& kit;
  const Symbols& symbols;
  const std::vector<SyncSymbol>& syncs;
  const Kinds& kinds;

  std::vector<size_t> first;                   // by kind: the number of its first outcome
  std::vector<std::vector<size_t>> requested;  // by kind: the syncs on its request
  std::vector<std::vector<Start>> started;     // by kind
  std::vector<std::vector<size_t>> matched;    // by outcome: the syncs on it
  std::vector<std::vector<size_t>> invokes;    // by sync: the kinds that it starts
  std::vector<std::vector<size_t>> takes;      // by sync: the kinds whose completions it matches
  std::vector<std::vector<size_t>> opens;      // by sync: the kinds whose requests it matches
  std::vector<std::vector<size_t>> answers;    // by sync: the actions that it answers
  std::vector<std::set<size_t>> answered;      // by action: with which variants

  const Sync& tree(size_t sync) const { return kit.syncs[syncs[sync].sync].tree; }
  size_t number(ActionRef ref) const { return kinds.number(ref); }
  ActionRef ref(size_t kind) const { return kinds.actions[kinds.all[kind].action]; }
  const ActionSymbol& action(size_t kind) const { return symbols.action(ref(kind)); }
  const ConceptSymbol& owner(size_t kind) const { return symbols.concepts[ref(kind).concept_]; }
  std::string name(size_t kind) const { return symbols.name(ref(kind)); }
  // With the literals that tell it from others: `Timer/wait: [ name: "soak" ]`.
  std::string title(size_t kind) const { return name(kind) + to_string(kinds.all[kind].given); }
  // A pattern for it: `Timer/wait: [ name: "soak" ]`, `Step/go: []`.
  std::string pattern(size_t kind) const {
    return name(kind) + (kinds.all[kind].given.empty() ? ": []" : to_string(kinds.all[kind].given));
  }

  // Supersession is how a wait is renewed: the newer wait goes on in its place.
  bool ends_quietly(size_t kind, size_t variant) const;
  // The word in then that starts the action.
  Place place(const Start& start) const;

 private:
  void index(size_t sync, size_t pattern);
  void take(size_t sync, const std::vector<size_t>& those, std::optional<size_t> variant);
};

// check_answers.cc. Gives the outcomes that it has told of.
std::vector<bool> check_answers(const FlowIndex& flow, Report& report);

// Which of so many things are in a set that is emptied at no cost.
class Marks {
 public:
  explicit Marks(size_t count) : stamp_(count) {}
  void clear() { ++now_; }
  bool has(size_t each) const { return stamp_[each] == now_; }
  bool add(size_t each) {  // false: it was there
    if (has(each)) return false;
    stamp_[each] = now_;
    return true;
  }

 private:
  std::vector<uint32_t> stamp_;
  uint32_t now_ = 1;
};

}  // namespace sluice::lang
