// Runs a command to its end: a build, a migration, a hook. What it says is heard to the end and the last of it is kept;
// at the deadline, or when the result is no longer wanted, the whole process group is killed.
//
//   RealRunner runner(clock);
//   auto ran = runner.run({.argv = {"make", "all"}, .folder = work, .environment = {{"PATH", path}}}, cancelled);
//   if (ran && !ran->good()) … ran->tail …
//
// Runner is a seam: tests give one that does what they say.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::process {

struct RunRequest {
  std::vector<std::string> argv;  // a name without / is looked up in the environment's PATH
  std::string folder;
  std::map<std::string, std::string> environment;  // nothing else is in it
  int64_t deadline_ms = 60'000;
  size_t tail_bytes = 64 << 10;
};

struct Ran {
  enum class End { exited, killed, deadline, cancelled };

  End end = End::exited;
  int code = 0;      // of a process that exited
  int signal = 0;    // of one that was killed by somebody else
  std::string tail;  // the last of what it said, on both streams
  bool cut = false;  // whether it said more

  bool good() const { return end == End::exited && code == 0; }
  bool operator==(const Ran&) const = default;
};

// "ended with exit code 2", "was killed by signal 9", "took longer than 60 s", "was cancelled"
std::string to_string(const Ran& ran);

// The last lines of what it said, fit to be shown.
std::vector<std::string> last_lines(const Ran& ran, size_t most = 20);

class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  // An Error if it could not be started. `cancelled` is asked often. May be called from many threads.
  virtual Result<Ran> run(const RunRequest& request, const std::function<bool()>& cancelled) = 0;
};

class RealRunner final : public Runner {
 public:
  explicit RealRunner(const Clock& clock) : clock_(clock) {}
  Result<Ran> run(const RunRequest& request, const std::function<bool()>& cancelled) override;

 private:
  const Clock& clock_;
};

}  // namespace sluice::process
