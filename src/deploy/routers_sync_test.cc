// What routers.sync says, on the whole kit: what is decided reaches a router before the flow has settled.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/base64.h"
#include "crypto/x509.h"
#include "deploy/cookie_keys.h"
#include "deploy/router_fleet.h"
#include "deploy/testing_kit_engine.h"
#include "deploy/testing_router.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "lang/check/relations.h"
#include "revision.gen.h"
#include "router/counters.h"
#include "runtime.gen.h"

namespace sluice::deploy {
namespace routers_sync_test {

constexpr const char* kShop = "01J0000000000000000000000D";
constexpr const char* kOne = "01J0000000000000000000000A";
constexpr const char* kTwo = "01J0000000000000000000000B";

class RoutersSync : public testing::Test {
 protected:
  RoutersSync() {
    kit.tools().add(fleet);
    kit.tools().add(keys);
    kit.tools().add<Clock>(clock);
    kit.put("Env", "local", to_json(env::EnvRecord{.name = "local", .generation = 1}));
    kit.put("Deployment", kShop,
            to_json(deployment::DeploymentRecord{.environment = "local",
                                                 .bundle = "shop",
                                                 .customer = "acme",
                                                 .generation = 1,
                                                 .route = {.hosts = {"shop.example"}}}));
    for (auto [id, sequence] : {std::pair(kOne, 1), std::pair(kTwo, 2)}) {
      kit.put("Revision", id,
              to_json(revision::RevisionRecord{.deployment = kShop,
                                               .environment = "local",
                                               .bundle = "shop",
                                               .sequence = sequence,
                                               .generation = 1,
                                               .lifecycle = revision::RevisionLifecycle::ready,
                                               .endpoint = "http://127.0.0.1:1"}));
    }
  }

