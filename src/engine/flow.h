// A Flow in memory: the part of it that is still open. Everything else is in the journal. It is made by applying the
// flow's steps in order (machine_apply.cc), live and after a restart alike.
//
// Invocations form a tree of scopes: `beneath` is the open request whose work an invocation is. A request knows what is
// open beneath it, so that one with nothing left that could answer it is found at once.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "engine/journal/journal_search.h"
#include "engine/journal/record.h"
#include "engine/journal/step.h"
#include "engine/rules/sync_set.h"
#include "lang/run/binding.h"
#include "store/store.h"

namespace sluice::engine {

// What follows from one outside event without another: bounded, and checked for cycles.
struct Cascade {
  uint64_t actions = 0;
  std::unordered_set<uint64_t> seen;  // firings: a quick no to "did this fire already?"
};

// The firings that led to an invocation within its cascade, the last one first.
struct Path {
  Path(uint64_t firing, bool loop, std::string sync, std::shared_ptr<Path> parent)
      : firing(firing), loop(loop), sync(std::move(sync)), parent(std::move(parent)) {}
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path();  // a path may be long: it is taken apart without recursion

  uint64_t firing = 0;  // hash of what the sync's `when` bound, and of what it asked for
  bool loop = false;    // the sync says [loop]: it may come round again
  std::string sync;
  std::shared_ptr<Path> parent;
};

// What Flow/undo has still to do, newest first.
struct Undo {
  std::vector<Compensation> items;
  size_t next = 0;
};

// Where something comes from, for the cascade that it is part of.
struct Origin {
  std::shared_ptr<Cascade> cascade;
  std::shared_ptr<Path> path;

  static Origin outside() { return {std::make_shared<Cascade>(), nullptr}; }
};

struct Invocation {
  enum class Phase : uint8_t {
    queued,      // its step has not run
    performing,  // an effect: an attempt is under way, waits for its turn, or is to be repeated
    waiting,     // a timer
    open,        // a request that syncs are to answer
  };
  Ulid id;
  Phase phase = Phase::queued;
  lang::ActionRef action;
  std::string unavailable;  // the concept that a dynamic target named and nobody has loaded
  json::object input;
  Invocation* beneath = nullptr;
  Causes causes;
  Origin origin;
  std::string cycle;  // the syncs of a cycle that led here, if one did
  std::optional<uint64_t> expect_generation;

  bool orphaned = false;     // a request that it was beneath has ended
  bool ending = false;       // its end is queued
  bool first = false;        // asked for by a child flow's dispatch
  bool compensates = false;  // asked for by the Flow/undo that it is beneath

  std::shared_ptr<const json::value> work;  // performing: what there is to do; its attempts hold it, too
  int64_t attempts = 0;                     // performing: that began
  int64_t again = 0;                        // of these, that promised to have done nothing
  std::string again_because;                // what the last of these said
  int64_t crashes = 0;                      // of the process, with it in flight
  bool started = false;                     // an attempt that must not be repeated has begun
  bool in_line = false;                     // it waits for its turn to run
  int64_t opened_ms = 0;
  int64_t due_ms = 0;             // waiting: its end; performing: the next attempt
  RecordRef request;              // open
  std::optional<Undo> undo;       // open
  std::set<Ulid> children;        // open invocations directly beneath it
  std::vector<Origin> answers;    // that have not had their step: where they come from
  std::vector<RecordRef> recent;  // the last completions beneath it, for engine.unanswered
};

// What a flow has still to do, a step each.
struct Run {  // act or begin
  Ulid invocation;
};
struct Finish {  // what came from outside, or what the engine itself ends
  Ulid invocation;
  lang::Ending ending;
  std::string by;
  Caller caller;            // by an operator
  bool maybe_done = false;  // an answer to what the engine gave up, whose work may have happened
};
struct Answer {
  Ulid request;
  Ulid from;  // the flow that answers
  std::string variant;
  json::object fields;
  bool maybe_done = false;
};
struct Dispatch {};     // a child flow's where
struct RepeatChild {};  // a child flow's first actions have ended, and not all did what they should

using Work = std::variant<Run, Finish, Answer, Dispatch, RepeatChild>;

// A child flow's own business: see machine_children.cc.
struct ChildState {
  ChildRoot root;
  int64_t attempt = 0;     // dispatches so far
  size_t firsts_open = 0;  // of the last dispatch
  std::string repeat;      // why it is to be repeated; empty: it is not
  bool give_up = false;    // what is to be repeated may have been done
  int64_t due_ms = 0;      // of the next dispatch; 0: none
  bool dead = false;
  bool cancelled = false;
  std::set<Ulid> undone;       // what the last dispatch asked for and did not get
  std::set<std::string> done;  // what earlier dispatches asked for and got, as text
};

struct Flow {
  Ulid id;
  std::shared_ptr<const SyncSet> set;
  std::unique_ptr<SyncSet::Memory> memory;
  Caller caller;
  std::string root_action;
  std::optional<Root> root;  // until its first step is written
  std::optional<ChildState> child;

  uint64_t head = 0;
  uint64_t actions = 0;
  std::deque<Work> work;
  std::unordered_map<Ulid, std::unique_ptr<Invocation>> open;
  std::set<Ulid> top;                       // the open invocations that are beneath no request
  size_t idle = 0;                          // of the open ones, timers and requests
  size_t answers_out = 0;                   // answers of this flow to others that have not had their step
  std::string failure;                      // the first outcome other than ok that no sync matched
  std::string failed_too;                   // the second: what is left when an operator has resolved the first
  bool resolved = false;                    // an operator's decision is to be read back
  std::string standstill;                   // why it cannot go on, if it cannot
  std::string set_hash;                     // of `set`; also of a set that cannot be loaded
  std::optional<store::FlowStatus> listed;  // as its row has it; none: the row is to be written whole

  Invocation* find(const Ulid& id) {
    auto found = open.find(id);
    return found == open.end() ? nullptr : found->second.get();
  }
  Invocation& add(std::unique_ptr<Invocation> invocation);
  void set_phase(Invocation& invocation, Invocation::Phase phase);
  // Its children move to the request that it was beneath.
  void remove(Invocation& invocation);

  void fail(const std::string& what);

  store::FlowStatus status() const;
  // Nothing happened that its row tells besides its status.
  bool is_plain() const { return failure.empty() && standstill.empty() && !child; }
};

}  // namespace sluice::engine
