// The worker as its master sees it: a child of its own, or one that a master before it has left. A worker does not end
// with its master.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace sluice::router {

class WorkerProcess {
 public:
  // Runs `work` in a forked child, whose exit code is what it returns. Only for a process with one thread.
  static Result<WorkerProcess> begin(const std::function<int()>& work);
  // A process that is nobody's child here.
  static Result<WorkerProcess> adopt(int pid);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();  // leaves the process alone

  int pid() const { return pid_; }
  int pidfd() const { return pidfd_; }
  bool has_ended() const;
  void send(int signal) const;

 private:
  WorkerProcess(int pid, int pidfd, bool child) : pid_(pid), pidfd_(pidfd), child_(child) {}

  int pid_;
  int pidfd_;
  bool child_;
};

// Blocks the signals that the master and the worker take in turn.
void block_router_signals();

enum class MasterNews { nothing, stop, reload, upgrade };

// Waits for a signal, for the worker's end, or for so long.
MasterNews await_news(int64_t timeout_ms, const WorkerProcess* worker);

// Waits until `channel` has something, the process has ended, or so long; true if there is something.
bool await_word(int channel, const WorkerProcess& worker, int64_t timeout_ms);

}  // namespace sluice::router
