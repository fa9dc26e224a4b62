// The thread begins when it is needed: most routers are never asked, and threads that serve would inherit nothing of
// it.
#include "router/reporter.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread_name.h"
#include "base/thread_turns.h"

namespace sluice::router {

Reporter::Reporter() : ready_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Reporter::~Reporter() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (ready_ >= 0) ::close(ready_);
}

void Reporter::make(uint64_t whom, std::function<std::string()> report) {
  {
    std::lock_guard lock(mutex_);
    asked_.emplace_back(whom, std::move(report));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  more_.notify_one();
}

std::vector<std::pair<uint64_t, std::string>> Reporter::take() {
  uint64_t count = 0;
  [[maybe_unused]] ssize_t size = ::read(ready_, &count, sizeof count);
  std::lock_guard lock(mutex_);
  return std::exchange(made_, {});
}

void Reporter::run() {
  name_this_thread("router-report");
  let_others_go_first();
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [&] { return ending_ || !asked_.empty(); });
    if (ending_) return;
    auto [whom, report] = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    std::string text = report();
    report = nullptr;  // what it was made of may be the last that holds a table
    lock.lock();
    made_.emplace_back(whom, std::move(text));
    const uint64_t one = 1;
    [[maybe_unused]] ssize_t size = ::write(ready_, &one, sizeof one);
  }
}

}  // namespace sluice::router
