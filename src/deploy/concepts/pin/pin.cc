// Pin's changes: which pins move where, and that they move together. What a change may do is decided by guards of
// promotion.sync before Pin/move; what runs follows in pin_reconcile.cc.
#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/time_zone.h"
#include "deploy/concepts/pin/pin_rows.h"
#include "deploy/concepts/pin/pin_work.h"
#include "deploy/promotion/promotion.h"

namespace sluice::deploy::pin {
namespace {

std::string word_of(PinWanted wanted) { return wanted == PinWanted::Undeploy_ ? "Undeploy" : "Active"; }

std::string word_of(PinOnDrift on_drift) { return on_drift == PinOnDrift::correct ? "correct" : "report"; }

constexpr size_t kDeepestWait = 64;  // of providers that wait for providers

PinOnDrift on_drift_of(const std::string& word) { return word == "correct" ? PinOnDrift::correct : PinOnDrift::report; }

PinWanted wanted_of(const std::string& word) { return word == "Undeploy" ? PinWanted::Undeploy_ : PinWanted::Active_; }

// A move of a pin from what it is now.
PinMove move_from(const State& state, const std::string& component, const std::string& environment) {
  const PinId id = pin_id(component, environment);
  PinMove move{.pin = id, .component = component, .environment = environment, .wanted = "Active", .onDrift = "report"};
  if (const auto record = state.get(id)) {
    move.onDrift = word_of(record->onDrift);
    move.expected = record->generation;
    move.beforeRelease = record->release;
    move.beforeWanted = word_of(record->wanted);
    move.beforeHeld = record->held;
  }
  return move;
}

bool changes_nothing(const PinMove& move) {
  return move.expected > 0 && move.beforeRelease == move.release && move.beforeWanted == move.wanted &&
         !move.beforeHeld && !move.lock;
}

struct Asked {
  std::string action;
  json::object input;
  bool part = false;  // of a call that people agree to as a whole
};

void open_change(State& state, PinKind kind, const std::optional<std::string>& by, bool waits,
                 const std::vector<PinMove>& moves, const Asked& asked = {}) {
  const PinCId id = state.add(PinCRecord{.kind = kind,
                                         .ask = state.request(),
                                         .by = by.value_or(""),
                                         .at = state.now(),
                                         .waits = waits,
                                         .part = asked.part,
                                         .action = asked.action,
                                         .input = write(asked.input),
                                         .status = PinStatus::asked});
  state.moves(id).assign(moves);
}

std::vector<PinPin> pins_of(const State& state, const std::vector<PinMove>& moves) {
  std::vector<PinPin> pins;
  for (const auto& each : moves) {
    const auto record = state.get(each.pin);
    pins.push_back({.component = each.component,
                    .environment = each.environment,
                    .release = each.release,
                    .revision = record && record->applied == each.release ? record->revision : "",
                    .waits = record && record->reason == kWaiting ? std::optional(record->message) : std::nullopt});
  }
  return pins;
}

void forget(State& state, const PinCId& id) {
  state.moves(id).clear();
  state.erase(id);
}

// However a call ended: its ok says which pins moved, and the change goes unless pins are still on their way.
template <class Action>
typename Action::Outcome closed(const typename Action::Outcome& outcome, State& state) {
  typename Action::Outcome told = outcome;
  for (const auto& each : state.find_by_ask(state.request())) {
    const auto moves = state.moves(each.id).values();
    if (auto* ok = get_if<typename Action::Ok>(&told)) ok->pins = pins_of(state, moves);
    if (each.record.status != PinStatus::moved) forget(state, each.id);
  }
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) return typename Action::Failed{.message = end->message};
  return told;
}

// The moves that pins ask for; the error is a sentence.
template <class Item>
Result<std::vector<PinMove>> moves_of(const State& state, const std::vector<Item>& pins, bool ruled) {
  std::vector<PinMove> moves;
  std::set<PinId> seen;
  for (const auto& each : pins) {
    const auto wrong = [&](const std::string& message) { return Error{.code = Code::invalid, .message = message}; };
    if (each.component.empty() || each.environment.empty() || each.release.empty()) {
      return wrong("a pin has a component, an environment and a release");
    }
    if (each.state != "Active" && each.state != "Undeploy") {
      return wrong("a pin is Active or Undeploy, not '" + each.state + "'");
    }
    PinMove move = move_from(state, each.component, each.environment);
    if (!seen.insert(move.pin).second) return wrong(move.pin.text() + " stands here twice");
    const std::string on_drift = each.drift.value_or(move.onDrift);
    if (on_drift != "report" && on_drift != "correct") {
      return wrong("drift is reported or corrected: report or correct, not '" + on_drift + "'");
    }
    const bool same_on_drift = on_drift == move.onDrift;
    move.onDrift = on_drift;
    move.release = each.release;
    move.wanted = each.state;
    move.ruled = ruled && each.state == "Active" && move.beforeRelease != each.release;
    if (!same_on_drift || !changes_nothing(move)) moves.push_back(std::move(move));
  }
  return moves;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------- promote

Promote::Begun Pin::begin_promote(const Promote& ask, State& state) {
  if (ask.fromEnv == ask.toEnv) {
    return Promote::Result(Promote::Invalid{.message = ask.toEnv + " cannot be promoted to itself"});
  }
  std::vector<std::string> components = ask.components;
  if (components.empty()) {
    for (const auto& each : state.all()) {
      if (each.record.environment == ask.fromEnv && each.record.wanted == PinWanted::Active_) {
        components.push_back(each.record.component);
      }
    }
    if (components.empty()) {
      return Promote::Result(Promote::Nothing{.message = "nothing is pinned in " + ask.fromEnv});
    }
  }
  std::sort(components.begin(), components.end());
  components.erase(std::unique(components.begin(), components.end()), components.end());
  std::vector<PinMove> moves, all;
  for (const std::string& component : components) {
    const PinId source = pin_id(component, ask.fromEnv);
    const auto record = state.get(source);
    if (!record || record->wanted == PinWanted::Undeploy_) {
      return Promote::Result(Promote::Nothing{.message = no_pin(source)});
    }
    PinMove move = move_from(state, component, ask.toEnv);
    move.source = ask.fromEnv;
    move.release = record->release;
    move.ruled = true;
    all.push_back(move);
    if (!changes_nothing(move)) moves.push_back(std::move(move));
  }
  std::vector<std::string> releases;
  for (const auto& each : all) releases.push_back(each.release);
  if (ask.releases && !std::ranges::is_permutation(*ask.releases, releases)) {
    return Promote::Result(
        Promote::Changed{.message = ask.fromEnv + " runs other releases by now; nothing was changed"});
  }
  if (moves.empty()) return Promote::Result(Promote::Ok{.pins = pins_of(state, all)});
  // People agree to these releases, whatever the source runs when they do.
  open_change(state, PinKind::promote, ask.caller, true, moves,
              {.action = "Pin/promote",
               .input = {{"components", to_json(components)},
                         {"fromEnv", ask.fromEnv},
                         {"toEnv", ask.toEnv},
                         {"releases", to_json(releases)}}});
  return lang::Opened{};
}

Promote::Outcome Pin::finish_promote(const Promote&, const Promote::Outcome& outcome, State& state) {
  return closed<Promote>(outcome, state);
}

// ----------------------------------------------------------------------------------------------- set and override

Set::Begun Pin::begin_set(const Set& ask, State& state) {
  const auto moves = moves_of(state, ask.pins, true);
  if (!moves) return Set::Result(Set::Invalid{.message = moves.error().message});
  if (moves->empty()) return Set::Result(Set::Ok{});
  open_change(state, PinKind::set, ask.caller, ask.wait.value_or(false), *moves,
              {.action = "Pin/set",
               .input = {{"pins", to_json(ask.pins)}, {"wait", ask.wait.value_or(false)}},
               .part = ask.part.value_or(false)});
  return lang::Opened{};
}

Set::Outcome Pin::finish_set(const Set&, const Set::Outcome& outcome, State& state) {
  return closed<Set>(outcome, state);
}

Override::Begun Pin::begin_override(const Override& ask, State& state) {
  if (ask.reason.empty()) return Override::Result(Override::Invalid{.message = "an override has a reason"});
  const auto moves = moves_of(state, ask.pins, false);
  if (!moves) return Override::Result(Override::Invalid{.message = moves.error().message});
  if (moves->empty()) return Override::Result(Override::Ok{});
  open_change(state, PinKind::override, ask.caller, true, *moves);
  return lang::Opened{};
}

Override::Outcome Pin::finish_override(const Override&, const Override::Outcome& outcome, State& state) {
  return closed<Override>(outcome, state);
}

// --------------------------------------------------------------------------------------------------------- rollback

Rollback::Begun Pin::begin_rollback(const Rollback& ask, State& state) {
  const auto record = state.get(ask.pin);
  if (!record) return Rollback::Result(Rollback::NotFound{.pin = ask.pin, .message = no_pin(ask.pin)});
  const auto locks = state.locks(ask.pin).values();
  // What runs now is the newest entry, or the one that was gone back to; what failed never became one.
  int64_t now = locks.empty() ? 0 : record->held.value_or(locks.back().number);
  if (!record->ready && !locks.empty()) now = locks.back().number + 1;
  const PinLock* chosen = nullptr;
  for (const auto& each : locks) {
    if (ask.to ? each.number == *ask.to : each.number < now) chosen = &each;
  }
  if (chosen == nullptr) {
    return Rollback::Result(Rollback::NoHistory{.message = ask.to ? ask.pin.text() + " has no entry " +
                                                                        std::to_string(*ask.to) + " in its history"
                                                                  : ask.pin.text() + " has run nothing before"});
  }
  PinMove move = move_from(state, record->component, record->environment);
  move.release = chosen->release;
  move.lock = chosen->number;
  open_change(state, PinKind::rollback, ask.caller, true, {move});
  return lang::Opened{};
}

Rollback::Outcome Pin::finish_rollback(const Rollback&, const Rollback::Outcome& outcome, State& state) {
  return closed<Rollback>(outcome, state);
}

// ----------------------------------------------------------------------------------------------------------- assess

Assess::Begun Pin::begin_assess(const Assess& ask, State& state) {
  return AssessWork{.change = ask.change.text(), .moves = state.moves(ask.change).values()};
}

Assess::Performed Pin::perform_assess(const AssessWork& work, Effect& effect) {
  const PinCId change(work.change);
  const TimeZones zones(effect.tool<Disk>());
  const int64_t now_ms = effect.tool<Clock>().wall_ms();
  const views::States states(effect.read());
  Assess::Ok ok{.change = change, .facts = {}};
  for (const auto& each : work.moves) {
    PinFact fact{.pin = each.pin,
                 .pipeline = "",
                 .soakLeft = 0,
                 .freeze = "",
                 .approvals = 0,
                 .renderFault = "",
                 .contracted = ""};
    if (each.lock) {
      for (const auto& lock : states.pin().locks(each.pin)) {
        if (lock.value.number != *each.lock) continue;
        fact.contracted = views::contracted_since(states, views::read_facts(lock.value.facts)).value_or("");
      }
    }
    if (!each.lock && each.wanted == "Active") {
      const auto content = views::content_of_release(states, each.release);
      // One that is not there yet, or not resolved, is waited for; nobody can promote it.
      if (content) {
        auto pipeline = views::pipeline_of(states, *content);
        if (!pipeline) return Assess::Invalid{.change = change, .message = to_string(pipeline.error())};
        fact.pipeline = *pipeline;
        auto fault = views::fault_of_rendering(states, each.component, each.environment, each.release, zones);
        if (fault) fact.renderFault = *fault;
        if (each.ruled) {
          auto timing =
              views::timing_of(states, fact.pipeline, each.component, each.release, each.environment, now_ms, zones);
          if (!timing) return Assess::Invalid{.change = change, .message = to_string(timing.error())};
          fact.soakLeft = timing->soak_left_s;
          fact.freeze = timing->freeze;
          fact.approvals = timing->approvals;
        }
      } else if (each.ruled && !each.source.empty() && content.error().code == Code::not_found) {
        return Assess::Invalid{.change = change, .message = content.error().message};
      } else if (each.ruled && content.error().code == Code::unavailable) {
        fact.renderFault = content.error().message;
      }
    }
    ok.facts.push_back(std::move(fact));
  }
  return ok;
}

Assess::Outcome Pin::finish_assess(const Assess& ask, const Assess::Outcome& outcome, State& state) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Assess::Invalid{.change = ask.change, .message = end->message};
  }
  const auto* ok = get_if<Assess::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  auto moves = state.moves(ask.change).values();
  for (auto& move : moves) {
    for (const auto& fact : ok->facts) {
      if (fact.pin != move.pin) continue;
      move.pipeline = fact.pipeline;
      move.soakLeft = fact.soakLeft;
      move.freeze = fact.freeze;
      move.approvals = fact.approvals;
      move.renderFault = fact.renderFault;
      move.contracted = fact.contracted;
    }
  }
  state.moves(ask.change).assign(moves);
  return outcome;
}