  void enter(const TestingRouter& router) {
    kit.run("Router/register", {{"environment", "local"},
                                {"router", router.router()},
                                {"name", "main"},
                                {"control", router.control()},
                                {"generation", router.generation()}});
  }
  void split(int one_bps) {
    auto end = kit.run("Traffic/set",
                       {{"deployment", kShop},
                        {"entries", json::array{json::object{{"revision", kOne}, {"weightBps", one_bps}},
                                                json::object{{"revision", kTwo}, {"weightBps", 10'000 - one_bps}}}}});
    ASSERT_EQ(end.variant, "ok");
  }
  // Of the only deployment, in the last that was sent.
  static json::value deployment_in(const TestingRouter& router) {
    json::value sent = parse_json(router.last()).value().root;
    const json::value* patched = sent.as_object().if_contains("deployment");
    return patched != nullptr ? *patched : sent.at("deployments").as_array().at(0);
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random{7};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  CookieKeys keys{disk, clock, random, folder.path("cookies.json")};
  KitEngine kit;
};

TEST_F(RoutersSync, ASplitIsObeyedWhenItsFlowHasSettled) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  EXPECT_EQ(router.generation(), 1) << "a new router gets what holds";
  split(9'000);
  EXPECT_EQ(router.generation(), 2);
  json::value sent = deployment_in(router);
  EXPECT_EQ(sent.at("revisions").as_array()[0].at("weight_bps"), json::value(1'000));
  EXPECT_EQ(sent.at("revisions").as_array()[1].at("weight_bps"), json::value(9'000));
  kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}});
  EXPECT_EQ(router.generation(), 2) << "there was nothing before";
  split(5'000);
  kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}});
  EXPECT_EQ(deployment_in(router).at("revisions").as_array()[1].at("weight_bps"), json::value(9'000));
  kit.run("Traffic/forward", {{"deployment", kShop}, {"steps", 1}});
  EXPECT_EQ(deployment_in(router).at("revisions").as_array()[1].at("weight_bps"), json::value(5'000));
  kit.run("Traffic/clear", {{"deployment", kShop}});
  EXPECT_EQ(deployment_in(router).at("revisions").as_array()[1].at("weight_bps"), json::value(0));
}

TEST_F(RoutersSync, APublishBringsATableWithKeysToAllMembers) {
  TestingRouter one(folder.path("router"), "main", key.public_key());
  TestingRouter two(folder.path("router"), "second", key.public_key());
  enter(one);
  enter(two);
  auto end = kit.run("Router/publish", {{"environment", "local"}});
  EXPECT_EQ(end.variant, "ok");
  EXPECT_EQ(end.fields.at("generation"), json::value(3));
  EXPECT_EQ(end.fields.at("acknowledged"), (json::value{"router-main", "router-second"}));
  EXPECT_TRUE(end.fields.at("missed").as_array().empty());
  two.set_generation(1);
  kit.run("Router/publish", {{"environment", "local"}});
  json::value table = parse_json(two.last()).value().root;
  EXPECT_EQ(table.at("schema"), json::value("sluice.router-table.v1"));
  EXPECT_EQ(table.at("environment"), json::value("local"));
  EXPECT_EQ(table.at("generation"), json::value(4));
  EXPECT_EQ(table.at("cookie_keys").as_array().size(), 1U);
  EXPECT_EQ(table.at("debug_keys"), json::value(json::array{crypto::to_base64(key.public_key().raw())}));
  EXPECT_TRUE(kit.row("Router", "local").at("publishedAt").is_string());
}

TEST_F(RoutersSync, NumbersGoOnFromWhatARouterObeys) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  router.set_generation(41);
  enter(router);
  EXPECT_EQ(router.generation(), 42);
}

TEST_F(RoutersSync, WhoDoesNotAnswerIsNamedAndNotWaitedFor) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  router.stop(false);
  auto end = kit.run("Router/publish", {{"environment", "local"}});
  ASSERT_EQ(end.fields.at("missed").as_array().size(), 1U);
  EXPECT_EQ(end.fields.at("missed").as_array()[0].at("name"), json::value("main"));
  EXPECT_EQ(end.fields.at("missed").as_array()[0].at("gone"), json::value(false));
  TestingRouter back(folder.path("router"), "main", key.public_key());
  end = kit.run("Router/publish", {{"environment", "local"}});
  EXPECT_TRUE(end.fields.at("missed").as_array().empty());
}

TEST_F(RoutersSync, CountsOfRoutersAreAddedOnce) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  auto counted = [&](int64_t sequence, int64_t requests, const std::string& epoch) {
    router.count({{"router", "router-main"},
                  {"epoch", epoch},
                  {"sequence", sequence},
                  {"series", json::array{json::object{{"deployment", kShop},
                                                      {"revision", kOne},
                                                      {"bundle", "shop"},
                                                      {"customer", "acme"},
                                                      {"tenant", "default"},
                                                      {"team", "default"},
                                                      {"requests", requests},
                                                      {"bytes_in", 10 * requests},
                                                      {"bytes_out", 100 * requests}}}}});
    auto end = kit.run("Usage/collect", {});
    EXPECT_EQ(end.variant, "ok");
    return end.fields.at("readings").as_array().size();
  };
  auto requests = [&] { return kit.row("Usage", kOne).at("requests"); };
  EXPECT_EQ(counted(1, 5, "e1"), 1U);
  EXPECT_EQ(requests(), json::value(5));
  counted(2, 8, "e1");
  EXPECT_EQ(requests(), json::value(8));
  counted(2, 9, "e1");
  EXPECT_EQ(requests(), json::value(8)) << "this answer was there before";
  counted(3, 9, "e1");
  EXPECT_EQ(requests(), json::value(9));
  EXPECT_EQ(counted(4, 9, "e1"), 0U) << "nothing has changed, and nothing is journaled";
  counted(1, 3, "e2");
  EXPECT_EQ(requests(), json::value(12)) << "a new epoch begins at nothing";
  EXPECT_EQ(kit.row("Usage", kOne).at("bytesOut"), json::value(1'200));
  EXPECT_EQ(kit.row("Usage", kOne).at("environment"), json::value("local"));
  router.stop();
  EXPECT_EQ(kit.run("Usage/collect", {}).variant, "ok") << "one that does not answer counts later";
}

using FirstWeek03 = RoutersSync;

TEST_F(FirstWeek03, UsageThatARouterCouldNotKeepIsCountedAndNamed) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  json::object answer{{"router", "router-main"}, {"epoch", "e1"}, {"sequence", 1}, {"series", json::array()}};
  auto in_memory = [&](const std::string& epoch, int64_t requests) {
    answer["memory"] = json::object{
        {"epoch", epoch},
        {"sequence", requests},
        {"error", "No space left on device"},
        {"series", json::array{json::object{{"deployment", kShop}, {"revision", kOne}, {"requests", requests}}}}};
  };
  auto unkept = [&] {
    router.count(answer);
    kit.run("Usage/collect", {});
    return kit.elements("Usage.unkept", std::string(lang::kWholeKey));
  };
  EXPECT_EQ(unkept().size(), 0U);
  in_memory("m1", 5);
  std::vector<json::value> said = unkept();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].at("router"), "router-main");
  EXPECT_EQ(said[0].at("reason"), "No space left on device");
  EXPECT_EQ(said[0].at("lost"), false);
  EXPECT_EQ(kit.row("Usage", kOne).at("requests"), json::value(5));
  in_memory("m1", 7);
  EXPECT_EQ(unkept().size(), 1U);
  EXPECT_EQ(kit.row("Usage", kOne).at("requests"), json::value(7));
  // It was killed, and says so of what nobody had read since; what had been read stays.
  answer.erase("memory");
  answer["lost"] = "m1";
  said = unkept();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].at("lost"), true);
  EXPECT_EQ(kit.row("Usage", kOne).at("requests"), json::value(7));
  // A disk that takes nothing keeps no word of it either.
  in_memory("m2", 1);
  EXPECT_EQ(unkept().at(1).at("lost"), false);
  answer.erase("memory");
  EXPECT_EQ(unkept().at(1).at("lost"), true);
  answer["lost"] = "m3";
  said = unkept();
  ASSERT_EQ(said.size(), 3U) << "which began and ended before it was read";
  EXPECT_EQ(said[2].at("lost"), true);
}

TEST_F(RoutersSync, ARevisionUnderTwoTenantsIsCountedWhole) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  auto counted = [&](int64_t sequence, int64_t first, int64_t second) {
    json::array series;
    for (auto [tenant, requests] : {std::pair("default", first), std::pair("gold", second)}) {
      series.push_back(json::object{{"deployment", kShop},
                                    {"revision", kOne},
                                    {"tenant", tenant},
                                    {"requests", requests},
                                    {"bytes_in", requests}});
    }
    router.count({{"router", "router-main"}, {"epoch", "e1"}, {"sequence", sequence}, {"series", std::move(series)}});
    kit.run("Usage/collect", {});
    return kit.row("Usage", kOne).at("requests").as_int64();
  };
  EXPECT_EQ(counted(1, 10, 3), 13);
  EXPECT_EQ(counted(2, 10, 4), 14);
  EXPECT_EQ(counted(3, 11, 4), 15);
}

TEST_F(RoutersSync, WhatARouterHasLeftIsCountedOnce) {
  std::filesystem::create_directories(folder.path("router/gone"));
  auto counters = *::sluice::router::Counters::open(folder.path("router/gone/counters"), "router-gone", "e1", 1);
  const uint32_t series = counters->series_of({.deployment = kShop, .revision = kOne, .bundle = "shop"});
  ::sluice::router::add(counters->of(0, series).requests, 7);
  kit.run("Usage/collect", {});
  kit.run("Usage/collect", {});
  EXPECT_EQ(kit.row("Usage", kOne).at("requests"), json::value(7));
  ::sluice::router::add(counters->of(0, series).requests, 1);
  kit.run("Usage/collect", {});
  EXPECT_EQ(kit.row("Usage", kOne).at("requests"), json::value(8));
}

TEST_F(RoutersSync, WhatIsArchivedOrDrainedIsFirstDrainedByItsRouters) {
  for (const char* revision : {kOne, kTwo}) {
    kit.put("Runtime", std::string("instance-") + revision,
            to_json(runtime::RuntimeRecord{.concept_ = revision, .runtimeType = "local"}));
  }
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  int drains = 0;
  for (auto [action, revision] : {std::pair("Revision/archive", kOne), std::pair("Revision/drain", kTwo)}) {
    router.keep_busy(2);
    kit.run(action, {{"revision", revision}});
    EXPECT_EQ(router.drains(), drains += 3) << action << " has not waited";
  }
}

TEST_F(RoutersSync, PausingAndResumingReachTheRouter) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  split(9'000);
  kit.run("Deployment/pause", {{"deployment", kShop}});
  EXPECT_EQ(deployment_in(router).at("status"), json::value("paused"));
  kit.run("Deployment/resume", {{"deployment", kShop}});
  EXPECT_EQ(deployment_in(router).at("status"), json::value("active"));
}

TEST_F(RoutersSync, WhomToBelieveReachesTheRouter) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  auto set = [&](const char* name, const char* value) {
    kit.run("Config/set",
            {{"environment", "local"}, {"values", json::array{json::object{{"key", name}, {"value", value}}}}});
    return parse_json(router.last()).value().root;
  };
  EXPECT_EQ(set("trusted_proxies", "10.0.0.0/8,::1").at("trusted_proxies"), (json::value{"10.0.0.0/8", "::1"}));
  EXPECT_EQ(set("access_log_share", "100%").at("access_log_bps"), json::value(10'000));
  EXPECT_EQ(set("connections_per_address", "200").at("connections_per_address"), json::value(200));
  set("tls_redirect", "on");
  EXPECT_EQ(deployment_in(router).at("tls"), (json::value{{"redirect", true}, {"hsts_s", 0}}));
  const std::string pem =
      crypto::make_certificate({.name = "ca", .is_ca = true, .until_ms = 86'400'000}, nullptr, 0)->chain_pem;
  set("client_ca", pem.c_str());
  EXPECT_EQ(deployment_in(router).at("tls"),
            (json::value{{"redirect", true}, {"hsts_s", 0}, {"client", "required"}, {"client_ca", pem}}));
  set("client_certificates", "wanted");
  set("trusted_callers", "spiffe://shop.example/tester");
  EXPECT_EQ(deployment_in(router).at("tls").at("client"), json::value("wanted"));
  EXPECT_EQ(deployment_in(router).at("tls").at("trusted_callers"), (json::value{"spiffe://shop.example/tester"}));
  const std::string before = router.last();
  set("client_ca", "");
  EXPECT_EQ(router.last(), before) << "what is wanted of clients would be taken away with it";
  EXPECT_EQ(set("trusted_proxies", "").at("trusted_proxies"), json::value(json::array()));
}

TEST_F(RoutersSync, WhereSessionPinsAreKeptReachesTheRouter) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  auto redis = [&] {
    json::value sent = parse_json(router.last()).value().root;
    const json::value* pins = sent.as_object().if_contains("pins");
    return pins != nullptr ? pins->at("redis") : json::value("");
  };
  auto set = [&](const char* name, const char* value) {
    kit.run("Config/set",
            {{"environment", "local"}, {"values", json::array{json::object{{"key", name}, {"value", value}}}}});
  };
  auto pack = [&](const char* action, const char* kind) {
    auto end = kit.run(action, {{"environment", "local"}, {"slot", "sessions"}, {"kind", kind}});
    EXPECT_EQ(end.variant, "ok") << action;
  };
  pack("Env/bind", "sluice.sessions.redis@1.0.0");
  EXPECT_EQ(router.generation(), 2);
  set("redis_url", "redis://cache.example");
  EXPECT_EQ(redis(), json::value("redis://cache.example"));
  set("redis_url", "redis://other.example/3");
  EXPECT_EQ(redis(), json::value("redis://other.example/3"));
  pack("Env/rebind", "sluice.sessions.memory@1.0.0");
  EXPECT_EQ(redis(), json::value(""));
  kit.run("Env/rollback", {{"environment", "local"}, {"slot", "sessions"}, {"steps", 1}});
  EXPECT_EQ(redis(), json::value("redis://other.example/3"));
  kit.run("Env/unbind", {{"environment", "local"}, {"slot", "sessions"}});
  EXPECT_EQ(redis(), json::value(""));
  int64_t before = router.generation();
  set("region", "eu");
  EXPECT_EQ(router.generation(), before) << "what concerns no router is not sent";
  kit.run("Config/absorb", {{"environment", "local"}, {"other", "none"}});
  EXPECT_EQ(router.generation(), before + 1);
}

TEST_F(RoutersSync, ARouterThatWasAwayIsCaughtUp) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  split(9'000);
  router.set_generation(1);
  kit.run("Router/acknowledge", {{"environment", "local"}, {"router", router.router()}, {"generation", 1}});
  EXPECT_EQ(router.generation(), 3);
}

TEST_F(RoutersSync, ARouterThatWasStoppedInOrderIsRetired) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  router.stop();
  split(9'000);
  EXPECT_EQ(kit.run("Router/publish", {{"environment", "local"}}).variant, "alone");
}

TEST_F(RoutersSync, AFailedRevisionIsNoMoreInTheTable) {
  TestingRouter router(folder.path("router"), "main", key.public_key());
  enter(router);
  kit.run("Revision/fail", {{"revision", kTwo}, {"check", "health"}, {"message", "it does not answer"}});
  EXPECT_EQ(deployment_in(router).at("revisions").as_array().size(), 1U);
}

TEST_F(RoutersSync, WithoutARouterASplitIsKeptAllTheSame) {
  split(9'000);
  EXPECT_EQ(kit.row("Router", "local").at("generation"), json::value(1));
}

}  // namespace routers_sync_test
}  // namespace sluice::deploy
