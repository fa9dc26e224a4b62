// Everything is looked at again after each commit.
#include "cli/patience.h"

#include <poll.h>

#include <algorithm>
#include <set>

#include "api/door.h"

namespace sluice::cli {
Patience::Patience(Context& context, const Clock& clock, const StopSignal& stop) : given_(context.given), stop_(stop) {
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

Result<void> wait_for_answer(HomeEngine& home, api::RunningFlow& flow, Patience& patience) {
  auto waited = api::wait_for_answer(home.engine(), flow, [&] {
    patience.waits_for(flow.waits_for(home.clock().wall_ms()));
    return patience.ends();
  });
  if (waited || home.here() != nullptr) return waited;
  return home.broke_off(waited.error(), flow.id(), patience.given());
}

}  // namespace sluice::cli