// ------------------------------------------------------------------------------------------------------------- move

Move::Result Pin::move(const Move& ask, State& state) {
  auto moves = state.moves(ask.change).values();
  for (const auto& each : moves) {
    const auto record = state.get(each.pin);
    if ((record ? record->generation : 0) != each.expected) {
      return Move::Changed{.message = each.pin.text() + " was moved by somebody else meanwhile; nothing was changed"};
    }
  }
  const std::string by = state.get(ask.change).value_or(PinCRecord{}).by;
  Move::Ok ok{.change = ask.change, .moved = {}};
  for (auto& each : moves) {
    auto record = state.get(each.pin).value_or(PinRecord{.component = each.component, .environment = each.environment});
    if (!each.pipeline.empty()) record.pipeline = each.pipeline;
    record.release = each.release;
    record.wanted = wanted_of(each.wanted);
    record.onDrift = on_drift_of(each.onDrift);
    record.held = each.lock;
    record.generation += 1;
    record.ready = false;
    record.reason = kProgressing;
    record.message = "the release is being brought up";
    record.awaits.clear();
    record.movedBy = by;
    record.since = state.now();
    state.put(each.pin, record);
    each.generation = record.generation;
    ok.moved.push_back({.pin = each.pin});
  }
  state.moves(ask.change).assign(moves);
  state.edit(ask.change, [](PinCRecord& record) { record.status = PinStatus::moved; });
  return ok;
}

