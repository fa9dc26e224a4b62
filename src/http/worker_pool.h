// WorkerPool runs what may block: a few threads that stay, and more while those that there are wait for something, up
// to a bound. Beyond it work waits for its turn.
//
//   WorkerPool pool({.stay = 4, .most = 256});
//   pool.run([] { … });
//
// A burst of short work is done by the threads that stay: another one starts only when the oldest work has waited for
// longer than short work takes. Any thread may call it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace sluice::http {

struct PoolSize {
  size_t stay = 4;
  size_t most = 256;
  int64_t patience_ms = 2;  // that work waits before another thread starts for it
  int64_t idle_ms = 5'000;  // after which a thread beyond those that stay ends
};

class WorkerPool {
 public:
  // The clock must outlive it.
  WorkerPool(PoolSize size, const Clock& clock);
  // Does what was asked for, and returns when it is done.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void run(std::function<void()> work);
  size_t threads() const;

 private:
  struct Waiting {
    std::function<void()> work;
    int64_t since_ns = 0;
  };

  void work();
  void look_after();
  void add_thread();  // with the lock held
  void join_ended();  // likewise

  PoolSize size_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable more_, full_;
  std::deque<Waiting> waiting_;
  std::list<std::thread> threads_;
  std::list<std::thread> ended_;
  size_t idle_ = 0;
  bool closing_ = false;
  std::thread keeper_;
};

}  // namespace sluice::http
