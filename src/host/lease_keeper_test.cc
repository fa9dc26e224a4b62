// It renews until the lease is lost, writes down how far the store has come, and gives the lease back at its end.
#include "host/lease_keeper.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "host/postgres_home.h"

namespace sluice::host {
namespace lease_keeper_test {

struct Keeper : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(home.folder("store"));
    ASSERT_TRUE(write_postgres_home(disk, home, {.store = "ab", .instance = "cd", .seen = 1}));
  }
  uint64_t seen() { return (*read_postgres_home(disk, home))->seen; }
  LeasedStore store() {
    return {.renew = [this]() -> Result<void> {
              ++renewals;
              if (fails) return Error{.code = Code::unavailable, .message = "no answer"};
              return {};
            },
            .broken = [this]() -> std::optional<Error> {
              if (lapsed) return Error{.code = Code::unavailable, .message = "the lease has lapsed"};
              return std::nullopt;
            },
            .batch = [this] { return batch.load(); },
            .end_late_calls = [this] { ++looks; },
            .resign = [this] { resigned = true; }};
  }

  RealDisk disk;
  TestingFolder folder;
  Home home{disk, folder.path("h")};
  std::atomic<int> renewals = 0, looks = 0;
  std::atomic<uint64_t> batch = 7;
  std::atomic<bool> fails = false, lapsed = false, resigned = false, lost = false;
};

TEST_F(Keeper, ItRenewsAndWritesDownHowFarTheStoreHasCome) {
  {
    LeaseKeeper keeper(store(), disk, home, [this](const Error&) { lost = true; });
    ASSERT_TRUE(eventually([&] { return renewals > 0 && seen() == 7; }));
    batch = 9;
  }
  EXPECT_EQ(seen(), 9U);
  EXPECT_TRUE(resigned);
  EXPECT_FALSE(lost);
}

TEST_F(Keeper, CallsThatNobodyAnswersAreEndedWhileARenewalWaits) {
  auto stuck = store();
  stuck.renew = [this]() -> Result<void> {
    ++renewals;
    while (looks == 0) std::this_thread::yield();
    return Error{.code = Code::unavailable, .message = "no answer"};
  };
  LeaseKeeper keeper(std::move(stuck), disk, home, [](const Error&) {});
  EXPECT_TRUE(eventually([&] { return renewals > 1; }));
}

TEST_F(Keeper, OnlyALeaseThatHasLapsedIsLost) {
  fails = true;
  LeaseKeeper keeper(store(), disk, home,
                     [this](const Error& error) { lost = error.message == "the lease has lapsed"; });
  ASSERT_TRUE(eventually([&] { return renewals > 1; }));
  EXPECT_FALSE(lost);
  lapsed = true;
  EXPECT_TRUE(eventually([&] { return lost.load(); }));
}

}  // namespace lease_keeper_test
}  // namespace sluice::host
