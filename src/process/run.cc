// One loop: hear the process, and look at it and at the clock every 20 ms.
#include "process/run.h"

#include <unistd.h>

#include <array>

#include "base/terminal.h"
#include "process/find_program.h"
#include "process/spawn.h"

namespace sluice::process {
namespace {

constexpr int64_t kLook_ms = 20;
constexpr size_t kChunkBytes = 16 << 10;

// The last bytes of a stream.
class Tail {
 public:
  explicit Tail(size_t bytes) : bytes_(bytes) {}

  void add(std::span<const char> chunk) {
    text_.append(chunk.data(), chunk.size());
    if (text_.size() < 2 * bytes_ + kChunkBytes) return;
    text_.erase(0, text_.size() - bytes_);
    cut_ = true;
  }
  void give(Ran& ran) {
    ran.cut = cut_ || text_.size() > bytes_;
    if (text_.size() > bytes_) text_.erase(0, text_.size() - bytes_);
    ran.tail = std::move(text_);
  }

 private:
  size_t bytes_;
  std::string text_;
  bool cut_ = false;
};

}  // namespace

std::string to_string(const Ran& ran) {
  switch (ran.end) {
    case Ran::End::exited:
      return "ended with exit code " + std::to_string(ran.code);
    case Ran::End::killed:
      return "was killed by signal " + std::to_string(ran.signal);
    case Ran::End::deadline:
      return "took longer than it may";
    case Ran::End::cancelled:
      return "was cancelled";
  }
  return "";
}

std::vector<std::string> last_lines(const Ran& ran, size_t most) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < ran.tail.size();) {
    size_t end = std::min(ran.tail.find('\n', begin), ran.tail.size());
    lines.push_back(printable(std::string_view(ran.tail).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

Result<Ran> RealRunner::run(const RunRequest& request, const std::function<bool()>& cancelled) {
  if (request.argv.empty()) return Error{.code = Code::invalid, .message = "there is no command to run"};
  auto program = find_program(request.argv.front(), request.folder, request.environment);
  if (!program) return program.error();
  const int64_t deadline_ns = clock_.monotonic_ns() + request.deadline_ms * 1'000'000;
  auto child = Child::spawn(
      {.program = *program, .argv = request.argv, .folder = request.folder, .environment = request.environment});
  if (!child) return child.error();
  auto watchdog = Watchdog::over(child->id());
  if (!watchdog) return watchdog.error();
  Ran ran;
  Tail tail(request.tail_bytes);
  std::vector<char> chunk(kChunkBytes);
  bool heard_all = false;
  while (true) {
    if (cancelled && cancelled()) {
      ran.end = Ran::End::cancelled;
      break;
    }
    if (clock_.monotonic_ns() >= deadline_ns) {
      ran.end = Ran::End::deadline;
      break;
    }
    bool ended = child->ended();
    // What it started may keep the pipe open; what is in it now is still its own.
    auto said = child->read(ended || heard_all ? 0 : kLook_ms, chunk);
    if (said && !said->empty()) {
      tail.add(*said);
      continue;
    }
    heard_all = heard_all || said.has_value();
    if (ended) break;
    if (heard_all) ::usleep(kLook_ms * 1000);
  }
  Exit exit = child->kill_and_wait();
  if (ran.end == Ran::End::exited && exit.signal != 0) {
    ran.end = Ran::End::killed;
    ran.signal = exit.signal;
  }
  if (ran.end == Ran::End::exited) ran.code = exit.code;
  tail.give(ran);
  return ran;
}

}  // namespace sluice::process
