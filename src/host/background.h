// The processes that belong to a home besides its workloads: the control plane (`sluice serve`) and its routers. They
// are started as processes of their own, which go on when the command that started them ends; what they say goes to
// logs/ in the home. They are found and ended by the locks that they hold, never by a pid alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "host/home.h"
#include "host/loaded_concepts.h"
#include "process/replicas.h"

namespace sluice::host {

// A router that obeys this home and runs: here, or on another machine, from which it is linked.
struct RunningRouter {
  std::string name;
  std::string router;
  int64_t pid = 0;                  // 0: elsewhere
  std::vector<std::string> listen;  // "127.0.0.1:8080"
  std::string control;
  std::string machine = {};  // another one, as it calls itself; empty: this one
};

// Those whose process is alive, and those that are linked.
std::vector<RunningRouter> running_routers(Disk& disk, const Home& home);
// What to type where one of this name does not run.
std::string command_to_run_router(const std::string& name);

// Whether a `sluice serve` of this home answers.
bool serve_runs(const Home& home, const Clock& clock);

// Starts a `sluice serve` and waits until it answers. False: one ran already.
Result<bool> ensure_serve(Disk& disk, const Home& home, Clock& clock);

struct RouterHere {
  RunningRouter router;
  bool started = false;
};
// Begins to start the router `main`; `finish_router` waits until it listens. Port 0: where it listened before, and at
// first 8080, or any that is free if that is taken, also if somebody takes it meanwhile. `secure`: it also listens for
// TLS, at 8443 or any that is free; `conflict` if one runs that does not. Its pid; 0: one runs already.
Result<pid_t> begin_router(Disk& disk, const Home& home, uint16_t port, bool secure = false);
Result<RouterHere> finish_router(Disk& disk, const Home& home, Clock& clock, uint16_t port, pid_t begun,
                                 bool secure = false);

// For the control plane: starts the router that `sluice up` has started again, where it listened, however it ended: it
// was killed, or the machine was restarted. Only stop_routers() ends that.
class RouterKeeper {
 public:
  // Both references must outlive it.
  RouterKeeper(Disk& disk, Home home, const Clock& clock);

  // Looks, at most once a second: what it had to do, if anything.
  std::optional<std::string> look();

 private:
  Disk& disk_;
  Home home_;
  std::string folder_;  // the router's
  const Clock& clock_;
  pid_t child_ = 0;         // that was started last
  int64_t started_ns_ = 0;  // when
  int64_t wait_ms_ = 0;     // from then on, until the next start
  int64_t next_ns_ = 0;
};

// Asks each router to stop, and waits until requests under way have finished. Those that were stopped.
Result<std::vector<RunningRouter>> stop_routers(Disk& disk, const Home& home, Clock& clock, int64_t at_most_ms);
// Asks the `sluice serve` of this home to stop, and waits for its end: its pid, 0 if none ran.
Result<int64_t> stop_serve(Disk& disk, const Home& home, Clock& clock, const std::string& reason, int64_t at_most_ms);
// Whether any replica of this home runs on this machine.
bool workloads_run(Disk& disk, const Home& home, const LoadedConcepts& concepts);
// Stops all replicas of this machine, each within its own time; how many that were. They stay so until a `sluice serve`
// begins.
Result<size_t> stop_workloads(Disk& disk, const Home& home, const LoadedConcepts& concepts);

// The replicas of this machine; `unavailable` in a program that has no local runtime.
Result<process::Replicas*> local_replicas(const LoadedConcepts& concepts);

}  // namespace sluice::host
