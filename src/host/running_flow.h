// A flow as somebody sees it who waits for it: how its call ended, and what it waits for until then. It is told the
// flow's steps in their order, or reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/ulid.h"
#include "engine/engine.h"
#include "engine/journal/step.h"
#include "store/store.h"

namespace sluice::host {

class RunningFlow {
 public:
  // How the call that began the flow ended, and the position of that step.
  struct Ended {
    engine::End end;
    uint64_t position = 0;
  };

  explicit RunningFlow(const Ulid& flow) : flow_(flow) {}

  const Ulid& id() const { return flow_; }
  void take(const engine::Step& step);
  // Takes all steps so far; answers the position from which on there may be more.
  Result<uint64_t> catch_up(store::Store& store);

  const std::optional<Ended>& ended() const { return ended_; }

  // "the timer packing, 2 s more", "Courier/deliver, which is tried again: there is no mailbox"; empty if nothing is
  // open.
  std::string waits_for(int64_t now_ms) const;

 private:
  struct Open {
    std::string action;
    std::string timer;    // its name, if it is one
    int64_t due_ms = 0;   // of a timer
    std::string problem;  // why the last attempt did nothing
    uint64_t seq = 0;     // of the newest step about it
  };

  Ulid flow_;
  std::map<Ulid, std::string> timer_names_;
  std::map<Ulid, Open> open_;
  std::optional<Ended> ended_;
};

// Whether the flow goes nowhere by itself: it is done, stands still, or waits for people, and nothing that follows from
// it is at work.
Result<bool> is_idle(store::Snapshot& snapshot, const Ulid& flow);

// Until the call has its answer, the flow is idle, nothing can be committed (Engine::trouble), or `stop` says so, which
// is asked after every commit and every 100 ms.
Result<void> wait_for_answer(engine::Engine& engine, store::Store& store, RunningFlow& flow,
                             const std::function<bool()>& stop);

}  // namespace sluice::host