// ----------------------------------------------------------------------------------------------------------- arrive

namespace {

// Whether something that is under way now may still change how a pin is.
bool is_under_way(const State& state, const PinRecord& record, size_t deepest) {
  if (record.reconciling || record.observed != record.generation || record.reason == kProgressing) return true;
  if (record.reason != kWaiting || record.awaits.empty() || deepest == 0) return false;
  const auto provider = state.get(pin_id(record.awaits, record.environment));
  return provider && (provider->ready || is_under_way(state, *provider, deepest - 1));
}

}  // namespace

Arrive::Result Pin::arrive(const Arrive& ask, State& state) {
  const auto change = state.get(ask.change);
  if (!change || change->status != PinStatus::moved) return Arrive::Over{.change = ask.change};
  const auto moves = state.moves(ask.change).values();
  bool waiting = false;
  std::set<PinId> failed;
  std::string message;
  for (const auto& each : moves) {
    const auto record = state.get(each.pin);
    // Whoever moved it since answers for it.
    if (!record || record->generation != each.generation) continue;
    if (is_under_way(state, *record, kDeepestWait)) {
      waiting = true;
    } else if (record->reason == kFailed) {
      failed.insert(each.pin);
      message += (message.empty() ? "" : "; ") + each.component + " in " + each.environment + ": " + record->message;
    }
  }
  if (failed.empty() && waiting) return Arrive::Waiting{.change = ask.change};
  if (failed.empty()) {
    if (change->waits) {
      state.edit(ask.change, [](PinCRecord& record) { record.status = PinStatus::done; });
    } else {
      forget(state, ask.change);
    }
    return Arrive::Ready{.change = ask.change};
  }
  Arrive::Back back{.change = ask.change, .message = message, .moved = {}};
  for (const auto& each : moves) {
    auto record = state.get(each.pin);
    if (!record || record->generation != each.generation) continue;
    // Of what ran nothing before, the one that failed stays to be looked at, and the others go.
    if (each.beforeRelease.empty() && failed.contains(each.pin)) continue;
    if (failed.contains(each.pin) && change->kind != PinKind::rollback) {
      state.rejected(each.pin).push({.release = each.release, .reason = record->message, .at = state.now()});
    }
    record->release = each.beforeRelease.empty() ? each.release : each.beforeRelease;
    record->wanted = each.beforeRelease.empty() ? PinWanted::Undeploy_ : wanted_of(each.beforeWanted);
    record->held = each.beforeHeld;
    record->generation += 1;
    record->ready = false;
    record->reason = kProgressing;
    record->message = each.release + " went back: " + message;
    record->awaits.clear();
    record->since = state.now();
    state.put(each.pin, *record);
    back.moved.push_back({.pin = each.pin});
  }
  back.message += back.moved.empty() ? "" : "; what ran before stays";
  if (change->waits) {
    state.edit(ask.change, [](PinCRecord& record) { record.status = PinStatus::back; });
  } else {
    forget(state, ask.change);
  }
  return back;
}

