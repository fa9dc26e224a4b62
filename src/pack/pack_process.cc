// One thread listens to each process, and ends with it.
#include "pack/pack_process.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>

#include "base/json.h"
#include "base/terminal.h"
#include "base/thread_name.h"

namespace sluice::pack {
namespace {

constexpr int64_t kFirstPause_ms = 100;
constexpr int64_t kLongestPause_ms = 30'000;
constexpr int64_t kSoon_ms = 10'000;  // a process that ends this soon after its start has failed
constexpr int64_t kListens_ms = 5'000;
constexpr int64_t kLook_ms = 50;
constexpr size_t kErrorTail = 2'000;

// The last line of what a process complained of.
std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  size_t line = text.rfind('\n');
  return printable(line == std::string_view::npos ? text : text.substr(line + 1));
}

}  // namespace

struct PackProcess::Running {
  process::Child child;
  process::Watchdog watchdog;  // ends it with this process, however that ends
  int64_t since_ns = 0;
  bool wanted = true;  // with the lock held: false once it was ended
  std::string why;     // then: why
  std::string errors;  // of the listening thread
  std::thread listener;
};

PackProcess::~PackProcess() {
  stop("Sluice ends");
  std::shared_ptr<Running> last;
  {
    std::lock_guard lock(mutex_);
    last = std::move(running_);
  }
  if (last && last->listener.joinable()) last->listener.join();
}

std::optional<NoAnswer> PackProcess::start(std::unique_lock<std::mutex>& lock) {
  while (running_ && !running_->wanted && running_->listener.joinable()) {
    // The listener of the one before still takes the lock to hear of its end.
    std::thread listener = std::move(running_->listener);
    lock.unlock();
    listener.join();
    lock.lock();
  }
  if (running_ && running_->wanted) return std::nullopt;
  if (int64_t wait_ms = (not_before_ns_ - clock_.monotonic_ns()) / 1'000'000; wait_ms > 0) {
    return NoAnswer{.message = running_ ? running_->why : "it could not be started", .after_ms = wait_ms};
  }
  auto failed = [this](const std::string& why) {
    int64_t pause_ms = std::min(kFirstPause_ms << std::min(failures_++, 16), kLongestPause_ms);
    not_before_ns_ = clock_.monotonic_ns() + pause_ms * 1'000'000;
    return NoAnswer{.message = why, .after_ms = pause_ms};
  };
  auto child = process::Child::spawn(program_);
  if (!child) return failed(to_string(child.error()));
  auto watchdog = process::Watchdog::over(child->id());
  if (!watchdog) return failed(to_string(watchdog.error()));
  running_ = std::make_shared<Running>(
      Running{.child = *std::move(child), .watchdog = *std::move(watchdog), .since_ns = clock_.monotonic_ns()});
  ++started_;
  running_->listener = std::thread([this, running = running_] { listen(running); });
  return std::nullopt;
}

PackAnswer PackProcess::ask(std::string_view what, const json::object& message, int64_t deadline_ms,
                            const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  if (auto none = start(lock)) return {.none = *std::move(none)};
  std::shared_ptr<Running> running = running_;
  const std::string id = std::to_string(++asked_);
  json::object line{{"id", id}};
  line[what] = message;
  std::string text = write(line) + "\n";
  if (text.size() > kMaxMessageBytes) {
    return {.none = {.message = "the message has more than " + std::to_string(kMaxMessageBytes) + " bytes"}};
  }
  waiters_[id];
  // Lines of several threads must not mix, so the lock is held; it listens or it is ended.
  if (!running->child.write(text, kListens_ms)) end(*running, "it does not read its input");
  const int64_t until_ns = clock_.monotonic_ns() + deadline_ms * 1'000'000;
  PackAnswer answer{.none = {.sent = true}};
  while (true) {
    Waiter& waiter = waiters_[id];
    if (waiter.message || waiter.failed) break;
    if (clock_.monotonic_ns() >= until_ns) {
      end(*running, "it did not answer within " + std::to_string(deadline_ms) + " ms");
    } else if (cancelled && cancelled()) {
      answer.none.cancelled = true;
      end(*running, "its answer was no longer wanted");
    } else {
      heard_.wait_for(lock, std::chrono::milliseconds(kLook_ms));
    }
  }
  Waiter waiter = std::move(waiters_[id]);
  waiters_.erase(id);
  answer.message = std::move(waiter.message);
  if (waiter.failed) answer.none.message = *std::move(waiter.failed);
  return answer;
}

