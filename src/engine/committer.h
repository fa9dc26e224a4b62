// Commits batches on a thread of its own, one at a time, so that the machine can go on while the disk works.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "store/store.h"

namespace sluice::engine {

class Committer {
 public:
  // `done` is called on the committer's thread after each commit.
  Committer(store::Store& store, std::function<void()> done);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // The batch must stay as it is until wait() has returned. One at a time.
  void begin(const store::Batch& batch);
  bool is_done() const { return done_; }
  Result<void> wait();

 private:
  void run();

  store::Store& store_;
  const std::function<void()> tell_;
  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const store::Batch* batch_ = nullptr;
  std::optional<Result<void>> result_;
  std::atomic<bool> done_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::engine
