// Opening the home's store, and waiting for whoever has it.
#include "host/home_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "host/testing_opening.h"

namespace sluice::host {
namespace home_store_test {

struct OpenHomeStore : testing::Test {
  // With a clock that moves only while it sleeps.
  Result<std::unique_ptr<HomeStore>> open(MakeStore make, int64_t timeout_ms = 10'000) {
    home.opening.lock_timeout_ms = timeout_ms;
    return open_home_store(home.opening, clock, make);
  }

  TestingOpening home{{}};
  ManualClock clock;
};

TEST_F(OpenHomeStore, MakesNothingUnlessAsked) {
  auto none = open(MakeStore::no);
  ASSERT_TRUE(none) << to_string(none.error());
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(std::filesystem::exists(home.folder.path("home")));
  {
    auto made = open(MakeStore::yes);
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_TRUE(std::filesystem::exists(home.folder.path("home/store/store.db")));
    EXPECT_EQ((*made)->heads_path, home.folder.path("home/store/audit.heads"));
    EXPECT_EQ((*made)->operator_key_path, home.folder.path("home/keys/operator.pem"));
  }
  auto there = open(MakeStore::no);
  ASSERT_TRUE(there) << to_string(there.error());
  EXPECT_NE(*there, nullptr);
}

TEST_F(OpenHomeStore, WaitsForTheHolderAndAfterASecondSaysForWhom) {
  auto first = open(MakeStore::yes);
  ASSERT_TRUE(first) << to_string(first.error());
  std::string pid = std::to_string(::getpid());
  auto second = open(MakeStore::no, 1'000);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(home.narrator.said, "");
  auto third = open(MakeStore::no, 3'000);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::conflict);
  EXPECT_EQ(third.error().message.substr(0, home.folder.path("home/run/store.lock").size() + 18 + pid.size()),
            home.folder.path("home/run/store.lock") + " is locked by pid " + pid);
  EXPECT_EQ(home.narrator.said.substr(0, 17 + pid.size()), "waiting for pid " + pid + " ");
  EXPECT_TRUE(home.narrator.said.ends_with(", which has the store open\n")) << home.narrator.said;
  EXPECT_GE(clock.monotonic_ns(), int64_t{4'000'000'000});
}

}  // namespace home_store_test
}  // namespace sluice::host
