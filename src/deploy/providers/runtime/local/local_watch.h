// LocalWatch sees which replicas of this machine should run and do not: their supervisor was killed, the machine was
// restarted, or they were given up. It asks for LocalRuntime/repair of their service, and for the same one again only
// after a while that doubles each time, until all of its replicas run.
//
// What another effect is just stopping or starting does not run for a moment either. So what was stopped or failed
// counts only when it is seen twice; at the first look of all nothing is under way yet, and it counts at once. What was
// stopped all together stays so.
//
// If no replica of a service has answered for ten seconds it asks Health to look at the instance.
//
// It also tells Runtime where replicas are, and which data is kept, if Runtime does not know: an earlier version kept
// that in LocalRuntime alone, and its flows still do.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "deploy/silence.h"
#include "lang/run/observer.h"
#include "process/replicas.h"

namespace sluice::deploy::local_runtime {

class LocalWatch final : public lang::Observer {
 public:
  // Both must outlive it.
  LocalWatch(const process::Replicas& replicas, const Clock& clock) : replicas_(replicas), clock_(clock) {}

  std::string_view concept_name() const override { return "LocalRuntime"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& committed, const Tell& tell) override;

 private:
  struct Told {
    int64_t next_ms = 0;  // of the clock that never goes back
    int64_t wait_ms = 0;
  };

  const process::Replicas& replicas_;
  const Clock& clock_;
  bool first_ = true;
  std::set<std::string> seen_;        // replicas that did not run at the last look
  std::map<std::string, Told> told_;  // by service
  Silence silence_;
  std::map<std::string, std::string> instances_;  // of services, as of the last comparison
};

}  // namespace sluice::deploy::local_runtime
