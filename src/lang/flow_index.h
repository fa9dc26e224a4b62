// Who starts, matches and answers what, by number, for the checks of what follows from what. For the checker's own
// files only.
//
// Only plain patterns count as matching an outcome (`caused by` and `latest` never trigger), and only those that name
// their concept, or whose sync answers: a sync on `?c/?a` records, it does not handle.
#pragma once

#include <set>
#include <vector>

#include "lang/check_parts.h"

namespace sluice::lang {

struct FlowIndex {
  FlowIndex(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs);

  struct Start {
    size_t sync;    // in the list of checked syncs
    size_t effect;  // in its then
  };

  const Kit& kit;
  const Symbols& symbols;
  const std::vector<SyncSymbol>& syncs;

  std::vector<ActionRef> actions;                // by number
  std::vector<size_t> first;                     // by action: the number of its first outcome
  std::vector<std::vector<size_t>> requested;    // by action: the syncs on its request
  std::vector<std::vector<Start>> started;       // by action
  std::vector<std::set<size_t>> answered;        // by action: with which variants
  std::vector<std::vector<size_t>> matched;      // by outcome: the syncs on it
  std::vector<std::vector<size_t>> invokes;      // by sync: the actions that it starts
  std::vector<std::vector<size_t>> answers;      // by sync: the actions that it answers
  std::vector<std::vector<size_t>> completions;  // by sync: the actions whose completions it matches

  const Sync& tree(size_t sync) const { return kit.syncs[syncs[sync].sync].tree; }
  size_t number(ActionRef ref) const { return numbers_[ref.concept_][ref.action]; }
  const ActionSymbol& action(size_t number) const { return symbols.action(actions[number]); }
  std::string name(size_t number) const { return symbols.name(actions[number]); }

  // Supersession is how a wait is renewed: the newer wait goes on in its place.
  bool ends_quietly(size_t number, size_t variant) const;
  // The word in then that starts the action.
  Place place(const Start& start) const;

 private:
  void index_open(size_t sync, const PatternSymbol& pattern);

  std::vector<std::vector<size_t>> numbers_;  // by concept and action
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
