// What down.sync and rollback.sync say, on the whole kit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <latch>

#include "base/atomic_file.h"
#include "base/testing_wait.h"
#include "deploy/testing_workflow.h"
#include "deployment.gen.h"
#include "revision.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace down_sync_test {

class DownSync : public WorkflowTest {
 protected:
  engine::End down(const engine::End& of, bool delete_data = false) {
    return kit.run("Deployment/down", {{"deployment", text(of, "deployment")}, {"deleteData", delete_data}});
  }
  std::string storing(const std::string& version) {
    return world.put("shop", version, "storage: [{name: data, size: 1KB}]\n");
  }
  // The version that stored first, by the storage's name.
  std::string stored(const std::string& name) {
    RealDisk disk;
    auto text = read_file(disk, folder.path("storage/" + name + "/data"), 100);
    return text ? *text : "nothing";
  }
  std::string storage_of(const engine::End& end) { return std::string(deployment(end).at("storage").as_string()); }
  json::value kept_data() { return kit.query("Deployment/listData", {}).fields.at("data"); }
};

TEST_F(DownSync, OkTakesEverythingAway) {
  auto one = up(world.put("shop", "1"));
  up(world.put("shop", "2"));
  up(world.put("shop", "3"), {{"canaryBps", 1'000}});
  auto end = down(one);
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(end.fields, (json::object{{"deployment", text(one, "deployment")},
                                      {"environment", "local"},
                                      {"bundle", "shop"},
                                      {"customer", "local-dev"}}));
  EXPECT_EQ(kit.count("Deployment"), 0U);
  EXPECT_EQ(kit.count("Revision"), 0U);
  EXPECT_EQ(kit.count("Traffic"), 0U);
  EXPECT_EQ(kit.count("Deployment[C]"), 0U);
  EXPECT_TRUE(world.running().empty());
  EXPECT_TRUE(kept_data().as_array().empty()) << "it has stored nothing";
  EXPECT_EQ(down(one).variant, "notFound");
}

TEST_F(DownSync, FirstWeek02DataStaysForTheNextOfThatName) {
  auto one = up(storing("1"));
  const std::string storage = storage_of(one);
  EXPECT_EQ(stored(storage), "1");
  EXPECT_EQ(down(one).variant, "ok");
  EXPECT_EQ(stored(storage), "1");
  EXPECT_EQ(kept_data().as_array().at(0).at("storage"), json::value(storage));
  EXPECT_EQ(kept_data().as_array().at(0).at("customer"), json::value("local-dev"));
  auto other =
      up(world.put("shop", "2", "storage: [{name: data, size: 1KB}]\nroutes: [{path: /b}]\n"), {{"customer", "acme"}});
  EXPECT_NE(storage_of(other), storage) << "it is of another customer";
  auto again = up(storing("3"), {{"customer", "local-dev"}});
  ASSERT_EQ(again.variant, "ok") << write(again.fields);
  EXPECT_EQ(storage_of(again), storage);
  EXPECT_EQ(stored(storage), "1");
  EXPECT_TRUE(kept_data().as_array().empty());
}

TEST_F(DownSync, FirstWeek02DataIsDeletedIfThatIsAskedFor) {
  auto one = up(storing("1"));
  const std::string storage = storage_of(one);
  EXPECT_EQ(down(one, true).variant, "ok");
  EXPECT_EQ(stored(storage), "nothing");
  EXPECT_TRUE(kept_data().as_array().empty());
}

TEST_F(DownSync, DataStuckIsSaidAndCanBeDeletedLater) {
  auto one = up(storing("1"));
  const std::string storage = storage_of(one), mark = folder.path("storage/" + storage + "/stuck");
  RealDisk disk;
  ASSERT_TRUE(write_atomically(disk, mark, "", 0644));
  auto end = down(one, true);
  EXPECT_EQ(end.variant, "dataStuck");
  EXPECT_EQ(text(end, "message"), "the disk is full");
  EXPECT_EQ(kit.run("Deployment/deleteData", {{"storage", storage}}).variant, "stuck");
  ASSERT_TRUE(disk.remove(mark));
  EXPECT_EQ(kit.run("Deployment/deleteData", {{"storage", storage}}).variant, "ok");
  EXPECT_EQ(stored(storage), "nothing");
  EXPECT_EQ(text(kit.run("Deployment/deleteData", {{"storage", storage}}), "message"),
            "no deployment that is gone has left " + storage);
}

TEST_F(DownSync, RefusedIfARevisionIsBusy) {
  kit.put("Deployment", "d1",
          to_json(deployment::DeploymentRecord{.environment = "local", .bundle = "shop", .customer = "acme"}));
  kit.put("Revision", "busy",
          to_json(revision::RevisionRecord{.deployment = "d1",
                                           .environment = "local",
                                           .bundle = "shop",
                                           .sequence = 1,
                                           .busy = lang::Request("other")}));
  auto end = kit.run("Deployment/down", {{"deployment", "d1"}, {"deleteData", false}});
  EXPECT_EQ(end.variant, "refused");
  EXPECT_THAT(text(end, "message"), testing::EndsWith("; it no longer gets traffic"));
}

TEST_F(DownSync, WaitsForAnUpOfItsDeployment) {
  auto one = up(world.put("shop", "1"));
  const std::string two = world.put("shop", "2");
  std::latch at_work(1), go(1);
  before_deploy = [&] {
    at_work.count_down();
    go.wait();
  };
  auto raised = std::async(std::launch::async, [&] { return up(two); });
  at_work.wait();
  auto gone = std::async(std::launch::async, [&] { return down(one); });
  ASSERT_TRUE(eventually([&] { return kit.count("Deployment[C]") == 2; }));
  go.count_down();
  EXPECT_EQ(raised.get().variant, "ok");
  EXPECT_EQ(gone.get().variant, "ok");
  EXPECT_EQ(kit.count("Deployment"), 0U);
}

// ---- rollBack

class RollBackSync : public DownSync {
 protected:
  engine::End roll_back(const engine::End& of, int64_t steps) {
    return kit.run("Deployment/rollBack", {{"deployment", text(of, "deployment")}, {"steps", steps}});
  }
};

TEST_F(RollBackSync, FirstWeek09ThreeStepsBackAreWarmedAgain) {
  auto one = up(world.put("shop", "1"));
  for (const char* version : {"2", "3", "4"}) up(world.put("shop", version));
  EXPECT_EQ(lifecycle(one), "inactive");
  auto end = roll_back(one, 3);
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(entries_of(end), "1=10000");
  EXPECT_EQ(lifecycle(one), "ready");
  EXPECT_EQ(kit.run("Traffic/forward", {{"deployment", text(one, "deployment")}, {"steps", 1}}).variant, "notReady")
      << "what lies between was drained";
  EXPECT_EQ(kit.elements("Traffic.log", text(one, "deployment")).back().at("why"), json::value("rollback of 3"));
}

TEST_F(RollBackSync, ChangedIfTheSplitIsAnotherThanExpected) {
  up(world.put("shop", "1"));
  const auto of = up(world.put("shop", "2"));
  auto end =
      kit.run("Deployment/rollBack", {{"deployment", text(of, "deployment")}, {"steps", 1}, {"trafficGeneration", 7}});
  EXPECT_EQ(end.variant, "changed");
  EXPECT_EQ(end.fields.at("actual"), 2);
  end =
      kit.run("Deployment/rollBack", {{"deployment", text(of, "deployment")}, {"steps", 1}, {"trafficGeneration", 2}});
  EXPECT_EQ(end.variant, "ok");
  EXPECT_EQ(end.fields.at("generation"), 3);
}

TEST_F(RollBackSync, RefusedWhereThereIsNoWay) {
  auto one = up(world.put("shop", "1"));
  EXPECT_EQ(text(roll_back(one, 1), "message"), "there is nothing to go back to");
  up(world.put("shop", "2"));
  kit.run("Revision/archive", {{"revision", text(one, "revision")}});
  EXPECT_EQ(text(roll_back(one, 1), "message"), "shop@1 is archived; traffic stays as it is");
  EXPECT_EQ(kit.run("Deployment/rollBack", {{"deployment", "none"}, {"steps", 1}}).variant, "notFound");
}

TEST_F(RollBackSync, FailedIfItDoesNotStartAnyMore) {
  auto one = up(world.put("shop", "1"));
  up(world.put("shop", "2"));
  kit.run("Revision/drain", {{"revision", text(one, "revision")}});
  std::filesystem::remove(std::string(revision(text(one, "revision")).at("artifact").as_string()));
  auto end = roll_back(one, 1);
  ASSERT_EQ(end.variant, "failed") << write(end.fields);
  EXPECT_EQ(text(end, "check"), "signature-status");
  EXPECT_THAT(text(end, "message"), testing::EndsWith("; traffic stays as it is"));
}

TEST_F(RollBackSync, UnverifiedIfNobodyVouchesForItAnyMore) {
  const char* shop = "01J0000000000000000000000D";
  kit.put("Deployment", shop,
          to_json(deployment::DeploymentRecord{
              .environment = "prod", .bundle = "shop", .customer = "acme", .generation = 1}));
  for (auto [id, lifecycle] :
       {std::pair("a", revision::RevisionLifecycle::inactive), std::pair("b", revision::RevisionLifecycle::ready)}) {
    kit.put(
        "Revision", id,
        to_json(revision::RevisionRecord{
            .deployment = shop, .environment = "prod", .bundle = "shop", .artifact = "/none", .lifecycle = lifecycle}));
  }
  kit.put("Traffic", shop, to_json(traffic::TrafficRecord{.generation = 2}));
  kit.put_element("Traffic.entries", shop, 0, to_json(traffic::TrafficEntry{"b", 10'000}));
  kit.put_element("Traffic.past", shop, 0, to_json(traffic::TrafficPastItem{.entries = {{"a", 10'000}}}));
  EXPECT_EQ(kit.run("Deployment/rollBack", {{"deployment", shop}, {"steps", 1}}).variant, "unverified");
}

}  // namespace down_sync_test
}  // namespace sluice::deploy
