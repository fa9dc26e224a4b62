// Everything is looked at again after each commit.
#include "cli/patience.h"

#include <poll.h>

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

}  // namespace sluice::cli
