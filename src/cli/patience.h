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
#include "cli/context.h"
#include "host/kit_watch.h"

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

}  // namespace sluice::cli
