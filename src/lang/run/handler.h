// What a concept's handlers are given and give back besides their own generated types: how an effect reaches the
// world, how an action opens, and how the engine ends one. Generated headers include this file.
//
//   pure      Begin::Result Rollout::begin(const Begin& ask, State& state)
//   query     Status::Result Rollout::status(const Status& ask, const State& state)
//   effect    Ship::Begun Parcel::begin_ship(const Ship& ask, State& state)             in the opening transaction
//             Ship::Performed Parcel::perform_ship(const ShipWork& work, Effect& effect)  outside, may block
//             Ship::Outcome Parcel::finish_ship(const Ship& ask, const Ship::Outcome& outcome, State& state)
//             lang::Probed<Ship::Result> Parcel::probe_ship(const ShipWork& work, Effect& effect)   with retry: probe
//   answered  begin_ and finish_ alone
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeindex>

#include "lang/run/one_of.h"
#include "lang/run/rows.h"
#include "lang/run/values.h"

namespace sluice::lang {

struct ConceptBinding;  // lang/run/binding.h

// How an action can end that is not a variant of its own: `=> engine.fault[ … ]`.
enum class EngineOutcome {
  fault,           // a handler threw
  unavailable,     // every attempt said Again
  timeout,         // its deadline passed
  unknown,         // it may or may not have happened
  unanswered,      // nothing was left that could have answered
  refused,         // a guard said no
  denied,          // the caller may not
  conflict,        // the row is not at the expected generation
  cancelled,       // what it was part of ended
  limit,           // a limit that protects the system was reached
  needsMigration,  // the stored state is of an older version of the concept
};

std::string_view name_of(EngineOutcome outcome);
std::optional<EngineOutcome> engine_outcome_named(std::string_view name);

// An action that the engine ended. `maybe_done`: its work may have happened.
struct EngineEnd {
  EngineOutcome outcome = EngineOutcome::fault;
  std::string message;
  bool maybe_done = false;

  bool operator==(const EngineEnd&) const = default;
};

// What `begin` of an answered action returns to leave it open.
struct Opened {
  bool operator==(const Opened&) const = default;
};

// What `perform` returns to be called again. It promises that nothing was done.
struct Again {
  std::string reason;
  int64_t after_ms = 0;  // at least this much later; the engine's own backoff may be longer

  bool operator==(const Again&) const = default;
};

// What `probe` found of an earlier attempt.
struct NotDone {};
struct Unsure {};
template <class Outcome>
struct Done {
  Outcome outcome;
};
template <class Outcome>
using Probed = OneOf<NotDone, Unsure, Done<Outcome>>;

// The tools that effects may use (a process launcher, an HTTP client), by their type. The program that loads a kit
// fills one; each tool must outlive it. Pure handlers get none: they have nothing to touch the world with.
class Tools {
 public:
  template <class Tool>
  void add(Tool& tool) {
    tools_[std::type_index(typeid(Tool))] = &tool;
  }

  // The tool of this type; null if there is none.
  template <class Tool>
  Tool* find() const {
    auto found = tools_.find(std::type_index(typeid(Tool)));
    return found == tools_.end() ? nullptr : static_cast<Tool*>(found->second);
  }
  // The same where a missing one is a bug in the program: it throws std::logic_error.
  template <class Tool>
  Tool& get() const {
    Tool* found = find<Tool>();
    if (found == nullptr) throw std::logic_error(std::string("no tool of type ") + typeid(Tool).name());
    return *found;
  }

 private:
  std::map<std::type_index, void*> tools_;
};

// Committed rows of every concept, for views. Reads alone:
//   ReadOnlyRows rows(effect.read().rows_of("Rollout"));
//   const rollout::State state(rows);
class Snapshot {
 public:
  Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  virtual ~Snapshot() = default;

  virtual const Rows& rows_of(std::string_view concept_name) const = 0;
};

// What an effect is part of: its flow, and who began that.
struct Cause {
  std::string flow;
  std::string caller;
};

// One attempt at an effect; generated code calls it Effect. It lives as long as the call that it is given to.
class Attempt {
 public:
  Attempt() = default;
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  virtual ~Attempt() = default;

  // The same for every attempt at one effect: what makes a repeat harmless under `retry: safe`.
  virtual const std::string& id() const = 0;
  virtual Cause cause() const { return {}; }
  // Counted from 1.
  virtual int number() const = 0;
  // True from the moment at which the result is no longer wanted. Long work looks at it often.
  virtual bool cancelled() const = 0;
  // The value behind a handle, and a handle for a new value. This is the only way to either.
  virtual std::string open(const Sealed& sealed) = 0;
  virtual Sealed seal(std::string value) = 0;
  // Committed state, never this action's own transaction.
  virtual const Snapshot& read() = 0;
  virtual const Tools& tools() const = 0;

  template <class Tool>
  Tool& tool() const {
    return tools().get<Tool>();
  }
};

}  // namespace sluice::lang
