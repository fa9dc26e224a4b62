// Opening the home's store, and waiting for whoever has it.
#include "cli/home_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "base/real_disk.h"
#include "cli/testing_flows.h"

namespace sluice::cli {
namespace home_store_test {

struct OpenHomeStore : testing::Test {
  // Opens it as the command `flow list --lock-timeout TIME` would, with a clock that moves only while it sleeps.
  Result<std::unique_ptr<HomeStore>> open(MakeStore make, const std::string& timeout = "10s") {
    Commands commands = all_commands();
    Given given;
    given.command = commands.find("flow list");
    given.set("lock-timeout", timeout);
    Output output({}, out, err);
    Variables variables = [&](const std::string& name) -> std::optional<std::string> {
      if (name == "SLUICE_HOME") return home.path("home");
      return std::nullopt;
    };
    Context context{
        .commands = commands, .given = given, .output = output, .variables = variables, .in = in, .disk = disk};
    return open_home_store(context, clock, make);
  }

  TestingHome home;
  RealDisk disk;
  ManualClock clock;
  std::istringstream in;
  std::ostringstream out, err;
};

TEST_F(OpenHomeStore, MakesNothingUnlessAsked) {
  auto none = open(MakeStore::no);
  ASSERT_TRUE(none) << to_string(none.error());
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(std::filesystem::exists(home.path("home")));
  {
    auto made = open(MakeStore::yes);
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_TRUE(std::filesystem::exists(home.path("home/store/store.db")));
    EXPECT_EQ((*made)->heads_path, home.path("home/store/audit.heads"));
    EXPECT_EQ((*made)->operator_key_path, home.path("home/keys/operator.pem"));
  }
  auto there = open(MakeStore::no);
  ASSERT_TRUE(there) << to_string(there.error());
  EXPECT_NE(*there, nullptr);
}

TEST_F(OpenHomeStore, WaitsForTheHolderAndAfterASecondSaysForWhom) {
  auto first = open(MakeStore::yes);
  ASSERT_TRUE(first) << to_string(first.error());
  std::string pid = std::to_string(::getpid());
  auto second = open(MakeStore::no, "1s");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(err.str(), "");
  auto third = open(MakeStore::no, "3s");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::conflict);
  EXPECT_EQ(third.error().message.substr(0, home.path("home/run/store.lock").size() + 18 + pid.size()),
            home.path("home/run/store.lock") + " is locked by pid " + pid);
  EXPECT_EQ(err.str().substr(0, 17 + pid.size()), "waiting for pid " + pid + " ");
  EXPECT_TRUE(err.str().ends_with(", which has the store open\n")) << err.str();
  EXPECT_GE(clock.monotonic_ns(), int64_t{4'000'000'000});
}

}  // namespace home_store_test
}  // namespace sluice::cli
