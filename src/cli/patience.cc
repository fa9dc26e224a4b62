// Everything is looked at again after each commit.
#include "cli/patience.h"

#include <poll.h>

#include <algorithm>
#include <set>

#include "engine/step.h"

namespace sluice::cli {
namespace {

// Whether the flow goes nowhere by itself: it waits for people, who could not answer while this process has the store.
Result<bool> is_idle(store::Store& store, const Ulid& flow) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto under_way = flows_under_way(**snapshot);
  if (!under_way) return under_way.error();
  return std::ranges::find(*under_way, flow) == under_way->end();
}

}  // namespace

Patience::Patience(Context& context, const Clock& clock, const StopSignal& stop) : stop_(stop) {
  if (context.output.settings().quiet) return;
  progress_.emplace(context.output.progress_stream(), context.output.settings().err, clock, "running");
}

bool Patience::ends() {
  pollfd signal{stop_.fd(), POLLIN, 0};
  stopped_ = stopped_ || (::poll(&signal, 1, 0) > 0 && signal.revents != 0);
  if (progress_) progress_->tick();
  if (work_) work_();
  return stopped_;
}

void Patience::waits_for(const std::string& what) {
  if (progress_ && !what.empty()) progress_->now_doing("waiting for " + what);
}

Result<std::vector<Ulid>> flows_under_way(store::Snapshot& snapshot) {
  std::set<Ulid> timed;
  auto timers = snapshot.timers([&](const store::TimerRow& timer) {
    timed.insert(timer.flow);
    return true;
  });
  if (!timers) return timers.error();
  std::vector<Ulid> found;
  auto flows = snapshot.open_flows([&](const store::FlowRow& row) {
    bool moves = row.status == store::FlowStatus::running ||
                 (row.status == store::FlowStatus::waiting && timed.contains(row.id));
    if (moves) found.push_back(row.id);
    return true;
  });
  if (!flows) return flows.error();
  return found;
}

Result<void> wait_for_answer(HomeEngine& home, RunningFlow& flow, Patience& patience) {
  auto from = flow.catch_up(home.store());
  if (!from) return from.error();
  if (flow.ended()) return {};
  std::optional<Error> unreadable;
  auto ends = [&] {
    patience.waits_for(flow.waits_for(home.clock().wall_ms()));
    if (patience.ends() || home.engine().trouble()) return true;
    auto idle = is_idle(home.store(), flow.id());
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
  if (auto watched = home.engine().watch(*from, take, ends); !watched) return watched;
  if (unreadable) return *unreadable;
  if (flow.ended() || patience.stopped()) return {};
  // It may have ended between the last look at the journal and the one at the flow.
  RunningFlow again(flow.id());
  if (auto caught_up = again.catch_up(home.store()); !caught_up) return caught_up.error();
  flow = std::move(again);
  return {};
}

}  // namespace sluice::cli
