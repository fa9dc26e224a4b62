// A History is what happened in one flow, read from its steps: every invocation with how it ended and who asked for it,
// every firing with its rows and what it asked for, what is still open. `flow trace`, `flow show` and `why` print it.
//
//   auto steps = read_flow(snapshot, row, unpack);
//   History history = history_of(*steps);
//   near_misses(set, records_of(history, set), history.dead_ends());
//
// It knows actions by their names alone, so flows of a kit that is no longer there are read all the same; only
// records_of needs the syncs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/journal/step.h"
#include "engine/rules/sync_set.h"
#include "store/store.h"

namespace sluice::engine {

// Gives the records that a packed flow's blob holds, oldest first.
using Unpack = std::function<Result<std::vector<std::string>>(std::string_view blob)>;

// The flow's steps, oldest first.
Result<std::vector<Step>> read_flow(store::Snapshot& snapshot, const store::FlowRow& flow, const Unpack& unpack);

// A text of the flow's summary: `action`, `caller`, `failure`, `standstill`, and of follow-up flows `parent`, `sync`,
// `dead`. Empty if it has none of that name.
std::string summary_text(const store::FlowRow& flow, std::string_view name);

// Whether a flow is a follow-up of another, or of one that is.
bool follows_from(store::Snapshot& snapshot, store::FlowRow row, const Ulid& flow);

// A sync that fired. Numbers lead into History.
struct Firing {
  std::string sync;
  std::optional<RecordId> trigger;  // the record that completed the match; none in a follow-up flow's dispatch
  std::vector<RecordId> matched;
  uint64_t rows = 0;
  std::vector<Planned> then;
  std::string failure;  // why it could ask for nothing: "it reads more than 10000 rows of Order"
  uint64_t seq = 0;
  int64_t at_ms = 0;
};

// What came after the end.
struct LateEnd {
  End end;
  std::string by;
  uint64_t seq = 0;
  int64_t at_ms = 0;
};

struct PastInvocation {
  enum class Kind : uint8_t { unknown, pure, effect, timer, request };  // unknown until it runs
  Ulid id;
  std::string action;
  json::object input;
  Kind kind = Kind::unknown;
  std::optional<size_t> asked_by;  // firing; none for what came from outside, and for compensations
  std::string undoes;              // a compensation: what it undoes, "Concept/action <invocation>"
  std::optional<size_t> beneath;   // invocation: the request that it is beneath
  uint64_t asked_seq = 0;
  int64_t asked_at_ms = 0;
  int64_t began_at_ms = 0;   // 0: it has not run yet
  uint64_t request_seq = 0;  // of the step that opened it, of a request
  uint64_t ended_seq = 0;    // 0: it has not ended
  int64_t ended_at_ms = 0;
  std::optional<End> end;
  std::string by, note;             // of the newest step about it
  std::vector<std::string> guards;  // that refused
  int64_t attempts = 0;
  int64_t due_ms = 0;  // of a timer, or of the next attempt
  std::vector<LateEnd> late;
  std::vector<size_t> fired;  // on its request and on its completion, in order

  bool is_open() const { return !end; }
};

// An operator's decision, and what became of a follow-up flow.
struct FlowEvent {
  Step::Kind kind = Step::Kind::cancel;
  int64_t at_ms = 0;
  Caller caller;
  std::string note;
  int64_t attempt = 0;
  int64_t due_ms = 0;
};

struct History {
  Ulid flow;
  Caller caller;
  std::string sync_set;
  std::optional<ChildRoot> child;  // of a follow-up flow
  uint64_t steps = 0;
  int64_t began_at_ms = 0, last_at_ms = 0;
  std::vector<PastInvocation> invocations;  // in the order in which they were asked for
  std::vector<Firing> firings;              // in order
  std::vector<Ulid> children;               // follow-up flows that it opened
  std::vector<FlowEvent> events;

  std::optional<size_t> find(const Ulid& invocation) const;
  // The first that ended otherwise than ok and that no sync matched.
  std::optional<size_t> first_failure() const;
  std::vector<size_t> open() const;
  // Completions with which something came to its end: those other than ok that no sync matched, and the last beneath
  // each request that ended unanswered.
  std::vector<RecordId> dead_ends() const;
  // The firing that answered a request of this flow.
  std::optional<size_t> answered_by(const Ulid& request) const;

  std::unordered_map<Ulid, size_t> by_id;    // invocations
  std::unordered_map<Ulid, size_t> answers;  // the first firing that answers a request, by the request's invocation
};

History history_of(const std::vector<Step>& steps);

// The flow's records as its syncs see them, with their causes. Those of actions and variants that the set's kit does
// not have are left out.
std::vector<RecordRef> records_of(const History& history, const SyncSet& set);

// What is open, by invocation: its completion as far as it is known, with its arguments and causes and no outcome.
std::map<size_t, RecordRef> open_records_of(const History& history, const SyncSet& set);

}  // namespace sluice::engine
