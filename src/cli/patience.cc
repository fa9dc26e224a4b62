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

Result<void> wait_for_answer(HomeEngine& home, api::RunningFlow& flow, Patience& patience) {
  auto waited = api::wait_for_answer(home.engine(), flow, [&] {
    patience.waits_for(flow.waits_for(home.clock().wall_ms()));
    return patience.ends();
  });
  if (waited || home.here() != nullptr) return waited;
  return home.broke_off(waited.error(), flow.id(), patience.given());
}

}  // namespace sluice::cli
