// LeaseKeeper renews the lease on a store in PostgreSQL from a thread of its own, every second, and writes down in the
// home how far the store has come. Once the lease is lost it says so, and this process must write nothing any more. At
// its end it gives the lease back. A second thread ends calls to a server that says nothing, once the lease has lapsed:
// a wire that swallows all would otherwise keep a process that leads no more from noticing it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/disk.h"
#include "base/result.h"
#include "host/home.h"
#include "store/postgres_store.h"

namespace sluice::host {

// What the keeper asks of a store. All but `resign` and `end_late_calls` are called on its thread.
struct LeasedStore {
  std::function<Result<void>()> renew;
  std::function<std::optional<Error>()> broken;
  std::function<uint64_t()> batch;
  std::function<void()> end_late_calls;
  std::function<void()> resign;
};
LeasedStore leased(store::postgres::PostgresStore& store);

class LeaseKeeper {
 public:
  // The disk must outlive it. `lost` is called on its thread, once.
  LeaseKeeper(LeasedStore store, Disk& disk, Home home, std::function<void(const Error&)> lost);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

 private:
  void run();
  void watch();
  void write_down();

  const LeasedStore store_;
  Disk& disk_;
  Home home_;
  const std::function<void(const Error&)> lost_;
  uint64_t written_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  bool ended_all_ = false;  // nothing can wait for the server any more
  std::thread thread_, watcher_;
};

}  // namespace sluice::host
