// Plans from a manifest to traffic and back, on the whole kit in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/testing_workflow.h"

namespace sluice::deploy {
namespace plan_sync_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlanTest : public WorkflowTest {
 protected:
  struct Part {
    std::string name;
    std::string archive;
    std::string more = "";  // further lines of the component
  };

  static std::string manifest(const std::vector<Part>& parts, const std::string& more = "") {
    std::string text = "app: {name: shop, version: 1.0.0}\n" + more + "components:\n";
    for (const Part& each : parts) text += "  " + each.name + ":\n    folder: ./" + each.name + "\n" + each.more;
    return text;
  }

  engine::End plan_of(const std::vector<Part>& parts, const std::string& more = "", json::object input = {}) {
    json::array bundles;
    for (const Part& each : parts) {
      if (each.archive.empty()) continue;
      bundles.push_back(json::object{{"component", each.name}, {"archive", each.archive}, {"signature", ""}});
    }
    input["manifest"] = manifest(parts, more);
    if (!input.contains("environment")) input["environment"] = "local";
    input["bundles"] = std::move(bundles);
    return kit.run("DeployPlan/plan", input);
  }
  std::string planned(const std::vector<Part>& parts, const std::string& more = "") {
    engine::End end = plan_of(parts, more);
    EXPECT_EQ(end.variant, "ok") << write(end.fields);
    return end.variant == "ok" ? text(end, "plan") : "";
  }
  engine::End execute(const std::string& plan) { return kit.run("DeployPlan/execute", {{"plan", plan}}); }
  std::string phase(const std::string& plan) {
    return std::string(kit.row("DeployPlan", plan).at("currentPhase").as_string());
  }
  // "deploy-concept/shop done", by place.
  std::vector<std::string> nodes(const std::string& plan) {
    std::map<int64_t, std::string> all;
    for (const auto& [key, row] : kit.rows("DeployPlan[N]")) {
      if (row.at("ofPlan") != json::value(plan)) continue;
      all[row.at("place").as_int64()] = std::string(row.at("kind").as_string()) + "/" +
                                        std::string(row.at("target").as_string()) + " " +
                                        std::string(row.at("status").as_string());
    }
    std::vector<std::string> told;
    for (const auto& [place, each] : all) told.push_back(each);
    return told;
  }
  std::vector<std::string> texts(const engine::End& end, const char* field) {
    std::vector<std::string> all;
    for (const json::value& each : end.fields.at(field).as_array()) all.emplace_back(each.as_string());
    return all;
  }
  // What serves: bundle, version and share of every split, and what runs.
  std::string state() {
    std::vector<std::string> all;
    for (const auto& [key, row] : kit.rows("Deployment")) {
      if (!row.as_object().contains("bundle")) continue;
      std::string told = std::string(row.at("bundle").as_string()) + write(row.at("route").at("pathPrefixes"));
      for (const json::value& each : kit.elements("Traffic.entries", key)) {
        told += " " + std::string(revision(std::string(each.at("revision").as_string())).at("version").as_string()) +
                "=" + write(each.at("weightBps"));
      }
      all.push_back(told);
    }
    std::ranges::sort(all);
    std::string told;
    for (const std::string& each : all) told += each + "; ";
    return told + std::to_string(world.running().size()) + " running";
  }
};

TEST_F(PlanTest, BringsTwoComponentsUpInTheirOrder) {
  const std::string plan = planned({{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"},
                                    {"web", world.put("web", "1.0.0"), "    needs: [api]\n    routes: [{path: /}]\n"}});
  engine::End end = execute(plan);
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(end.fields.at("nodesDeployed"), 6);
  EXPECT_THAT(nodes(plan),
              ElementsAre("deploy-concept/api done", "configure-transport/api done", "traffic-split/api done",
                          "deploy-concept/web done", "configure-transport/web done", "traffic-split/web done"));
  EXPECT_EQ(state(), R"(api["/api"] 1.0.0=10000; web["/"] 1.0.0=10000; 2 running)");
  EXPECT_EQ(phase(plan), "complete");
}

TEST_F(PlanTest, AChangedVersionIsTheOnlyChangeAndCanBeRolledBack) {
  const std::string api = world.put("api", "1.0.0"), web = world.put("web", "1.0.0");
  auto parts = [&](const std::string& web_archive) {
    return std::vector<Part>{{"api", api, "    routes: [{path: /api}]\n"},
                             {"web", web_archive, "    needs: [api]\n    routes: [{path: /}]\n"}};
  };
  ASSERT_EQ(execute(planned(parts(web))).variant, "ok");
  const std::string before = state();
  const std::string plan = planned(parts(world.put("web", "1.1.0")));
  EXPECT_EQ(write(kit.row("DeployPlan", plan).at("summary")),
            R"({"create":0,"change":1,"remove":0,"keep":1,"nodes":3,"edges":2,"waves":3})");
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(state(), R"(api["/api"] 1.0.0=10000; web["/"] 1.1.0=10000; 3 running)");
  engine::End back = kit.run("DeployPlan/rollback", {{"plan", plan}});
  ASSERT_EQ(back.variant, "ok") << write(back.fields);
  EXPECT_THAT(texts(back, "rolledBack"),
              ElementsAre("deploy-concept/web", "configure-transport/web", "traffic-split/web"));
  EXPECT_EQ(state(), before);
  EXPECT_EQ(phase(plan), "rolledBack");
  // The same manifest as at first has nothing to do then.
  EXPECT_EQ(kit.row("DeployPlan", planned(parts(web))).at("summary").at("nodes"), 0);
}

TEST_F(PlanTest, AFailedNodeUndoesWhatWasDone) {
  const std::string plan = planned(
      {{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"},
       {"web", world.put("web", "1.0.0", "env: {BROKEN: \"1\"}\n"), "    needs: [api]\n    routes: [{path: /}]\n"}});
  engine::End end = execute(plan);
  ASSERT_EQ(end.variant, "rollbackTriggered") << write(end.fields);
  EXPECT_THAT(text(end, "reason"), HasSubstr("deploy-concept/web: "));
  EXPECT_THAT(texts(end, "rolledBack"),
              ElementsAre("deploy-concept/api", "configure-transport/api", "traffic-split/api"));
  EXPECT_THAT(world.running(), IsEmpty());
  EXPECT_EQ(phase(plan), "rolledBack");
}

TEST_F(PlanTest, ARemovalIsUndoneByBringingItUpAgain) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n    settings: {}\n"};
  const Part web{"web", world.put("web", "1.0.0"), "    routes: [{path: /}]\n"};
  ASSERT_EQ(execute(planned({api, web})).variant, "ok");
  const std::string before = state();
  const std::string plan = planned({web});
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(state(), R"(web["/"] 1.0.0=10000; 1 running)");
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", plan}}).variant, "ok");
  EXPECT_EQ(state(), before);
}

TEST_F(PlanTest, AnAppIsDestroyedAndAVersionComesBack) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"};
  const Part web{"web", world.put("web", "1.0.0"), "    needs: [api]\n    routes: [{path: /}]\n"};
  const std::string first = planned({api, web});
  ASSERT_EQ(execute(first).variant, "ok");
  const std::string before = state();
  engine::End none = kit.run("DeployPlan/plan", {{"manifest", ""}, {"environment", "local"}, {"destroy", "other"}});
  EXPECT_THAT(texts(none, "missing"), ElementsAre("no plan has brought anything of other to local"));
  engine::End end = kit.run("DeployPlan/plan", {{"manifest", ""}, {"environment", "local"}, {"destroy", "shop"}});
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  const std::string removal = text(end, "plan");
  ASSERT_EQ(execute(removal).variant, "ok");
  EXPECT_THAT(nodes(removal), ElementsAre("remove-concept/web done", "remove-concept/api done"));
  EXPECT_EQ(state(), "0 running");
  end = kit.run("DeployPlan/plan", {{"manifest", ""}, {"environment", "local"}, {"from", first}});
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  ASSERT_EQ(execute(text(end, "plan")).variant, "ok");
  EXPECT_EQ(state(), before);
  EXPECT_EQ(kit.run("DeployPlan/plan", {{"manifest", ""}, {"environment", "local"}, {"from", removal}}).variant,
            "invalidManifest");
}

TEST_F(PlanTest, ATargetLeavesTheOthersAsTheyAre) {
  const std::string api = world.put("api", "1.0.0");
  auto parts = [&](const std::string& version) {
    return std::vector<Part>{{"api", version == "1.0.0" ? api : "", "    routes: [{path: /api}]\n"},
                             {"web", world.put("web", version), "    routes: [{path: /}]\n"}};
  };
  ASSERT_EQ(execute(planned(parts("1.0.0"))).variant, "ok");
  engine::End end = plan_of(parts("2.0.0"), "", {{"only", json::array{"web"}}});
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  ASSERT_EQ(execute(text(end, "plan")).variant, "ok");
  EXPECT_EQ(state(), R"(api["/api"] 1.0.0=10000; web["/"] 2.0.0=10000; 3 running)");
  // What was left alone is still known as the app's: without it in the manifest it goes.
  const std::string plan = planned({{"web", world.put("web", "2.0.0"), "    routes: [{path: /}]\n"}});
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_THAT(nodes(plan), ElementsAre("remove-concept/api done"));
}

TEST_F(PlanTest, SaysWhyThereIsNoPlan) {
  EXPECT_EQ(kit.run("DeployPlan/plan", {{"manifest", "app: {}"}, {"environment", "nowhere"}}).variant, "notFound");
  engine::End invalid =
      kit.run("DeployPlan/plan", {{"manifest", "app: {name: x}\nports: 1\n"}, {"environment", "local"}});
  EXPECT_EQ(invalid.variant, "invalidManifest");
  EXPECT_EQ(texts(invalid, "errors").size(), 2U);
  EXPECT_EQ(plan_of({{"api", ""}}).variant, "incompleteGraph");
  EXPECT_EQ(plan_of({{"api", "sha256:" + std::string(64, '0')}}).variant, "incompleteGraph")
      << "its bundle is not there";
  const std::string a = world.put("a", "1"), b = world.put("b", "1");
  EXPECT_EQ(plan_of({{"a", a, "    needs: [b]\n"}, {"b", b, "    needs: [a]\n"}}).variant, "circularDependency");
  EXPECT_EQ(plan_of({{"a", a, "    transport: tcp\n"}, {"b", b, "    needs: [a]\n"}}).variant, "transportMismatch");
}

TEST_F(PlanTest, WhatTheManifestLeavesOutIsRemoved) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"};
  const Part web{"web", world.put("web", "1.0.0"), "    routes: [{path: /}]\n"};
  ASSERT_EQ(execute(planned({api, web})).variant, "ok");
  const std::string plan = planned({web});
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_THAT(nodes(plan), ElementsAre("remove-concept/api done"));
  EXPECT_EQ(state(), R"(web["/"] 1.0.0=10000; 1 running)");
}

