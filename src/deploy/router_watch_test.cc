// What the engine is told of the routers that run.
#include "deploy/router_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_router.h"

namespace sluice::deploy {
namespace router_watch_test {

using testing::ElementsAre;
using testing::IsEmpty;

class RouterWatchTest : public testing::Test {
 protected:
  std::vector<std::string> look() {
    std::vector<std::string> told;
    watch.look([&](const std::string& action, const json::object& input) {
      told.push_back(action);
      for (const char* name : {"environment", "router"}) {
        if (const json::value* value = input.if_contains(name)) told.back() += " " + std::string(value->as_string());
      }
    });
    return told;
  }

  TestingFolder folder;
  RealDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  RouterWatch watch{fleet};
};

TEST_F(RouterWatchTest, ARouterIsOfTheEnvironmentThatItObeysOrIsNamedAfter) {
  EXPECT_EQ(environment_of_router("main", ""), "local");
  EXPECT_EQ(environment_of_router("prod", ""), "prod");
  EXPECT_EQ(environment_of_router("main", "prod"), "prod");
}

TEST_F(RouterWatchTest, RegistersANewOneOnceAndRetiresOneThatWasStopped) {
  EXPECT_THAT(look(), IsEmpty());
  TestingRouter router(folder.path("router"), "main", key.public_key());
  EXPECT_THAT(look(), ElementsAre("Router/register local router-main"));
  EXPECT_THAT(look(), IsEmpty());
  router.stop();
  EXPECT_THAT(look(), ElementsAre("Router/retire local router-main"));
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(RouterWatchTest, OneThatWasKilledStaysRegistered) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  look();
  router.stop(false);
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(RouterWatchTest, ReportsOneThatObeysSomethingElseThanItWasSent) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  look();
  ASSERT_TRUE(fleet.publish({.environment = "local", .generation = 3}, {{router.router(), "main", router.control()}}));
  EXPECT_THAT(look(), IsEmpty());
  router.set_generation(2);
  EXPECT_THAT(look(), ElementsAre("Router/acknowledge local router-main"));
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(RouterWatchTest, ReportsOneThatMissedATable) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  look();
  ASSERT_TRUE(
      fleet.publish({.environment = "local", .generation = 3}, {{router.router(), "main", folder.path("nowhere")}}));
  EXPECT_THAT(look(), ElementsAre("Router/acknowledge local router-main"));
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(RouterWatchTest, HasCountsCollectedNowAndThen) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  int collected = 0;
  for (int i = 0; i < 600; ++i) {
    for (const std::string& told : look()) collected += told == "Usage/collect" ? 1 : 0;
  }
  EXPECT_EQ(collected, 2);
}

}  // namespace router_watch_test
}  // namespace sluice::deploy
