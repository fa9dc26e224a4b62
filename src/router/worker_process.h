// The worker as a child of the master.
#pragma once

#include <functional>

#include "base/result.h"

namespace sluice::router {

// Runs `work` in a forked child, whose exit code is what it returns. The child is killed when the master ends. Only for
// a process with one thread.
Result<int> fork_worker(const std::function<int()>& work);

// Blocks the signals that the master and the worker take in turn.
void block_router_signals();

enum class MasterNews { nothing, stop, reload, child_ended };

// Waits for a signal, or for so long.
MasterNews await_news(int64_t timeout_ms);

// Whether the child has ended.
bool has_ended(int pid);

void signal_worker(int pid, int signal);

}  // namespace sluice::router
