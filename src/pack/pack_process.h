// The process that serves a pack's concept, spoken with over JSON lines on its input and output
// (docs/internals/packs.md has the messages). It is started when it is first needed, and again when it has ended: at
// once, and then after pauses that double from 0.1 s to 30 s while it keeps ending within ten seconds.
//
//   PackProcess process(clock, {.program = "…/serve.py", .folder = data, …});
//   auto answer = process.ask("invoke", {{"action", "record"}, …}, deadline_ms, cancelled);
//
// A process that does not answer by its deadline, says more than a message may have, or says what nobody asked for is
// killed with all that it has started; whoever waits for an answer hears why. Any thread may ask.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/document.h"
#include "base/result.h"
#include "process/spawn.h"

namespace sluice::pack {

inline constexpr size_t kMaxMessageBytes = 1 << 20;

// Why there is no answer.
struct NoAnswer {
  std::string message;
  bool sent = false;       // the process may have done what it was asked to
  int64_t after_ms = 0;    // when it may be asked again, if it was not sent
  bool cancelled = false;  // the answer is no longer wanted
};

// What the process answered, or why it did not.
struct PackAnswer {
  std::optional<json::object> message;  // with one of `complete`, `again` and `fault`
  NoAnswer none;
};

class PackProcess {
 public:
  // The clock must outlive it.
  PackProcess(Clock& clock, process::SpawnRequest program) : clock_(clock), program_(std::move(program)) {}
  ~PackProcess();
  PackProcess(const PackProcess&) = delete;
  PackProcess& operator=(const PackProcess&) = delete;

  PackAnswer ask(std::string_view what, const json::object& message, int64_t deadline_ms,
                 const std::function<bool()>& cancelled = {});

  // Ends it, if it runs; the next question starts it again.
  void stop(const std::string& why);
  // The process's id; 0 while none runs.
  pid_t id();
  // How often it was started.
  int starts();

 private:
  struct Running;
  struct Waiter {
    std::optional<json::object> message;
    std::optional<std::string> failed;
  };

  // With the lock held. Nothing: it runs.
  std::optional<NoAnswer> start(std::unique_lock<std::mutex>& lock);
  void listen(const std::shared_ptr<Running>& running);
  void hear(Running& running, std::string_view line);
  void end(Running& running, const std::string& why);

  Clock& clock_;
  const process::SpawnRequest program_;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::shared_ptr<Running> running_;
  std::map<std::string, Waiter> waiters_;  // by the message's id
  uint64_t asked_ = 0;
  int started_ = 0, failures_ = 0;
  int64_t not_before_ns_ = 0;
};

}  // namespace sluice::pack
