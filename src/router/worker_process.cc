// The calls of the system for processes and signals that the master needs, and nothing else.
#include "router/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/disk.h"

namespace sluice::router {
namespace {

sigset_t router_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int each : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) ::sigaddset(&set, each);
  return set;
}

bool is_readable(int fd, int64_t timeout_ms) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, static_cast<int>(timeout_ms)) > 0;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::begin(const std::function<int()>& work) {
  int pid = ::fork();
  if (pid < 0) return error_from(errno, "fork", "the router's worker");
  if (pid == 0) {
    // A terminal's Ctrl-C goes to the master alone, which tells the worker in its turn.
    ::setpgid(0, 0);
    ::_exit(work());
  }
  int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd >= 0) return WorkerProcess(pid, pidfd, true);
  Error error = error_from(errno, "watch", "the router's worker");
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return error;
}

Result<WorkerProcess> WorkerProcess::adopt(int pid) {
  int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return error_from(errno, "watch", "the router's worker");
  return WorkerProcess(pid, pidfd, false);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(other.pid_), pidfd_(std::exchange(other.pidfd_, -1)), child_(other.child_) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(child_, other.child_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (pidfd_ >= 0) ::close(pidfd_);
}

bool WorkerProcess::has_ended() const {
  if (!is_readable(pidfd_, 0)) return false;
  if (child_) ::waitpid(pid_, nullptr, WNOHANG);
  return true;
}

void WorkerProcess::send(int signal) const { ::syscall(SYS_pidfd_send_signal, pidfd_, signal, nullptr, 0); }

void block_router_signals() {
  sigset_t set = router_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

MasterNews await_news(int64_t timeout_ms, const WorkerProcess* worker) {
  sigset_t set = router_signals();
  int signals = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  pollfd watched[] = {{signals, POLLIN, 0}, {worker != nullptr ? worker->pidfd() : -1, POLLIN, 0}};
  ::poll(watched, 2, static_cast<int>(timeout_ms));
  signalfd_siginfo found{};
  bool any = ::read(signals, &found, sizeof found) == sizeof found;
  ::close(signals);
  if (!any) return MasterNews::nothing;
  if (found.ssi_signo == SIGUSR2) return MasterNews::upgrade;
  return found.ssi_signo == SIGHUP ? MasterNews::reload : MasterNews::stop;
}

bool await_word(int channel, const WorkerProcess& worker, int64_t timeout_ms) {
  pollfd watched[] = {{channel, POLLIN, 0}, {worker.pidfd(), POLLIN, 0}};
  ::poll(watched, 2, static_cast<int>(timeout_ms));
  return (watched[0].revents & POLLIN) != 0;
}

}  // namespace sluice::router
