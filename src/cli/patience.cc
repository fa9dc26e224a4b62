// Everything is looked at again after each commit.
#include "cli/patience.h"

#include <poll.h>

#include <algorithm>
#include <set>

#include "host/engine_link.h"

namespace sluice::cli {

Patience::Patience(Context& context, const Clock& clock, const host::StopSignal& stop) : stop_(stop) {
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

Result<void> wait_for_answer(host::HomeEngine& home, const CallWords& words, host::RunningFlow& flow,
                             Patience& patience) {
  auto waited = host::wait_for_answer(home.engine(), flow, [&] {
    patience.waits_for(flow.waits_for(home.clock().wall_ms()));
    return patience.ends();
  });
  if (waited || home.here() != nullptr) return waited;
  return words.broke_off(waited.error(), flow.id());
}

}  // namespace sluice::cli
