// The calls of the system for processes and signals that the master needs, and nothing else.
#include "router/worker_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/disk.h"

namespace sluice::router {
namespace {

sigset_t router_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int each : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&set, each);
  return set;
}

}  // namespace

Result<int> fork_worker(const std::function<int()>& work) {
  int master = ::getpid();
  int pid = ::fork();
  if (pid < 0) return error_from(errno, "fork", "the router's worker");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A terminal's Ctrl-C goes to the master alone, which tells the worker in its turn.
  ::setpgid(0, 0);
  if (::getppid() != master) ::_exit(1);
  ::_exit(work());
}

void block_router_signals() {
  sigset_t set = router_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

MasterNews await_news(int64_t timeout_ms) {
  sigset_t set = router_signals();
  timespec timeout{.tv_sec = timeout_ms / 1'000, .tv_nsec = timeout_ms % 1'000 * 1'000'000};
  switch (::sigtimedwait(&set, nullptr, &timeout)) {
    case SIGTERM:
    case SIGINT:
      return MasterNews::stop;
    case SIGHUP:
      return MasterNews::reload;
    case SIGCHLD:
      return MasterNews::child_ended;
    default:
      return MasterNews::nothing;
  }
}

bool has_ended(int pid) { return ::waitpid(pid, nullptr, WNOHANG) == pid; }

void signal_worker(int pid, int signal) { ::kill(pid, signal); }

}  // namespace sluice::router
