// One thread looks after the others while work waits; it sleeps otherwise.
#include "http/worker_pool.h"

#include <algorithm>
#include <chrono>

#include "base/thread_name.h"

namespace sluice::http {

WorkerPool::WorkerPool(PoolSize size, const Clock& clock) : size_(size), clock_(clock) {
  keeper_ = std::thread([this] { look_after(); });
}

WorkerPool::~WorkerPool() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  more_.notify_all();
  full_.notify_all();
  lock.unlock();
  keeper_.join();
  // Nobody adds a thread now, and each puts itself among the ended.
  while (true) {
    lock.lock();
    join_ended();
    const bool over = threads_.empty();
    if (!over) full_.wait(lock, [&] { return !ended_.empty() || threads_.empty(); });
    lock.unlock();
    if (over) return;
  }
}

size_t WorkerPool::threads() const {
  std::lock_guard lock(mutex_);
  return threads_.size();
}

void WorkerPool::run(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(work), clock_.monotonic_ns()});
  if (idle_ > 0) {
    more_.notify_one();
  } else if (threads_.size() < size_.stay) {
    add_thread();
  }
  if (waiting_.size() > idle_) full_.notify_all();
}

void WorkerPool::add_thread() {
  auto place = threads_.emplace(threads_.end());
  try {
    *place = std::thread([this] { this->work(); });
  } catch (const std::system_error&) {
    threads_.erase(place);  // the system has no more: those that there are do it
  }
}

void WorkerPool::join_ended() {
  for (std::thread& each : ended_) each.join();
  ended_.clear();
}

void WorkerPool::work() {
  name_this_thread("worker");
  std::unique_lock lock(mutex_);
  while (true) {
    if (!waiting_.empty()) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next.work();
      next.work = nullptr;
      lock.lock();
      continue;
    }
    if (closing_) break;
    ++idle_;
    const bool called =
        more_.wait_for(lock, std::chrono::milliseconds(size_.idle_ms), [&] { return closing_ || !waiting_.empty(); });
    --idle_;
    if (!called && threads_.size() > size_.stay) break;
  }
  auto self = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
  ended_.splice(ended_.end(), threads_, self);
  full_.notify_all();
}

void WorkerPool::look_after() {
  name_this_thread("worker keeper");
  const std::chrono::milliseconds patience(size_.patience_ms);
  std::unique_lock lock(mutex_);
  while (!closing_) {
    full_.wait(lock, [&] { return closing_ || !ended_.empty() || waiting_.size() > idle_; });
    join_ended();
    if (closing_ || waiting_.size() <= idle_) continue;
    full_.wait_for(lock, patience, [&] { return closing_; });
    if (closing_ || waiting_.empty() || idle_ > 0 || threads_.size() >= size_.most) continue;
    if (clock_.monotonic_ns() - waiting_.front().since_ns >= size_.patience_ms * 1'000'000) add_thread();
  }
}

}  // namespace sluice::http
