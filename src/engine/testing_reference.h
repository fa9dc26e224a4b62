// The plainest reading of the rules for matching, to hold the engine against: every tuple of records is tried, on the
// trees as they were parsed, and ancestors are walked. And random kits and flows to try both on.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/testing_engine.h"
#include "engine/testing_small_kit.h"

namespace sluice::engine {

struct Node {
  RecordRef record;
  std::vector<size_t> parents;    // what its invocation's firing matched
  std::optional<size_t> beneath;  // the request that its invocation is beneath
};

class Reference {
 public:
  using Bound = std::map<std::string, json::value>;
  using Link = lang::Pattern::Link;
  using Outcome = lang::Pattern::Outcome;

  Reference(const lang::CheckedKit& kit, const std::vector<Node>& nodes);

  // "S(1, 2?) a=… b=…" for every match that the last of `arrived` completes.
  std::vector<std::string> matches(const lang::Sync& sync, const std::vector<size_t>& arrived) const;

  bool is_near(const lang::Sync& sync) const;
  // Whether a plain pattern is about how the action of this node's record ends.
  bool listens(const lang::Sync& sync, size_t node) const;

  // How many patterns from the first on can be fulfilled together.
  size_t deepest(const lang::Sync& sync, size_t position, size_t above, std::set<size_t> used,
                 const Bound& bound) const;

  static std::string text(const std::string& name, const std::vector<RecordRef>& records, const Bound& bound);

 private:
  template <typename Found>
  void choose(const lang::Sync& sync, const std::vector<size_t>& arrived, size_t position, size_t above,
              std::vector<std::optional<size_t>>& chosen, const Bound& bound, const Found& found) const;

  static bool is_used(const lang::Sync& sync, size_t n, const std::vector<std::optional<size_t>>& chosen);

  bool newest(const lang::Sync& sync, size_t position, const std::vector<size_t>& arrived,
              std::vector<std::optional<size_t>>& chosen, Bound& bound) const;

  bool is_newer(size_t a, size_t b) const;

  std::optional<size_t> nearest(size_t n, const lang::Pattern& pattern) const;

  bool is_of_class(const lang::Pattern& pattern, const Record& record) const;

  static bool match(const lang::Expr& expr, const json::value* value, Bound& bound);

  bool fits(const lang::Pattern& pattern, const Record& record, Bound& bound) const;

  bool plain_fits(const lang::Sync& sync, const lang::Pattern& pattern, const Record& record, Bound& bound) const;

  std::string text(const lang::Sync& sync, const std::vector<std::optional<size_t>>& chosen, const Bound& bound) const;

  const lang::Symbols& symbols_;
  const std::vector<Node>& nodes_;
};

// The same text of the engine's match.
std::string reference_text(const SyncSet& set, const Match& match);

// "S misses <pattern>" for every sync that no record fired though one fits a plain pattern of it, or though one of
// these is about how the action of a dead end ends, by name: with the first pattern at which every attempt ends. Nodes
// are in the order in which their records came; dead ends are some of them.
std::vector<std::string> reference_near_misses(const SyncSet& set, const std::vector<Node>& nodes,
                                               const std::set<size_t>& dead_ends = {});

// ------------------------------------------------------------------------------------------------- random input

class Dice {
 public:
  explicit Dice(uint64_t seed);

  size_t below(size_t count);
  bool one_in(size_t count);
  const char* of(std::initializer_list<const char*> words);

  std::string rules(size_t syncs);

  std::vector<Node> flow(const SyncSet& set, size_t count);

  template <typename T>
  void shuffle(std::vector<T>& all) {
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }

 private:
  std::string input();
  std::string output();

  std::string word();
  std::string number();

  std::string fields(std::initializer_list<const char*> names);

  std::string pattern(size_t number);

  std::string sync(const std::string& name);

  std::mt19937_64 engine_;
};

}  // namespace sluice::engine
