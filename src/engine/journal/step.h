// A Step is one transaction and one row of the journal: what was asked or came in, how it ended, what fired, and what
// is to follow. It is all that recovery needs and all that the audit shows: a flow in memory is nothing but its steps
// applied in order. docs/internals/journal.md describes the JSON.
//
// Records are chained: each begins with the SHA-256 of the one before it, so that nothing can be taken out, put in or
// changed without the next signed head telling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "base/ulid.h"
#include "engine/journal/record.h"

namespace sluice::engine {

// Who stands behind a call from outside, as the door found out.
struct Caller {
  std::string name;    // "uid:1000" for a local call
  std::string reason;  // why, in the caller's words; may be empty
  std::string token;   // by which it was shown who calls; empty for a local call

  bool operator==(const Caller&) const = default;
};

// What opened a flow from outside. Its first invocation has the flow's own id.
struct Root {
  json::object input;
  std::string key;       // idempotency key, may be empty
  std::string sync_set;  // hash of the set that the flow goes on under
  std::optional<uint64_t> expect_generation;

  bool operator==(const Root&) const = default;
};

// What opened a child flow: an eventual firing of its parent.
struct ChildRoot {
  Ulid parent;  // flow
  std::string sync;
  std::vector<RecordId> matched;
  json::object bindings;  // the variables that the `when` bound, by name
  json::array causes;     // what its actions are caused by, as records; null where there is none
  std::string sync_set;

  bool operator==(const ChildRoot&) const = default;
};

// How an action ended.
struct End {
  std::string variant;  // "ok", or "engine.fault"
  json::object fields;
  bool maybe_done = false;
  json::array next;  // what can be done about it, as in engine/rules/next_steps.h

  bool operator==(const End&) const = default;
};

// What a firing asked for: exactly one of an invocation, an answer and a child flow.
struct Planned {
  enum class Kind : uint8_t { invoke, answer, child };
  Kind kind = Kind::invoke;
  Ulid id;                   // of the new invocation; of the request that is answered; of the child flow
  std::string action;        // invoke: "Concept/action"
  std::string unavailable;   // invoke: the concept that a dynamic target named, though it is none of its candidates
  std::string variant;       // answer
  std::optional<Ulid> flow;  // answer: the request's flow, if that is another
  json::object fields;       // arguments, or the answer's fields

  bool operator==(const Planned&) const = default;
};

struct Fired {
  std::string sync;
  std::vector<RecordId> matched;  // by position in the `when`
  uint64_t rows = 0;
  std::vector<Planned> then;

  bool operator==(const Fired&) const = default;
};

// A row of state that a step wrote, which binds it to the journal.
struct Wrote {
  std::string relation;
  std::string key;
  std::string hash;  // state_hash of what it became; empty: it was erased

  bool operator==(const Wrote&) const = default;
};
// The first 16 bytes, in hex, of the SHA-256 of the generation, a line break and the value as it is stored.
std::string state_hash(uint64_t generation, std::string_view value);

struct Step {
  enum class Kind : uint8_t {
    act,       // a pure action ran, or was refused
    begin,     // an effect, a timer or an answered action opened, or ended at once
    started,   // an attempt at an effect that must not be repeated is about to run
    again,     // an attempt did nothing, or a crash interrupted it: the next is due at `due_ms`
    finish,    // an effect's outcome, an answer, a timer, a deadline or a decision ended an action
    late,      // what came after the end; fires nothing
    child,     // an eventual firing opened this flow
    dispatch,  // a child flow's where ran
    dead,      // a child flow is given up until an operator decides
    drop,      // an operator gave a dead child flow up for good
    cancel,    // an operator cancelled the flow: everything open ends
    move,      // an operator moved the flow to another sync set
    resolve,   // an operator decided about an action that may have been done: it is asked for again, or ends as `end`
    denied,    // a call that was not allowed; belongs to no flow
    clock,     // the system's clock was set, agrees again, or an operator corrected recorded time; belongs to no flow
    state,     // what rows of state there were when Sluice began to bind them to the journal; belongs to no flow
    put,       // somebody put bytes into the home: their digest is the note, their number the count; of no flow
  };
  uint64_t seq = 0;
  int64_t at_ms = 0;
  Ulid flow;
  Ulid invocation;
  Kind kind = Kind::act;
  std::string action;               // "Concept/action" of the invocation, if there is one
  Caller caller;                    // who decided this from outside; empty: the flow itself
  std::optional<Root> root;         // the flow's first step, if it was opened from outside
  std::optional<ChildRoot> child;   // kind child
  std::optional<json::value> work;  // begin that leaves an effect open: what it is to do
  std::optional<End> end;
  // finish and late: "effect", "answer", "answer:<flow>", "timer", "superseded", "deadline", "unanswered", "cancel",
  // "crash", "operator". again: "effect" or "crash" or "operator".
  std::string by;
  std::string note;
  int64_t attempt = 0;              // started, again, dispatch, dead
  int64_t due_ms = 0;               // begin of a timer; again
  uint64_t count = 0;               // denied: how often within the minute
  int64_t wall_ms = 0;              // clock: what the system's clock says
  std::vector<std::string> guards;  // that refused, the deciding one first
  std::vector<Fired> fired;
  uint64_t head = 0;  // the newest head that was signed before, if no earlier record says so
  std::vector<Wrote> wrote;

  bool operator==(const Step&) const = default;
};

std::string_view name_of(Step::Kind kind);

// The record's bytes: JSON with a fixed order of fields, empty ones left out. `chain` is chain_of the record before, or
// kFirstChain.
std::string write_step(const Step& step, std::string_view chain);
// Strict: a record that write_step would not have written is an error.
Result<Step> read_step(std::string_view record);
// What a record wrote, read without the rest of it.
Result<std::vector<Wrote>> wrote_in(std::string_view record);
// The `chain` that a record was written with.
Result<std::string> chain_in(std::string_view record);
// SHA-256 of a record's bytes, in hex.
std::string chain_of(std::string_view record);

inline constexpr std::string_view kFirstChain = "0000000000000000000000000000000000000000000000000000000000000000";

}  // namespace sluice::engine
