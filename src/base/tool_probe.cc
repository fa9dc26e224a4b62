// The tool runs in a process group of its own, so that the deadline ends its children too.
#include "base/tool_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <regex>

#include "base/clock.h"

namespace sluice {
namespace {

constexpr size_t kMostOutput = 4096;  // versions come first; also keeps the regular expression's work small

std::string find_on_path(const std::string& name, const std::string& path) {
  if (name.empty() || name.find('/') != std::string::npos) return "";
  size_t begin = 0;
  while (begin <= path.size()) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (!folder.starts_with('/')) continue;
    std::string candidate = folder + '/' + name;
    struct stat status {};
    if (stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return "";
}

// Reads until the tool is silent for good, the room is full or the deadline has passed; true unless it passed.
bool read_until(int fd, const Clock& clock, int64_t deadline_ns, std::string& text) {
  while (text.size() < kMostOutput) {
    int64_t left_ms = (deadline_ns - clock.monotonic_ns() + 999'999) / 1'000'000;
    if (left_ms <= 0) return false;
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    int ready = poll(&wait, 1, static_cast<int>(left_ms));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    std::array<char, 1024> chunk;
    ssize_t got = read(fd, chunk.data(), std::min(chunk.size(), kMostOutput - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(chunk.data(), static_cast<size_t>(got));
  }
  return true;
}

// What the tool says, on stdout and stderr together; empty if it cannot be started or says nothing in time.
std::string ask(const std::string& path, const ToolQuestion& question) {
  std::array<int, 2> pipe_fds{};
  if (pipe2(pipe_fds.data(), O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string program = path;
  std::string flag = question.version_flag;
  std::array<char*, 3> arguments = {program.data(), flag.data(), nullptr};
  pid_t pid = 0;
  int failed = posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  std::string text;
  if (failed == 0) {
    RealClock clock;  // the tool lives in real time, whatever the rest of a test does
    int64_t deadline_ns = clock.monotonic_ns() + std::chrono::nanoseconds(question.deadline).count();
    bool in_time = read_until(pipe_fds[0], clock, deadline_ns, text);
    // The tool has been heard. Until it is waited for, its id cannot become another group's.
    kill(-pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!in_time) text.clear();
  }
  close(pipe_fds[0]);
  return text;
}

}  // namespace

ToolProbe probe_tool(const ToolQuestion& question, const Variables& variables) {
  ToolProbe probe{.name = question.name, .hint = question.hint};
  probe.path = find_on_path(question.name, variables("PATH").value_or(""));
  probe.found = !probe.path.empty();
  if (!probe.found) return probe;
  std::string said = ask(probe.path, question);
  std::smatch match;
  if (std::regex_search(said, match, std::regex(question.version_pattern)) && match.size() > 1) {
    probe.version = printable(match[1].str());
  }
  return probe;
}

}  // namespace sluice
