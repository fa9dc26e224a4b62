// A SyncSet is the active syncs of a checked kit, compiled for matching: names are numbers, variables are slots,
// literals are compared first, joins are indexed. It is immutable and content-addressed: `text` is the canonical form
// of its syncs, `hash` the SHA-256 of that, so that a flow can go on under the set that it began with, also in a later
// binary that loads the text against its own concepts.
//
// Cost: finding what a record may fire is one hash look-up by (concept, action), whatever the number of syncs; a join
// costs what it matches, not what the flow holds.
//
// Records, matches and follow-ups name actions by their numbers in kit().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/journal/record.h"
#include "engine/rules/rules.h"
#include "engine/state_reader.h"
#include "lang/check/check.h"

namespace sluice::engine {

struct CompiledSet;  // engine/rules/compiled_set.h

// One way in which a sync's `when` is fulfilled: a record for each pattern, by position.
struct Match {
  size_t sync = 0;
  std::vector<RecordRef> records;
  Bindings bindings;
};

// What a firing asks for: an invocation or an answer, with its arguments as values.
struct FollowUp {
  bool is_answer = false;
  size_t row = 0;    // of the firing
  size_t place = 0;  // in `then`
  // What is invoked; of an answer, the request's action as far as the set knows (one read from state may be of
  // another that has the variant).
  lang::ActionRef action;
  // A dynamic target's value that is none of its candidates; `action` is then that of the first candidate.
  std::optional<std::string> unavailable;
  Ulid request;              // answer
  size_t variant = 0;        // answer: of `action`
  std::string variant_name;  // answer
  json::object arguments;
};

// How many bytes of arguments a firing may ask for: in each follow-up, and in all of its step.
struct AskRoom {
  size_t one = SIZE_MAX;
  size_t all = SIZE_MAX;
  size_t used = 0;  // of `all`, by the firings before it; grows
};

class SyncSet {
 public:
  // The kit is held as long as the set is.
  static Result<std::shared_ptr<const SyncSet>> compile(std::shared_ptr<const lang::CheckedKit> kit);
  ~SyncSet();

  const std::string& hash() const;
  const std::string& text() const;
  const lang::CheckedKit& kit() const;

  // Syncs are numbered in the order of their names.
  size_t size() const;
  const std::string& name(size_t sync) const;
  std::optional<size_t> find(std::string_view name) const;
  // SHA-256, in hex, of the sync's own canonical text: what a firing is named by.
  const std::string& hash(size_t sync) const;
  bool is_eventual(size_t sync) const;
  // It says that it may come round again and again.
  bool is_loop(size_t sync) const;
  // The names of the variables, by their places in Match::bindings.
  const std::vector<std::string>& variables(size_t sync) const;
  // The variants after which an eventual firing is repeated.
  bool retries_on(size_t sync, std::string_view variant) const;

  // The causes of what a firing on these records invokes. `beneath` is the request that it is beneath, if any. Of an
  // ancestor's class the nearest is the matched record itself, else what that record has; of several, the newest.
  Causes causes_of(const std::vector<RecordRef>& matched, const RecordRef& beneath) const;

  // A hash of what the `when` bound, for the cycle check. What `as` binds names a record, which is always another, and
  // does not count; neither does anything in a sync that says [loop].
  size_t binding_of(size_t sync, const Bindings& bindings) const;
  // The same from the records alone (null: one that is not known any more).
  size_t binding_of(size_t sync, const std::vector<RecordRef>& records) const;

  // Solves the where of a match and builds its follow-ups: rows are the distinct solutions over the variables that
  // `then` uses, sorted by value; zero rows give none. Error `limit`: more than 10,000 rows, or more bytes than
  // there is room for; `invalid`: what is to be answered is no request. Of the records only the ids are used, and only
  // by uuid().
  Result<std::vector<FollowUp>> follow_ups(const Match& match, const StateReader& state, size_t* rows,
                                           AskRoom* room = nullptr) const;

  class Memory;
  // What one flow's later records may still be joined with. Empty at first, and cheap while it is.
  std::unique_ptr<Memory> new_memory() const;

  // For engine/rules/near_miss.h.
  const std::shared_ptr<const CompiledSet>& compiled() const { return compiled_; }

 private:
  explicit SyncSet(std::shared_ptr<const CompiledSet> compiled);

  std::shared_ptr<const CompiledSet> compiled_;
};

// The records of a flow that are waited for, per plain pattern of a `when` with several, and those of actions that a
// `latest` pattern names; no others are kept. Outlives its SyncSet if need be.
class SyncSet::Memory {
 public:
  explicit Memory(std::shared_ptr<const CompiledSet> compiled);
  ~Memory();

  // Every match that the new record completes, by (sync name, record ids). A record is added once.
  std::vector<Match> add(const RecordRef& record);
  // Keeps a record without matching it: for a flow that is read back from the journal.
  void restore(const RecordRef& record);
  // How many records are kept, one counted for each pattern that keeps it.
  size_t kept() const;

 private:
  class Joins;  // engine/rules/joins.cc
  std::unique_ptr<Joins> joins_;
};

}  // namespace sluice::engine
