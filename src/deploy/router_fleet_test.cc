// What routers are sent, over real sockets.
#include "deploy/router_fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/base64.h"
#include "deploy/testing_router.h"

namespace sluice::deploy {
namespace router_fleet_test {

using ::sluice::router::TableDocument;
using testing::ElementsAre;
using testing::HasSubstr;

class RouterFleetTest : public testing::Test {
 protected:
  RouterFleet::Member member(const TestingRouter& router, const std::string& name = "main") {
    return {router.router(), name, router.control()};
  }
  static TableDocument table(int64_t generation, const std::vector<std::string>& deployments,
                             const std::string& bundle = "shop") {
    TableDocument made{.environment = "local", .generation = generation};
    for (const std::string& each : deployments) made.deployments.push_back({.id = each, .bundle = bundle});
    return made;
  }

  TestingFolder folder;
  RealDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
};

TEST_F(RouterFleetTest, SendsTheWholeTableFirstAndThenWhatChanged) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  auto sent = fleet.publish(table(1, {"d1", "d2"}), {member(router)});
  EXPECT_THAT(sent.value().acknowledged, ElementsAre("router-main"));
  EXPECT_EQ(fleet.generation_of("router-main"), 1);
  TableDocument changed = table(2, {"d1", "d2"});
  changed.deployments[1].bundle = "tea";
  ASSERT_TRUE(fleet.publish(changed, {member(router)}));
  json::value patch = parse_json(router.last()).value().root;
  EXPECT_EQ(patch.at("schema"), json::value("sluice.router-patch.v1"));
  EXPECT_EQ(patch.at("deployment").at("id"), json::value("d2"));
  changed.generation = 3;
  changed.deployments.pop_back();
  ASSERT_TRUE(fleet.publish(changed, {member(router)}));
  EXPECT_EQ(router.last(), R"({"schema":"sluice.router-patch.v1","removed":"d2"})");
  EXPECT_THAT(router.orders(), ElementsAre("load 1", "patch 2", "patch 3"));
}

TEST_F(RouterFleetTest, SendsTheWholeTableWhereMoreThanOneThingChanged) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  ASSERT_TRUE(fleet.publish(table(1, {"d1", "d2"}), {member(router)}));
  ASSERT_TRUE(fleet.publish(table(2, {"d1", "d2"}, "tea"), {member(router)}));
  ASSERT_TRUE(fleet.publish(table(4, {"d1", "d2"}, "tea"), {member(router)}));
  TableDocument keys = table(5, {"d1", "d2"}, "tea");
  keys.debug_keys = {"other"};
  ASSERT_TRUE(fleet.publish(keys, {member(router)}));
  EXPECT_THAT(router.orders(), ElementsAre("load 1", "load 2", "load 4", "load 5"));
}

TEST_F(RouterFleetTest, LoadsARouterThatIsNotWhereItWasLeft) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  ASSERT_TRUE(fleet.publish(table(7, {"d1"}), {member(router)}));
  router.set_generation(5);  // as after a power cut
  auto sent = fleet.publish(table(8, {"d1"}), {member(router)});
  EXPECT_THAT(sent.value().acknowledged, ElementsAre("router-main"));
  EXPECT_THAT(router.orders(), ElementsAre("load 7", "load 8"));
}

TEST_F(RouterFleetTest, TakesALaterGenerationForAnAcknowledgement) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  router.set_generation(9);
  EXPECT_THAT(fleet.publish(table(9, {"d1"}), {member(router)}).value().acknowledged, ElementsAre("router-main"));
  EXPECT_TRUE(router.orders().empty());
  EXPECT_EQ(fleet.generation_of("router-main"), std::nullopt);
}

TEST_F(RouterFleetTest, NamesThoseThatDoNotAnswerAndThoseThatRefuse) {
  TestingRouter gone(folder.path("router"), "gone", key.public_key());
  TestingRouter killed(folder.path("router"), "killed", key.public_key());
  TestingRouter stranger(folder.path("router"), "stranger", crypto::PrivateKey::generate().public_key());
  gone.stop();
  killed.stop(false);
  auto sent =
      fleet.publish(table(1, {"d1"}), {member(gone, "gone"), member(killed, "killed"), member(stranger, "stranger")});
  ASSERT_EQ(sent.value().missed.size(), 3U);
  EXPECT_TRUE(sent->missed[0].gone);
  EXPECT_FALSE(sent->missed[1].gone);
  EXPECT_THAT(sent->missed[1].reason, HasSubstr("no router listens at "));
  EXPECT_EQ(sent->missed[2].reason, "the order is not signed by a key that this router trusts");
  EXPECT_TRUE(fleet.take_missed("router-killed"));
  EXPECT_FALSE(fleet.take_missed("router-killed"));
}

TEST_F(RouterFleetTest, SeesTheRoutersOfTheHome) {
  EXPECT_TRUE(fleet.look(1'000).empty());
  TestingRouter router(folder.path("router"), "main", key.public_key());
  ASSERT_TRUE(fleet.publish(table(3, {"d1"}), {member(router)}));
  auto seen = fleet.look(1'000);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].name, "main");
  EXPECT_EQ(seen[0].environment, "local");
  EXPECT_EQ(seen[0].generation, 3);
  EXPECT_THAT(seen[0].listen, ElementsAre("127.0.0.1:8080"));
  router.stop(false);
  EXPECT_FALSE(fleet.look(1'000)[0].answers);
  EXPECT_TRUE(fleet.has_record("main"));
}

TEST_F(RouterFleetTest, AsksUntilNothingIsUnderWay) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  router.keep_busy(1);
  EXPECT_FALSE(fleet.drained("d1", "r1", 1'000, {member(router)}).done);
  EXPECT_TRUE(fleet.drained("d1", "r1", 1'000, {member(router)}).done);
  router.stop();
  EXPECT_TRUE(fleet.drained("d1", "r1", 1'000, {member(router)}).done);
}

TEST_F(RouterFleetTest, GivesTheOperatorsKeyAsTablesHaveIt) {
  EXPECT_EQ(fleet.debug_key().value(), crypto::to_base64(key.public_key().raw()));
  RouterFleet keyless(disk, folder.path("router"),
                      [] { return Result<crypto::PrivateKey>(Error{.message = "there is no key"}); });
  EXPECT_EQ(keyless.debug_key().error().message, "there is no key");
  EXPECT_EQ(keyless.publish(table(1, {}), {}).error().message, "there is no key");
}

}  // namespace router_fleet_test
}  // namespace sluice::deploy
