// Runs attempts. An attempt's result goes to the writer from the attempt's own thread.
#include "engine/effects.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/thread_name.h"

namespace sluice::engine {

EffectThreads::~EffectThreads() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

size_t EffectThreads::threads() const {
  std::lock_guard lock(mutex_);
  return threads_.size();
}

void EffectThreads::launch(Job job) {
  std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  wake_one();
}

void EffectThreads::launch_all(std::vector<Job> jobs) {
  std::lock_guard lock(mutex_);
  std::ranges::move(jobs, std::back_inserter(jobs_));
  wake_one();
}

// Threads are woken one after the other, each by the one before: short attempts are then done by few threads, long
// ones have one each a moment later.
void EffectThreads::wake_one() {
  if (waking_ || jobs_.empty()) return;
  if (idle_ > 0) {
    waking_ = true;
    wake_.notify_one();
  } else if (threads_.size() < most_) {
    waking_ = true;
    threads_.emplace_back([this] { work(); });
  }
}

void EffectThreads::work() {
  name_this_thread("effects");
  std::unique_lock lock(mutex_);
  waking_ = false;
  while (true) {
    while (!jobs_.empty()) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      wake_one();
      lock.unlock();
      if (before_job_) before_job_();
      job.run();
      job = {};
      lock.lock();
      if (!after_job_) continue;
      bool idle = jobs_.empty() && !waking_;
      if (idle) waking_ = true;
      lock.unlock();
      after_job_(idle);
      lock.lock();
      if (idle) waking_ = false;
    }
    if (stopping_) return;
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || waking_; });
    --idle_;
    waking_ = false;
  }
}

bool EffectQueue::run(size_t n) {
  if (n >= jobs_.size()) return false;
  Job job = std::move(jobs_[n]);
  jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(n));
  job.run();
  return true;
}

void EffectSlots::push(size_t concept_, const Ulid& flow, const Ulid& invocation) {
  lines_[concept_].waiting.emplace(std::pair(flow, pushed_++), invocation);
}

std::optional<EffectSlots::Waiting> EffectSlots::take(size_t most) {
  if (running_ >= most) return std::nullopt;
  auto at = last_ ? lines_.upper_bound(*last_) : lines_.begin();
  for (size_t looked = 0; looked < lines_.size(); ++looked, ++at) {
    if (at == lines_.end()) at = lines_.begin();
    auto& [concept_, line] = *at;
    if (line.waiting.empty() || line.running >= line.limit) continue;
    last_ = concept_;
    auto next = line.last ? line.waiting.upper_bound({*line.last, UINT64_MAX}) : line.waiting.begin();
    if (next == line.waiting.end()) next = line.waiting.begin();
    Waiting waiting{concept_, next->first.first, next->second};
    line.last = waiting.flow;
    line.waiting.erase(next);
    ++line.running;
    ++running_;
    return waiting;
  }
  return std::nullopt;
}

void EffectSlots::release(size_t concept_) {
  --lines_[concept_].running;
  --running_;
}

void EffectSlots::hold(size_t concept_) {
  ++lines_[concept_].running;
  ++running_;
}

void EffectSlots::forget_waiting() {
  for (auto& [concept_, line] : lines_) line.waiting.clear();
}

}  // namespace sluice::engine
