// The seam to the system's processes: starts one, hears it, ends it. Everything else about processes stands on this.
//
// A process leads a group of its own, so that what it starts can be ended with it. It gets no input, and its output and
// errors come through one pipe, unless it is to be talked with; of this process it inherits nothing but what it is
// given: no descriptors, no environment variables, no blocked signals.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::process {

struct SpawnRequest {
  std::string program;            // its file; relative to this process's folder
  std::vector<std::string> argv;  // with the name that it is called by; not empty
  std::string folder;             // where it runs
  std::map<std::string, std::string> environment;
  bool converses = false;  // its input is a pipe to write to, and its errors come apart from its output
};

// How a process ended: by itself, or by a signal.
struct Exit {
  int code = 0;
  int signal = 0;  // 0: by itself

  bool operator==(const Exit&) const = default;
};

// A process that was started. It is killed with its group, and waited for, when this is destroyed.
class Child {
 public:
  static Result<Child> spawn(const SpawnRequest& request);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t id() const { return pid_; }
  // Waits for so long for output. Nothing: there was none; an empty span: there will be none any more.
  std::optional<std::span<const char>> read(int64_t at_most_ms, std::span<char> into);
  // Of a process that converses: what it says apart from its output, and what it is told. Writing waits for so long for
  // it to listen; false: it did not, or not to all of it.
  std::optional<std::span<const char>> read_errors(int64_t at_most_ms, std::span<char> into);
  bool write(std::string_view text, int64_t at_most_ms);
  // Whether the process itself has ended; what it started may still run.
  bool ended() const;
  // Ends the whole group, and says how the process ended.
  Exit kill_and_wait();

 private:
  Child(pid_t pid, int output, int errors, int input) : pid_(pid), output_(output), errors_(errors), input_(input) {}

  pid_t pid_ = -1;  // -1: waited for
  int output_ = -1, errors_ = -1, input_ = -1;
};

// Ends a process group when this process is gone, however it went: not even kill -9 leaves a command running. A process
// of its own waits for the end of a pipe that only this process holds. Forgetting it leaves the group alone.
class Watchdog {
 public:
  static Result<Watchdog> over(pid_t group);
  ~Watchdog();
  Watchdog(Watchdog&& other) noexcept;
  Watchdog& operator=(Watchdog&&) = delete;

 private:
  Watchdog(pid_t pid, int alive) : pid_(pid), alive_(alive) {}

  pid_t pid_ = -1;
  int alive_ = -1;  // the pipe's end that is never written to
};

}  // namespace sluice::process
