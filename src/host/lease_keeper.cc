// A renewal that fails is tried again until the lease lapses.
#include "host/lease_keeper.h"

#include <chrono>

#include "base/thread_name.h"
#include "host/postgres_home.h"

namespace sluice::host {
namespace {

constexpr std::chrono::seconds kRenewEvery{1};

}  // namespace

LeasedStore leased(store::postgres::PostgresStore& store) {
  return {.renew = [&store] { return store.renew(); },
          .broken = [&store] { return store.broken(); },
          .batch = [&store] { return store.batch(); },
          .end_late_calls = [&store] { store.end_late_calls(); },
          .resign = [&store] { store.resign(); }};
}

LeaseKeeper::LeaseKeeper(LeasedStore store, Disk& disk, Home home, std::function<void(const Error&)> lost)
    : store_(std::move(store)), disk_(disk), home_(std::move(home)), lost_(std::move(lost)) {
  thread_ = std::thread([this] { run(); });
  watcher_ = std::thread([this] { watch(); });
}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  thread_.join();
  write_down();
  store_.resign();
  {
    const std::lock_guard guard(mutex_);
    ended_all_ = true;
  }
  ended_.notify_all();
  watcher_.join();
}

void LeaseKeeper::run() {
  name_this_thread("lease");
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kRenewEvery, [&] { return ending_; })) {
    lock.unlock();
    auto renewed = store_.renew();
    const auto broken = renewed ? std::nullopt : store_.broken();
    if (broken) return lost_(*broken);
    write_down();
    lock.lock();
  }
}

void LeaseKeeper::watch() {
  name_this_thread("lease.watch");
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kRenewEvery, [&] { return ended_all_; })) {
    lock.unlock();
    store_.end_late_calls();
    lock.lock();
  }
}

void LeaseKeeper::write_down() {
  const uint64_t now = store_.batch();
  if (now == written_) return;
  auto of = read_postgres_home(disk_, home_);
  if (!of || !*of) return;
  (*of)->seen = now;
  if (write_postgres_home(disk_, home_, **of)) written_ = now;
}

}  // namespace sluice::host
