// How a command waits for a flow: until there is an answer, only people could give one, nothing can be committed, or
// the person here has had enough.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/progress.h"
#include "base/ulid.h"
#include "cli/call_words.h"
#include "cli/context.h"
#include "host/home_engine.h"
#include "host/kit_watch.h"
#include "host/running_flow.h"

namespace sluice::cli {

// Asked whether to stop; shows meanwhile, on a terminal, what is waited for.
class Patience {
 public:
  // All must outlive it.
  Patience(Context& context, const Clock& clock, const host::StopSignal& stop);

  bool ends();
  bool stopped() const { return stopped_; }
  void waits_for(const std::string& what);
  // Something to do whenever it is asked.
  void meanwhile(std::function<void()> work) { work_ = std::move(work); }
  void done() { progress_.reset(); }

 private:
  const host::StopSignal& stop_;
  std::optional<Progress> progress_;
  std::function<void()> work_;
  bool stopped_ = false;
};

// Until the call has its answer, only people could give one, nothing can be committed (see Engine::trouble), or the
// person here has had enough.
Result<void> wait_for_answer(host::HomeEngine& home, const CallWords& words, host::RunningFlow& flow,
                             Patience& patience);

}  // namespace sluice::cli
