// What a SyncSet consists of. For the files that compile, join and explain; everyone else uses engine/rules/sync_set.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/rules/patterns.h"
#include "engine/rules/rules.h"
#include "engine/rules/where.h"
#include "lang/check/check.h"

namespace sluice::engine {

// How the groups of one `when` are joined, beginning with any of them. Groups are found by the values of the variables
// that are bound by then, so that only records are looked at that agree.
struct JoinPlan {
  struct Index {
    size_t group = 0;
    std::vector<size_t> key;  // slots
    bool operator==(const Index&) const = default;
  };
  std::vector<Index> indexes;
  // For each group as the trigger: the indexes to ask, one for each other group, in this order.
  std::vector<std::vector<size_t>> steps;
  // For each `latest` pattern the slots that are bound when its turn comes.
  std::vector<std::vector<size_t>> latest_keys;
};

JoinPlan plan_joins(const When& when);

struct CompiledEffect {
  bool is_answer = false;
  std::vector<lang::TargetSymbol> targets;
  std::optional<size_t> slot;  // of a dynamic target's concept, or of the request
  std::string variable;        // its name
  std::string variant;         // answer
  std::vector<CompiledArgument> arguments;
};

struct CompiledSync {
  std::string name, title, hash;
  bool eventual = false, loop = false;
  std::vector<std::string> variables;  // of the first slots
  std::vector<std::string> retry_variants;
  size_t slots = 0;
  When when;
  JoinPlan plan;
  std::vector<CompiledCondition> where;
  std::vector<CompiledEffect> then;
  std::vector<size_t> used;  // slots that `then` reads, each once, sorted
  std::vector<size_t> told;  // slots that the `when` binds to what its records say, not to what they are: likewise
};

struct CompiledSet {
  // A place at which a record may stand: a group, or a `latest` (of When::latest), by number.
  struct Place {
    size_t sync = 0;
    size_t number = 0;
  };
  struct Places {
    std::vector<Place> triggers, latest;
  };

  std::shared_ptr<const lang::CheckedKit> kit;
  std::string text, hash;
  std::vector<CompiledSync> syncs;          // by name
  std::vector<RecordClass> causes;          // by number
  std::vector<std::vector<Places>> places;  // by concept and action; patterns on any action stand with each

  const lang::Symbols& symbols() const { return kit->symbols(); }
  const Places& at(lang::ActionRef action) const { return places[action.concept_][action.action]; }
};

}  // namespace sluice::engine
