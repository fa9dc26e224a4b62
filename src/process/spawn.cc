// Where Sluice starts processes.
#include "process/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <utility>

#include "base/disk.h"

namespace sluice::process {
namespace {

// Texts as exec wants them.
class Words {
 public:
  explicit Words(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& each : texts_) pointers_.push_back(each.data());
    pointers_.push_back(nullptr);
  }
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> assignments(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
  return texts;
}

// Both ends are closed unless they are taken.
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  ~Pipe() {
    for (int end : ends) {
      if (end >= 0) close(end);
    }
  }
  bool make() { return pipe2(ends.data(), O_CLOEXEC) == 0; }
  // As a pipe, but writing to it after the other end is gone is an error and no signal.
  bool make_socket() { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0; }
  int take(size_t end) { return std::exchange(ends[end], -1); }
};

// Nothing: there was none in time; an empty span: there will be none any more.
std::optional<std::span<const char>> read_from(int fd, int64_t at_most_ms, std::span<char> into) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  if (poll(&wait, 1, static_cast<int>(at_most_ms)) <= 0) return std::nullopt;
  ssize_t got = ::read(fd, into.data(), into.size());
  if (got < 0 && errno == EINTR) return std::nullopt;
  return into.first(got < 0 ? 0 : static_cast<size_t>(got));
}

bool has_nul(const SpawnRequest& request) {
  auto bad = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  for (const std::string& each : request.argv) {
    if (bad(each)) return true;
  }
  for (const auto& [name, value] : request.environment) {
    if (bad(name) || bad(value)) return true;
  }
  return bad(request.program) || bad(request.folder);
}

// What a watchdog does. It was forked off a process with threads, so it may call nothing but the system.
[[noreturn]] void watch(int alive, pid_t group) {
  setpgid(0, 0);
  // Everything else that was open is not its own: other pipes, the lock of the store.
  if (alive > 0) close_range(0, static_cast<unsigned>(alive) - 1, 0);
  close_range(static_cast<unsigned>(alive) + 1, ~0U, 0);
  char byte = 0;
  while (::read(alive, &byte, 1) < 0 && errno == EINTR) {
  }
  kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

Result<Child> Child::spawn(const SpawnRequest& request) {
  assert(!request.argv.empty());
  if (has_nul(request)) return Error{.code = Code::invalid, .message = "a command cannot hold NUL"};
  Pipe output, errors, input;
  bool made = output.make() && (!request.converses || (errors.make() && input.make_socket()));
  if (!made) return error_from(errno, "make a pipe for", request.program);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (request.converses) {
    posix_spawn_file_actions_adddup2(&actions, input.ends[0], STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, request.converses ? errors.ends[1] : output.ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawn_file_actions_addchdir_np(&actions, request.folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const Words argv(request.argv), environment(assignments(request.environment));
  pid_t pid = -1;
  int failed = posix_spawn(&pid, request.program.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return error_from(failed, "run", request.program);
  return Child(pid, output.take(0), errors.take(0), input.take(1));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      input_(std::exchange(other.input_, -1)) {}

Child::~Child() {
  if (pid_ > 0) kill_and_wait();
  for (int fd : {output_, errors_, input_}) {
    if (fd >= 0) close(fd);
  }
}

std::optional<std::span<const char>> Child::read(int64_t at_most_ms, std::span<char> into) {
  return read_from(output_, at_most_ms, into);
}

std::optional<std::span<const char>> Child::read_errors(int64_t at_most_ms, std::span<char> into) {
  return read_from(errors_, at_most_ms, into);
}

bool Child::write(std::string_view text, int64_t at_most_ms) {
  while (!text.empty()) {
    ssize_t done = ::send(input_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done > 0) {
      text.remove_prefix(static_cast<size_t>(done));
      continue;
    }
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno != EAGAIN) return false;
    pollfd wait{.fd = input_, .events = POLLOUT, .revents = 0};
    if (poll(&wait, 1, static_cast<int>(at_most_ms)) <= 0) return false;
  }
  return true;
}

bool Child::ended() const {
  siginfo_t info{};
  // It stays a zombie, so that its id, which is its group's, is not given to another.
  return pid_ <= 0 ||
         (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
}

Exit Child::kill_and_wait() {
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status)};
}

Result<Watchdog> Watchdog::over(pid_t group) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return error_from(errno, "make a pipe for", "a watchdog");
  // Whoever ends this process by a signal to all of its name or group does not end the watchdog before it has barked.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) watch(ends[0], group);
  const int failed = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[0]);
  if (pid < 0) {
    close(ends[1]);
    return error_from(failed, "start", "a watchdog");
  }
  return Watchdog(pid, ends[1]);
}

Watchdog::Watchdog(Watchdog&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), alive_(std::exchange(other.alive_, -1)) {}

Watchdog::~Watchdog() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close(alive_);
}

}  // namespace sluice::process