// ---------------------------------------------------------------------------------------------------------- drifted

Drifted::Result Pin::drifted(const Drifted& ask, State& state) {
  Drifted::Ok ok{.pin = ask.pin, .correct = false};
  const auto record = state.get(ask.pin);
  // Whatever is under way now applies the objects anew.
  if (!record || !record->ready || record->reconciling) return ok;
  state.drift(ask.pin).assign(ask.drift);
  ok.correct = !ask.drift.empty() && record->onDrift == PinOnDrift::correct;
  return ok;
}

// ------------------------------------------------------------------------------------------------------------- note

Note::Result Pin::note(const Note& ask, State& state) {
  Note::Ok ok;
  for (const auto& each : state.find_by_environment(ask.environment)) {
    if (ask.input.find('"' + each.record.component + '"') == std::string::npos) continue;
    state.edit(each.id, [&](PinRecord& record) { record.message = ask.message; });
    ++ok.noted;
  }
  return ok;
}

// ----------------------------------------------------------------------------------------------------------- remove

Remove::Result Pin::remove(const Remove& ask, State& state) {
  const auto record = state.get(ask.pin);
  if (!record) return Remove::NotFound{.pin = ask.pin, .message = no_pin(ask.pin)};
  if (!record->deployment.empty() || record->reconciling) {
    return Remove::InUse{.pin = ask.pin,
                         .message = record->component + " runs in " + record->environment + "; undeploy it first"};
  }
  state.rejected(ask.pin).clear();
  state.drift(ask.pin).clear();
  state.together(ask.pin).clear();
  state.locks(ask.pin).clear();
  state.erase(ask.pin);
  return Remove::Ok{.pin = ask.pin};
}

}  // namespace sluice::deploy::pin
