// Router through the harness: one test a variant. What a publish sends needs all concepts, and is tested on the kit in
// deploy/routers_sync_test.cc.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/concepts/router/router_work.h"
#include "deploy/router_fleet.h"
#include "deploy/testing_router.h"
#include "lang/run/harness.h"

namespace sluice::deploy::router {

void prepare(lang::Harness&) {}

namespace router_test {

const RouterId kLocal("local");

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    harness.tools().add(fleet);
    harness.tools().add<Clock>(clock);
  }

  auto enter(const TestingRouter& router, const std::string& name = "main", int64_t generation = 0) {
    return harness.invoke(Register{.environment = kLocal,
                                   .router = router.router(),
                                   .name = name,
                                   .control = router.control(),
                                   .generation = generation});
  }
  auto publish() { return harness.invoke(Publish{.environment = kLocal}); }
  // As if so much had been published.
  void be_at(int64_t generation) { State(harness.rows()).put(kLocal, {.generation = generation}); }
  std::vector<RouterMember> members() { return State(harness.rows()).members(kLocal).values(); }

  TestingFolder folder;
  RealDisk disk;
  ManualClock clock{1'700'000'000'000};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  lang::Harness harness{router_binding()};
};

TEST_F(RouterTest, RegisterOkKeepsTheRouter) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  EXPECT_EQ(enter(router).as<Register::Ok>(), (Register::Ok{.environment = kLocal, .router = "router-main"}));
  ASSERT_EQ(members().size(), 1U);
  EXPECT_EQ(members()[0].name, "main");
  EXPECT_EQ(members()[0].acknowledged, 0);
}

TEST_F(RouterTest, RegisterCurrentWhereItObeysTheNewest) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  be_at(3);
  EXPECT_TRUE(enter(router, "main", 3).is<Register::Ok>()) << "nobody knows what it was sent";
  EXPECT_TRUE(enter(router, "main", 3).is<Register::Current>());
  EXPECT_TRUE(enter(router, "main", 2).is<Register::Ok>());
  EXPECT_EQ(members().size(), 1U);
}

TEST_F(RouterTest, PublishAloneCountsAllTheSame) {
  EXPECT_EQ(publish().as<Publish::Alone>(), (Publish::Alone{.environment = kLocal, .generation = 1}));
  EXPECT_EQ(publish().as<Publish::Alone>().generation, 2);
}

TEST_F(RouterTest, AcknowledgeOkAndBehindAndUnknown) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  EXPECT_TRUE(harness.invoke(Acknowledge{.environment = kLocal, .router = "router-main", .generation = 1})
                  .is<Acknowledge::Unknown>());
  enter(router);
  be_at(2);
  EXPECT_EQ(harness.invoke(Acknowledge{.environment = kLocal, .router = "router-main", .generation = 1})
                .as<Acknowledge::Behind>()
                .generation,
            2);
  EXPECT_TRUE(harness.invoke(Acknowledge{.environment = kLocal, .router = "router-main", .generation = 2})
                  .is<Acknowledge::Ok>());
  EXPECT_EQ(members()[0].acknowledged, 2);
}

TEST_F(RouterTest, RetireOkForgetsTheRouterAndNotTheNumber) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  be_at(1);
  harness.invoke(Retire{.environment = kLocal, .router = "router-main"}).as<Retire::Ok>();
  EXPECT_TRUE(members().empty());
  EXPECT_EQ(publish().as<Publish::Alone>().generation, 2);
  harness.invoke(Retire{.environment = kLocal, .router = "router-main"}).as<Retire::Ok>();
}

TEST_F(RouterTest, DrainOkWhenNothingIsUnderWay) {
  const Drain ask{.environment = kLocal, .deployment = "d1", .revision = "r1", .seconds = 10};
  EXPECT_EQ(harness.invoke(ask).as<Drain::Ok>().revision, "r1");
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  router.keep_busy(3);
  harness.invoke(ask).as<Drain::Ok>();
  EXPECT_EQ(router.drains(), 4);
}

TEST_F(RouterTest, DrainOkWhenItsTimeIsOver) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  router.keep_busy(1'000'000);
  harness.invoke(Drain{.environment = kLocal, .deployment = "d1", .revision = "r1", .seconds = 2}).as<Drain::Ok>();
  EXPECT_GE(clock.monotonic_ns(), 3'000'000'000);
}

TEST_F(RouterTest, ShowOkNamesAll) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router, "main", 4);
  auto shown = harness.invoke(Show{.environment = kLocal}).as<Show::Ok>();
  EXPECT_EQ(shown.generation, 4) << "numbers go on from what a router obeys";
  ASSERT_EQ(shown.members.size(), 1U);
  EXPECT_EQ(shown.members[0].acknowledged, 4);
}

}  // namespace router_test
}  // namespace sluice::deploy::router
