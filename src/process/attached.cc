// Terminals come from the system's /dev/ptmx.
#include "process/attached.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <utility>

#include "base/disk.h"

namespace sluice::process {
namespace {

constexpr char kEndOfInput = 4;  // Ctrl-D

struct PipeEnds {
  Descriptor read, write;
};

Result<PipeEnds> make_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return error_from(errno, "make a pipe for", program);
  return PipeEnds{Descriptor(ends[0]), Descriptor(ends[1])};
}

void never_wait(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// This process's end of a new terminal, and the name of the other one.
Result<std::pair<Descriptor, std::string>> make_terminal(TerminalSize size) {
  Descriptor own(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!own) return error_from(errno, "open", "a terminal");
  std::array<char, 128> name{};
  if (::grantpt(own.fd()) != 0 || ::unlockpt(own.fd()) != 0 || ::ptsname_r(own.fd(), name.data(), name.size()) != 0) {
    return error_from(errno, "open", "a terminal");
  }
  winsize window{};
  window.ws_row = size.rows;
  window.ws_col = size.columns;
  ::ioctl(own.fd(), TIOCSWINSZ, &window);
  return std::pair(std::move(own), std::string(name.data()));
}

int as_exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Result<Attached> Attached::start(const std::vector<std::string>& words, std::optional<TerminalSize> terminal) {
  assert(!words.empty());
  std::vector<std::string> texts = words;
  std::vector<char*> argv;
  for (std::string& each : texts) {
    if (each.find('\0') != std::string::npos) {
      return Error{.code = Code::invalid, .message = "a command cannot hold NUL"};
    }
    argv.push_back(each.data());
  }
  argv.push_back(nullptr);
  Attached command;
  Descriptor their_in, their_out, their_err;
  std::string device;
  if (terminal) {
    auto made = make_terminal(*terminal);
    if (!made) return made.error();
    command.terminal_ = true;
    command.output_ = std::move(made->first);
    device = std::move(made->second);
  } else {
    auto in = make_pipe(words.front()), out = make_pipe(words.front()), err = make_pipe(words.front());
    if (!in) return in.error();
    if (!out) return out.error();
    if (!err) return err.error();
    their_in = std::move(in->read);
    command.input_ = std::move(in->write);
    their_out = std::move(out->write);
    command.output_ = std::move(out->read);
    their_err = std::move(err->write);
    command.errors_ = std::move(err->read);
    never_wait(command.input_.fd());
    never_wait(command.errors_.fd());
  }
  never_wait(command.output_.fd());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (terminal) {
    // A terminal that the leader of a session opens becomes the session's own.
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, device.c_str(), O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_adddup2(&actions, their_in.fd(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, their_out.fd(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, their_err.fd(), STDERR_FILENO);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  std::array<char*, 1> no_variables{};
  const int failed = posix_spawn(&command.pid_, argv.front(), &actions, &attributes, argv.data(), no_variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    command.pid_ = -1;
    return error_from(failed, "run", words.front());
  }
  return command;
}

Attached::Attached(Attached&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      code_(other.code_),
      terminal_(other.terminal_),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

Attached::~Attached() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGHUP);
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Attached::end_input() {
  if (terminal_) (void)!::write(output_.fd(), &kEndOfInput, 1);
  input_.reset();
}

void Attached::close(int fd) {
  for (Descriptor* each : {&input_, &output_, &errors_}) {
    if (each->fd() == fd) each->reset();
  }
}

void Attached::resize(TerminalSize size) const {
  winsize window{};
  window.ws_row = size.rows;
  window.ws_col = size.columns;
  if (terminal_ && output_) ::ioctl(output_.fd(), TIOCSWINSZ, &window);
}

std::optional<int> Attached::ended() {
  int status = 0;
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    code_ = as_exit_code(status);
    pid_ = -1;
  }
  return code_;
}

}  // namespace sluice::process