TEST_F(PlanTest, SomebodyElsesChangeMakesItStale) {
  const std::string one = world.put("api", "1.0.0"), two = world.put("api", "2.0.0");
  ASSERT_EQ(execute(planned({{"api", one}})).variant, "ok");
  const std::string plan = planned({{"api", two}});
  ASSERT_EQ(up(world.put("api", "1.5.0")).variant, "ok");
  engine::End end = execute(plan);
  ASSERT_EQ(end.variant, "stale") << write(end.fields);
  EXPECT_THAT(text(end, "message"), HasSubstr("test has changed the traffic of api at "));
  EXPECT_EQ(state(), R"(api["/"] 1.5.0=10000; 2 running)");
}

TEST_F(PlanTest, StopsAfterAFailureWhereTheManifestSaysSo) {
  const std::string plan = planned({{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"},
                                    {"web", world.put("web", "1.0.0", "env: {BROKEN: \"1\"}\n"), "    needs: [api]\n"}},
                                   "onFailure: stop\n");
  engine::End end = execute(plan);
  ASSERT_EQ(end.variant, "partial") << write(end.fields);
  EXPECT_THAT(texts(end, "failed"), ElementsAre("deploy-concept/web"));
  EXPECT_EQ(texts(end, "deployed").size(), 3U);
  EXPECT_EQ(kit.run("DeployPlan/rollback", {{"plan", plan}}).variant, "ok");
  EXPECT_THAT(world.running(), IsEmpty());
}

TEST_F(PlanTest, OnlyOneOfTwoExecutes) {
  const std::string plan = planned({{"api", world.put("api", "1.0.0")}});
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(execute(plan).variant, "notExecutable");
}

}  // namespace plan_sync_test
}  // namespace sluice::deploy