// With the lock held.
void PackProcess::end(Running& running, const std::string& why) {
  if (!running.wanted) return;
  running.wanted = false;
  running.why = why;
  std::string complaint = last_line(running.errors);
  if (!complaint.empty()) running.why += "; it said: " + truncate_to_width(complaint, 300);
  const int64_t lived_ms = (clock_.monotonic_ns() - running.since_ns) / 1'000'000;
  failures_ = lived_ms < kSoon_ms ? failures_ + 1 : 0;
  if (failures_ > 1) {
    int64_t pause_ms = std::min(kFirstPause_ms << std::min(failures_ - 2, 16), kLongestPause_ms);
    not_before_ns_ = clock_.monotonic_ns() + pause_ms * 1'000'000;
  }
  running.child.kill_and_wait();
  for (auto& [id, waiter] : waiters_) {
    if (!waiter.message && !waiter.failed) waiter.failed = running.why;
  }
  heard_.notify_all();
}

void PackProcess::listen(const std::shared_ptr<Running>& running) {
  name_this_thread("pack");
  std::array<char, 16 << 10> piece;
  std::string line;
  bool errors_end = false;
  // What it complains of is read as far as it is there, so that it never waits for a reader.
  auto hear_errors = [&] {
    while (!errors_end) {
      auto said = running->child.read_errors(0, piece);
      if (!said) break;
      errors_end = said->empty();
      std::lock_guard lock(mutex_);
      running->errors.append(said->data(), said->size());
      if (running->errors.size() > kErrorTail) running->errors.erase(0, running->errors.size() - kErrorTail);
    }
  };
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (!running->wanted) return;
    }
    hear_errors();
    auto said = running->child.read(kLook_ms, piece);
    // What it started may hold its output open after it has ended.
    bool ended = said ? said->empty() : running->child.ended();
    if (!said && !ended) continue;
    if (ended) hear_errors();  // its last words
    std::lock_guard lock(mutex_);
    if (ended) return end(*running, "it ended");
    for (char c : *said) {
      if (c != '\n') {
        line += c;
      } else if (running->wanted) {
        hear(*running, line);
        line.clear();
      }
    }
    if (line.size() > kMaxMessageBytes) {
      return end(*running, "it said more than " + std::to_string(kMaxMessageBytes) + " bytes in one line");
    }
  }
}

// With the lock held.
void PackProcess::hear(Running& running, std::string_view line) {
  auto message = parse_json(line);
  const json::object* fields = message ? message->root.if_object() : nullptr;
  const json::value* id = fields == nullptr ? nullptr : fields->if_contains("id");
  auto asked = id == nullptr || !id->is_string() ? waiters_.end() : waiters_.find(std::string(id->get_string()));
  if (asked == waiters_.end() || asked->second.message) {
    std::string what = fields == nullptr ? "what is no JSON object" : "what nobody asked for";
    return end(running, "it said " + what + ": " + truncate_to_width(printable(line.substr(0, 200)), 80));
  }
  bool known = fields->contains("complete") || fields->contains("again") || fields->contains("fault");
  if (!known) return end(running, "its message has none of complete, again and fault");
  asked->second.message = *fields;
  heard_.notify_all();
}

void PackProcess::stop(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (running_) end(*running_, why);
  failures_ = 0;
  not_before_ns_ = 0;
}

pid_t PackProcess::id() {
  std::lock_guard lock(mutex_);
  return running_ && running_->wanted ? running_->child.id() : 0;
}

int PackProcess::starts() {
  std::lock_guard lock(mutex_);
  return started_;
}

}  // namespace sluice::pack
