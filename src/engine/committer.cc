// One batch is handed over, and its result handed back.
#include "engine/committer.h"

#include <utility>

#include "base/thread_name.h"

namespace sluice::engine {

Committer::Committer(store::Store& store, std::function<void()> done)
    : store_(store), tell_(std::move(done)), thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begun_.notify_one();
  thread_.join();
}

void Committer::begin(const store::Batch& batch) {
  {
    std::lock_guard lock(mutex_);
    batch_ = &batch;
    result_.reset();
    done_ = false;
  }
  begun_.notify_one();
}

Result<void> Committer::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return result_.has_value(); });
  done_ = false;
  return *std::exchange(result_, std::nullopt);
}

void Committer::run() {
  name_this_thread("committer");
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [this] { return stopping_ || batch_ != nullptr; });
    if (batch_ == nullptr) return;
    const store::Batch& batch = *std::exchange(batch_, nullptr);
    lock.unlock();
    auto result = store_.commit(batch);
    lock.lock();
    result_ = std::move(result);
    done_ = true;
    lock.unlock();
    ended_.notify_one();
    tell_();
    lock.lock();
  }
}

}  // namespace sluice::engine
