// What delivery.sync says, on the whole kit: traffic moves in judged steps, each once, and back when the new revision
// is worse. The judge is the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_wait.h"
#include "deploy/live_probe.h"
#include "deploy/testing_markers.h"
#include "deploy/testing_router.h"
#include "deploy/testing_workflow.h"
#include "deployment.gen.h"

namespace sluice::deploy {
namespace rollout_sync_test {

using testing::ElementsAre;
using testing::HasSubstr;

class RolloutSync : public WorkflowTest {
 protected:
  // A deployment of a bundle with this many ready revisions, the first of which has all traffic.
  struct App {
    std::string deployment;
    std::vector<std::string> revisions;
  };
  App app(const std::string& name, int versions = 2, const std::string& more = "") {
    App made;
    for (int i = 1; i <= versions; ++i) {
      auto end = up(world.put(name, std::to_string(i), "routes: [{path: /" + name + "}]\n" + more),
                    i == 1 ? json::object() : json::object{{"canaryBps", 100}});
      EXPECT_EQ(end.variant, "ok") << write(end.fields);
      made.deployment = text(end, "deployment");
      made.revisions.push_back(text(end, "revision"));
    }
    kit.run("Traffic/set",
            {{"deployment", made.deployment}, {"entries", {{{"revision", made.revisions[0]}, {"weightBps", 10'000}}}}});
    before[made.deployment] = kit.elements("Traffic.log", made.deployment).size();
    return made;
  }
  std::string begin(const App& of, size_t revision, json::object more = {}) {
    json::object input{{"deployment", of.deployment}, {"revision", of.revisions[revision]}, {"steps", {"10%", "50%"}}};
    for (const auto& each : more) input[each.key()] = each.value();
    auto known = kit.rows("Rollout");
    kit.start("Rollout/begin", input);
    std::string id;
    EXPECT_TRUE(eventually([&] {
      for (const auto& [key, row] : kit.rows("Rollout")) {
        if (!known.contains(key)) id = key;
      }
      return !id.empty();
    }));
    return id;
  }
  std::string status(const std::string& rollout) {
    return std::string(kit.row("Rollout", rollout).at("status").as_string());
  }
  bool becomes(const std::string& rollout, const std::string& wanted) {
    return eventually([&] { return status(rollout) == wanted; });
  }
  // The splits since the rollout began: "2=1000 1=9000".
  std::vector<std::string> splits(const App& of) {
    std::vector<std::string> all;
    auto log = kit.elements("Traffic.log", of.deployment);
    for (size_t i = before[of.deployment]; i < log.size(); ++i) {
      std::string text;
      for (const json::value& each : log[i].at("entries").as_array()) {
        text += (text.empty() ? "" : " ") +
                write(revision(std::string(each.at("revision").as_string())).at("sequence")) + "=" +
                write(each.at("weightBps"));
      }
      all.push_back(text);
    }
    return all;
  }

  size_t replicas(const std::string& revision) {
    for (const auto& [key, row] : kit.rows("Runtime")) {
      if (row.at("concept") == json::value(revision)) return kit.elements("Runtime.replicas", key).size();
    }
    return 0;
  }

  // Whether so many replicas of the first two revisions come to run.
  bool run(const App& of, size_t first, size_t second) {
    return eventually([&] { return replicas(of.revisions[0]) == first && replicas(of.revisions[1]) == second; });
  }

  RealDisk disk;
  RealClock clock;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::map<std::string, size_t> before;
};

TEST_F(RolloutSync, HealthyStepsAreJudgedOnceEach) {
  App shop = app("shop");
  const std::string id = begin(shop, 1);
  for (int i = 0; i < 2; ++i) say(analysis(shop.revisions[1]), "healthy");
  ASSERT_TRUE(becomes(id, "complete"));
  EXPECT_THAT(splits(shop), ElementsAre("2=1000 1=9000", "2=5000 1=5000", "2=10000"));
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(kit.count("Telemetry[A]"), 0U);
}

TEST_F(RolloutSync, AWorseOneIsTakenBackAndNothingFollows) {
  App shop = app("shop");
  const std::string id = begin(shop, 1);
  say(analysis(shop.revisions[1]), "unhealthy", "it fails");
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_THAT(splits(shop), ElementsAre("2=1000 1=9000", "1=10000"));
  EXPECT_EQ(kit.row("Rollout", id).at("reason"), json::value("it fails"));
  const auto log = kit.elements("Traffic.log", shop.deployment);
  EXPECT_EQ(log[log.size() - 2].at("why"), json::value("rollout at step 1"));
  EXPECT_EQ(log.back().at("why"), json::value("rollout aborted: it fails"));
  EXPECT_EQ(log.back().at("by"), json::value("rollout"));
  for (const json::value& each : kit.elements("Traffic.past", shop.deployment)) {
    EXPECT_NE(each.at("entries").at(0).at("weightBps"), json::value(1'000)) << "the split of the rollout";
  }
  EXPECT_EQ(kit.count("Telemetry[A]"), 0U);
  kit.start("Rollout/retry", {{"rollout", id}});
  say(analysis(shop.revisions[1]), "healthy");
  say(analysis(shop.revisions[1]), "healthy");
  EXPECT_TRUE(becomes(id, "complete"));
}

TEST_F(RolloutSync, WaitsForDataAndPausesWithoutASource) {
  App shop = app("shop");
  const std::string id = begin(shop, 1);
  say(analysis(shop.revisions[1]), "insufficientData");
  const std::string again = analysis(shop.revisions[1]);
  EXPECT_EQ(kit.row("Telemetry[A]", again).at("again"), json::value(true));
  say(again, "unavailable", "no router answers");
  ASSERT_TRUE(becomes(id, "paused"));
  EXPECT_EQ(kit.row("Rollout", id).at("reason"), json::value("no router answers"));
  const std::string watch = analysis(shop.revisions[1]);
  EXPECT_EQ(kit.row("Telemetry[A]", watch).at("window"), json::value(-1)) << "judging goes on while it is paused";
  say(watch, "unavailable");
  kit.start("Rollout/resume", {{"rollout", id}});
  ASSERT_TRUE(becomes(id, "running"));
  say(analysis(shop.revisions[1]), "healthy");
  say(analysis(shop.revisions[1]), "healthy");
  EXPECT_TRUE(becomes(id, "complete"));
}

TEST_F(RolloutSync, WithoutAutoRollbackAWorseOneStaysWhereItIs) {
  App shop = app("shop");
  const std::string id = begin(shop, 1, {{"autoRollback", false}});
  say(analysis(shop.revisions[1]), "unhealthy");
  ASSERT_TRUE(becomes(id, "paused"));
  EXPECT_THAT(splits(shop), ElementsAre("2=1000 1=9000"));
  EXPECT_EQ(kit.run("Rollout/abort", {{"rollout", id}}).variant, "ok");
  EXPECT_TRUE(becomes(id, "aborted"));
}

TEST_F(RolloutSync, APersonLeadsAManualStepOn) {
  App shop = app("shop");
  const std::string id = begin(shop, 1, {{"steps", {"10%:manual", "50%:manual"}}});
  ASSERT_TRUE(becomes(id, "paused"));
  EXPECT_EQ(kit.row("Rollout", id).at("reason"), json::value("step 1 waits for a person"));
  kit.start("Rollout/advance", {{"rollout", id}});
  ASSERT_TRUE(eventually([&] { return splits(shop).size() == 2 && status(id) == "paused"; }));
  // Meanwhile it turns bad.
  std::string watch;
  ASSERT_TRUE(eventually([&] {
    for (const auto& [key, row] : kit.rows("Telemetry[A]")) watch = key;
    return kit.count("Telemetry[A]") == 1 && !watch.empty();
  }));
  say(watch, "unhealthy");
  EXPECT_TRUE(becomes(id, "aborted"));
  EXPECT_THAT(splits(shop), ElementsAre("2=1000 1=9000", "2=5000 1=5000", "1=10000"));
}

TEST_F(RolloutSync, WhatTurnsBadAfterTheEndIsTakenBack) {
  App shop = app("shop");
  const std::string id =
      begin(shop, 1, {{"strategy", "immediate"}, {"steps", json::array()}, {"after", 3600}, {"holdbackBps", 100}});
  ASSERT_TRUE(becomes(id, "watching"));
  say(analysis(shop.revisions[1]), "unhealthy");
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_THAT(splits(shop), ElementsAre("2=9900 1=100", "1=10000"));
}

TEST_F(RolloutSync, WithoutAutoRollbackWhatTurnsBadAfterTheEndIsSaid) {
  App shop = app("shop");
  const std::string id =
      begin(shop, 1, {{"strategy", "immediate"}, {"steps", json::array()}, {"after", 3600}, {"autoRollback", false}});
  ASSERT_TRUE(becomes(id, "watching"));
  say(analysis(shop.revisions[1]), "unhealthy", "it fails");
  ASSERT_TRUE(eventually([&] { return kit.row("Rollout", id).at("reason") == json::value("it fails"); }));
  EXPECT_EQ(status(id), "watching");
  EXPECT_THAT(splits(shop), ElementsAre("2=10000"));
  EXPECT_EQ(kit.run("Rollout/abort", {{"rollout", id}}).variant, "ok");
  EXPECT_TRUE(becomes(id, "aborted"));
}

TEST_F(RolloutSync, WhatStaysGoodAfterTheEndKeepsEverything) {
  App shop = app("shop");
  const std::string id =
      begin(shop, 1, {{"strategy", "immediate"}, {"steps", json::array()}, {"after", 1}, {"holdbackBps", 100}});
  ASSERT_TRUE(becomes(id, "complete"));
  EXPECT_TRUE(eventually([&] { return splits(shop).size() == 2 && kit.count("Telemetry[A]") == 0; }));
  EXPECT_THAT(splits(shop), ElementsAre("2=9900 1=100", "2=10000"));
}

TEST_F(RolloutSync, BlueGreenIsPreviewedAndThenChangedAtOnce) {
  App shop = app("shop");
  const std::string id = begin(shop, 1, {{"strategy", "blue-green"}, {"steps", {"0%:1s"}}});
  ASSERT_TRUE(becomes(id, "complete"));
  EXPECT_THAT(splits(shop), ElementsAre("2=0 1=10000", "2=10000"));
}

TEST_F(RolloutSync, RollingReplacesReplicasAndTrafficFollows) {
  App shop = app("shop", 2, "replicas: 2\n");
  const std::string id = begin(shop, 1, {{"strategy", "rolling"}, {"steps", json::array()}});
  const std::string first = analysis(shop.revisions[1]);
  EXPECT_TRUE(run(shop, 2U, 1U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
  say(first, "healthy");
  const std::string second = analysis(shop.revisions[1]);
  EXPECT_TRUE(run(shop, 1U, 2U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
  say(second, "healthy");
  ASSERT_TRUE(becomes(id, "complete"));
  EXPECT_THAT(splits(shop), ElementsAre("2=3333 1=6667", "2=6666 1=3334", "2=10000"));
  EXPECT_TRUE(eventually([&] { return revision(shop.revisions[0]).at("lifecycle") == json::value("inactive"); }));
}

TEST_F(RolloutSync, RollingIsTakenBackToAllItsReplicas) {
  App shop = app("shop", 2, "replicas: 2\n");
  const std::string id = begin(shop, 1, {{"strategy", "rolling"}, {"steps", json::array()}});
  say(analysis(shop.revisions[1]), "healthy");
  const std::string second = analysis(shop.revisions[1]);
  EXPECT_TRUE(run(shop, 1U, 2U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
  say(second, "unhealthy");
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_TRUE(run(shop, 2U, 2U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
  EXPECT_EQ(splits(shop).back(), "1=10000");
  kit.start("Rollout/retry", {{"rollout", id}});
  say(analysis(shop.revisions[1]), "healthy");
  const std::string again = analysis(shop.revisions[1]);
  EXPECT_TRUE(run(shop, 1U, 2U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
  kit.start("Rollout/pause", {{"rollout", id}, {"reason", "lunch"}});
  ASSERT_TRUE(becomes(id, "paused"));
  kit.start("Rollout/resume", {{"rollout", id}});
  say(analysis(shop.revisions[1]), "healthy");
  EXPECT_TRUE(becomes(id, "complete"));
}

TEST_F(RolloutSync, RollingThatCannotGrowIsTakenBackOrPaused) {
  for (bool back : {true, false}) {
    App shop = app(back ? "shop" : "cart", 2, "replicas: 2\n");
    const std::string id = begin(shop, 1, {{"strategy", "rolling"}, {"steps", json::array()}, {"autoRollback", back}});
    const std::string first = analysis(shop.revisions[1]);
    EXPECT_TRUE(run(shop, 2U, 1U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
    ASSERT_TRUE(write_atomically(disk, folder.path() + "/full", "", 0644));
    say(first, "healthy");
    EXPECT_TRUE(becomes(id, back ? "aborted" : "paused")) << status(id);
    EXPECT_EQ(kit.row("Rollout", id).at("reason"), json::value("replicas could not be started: the machine is full"));
    std::filesystem::remove(folder.path() + "/full");
    if (back) continue;
    kit.start("Rollout/resume", {{"rollout", id}});
    say(analysis(shop.revisions[1]), "healthy");
    EXPECT_TRUE(becomes(id, "complete"));
  }
}

TEST_F(RolloutSync, WhatRollingHasReplacedOnlyAnAbortStartsAgain) {
  App shop = app("shop", 2, "replicas: 2\n");
  const std::string id =
      begin(shop, 1, {{"strategy", "rolling"}, {"steps", json::array()}, {"batch", 2}, {"after", 3600}});
  say(analysis(shop.revisions[1]), "healthy");
  ASSERT_TRUE(becomes(id, "watching"));
  auto refused = kit.run("Traffic/rollback", {{"deployment", shop.deployment}, {"steps", 1}});
  EXPECT_EQ(refused.variant, "engine.refused");
  EXPECT_THAT(text(refused, "message"), HasSubstr("abort it to go back"));
  say(analysis(shop.revisions[1]), "unhealthy");
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_TRUE(run(shop, 2U, 2U)) << replicas(shop.revisions[0]) << " and " << replicas(shop.revisions[1]);
}

TEST_F(RolloutSync, TrafficCanGoBackStepByStep) {
  App shop = app("shop");
  const std::string id = begin(shop, 1, {{"rollbackSeconds", 1}});
  say(analysis(shop.revisions[1]), "healthy");
  say(analysis(shop.revisions[1]), "unhealthy");
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_THAT(splits(shop), ElementsAre("2=1000 1=9000", "2=5000 1=5000", "2=1000 1=9000", "1=10000"));
}

TEST_F(RolloutSync, WhatDoesNotMoveInTimeIsAborted) {
  App shop = app("shop");
  const std::string id = begin(shop, 1, {{"progressDeadline", 1}});
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_EQ(kit.row("Rollout", id).at("reason"), json::value("it has not moved from step 1 for 1s"));
}

TEST_F(RolloutSync, AQueueRunsAllAndSupersedeEndsWithTheLast) {
  App shop = app("shop", 4);
  std::vector<std::string> ids;
  for (size_t i = 1; i < 4; ++i) ids.push_back(begin(shop, i));
  EXPECT_EQ(status(ids[1]), "queued");
  for (size_t i = 1; i < 4; ++i) {
    say(analysis(shop.revisions[i]), "healthy");
    say(analysis(shop.revisions[i]), "healthy");
    EXPECT_TRUE(becomes(ids[i - 1], "complete"));
  }
  EXPECT_EQ(splits(shop).back(), "4=10000");

  App cart = app("cart", 4);
  ids.clear();
  for (size_t i = 1; i < 4; ++i) ids.push_back(begin(cart, i, {{"concurrency", "supersede"}}));
  EXPECT_TRUE(becomes(ids[0], "superseded"));
  EXPECT_TRUE(becomes(ids[1], "superseded"));
  say(analysis(cart.revisions[3]), "healthy");
  say(analysis(cart.revisions[3]), "healthy");
  EXPECT_TRUE(becomes(ids[2], "complete"));
  EXPECT_EQ(kit.count("Telemetry[A]"), 0U) << "nobody waits for a verdict that is of no use";
}

TEST_F(RolloutSync, AGroupIsTakenBackInOrderWhenOneTurnsBad) {
  std::vector<App> apps = {app("a"), app("b"), app("c")};
  std::vector<std::string> ids;
  for (size_t i = 0; i < 3; ++i)
    ids.push_back(begin(apps[i], 1, {{"group", "all"}, {"place", static_cast<int64_t>(i)}}));
  for (const App& each : apps) say(analysis(each.revisions[1]), "healthy");
  say(analysis(apps[1].revisions[1]), "unhealthy");
  for (const std::string& each : ids) EXPECT_TRUE(becomes(each, "aborted"));
  std::vector<std::string> ends;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(splits(apps[i]).back(), "1=10000");
    ends.push_back(std::string(kit.row("Rollout", ids[i]).at("endedAt").as_string()));
  }
  EXPECT_GE(ends[1], ends[2]) << "those that depend on others first";
  EXPECT_GE(ends[0], ends[1]);
}

TEST_F(RolloutSync, OnlyAReadyRevisionOfTheDeploymentIsRolledOut) {
  App shop = app("shop");
  EXPECT_EQ(kit.run("Rollout/begin", {{"deployment", "none"}, {"revision", "none"}}).variant, "notFound");
  EXPECT_EQ(kit.run("Rollout/begin", {{"deployment", shop.deployment}, {"revision", "none"}}).variant, "notReady");
  kit.run("Revision/drain", {{"revision", shop.revisions[1]}});
  auto end = kit.run("Rollout/begin", {{"deployment", shop.deployment}, {"revision", shop.revisions[1]}});
  EXPECT_EQ(end.variant, "notReady");
  EXPECT_THAT(text(end, "message"), HasSubstr("is inactive, not ready"));
}

TEST_F(RolloutSync, ARolloutHasItsTrafficUntilItEnds) {
  App shop = app("shop");
  const std::string id = begin(shop, 1);
  analysis(shop.revisions[1]);
  EXPECT_EQ(kit.run("Traffic/rollback", {{"deployment", shop.deployment}, {"steps", 1}}).variant, "engine.refused");
  const std::string why = "the rollout " + id + " of " + shop.deployment + " is running: wait for it, or abort it";
  auto again = up(world.put("shop", "1", "routes: [{path: /shop}]\n"));
  EXPECT_EQ(again.variant, "refused") << write(again.fields);
  EXPECT_EQ(text(again, "message"), why + "; traffic stays as it was") << "it is said at once";
  auto back = kit.run("Deployment/rollBack", {{"deployment", shop.deployment}, {"steps", 1}});
  EXPECT_EQ(back.variant, "refused") << write(back.fields);
  EXPECT_EQ(text(back, "message"), why + "; traffic stays as it is");
  EXPECT_EQ(kit.run("Traffic/clear", {{"deployment", shop.deployment}}).variant, "ok");
  EXPECT_TRUE(becomes(id, "aborted"));
  EXPECT_EQ(kit.count("Telemetry[A]"), 0U);
}

TEST_F(RolloutSync, MarkersTellWhatWasDeployedOnceEach) {
  App shop = app("shop");
  auto marked = [&] {
    std::map<int64_t, std::string> all;
    for (const auto& [key, row] : kit.rows("Telemetry[M]")) {
      all[row.at("number").as_int64()] = std::string(row.at("status").as_string());
    }
    std::string text;
    for (const auto& [number, status] : all) text += (text.empty() ? "" : " ") + status;
    return text;
  };
  const std::string id = begin(shop, 1);
  say(analysis(shop.revisions[1]), "unhealthy", "it fails");
  ASSERT_TRUE(becomes(id, "aborted"));
  EXPECT_TRUE(eventually([&] { return marked() == "started rolledback"; })) << marked();
  kit.start("Rollout/retry", {{"rollout", id}});
  say(analysis(shop.revisions[1]), "healthy");
  say(analysis(shop.revisions[1]), "healthy");
  ASSERT_TRUE(becomes(id, "complete"));
  EXPECT_TRUE(eventually([&] { return marked() == "started rolledback started completed"; })) << marked();
}

TEST_F(RolloutSync, TheOldRevisionIsStoppedWhenItsTimeIsOver) {
  App shop = app("shop");
  const std::string id = begin(shop, 1, {{"strategy", "immediate"}, {"steps", json::array()}, {"scaleDownDelay", 1}});
  ASSERT_TRUE(becomes(id, "complete"));
  EXPECT_EQ(revision(shop.revisions[0]).at("lifecycle"), json::value("ready")) << "the way back is warm";
  EXPECT_TRUE(eventually([&] { return revision(shop.revisions[0]).at("lifecycle") == json::value("inactive"); }));
}

TEST_F(RolloutSync, AnInstancesWeightIsSetThroughTheSplit) {
  App shop = app("shop");
  std::string instance;
  for (const auto& [key, row] : kit.rows("Runtime")) {
    if (row.at("concept") == json::value(shop.revisions[1])) instance = key;
  }
  auto weigh = [&](int64_t weight) {
    return kit.run("Runtime/setTrafficWeight", {{"instance", instance}, {"weight", weight}});
  };
  EXPECT_EQ(weigh(2'500).variant, "ok");
  EXPECT_EQ(weigh(2'500).fields.at("newWeight"), json::value(2'500)) << "it has that already";
  EXPECT_EQ(weigh(0).variant, "ok");
  EXPECT_EQ(weigh(10'000).variant, "ok");
  EXPECT_THAT(splits(shop), ElementsAre("2=2500 1=7500", "1=10000", "2=10000"));
  auto alone = weigh(5'000);
  EXPECT_EQ(alone.variant, "notRouted");
  EXPECT_EQ(text(alone, "reason"), "it gets everything, and no other revision could take the rest");
  const std::string id = begin(shop, 0);
  analysis(shop.revisions[0]);
  EXPECT_THAT(text(weigh(5'000), "reason"), HasSubstr("wait for it, or abort it")) << "a rollout has its traffic";
  EXPECT_EQ(status(id), "running");
}

TEST_F(RolloutSync, WhenNoReplicaAnswersTrafficGoesToARevisionThatDoes) {
  App shop = app("shop");
  auto instance_of = [&](const std::string& revision) {
    for (const auto& [key, row] : kit.rows("Runtime")) {
      if (row.at("concept") == json::value(revision)) return key;
    }
    return std::string();
  };
  const std::string first = instance_of(shop.revisions[0]), second = instance_of(shop.revisions[1]);
  EXPECT_EQ(kit.run("Health/suspect", {{"instance", first}}).variant, "ok") << "it answers";
  EXPECT_EQ(kit.run("Health/suspect", {{"instance", second}}).variant, "ignored") << "it gets no traffic";
  world.answer(first, false);
  world.answer(second, false);
  auto both = kit.run("Health/suspect", {{"instance", first}});
  EXPECT_EQ(both.variant, "degraded") << "what takes all versions down is not the fault of one";
  EXPECT_EQ(text(both, "reason"),
            "no replica of shop@1 answers, and shop@2 does not either; it stays ready, and its restarts go on");
  EXPECT_EQ(revision(shop.revisions[0]).at("lifecycle"), json::value("ready"));
  world.answer(second, true);
  EXPECT_EQ(kit.run("Health/suspect", {{"instance", first}}).variant, "replaced");
  EXPECT_THAT(splits(shop), ElementsAre("2=10000"));
  EXPECT_EQ(revision(shop.revisions[0]).at("lifecycle"), json::value("failed"));
  EXPECT_EQ(revision(shop.revisions[0]).at("failure").at("message"),
            json::value("none of its replicas answered; its traffic went to shop@2"));
  world.answer(second, false);
  EXPECT_EQ(text(kit.run("Health/suspect", {{"instance", second}}), "reason"),
            "no replica of shop@2 answers, and no other revision is warm; it stays ready, and its restarts go on");
}

TEST_F(RolloutSync, HealthOfADeploymentIsThatOfWhatItsSplitNames) {
  App shop = app("shop");
  EXPECT_EQ(kit.run("Health/checkKit", {{"kit", shop.deployment}, {"environment", "local"}}).variant, "ok");
  kit.run("Revision/drain", {{"revision", shop.revisions[1]}});
  EXPECT_EQ(kit.run("Health/checkConcept", {{"concept", shop.revisions[1]}}).variant, "unreachable");
}

TEST_F(RolloutSync, AMessageIsSentToEachRevisionOfThePath) {
  App shop = app("shop");
  MarkerServer served;
  served.headers = {{"X-Sluice-Revision", shop.revisions[0]}};
  TestingRouter router(folder.path() + "/router", "main", key.public_key(), served.address());
  router.set_environment("local");
  RouterFleet fleet{disk, folder.path() + "/router",
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  LiveProbe probe{fleet, clock, [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  kit.tools().add(probe);
  auto check = [&](json::object more = {}) {
    more["sync"] = more.contains("sync") ? more["sync"] : json::value(shop.deployment);
    return kit.run("Health/checkSync", more);
  };
  EXPECT_EQ(check().variant, "ok") << write(check().fields);
  auto both = check({{"concepts", json::array{json::string(shop.revisions[0]), json::string(shop.revisions[1])}}});
  EXPECT_EQ(both.variant, "partialFailure");
  EXPECT_EQ(both.fields.at("failed"), (json::value{json::string(shop.revisions[1])})) << "another one has answered";
  EXPECT_EQ(text(check({{"concepts", json::array{"ghost"}}}), "reason"), "ghost is no revision of the deployment");
  EXPECT_EQ(text(check({{"sync", "none"}}), "reason"), "there is no deployment none");
  served.status = 504;
  EXPECT_EQ(check().variant, "timeout");
}

TEST_F(RolloutSync, AnInvariantIsTriedWhereItRuns) {
  App shop = app("shop");
  RouterFleet fleet{disk, folder.path() + "/router",
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  LiveProbe probe{fleet, clock, [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  kit.tools().add(probe);
  EXPECT_EQ(kit.run("Health/checkInvariant", {{"concept", "none"}, {"invariant", ""}}).variant, "unreachable");
  EXPECT_EQ(kit.run("Health/checkInvariant", {{"concept", shop.revisions[0]}, {"invariant", ""}}).variant,
            "unreachable")
      << "nothing listens there";
  MarkerServer served;
  std::string instance;
  for (const auto& [each, row] : kit.rows("Runtime")) {
    if (row.at("concept") == json::value(shop.revisions[0])) instance = each;
  }
  kit.run("Runtime/observed", {{"instance", instance}, {"endpoint", served.url()}, {"replicas", json::array()}});
  int number = 1;
  bool declares = true;
  served.says = [&](const http::Request& request) {
    const json::value message = parse_json(request.body)->root;
    json::object complete{{"protocol", 1}};
    if (declares) {
      complete["concept"] =
          "concept A [X] { purpose { a } actions { action go() { -> ok(n: Int) } } "
          "invariant { example one { after go() -> ok(n: 1) then go() -> ok(n: 1) } } }";
    }
    if (message.as_object().contains("invoke")) {
      complete = {{"variant", "ok"}, {"fields", json::object{{"n", number}}}};
    }
    return write(json::object{{"id", message.at("id")}, {"complete", complete}});
  };
  const json::object ask{{"concept", shop.revisions[0]}, {"invariant", "one"}};
  EXPECT_EQ(kit.run("Health/checkInvariant", ask).variant, "ok");
  number = 2;
  EXPECT_EQ(kit.run("Health/checkInvariant", ask).variant, "violated");
  declares = false;
  EXPECT_EQ(kit.run("Health/checkInvariant", ask).variant, "undeclared");
}

TEST(HealthSync, ASplitThatNamesWhatDoesNotRunIsNotWell) {
  KitEngine kit;
  kit.put("Deployment", "d1", to_json(deployment::DeploymentRecord{.environment = "local", .bundle = "shop"}));
  kit.put_element("Traffic.entries", "d1", 0, json::object{{"revision", "ghost"}, {"weightBps", 10'000}});
  auto end = kit.run("Health/checkKit", {{"kit", "d1"}, {"environment", "local"}});
  EXPECT_EQ(end.variant, "failed");
  EXPECT_EQ(end.fields.at("failed"), (json::value{"ghost"}));
}

TEST(HealthSync, ASlowOneIsDegraded) {
  TestingFolder folder;
  UpTools world{folder.path()};
  auto concepts = concepts_with_files_for_programs(folder.path());
  auto local = std::ranges::find(concepts, "LocalRuntime", &lang::ConceptBinding::name);
  for (lang::ActionBinding& action : local->actions) {
    if (action.name != "check") continue;
    action.begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> {
      return lang::BegunAction(lang::Completion{"degraded", {{"instance", ""}, {"latencyMs", 900}}});
    };
  }
  KitEngine kit{concepts};
  kit.tools() = world.tools();
  kit.put("Runtime", "i1",
          json::object{{"concept", "slow"},
                       {"runtimeType", "local"},
                       {"endpoint", ""},
                       {"version", "1"},
                       {"artifactHash", ""},
                       {"status", "running"},
                       {"entrusted", true}});
  kit.put("Deployment", "d1", to_json(deployment::DeploymentRecord{.environment = "local", .bundle = "shop"}));
  kit.put_element("Traffic.entries", "d1", 0, json::object{{"revision", "slow"}, {"weightBps", 10'000}});
  auto end = kit.run("Health/checkKit", {{"kit", "d1"}, {"environment", "local"}});
  EXPECT_EQ(end.variant, "degraded");
  EXPECT_EQ(end.fields.at("degraded"), (json::value{"slow"}));
}

}  // namespace rollout_sync_test
}  // namespace sluice::deploy
