// Waiting for an answer is the same through every door.
#include "host/engine_link.h"

#include <algorithm>

#include "engine/outcome_code.h"

namespace sluice::host {

Result<Started> LocalLink::start(engine::Request request) {
  auto flow = engine_.start(std::move(request));
  if (!flow) return flow.error();
  return Started{.flow = *flow};
}

const lang::ActionSymbol* find_action(const lang::Symbols& symbols, std::string_view name) {
  auto found = symbols.find_action(name);
  return found && !symbols.concepts[found->concept_].built_in ? &symbols.action(*found) : nullptr;
}

Result<Code> LocalLink::code_of(const std::string& action, const std::string& variant) {
  const lang::ActionSymbol* found = find_action(kit_->symbols(), action);
  if (found != nullptr) return engine::code_of(*found, variant);
  return Error{.code = Code::not_found, .message = "there is no action " + action, .next = "sluice kit show"};
}

Result<bool> is_idle(store::Snapshot& snapshot, const Ulid& flow) {
  auto row = snapshot.flow(flow);
  if (!row) return row.error();
  if (!*row || (*row)->status == store::FlowStatus::running) return !*row;
  if ((*row)->status != store::FlowStatus::waiting) return true;
  bool timed = false;
  auto read = snapshot.timers([&](const store::TimerRow& timer) {
    timed = timer.flow == flow;
    return !timed;
  });
  if (!read) return read.error();
  return !timed;
}

Result<void> wait_for_answer(EngineLink& door, RunningFlow& flow, const std::function<bool()>& stop) {
  if (flow.ended()) return {};
  auto from = flow.catch_up(door.store());
  if (!from) return from.error();
  if (flow.ended()) return {};
  std::optional<Error> unreadable;
  bool stopped = false;
  auto ends = [&] {
    stopped = stop();
    if (stopped || door.trouble()) return true;
    auto snapshot = door.store().read();
    auto idle = snapshot ? is_idle(**snapshot, flow.id()) : Result<bool>(snapshot.error());
    if (!idle) unreadable = idle.error();
    return !idle || *idle;
  };
  auto take = [&](const store::JournalRow& row) {
    if (row.flow != flow.id()) return true;
    auto step = engine::read_step(row.record);
    if (!step) {
      unreadable = step.error();
      return false;
    }
    flow.take(*step);
    return !flow.ended().has_value();
  };
  if (auto watched = door.watch(*from, take, ends); !watched) return watched;
  if (unreadable) return *unreadable;
  if (flow.ended() || stopped) return {};
  // It may have ended between the last look at the journal and the one at the flow.
  RunningFlow again(flow.id());
  if (auto caught_up = again.catch_up(door.store()); !caught_up) return caught_up.error();
  flow = std::move(again);
  return {};
}

}  // namespace sluice::host
