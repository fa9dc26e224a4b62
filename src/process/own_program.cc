// posix_spawn, so that no thread of this process has to be thought of.
#include "process/own_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk.h"
#include "process/system.h"

namespace sluice::process {

Result<pid_t> start_own_program(const std::vector<std::string>& words, const std::string& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> own = {"sluice"};
  own.insert(own.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : own) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  int failed = ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(), ::environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return error_from(failed, "start", "this program once more");
  return pid;
}

bool ends_within(pid_t child, int64_t at_most_ms) {
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pollfd ended{.fd = handle.fd(), .events = POLLIN, .revents = 0};
  ::poll(&ended, 1, static_cast<int>(at_most_ms));
  return ::waitpid(child, nullptr, WNOHANG) == child;
}

}  // namespace sluice::process
