// Follows the openings and the ends of invocations.
#include "host/running_flow.h"

#include <algorithm>
#include <boost/json.hpp>
#include <ranges>
#include <vector>

#include "base/terminal.h"
#include "engine/journal/history.h"
#include "engine/journal/record_reader.h"

namespace sluice::host {

void RunningFlow::take(const engine::Step& step) {
  using Kind = engine::Step::Kind;
  for (const engine::Fired& fired : step.fired) {
    for (const engine::Planned& planned : fired.then) {
      const json::value* name = planned.fields.if_contains("name");
      if (planned.action != "Timer/wait" || name == nullptr || !name->is_string()) continue;
      timer_names_[planned.id] = std::string(name->get_string());
    }
  }
  if (step.kind == Kind::late || step.kind == Kind::denied || step.kind == Kind::put) return;
  if (step.end) {
    open_.erase(step.invocation);
    timer_names_.erase(step.invocation);
    if (step.invocation == flow_) ended_ = {*step.end, step.seq};
    return;
  }
  if (step.kind == Kind::begin) {
    Open open{.action = step.action, .due_ms = step.due_ms};
    if (auto name = timer_names_.find(step.invocation); name != timer_names_.end()) open.timer = name->second;
    open_[step.invocation] = std::move(open);
  }
  auto about = open_.find(step.invocation);
  if (about == open_.end()) return;
  about->second.seq = step.seq;
  if (step.kind == Kind::again) about->second.problem = step.note;
}

Result<uint64_t> RunningFlow::catch_up(store::Store& store) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto row = (*snapshot)->flow(flow_);
  if (!row) return row.error();
  std::vector<std::string> records;
  engine::RecordReader reader(**snapshot);
  for (uint64_t seq = *row ? (*row)->head : 0; seq != 0;) {
    auto entry = (*snapshot)->journal(seq);
    if (!entry) return entry.error();
    if (!*entry) {
      return Error{.code = Code::verification_failed,
                   .message = "the journal lacks record " + std::to_string(seq),
                   .next = "sluice audit verify"};
    }
    auto record = reader.read(**entry);
    if (!record) return record.error();
    records.emplace_back(*record);
    seq = (*entry)->prev;
  }
  for (const std::string& record : std::views::reverse(records)) {
    auto step = engine::read_step(record);
    if (!step) return step.error();
    take(*step);
  }
  return (*snapshot)->position() + 1;
}

std::string RunningFlow::waits_for(int64_t now_ms) const {
  auto newest = std::ranges::max_element(open_, {}, [](const auto& each) { return each.second.seq; });
  if (newest == open_.end()) return "";
  const Open& open = newest->second;
  if (open.action == "Timer/wait") {
    int64_t left_s = (std::max<int64_t>(open.due_ms - now_ms, 0) + 999) / 1000;
    return "the timer " + printable(open.timer) + ", " + std::to_string(left_s) + " s more";
  }
  if (!open.problem.empty()) return open.action + ", which is tried again: " + printable(open.problem);
  return open.action;
}

namespace {

Result<bool> has_timer(store::Snapshot& snapshot, const Ulid& flow) {
  bool timed = false;
  auto read = snapshot.timers([&](const store::TimerRow& timer) {
    timed = timer.flow == flow;
    return !timed;
  });
  if (!read) return read.error();
  return timed;
}

}  // namespace

Result<bool> is_idle(store::Snapshot& snapshot, const Ulid& flow) {
  auto row = snapshot.flow(flow);
  if (!row) return row.error();
  if (!*row || (*row)->status == store::FlowStatus::running) return !*row;
  if ((*row)->status != store::FlowStatus::waiting) return true;
  auto timed = has_timer(snapshot, flow);
  if (!timed || *timed) return timed ? Result<bool>(false) : timed;
  // What follows from it may answer it.
  std::vector<Ulid> waiting;
  bool running = false;
  auto read = snapshot.open_flows([&](const store::FlowRow& other) {
    if (other.id == flow || other.status == store::FlowStatus::stuck) return true;
    if (!engine::follows_from(snapshot, other, flow)) return true;
    running = other.status == store::FlowStatus::running;
    waiting.push_back(other.id);
    return !running;
  });
  if (!read) return read.error();
  for (size_t at = 0; at < waiting.size() && !running; ++at) {
    auto timer = has_timer(snapshot, waiting[at]);
    if (!timer) return timer;
    running = *timer;
  }
  return !running;
}

Result<void> wait_for_answer(engine::Engine& engine, store::Store& store, RunningFlow& flow,
                             const std::function<bool()>& stop) {
  if (flow.ended()) return {};
  auto from = flow.catch_up(store);
  if (!from) return from.error();
  if (flow.ended()) return {};
  std::optional<Error> unreadable;
  bool stopped = false;
  auto ends = [&] {
    stopped = stop();
    if (stopped || engine.trouble()) return true;
    auto snapshot = store.read();
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
  if (auto watched = engine.watch(*from, take, ends); !watched) return watched;
  if (unreadable) return *unreadable;
  if (flow.ended() || stopped) return {};
  // It may have ended between the last look at the journal and the one at the flow.
  RunningFlow again(flow.id());
  if (auto caught_up = again.catch_up(store); !caught_up) return caught_up.error();
  flow = std::move(again);
  return {};
}

}  // namespace sluice::host
