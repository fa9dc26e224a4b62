// A plan's traffic-split is a rollout where the manifest says so. The judge is the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "deploy/testing_workflow.h"
#include "deploy_plan.gen.h"

namespace sluice::deploy {
namespace plan_delivery_sync_test {

using testing::ElementsAre;
using testing::HasSubstr;

class PlanDelivery : public WorkflowTest {
 protected:
  // A plan of one component of this version.
  std::string planned(const std::string& version, const std::string& rollout = kCanary) {
    engine::End end =
        kit.run("DeployPlan/plan",
                {{"manifest", "app: {name: shop, version: '" + version + "'}\nrollout: " + rollout +
                                  "\ncomponents:\n  web: {folder: ./web, kit: front, routes: [{path: /" + version +
                                  "}]}\nenvironments: {prod: {components: {web: {customer: acme}}}}\n"},
                 {"environment", "local"},
                 {"bundles", {{{"component", "web"}, {"archive", world.put("web", version)}, {"signature", ""}}}}});
    EXPECT_EQ(end.variant, "ok") << write(end.fields);
    return end.variant == "ok" ? text(end, "plan") : "";
  }
  engine::End execute(const std::string& plan, json::object more = {}) {
    more["plan"] = plan;
    return kit.run("DeployPlan/execute", more);
  }
  void begin(const std::string& plan) { kit.start("DeployPlan/execute", {{"plan", plan}}); }
  std::string phase(const std::string& plan) {
    return std::string(kit.row("DeployPlan", plan).at("currentPhase").as_string());
  }
  bool becomes(const std::string& plan, const std::string& wanted) {
    return eventually([&] { return phase(plan) == wanted; });
  }
  // The revision that a plan has made.
  std::string revision_of(const std::string& plan) {
    return std::string(kit.elements("DeployPlan.components", plan).front().at("revision").as_string());
  }
  // The open analysis of what a plan rolls out.
  std::string judged(const std::string& plan) {
    EXPECT_TRUE(eventually([&] { return kit.count("Telemetry[A]") > 0; }));
    return analysis(revision_of(plan));
  }
  // How each call of an action ended.
  std::vector<std::string> variants(const std::string& action) {
    std::vector<std::string> all;
    for (const engine::End& each : kit.ends(action)) all.push_back(each.variant);
    return all;
  }
  // What backends are told of a plan, in the order of the alphabet.
  std::string marked(const std::string& plan) {
    std::set<std::string> all;
    for (const auto& [key, row] : kit.rows("Telemetry[M]")) {
      if (row.at("deploy") == json::value(plan)) all.insert(std::string(row.at("status").as_string()));
    }
    std::string text;
    for (const std::string& each : all) text += (text.empty() ? "" : " ") + each;
    return text;
  }
  // "/1 1=10000": routes and split.
  std::string served() {
    std::string told;
    for (const auto& [key, row] : kit.rows("Deployment")) {
      if (!row.as_object().contains("bundle")) continue;
      told += std::string(row.at("route").at("pathPrefixes").at(0).as_string());
      for (const json::value& each : kit.elements("Traffic.entries", key)) {
        told += " " + std::string(revision(std::string(each.at("revision").as_string())).at("version").as_string()) +
                "=" + write(each.at("weightBps"));
      }
    }
    return told;
  }

  static constexpr const char* kCanary =
      "{strategy: canary, steps: [{weight: 10, pause: 1}, {weight: 50, pause: 1}, {weight: 100}], "
      "analysis: {maxErrorRate: 0.01}}";
};

TEST_F(PlanDelivery, TheFirstVersionHasNothingToBeComparedWith) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  EXPECT_EQ(served(), "/1 1=10000");
  EXPECT_EQ(kit.count("Rollout"), 0U);
}

TEST_F(PlanDelivery, StepsAreJudgedAndThePlanEndsWithTheRollout) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string plan = planned("2");
  EXPECT_GE(kit.row("DeployPlan", plan).at("estimatedMs").as_int64(), 2'000) << "the pauses of its steps";
  begin(plan);
  for (const char* split : {"/1 2=1000 1=9000", "/1 2=5000 1=5000"}) {
    const std::string id = judged(plan);
    EXPECT_EQ(served(), split) << "routes change when it has everything";
    say(id, "healthy");
  }
  ASSERT_TRUE(becomes(plan, "complete"));
  EXPECT_EQ(served(), "/2 2=10000");
  EXPECT_EQ(seen.size(), 2U) << "each step is judged once";
  const auto rollouts = kit.rows("Rollout");
  ASSERT_EQ(rollouts.size(), 1U);
  EXPECT_EQ(rollouts.begin()->second.at("plan"), json::value(plan));
  engine::End back = kit.run("DeployPlan/rollback", {{"plan", plan}});
  ASSERT_EQ(back.variant, "ok") << write(back.fields);
  EXPECT_EQ(served(), "/1 1=10000");
}

TEST_F(PlanDelivery, AWorseVersionTakesItsPlanBack) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string plan = planned("2");
  begin(plan);
  say(judged(plan), "healthy");
  say(judged(plan), "unhealthy", "it fails");
  ASSERT_TRUE(becomes(plan, "rolledBack"));
  EXPECT_EQ(served(), "/1 1=10000");
  EXPECT_EQ(kit.row("DeployPlan", plan).at("reason"), json::value("traffic-split/web: it fails"));
  EXPECT_EQ(kit.count("Telemetry[A]"), 0U) << "nothing follows";
  EXPECT_EQ(revision(revision_of(plan)).at("lifecycle"), json::value("archived"));
}

// Facts of Clef, §16, scenario 25: nothing happens twice, however many completions a flow has that could be joined.
TEST_F(PlanDelivery, Clef25ThreeHealthyStepsAreThreeOfEachAndOneMarker) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const size_t markers = kit.count("Telemetry[M]");
  const std::string kThree =
      "{strategy: canary, steps: [{weight: 10, pause: 1}, {weight: 50, pause: 1}, {weight: 80, pause: 1}]}";
  const std::string plan = planned("2", kThree);
  begin(plan);
  for (int i = 0; i < 3; ++i) say(judged(plan), "healthy");
  ASSERT_TRUE(becomes(plan, "complete"));
  EXPECT_THAT(variants("Health/checkKit"), ElementsAre("ok", "ok", "ok"));
  EXPECT_THAT(variants("Telemetry/analyze"), ElementsAre("ok", "ok", "ok"));
  EXPECT_THAT(variants("Rollout/judge"), ElementsAre("ok", "ok", "ok"));
  EXPECT_THAT(variants("Rollout/advance"), ElementsAre("ok", "ok", "ok", "ok", "complete"))
      << "to each step, and 100 %";
  EXPECT_THAT(variants("Rollout/run"), ElementsAre("ok"));
  EXPECT_TRUE(eventually([&] { return kit.count("Telemetry[M]") == markers + 2; }));
  EXPECT_EQ(marked(plan), "completed started");
}

TEST_F(PlanDelivery, Clef25ABadSecondStepIsOneAbortAndOneRollbackInReverse) {
  auto market = [&](const std::string& version) {
    json::array bundles;
    for (const char* name : {"base", "web"}) {
      bundles.push_back(json::object{{"component", name}, {"archive", world.put(name, version)}, {"signature", ""}});
    }
    engine::End end = kit.run("DeployPlan/plan",
                              {{"manifest", "app: {name: shop, version: '" + version + "'}\nrollout: " + kCanary +
                                                "\ncomponents:\n  base: {folder: ./base, routes: [{path: /base}]}\n"
                                                "  web: {folder: ./web, needs: [base], routes: [{path: /web}]}\n"},
                               {"environment", "local"},
                               {"bundles", bundles}});
    EXPECT_EQ(end.variant, "ok") << write(end.fields);
    return text(end, "plan");
  };
  ASSERT_EQ(execute(market("1")).variant, "ok");
  const std::string plan = market("2");
  begin(plan);
  auto judged_of = [&](const std::string& component) {
    std::string id;
    EXPECT_TRUE(eventually([&] {
      for (const json::value& each : kit.elements("DeployPlan.components", plan)) {
        if (each.at("component") == json::value(component)) id = std::string(each.at("revision").as_string());
      }
      return !id.empty() && revision(id).at("version") == json::value("2");  // until then it is what runs
    }));
    return analysis(id);
  };
  for (int i = 0; i < 2; ++i) say(judged_of("base"), "healthy");
  say(judged_of("web"), "healthy");
  say(judged_of("web"), "unhealthy", "it fails");
  ASSERT_TRUE(becomes(plan, "rolledBack"));
  EXPECT_EQ(kit.ends("Rollout/abort").size(), 1U);
  EXPECT_THAT(variants("DeployPlan/rollback"), ElementsAre("ok"));
  EXPECT_TRUE(eventually([&] { return marked(plan) == "rolledback started"; })) << marked(plan);
  EXPECT_THAT(variants("Rollout/advance"), ElementsAre("ok", "ok", "ok", "complete", "ok", "ok")) << "and no further";
  std::vector<std::string> undone;  // in the order in which nothing needs them any more
  for (const char* action : {"DeployPlan/undoNext", "DeployPlan/undo"}) {
    for (const engine::End& each : kit.ends(action)) {
      const json::value* nodes = each.fields.if_contains("undoable");
      for (const json::value& node : nodes != nullptr ? nodes->as_array() : json::array()) {
        undone.push_back(std::string(node.at("kind").as_string()) + "/" + std::string(node.at("target").as_string()));
      }
    }
  }
  const auto at = [&](const std::string& node) { return std::ranges::find(undone, node); };
  EXPECT_LT(at("deploy-concept/web"), at("traffic-split/base"));
  EXPECT_LT(at("traffic-split/base"), at("deploy-concept/base"));
  EXPECT_NE(at("deploy-concept/base"), undone.end());
  EXPECT_EQ(std::set<std::string>(undone.begin(), undone.end()).size(), undone.size()) << "each once";
}

TEST_F(PlanDelivery, CancellingEndsTheRollout) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string plan = planned("2");
  begin(plan);
  judged(plan);
  ASSERT_EQ(kit.run("DeployPlan/cancel", {{"plan", plan}}).variant, "ok");
  ASSERT_TRUE(becomes(plan, "cancelled"));
  EXPECT_EQ(served(), "/1 1=10000");
}

TEST_F(PlanDelivery, ANewerPlanTakesThePlaceOfOneThatRollsOut) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string older = planned("2");
  begin(older);
  judged(older);
  const std::string kNewer = "{strategy: immediate}\nconcurrency: supersede";
  engine::End end = execute(planned("3", kNewer));
  EXPECT_EQ(end.variant, "stale") << "it saw the older one's traffic: " << write(end.fields);
  EXPECT_EQ(phase(older), "cancelled");
  EXPECT_EQ(served(), "/1 1=10000") << "what was begun is undone first";
  ASSERT_EQ(execute(planned("3", kNewer)).variant, "ok");
  EXPECT_EQ(served(), "/3 3=10000");
}

TEST_F(PlanDelivery, WhatIsUnderWayIsNotBegunAgainAndOthersWait) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string plan = planned("2"), other = planned("3");
  begin(plan);
  const std::string id = judged(plan);
  EXPECT_EQ(execute(plan).variant, "alreadyExecuting");
  begin(other);
  ASSERT_TRUE(becomes(other, "queued"));
  EXPECT_EQ(kit.run("DeployPlan/cancel", {{"plan", other}}).variant, "ok");
  ASSERT_TRUE(becomes(other, "cancelled"));
  say(id, "healthy");
  say(judged(plan), "healthy");
  ASSERT_TRUE(becomes(plan, "complete"));
}

TEST_F(PlanDelivery, WhatCannotBeUndoneIsNamedAndCanBeTriedAgain) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string plan = planned("2");
  ASSERT_EQ(execute(plan, {{"skipRollout", true}}).variant, "ok");
  const std::string deployment = kit.rows("Traffic").begin()->first;
  ASSERT_EQ(kit.run("Deployment/pause", {{"deployment", deployment}}).variant, "ok");
  engine::End stuck = kit.run("DeployPlan/rollback", {{"plan", plan}});
  ASSERT_EQ(stuck.variant, "partial") << write(stuck.fields);
  EXPECT_EQ(write(stuck.fields.at("stuck")), R"(["traffic-split/web"])");
  EXPECT_EQ(write(stuck.fields.at("rolledBack")), "[]") << "what it depends on is kept";
  EXPECT_EQ(phase(plan), "stuck");
  ASSERT_EQ(kit.run("Deployment/resume", {{"deployment", deployment}}).variant, "ok");
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", plan}}).variant, "ok");
  EXPECT_EQ(served(), "/1 1=10000");
  for (const auto& [key, row] : kit.rows("DeployPlan[N]")) EXPECT_EQ(row.at("trouble"), json::value("")) << key;
}

TEST_F(PlanDelivery, AFailureThatCannotBeUndoneIsTold) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  auto bundle = [&](const std::string& name, const std::string& more = "") {
    return json::object{{"component", name}, {"archive", world.put(name, "2", more)}, {"signature", ""}};
  };
  engine::End end =
      kit.run("DeployPlan/plan",
              {{"manifest",
                "app: {name: shop, version: '2'}\ncomponents:\n  web: {folder: ./web, routes: [{path: /1}]}\n"
                "  late: {folder: ./late, needs: [web], routes: [{path: /late}]}\n"},
               {"environment", "local"},
               {"bundles", json::array{bundle("web"), bundle("late", "env: {BROKEN: \"1\"}\n")}}});
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  const std::string deployment = kit.rows("Traffic").begin()->first;
  int deploys = 0;
  before_deploy = [&] {
    if (++deploys == 2) kit.start("Deployment/pause", {{"deployment", deployment}});  // before what fails
  };
  engine::End failed = execute(text(end, "plan"));
  ASSERT_EQ(failed.variant, "rollbackFailed") << write(failed.fields);
  EXPECT_EQ(write(failed.fields.at("stuck")), R"(["traffic-split/web"])");
}

TEST_F(PlanDelivery, SkippingTheRolloutShiftsAtOnce) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  ASSERT_EQ(execute(planned("2"), {{"skipRollout", true}}).variant, "ok");
  EXPECT_EQ(served(), "/2 2=10000");
  EXPECT_EQ(kit.count("Rollout"), 0U);
}

TEST_F(PlanDelivery, ChangedRoutesAloneNeedNoRollout) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  engine::End end =
      kit.run("DeployPlan/plan",
              {{"manifest", std::string("app: {name: shop, version: '1'}\nrollout: ") + kCanary +
                                "\ncomponents:\n  web: {folder: ./web, routes: [{path: /new}]}\n"},
               {"environment", "local"},
               {"bundles", {{{"component", "web"}, {"archive", world.put("web", "1")}, {"signature", ""}}}}});
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  ASSERT_EQ(execute(text(end, "plan")).variant, "ok");
  EXPECT_EQ(served(), "/new 1=10000");
}

TEST_F(PlanDelivery, OneThatTurnsBadLaterTakesItsPlanBack) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  const std::string plan = planned("2", "{strategy: canary, steps: [{weight: 10, pause: 1}], after: 3600}");
  begin(plan);
  say(judged(plan), "healthy");
  ASSERT_TRUE(becomes(plan, "complete"));
  EXPECT_EQ(served(), "/2 2=10000");
  say(judged(plan), "unhealthy", "it leaks");
  ASSERT_TRUE(becomes(plan, "rolledBack"));
  EXPECT_EQ(served(), "/1 1=10000");
}

// ---- promotion

class Promotion : public PlanDelivery {
 protected:
  engine::End promote(const std::string& kit_name = "front") {
    return kit.run("Env/promote", {{"fromEnv", "local"}, {"toEnv", "prod"}, {"suiteName", kit_name}});
  }
  std::vector<std::string> plans_of(const std::string& environment) {
    std::vector<std::string> all;
    for (const auto& [key, row] : kit.rows("DeployPlan")) {
      if (row.as_object().contains("environment") && row.at("environment") == json::value(environment)) {
        all.push_back(key);
      }
    }
    return all;
  }
};

TEST_F(Promotion, NothingIsPromotedWithoutEvidence) {
  EXPECT_EQ(kit.run("Env/promote", {{"fromEnv", "nowhere"}, {"toEnv", "prod"}, {"suiteName", "front"}}).variant,
            "notFound");
  EXPECT_EQ(kit.run("Env/promote", {{"fromEnv", "prod"}, {"toEnv", "prod"}, {"suiteName", "front"}}).variant,
            "versionMismatch");
  engine::End end = promote();
  ASSERT_EQ(end.variant, "notValidated") << write(end.fields);
  EXPECT_EQ(text(end, "message"), "no plan of front is complete in local");
  const std::string plan = planned("1");
  EXPECT_EQ(promote().variant, "notValidated") << "it was planned and not executed";
  ASSERT_EQ(execute(plan).variant, "ok");
  ASSERT_EQ(up(world.put("web", "9")).variant, "ok");
  end = promote();
  ASSERT_EQ(end.variant, "notValidated");
  EXPECT_THAT(text(end, "message"), HasSubstr("the traffic of web was changed since"));
  EXPECT_THAT(plans_of("prod"), testing::IsEmpty());
}

TEST_F(Promotion, WhatDoesNotAnswerIsNotValidated) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  std::filesystem::create_directory(folder.path() + "/ill");
  engine::End end = promote();
  ASSERT_EQ(end.variant, "notValidated") << write(end.fields);
  EXPECT_EQ(text(end, "message"), "not every revision of front answers its health check");
}

TEST_F(Promotion, WithEvidenceAPlanOfTheTargetAppears) {
  const std::string first = planned("1");
  ASSERT_EQ(execute(first).variant, "ok");
  for (const char* name : {"front", "shop"}) {
    engine::End end = promote(name);
    ASSERT_EQ(end.variant, "ok") << write(end.fields);
    EXPECT_EQ(text(end, "version"), "1");
  }
  ASSERT_EQ(plans_of("prod").size(), 2U);
  const json::value plan = kit.row("DeployPlan", plans_of("prod").front());
  EXPECT_EQ(plan.at("kitVersion"), json::value("1"));
  EXPECT_EQ(plan.at("currentPhase"), json::value("planned")) << "executing it is a decision of its own";
  EXPECT_EQ(plan.at("summary").at("create"), json::value(1));
  const auto promoted = kit.elements("Env.kitVersions", "prod");
  ASSERT_EQ(promoted.size(), 2U);
  EXPECT_EQ(promoted[0].at("kit"), json::value("front"));
  EXPECT_EQ(promoted[0].at("promotedFrom"), json::value("local"));
  EXPECT_EQ(promoted[0].at("promotedBy"), json::value("test"));
}

TEST_F(Promotion, AnOlderVersionDoesNotTakeThePlaceOfANewer) {
  kit.put("DeployPlan", "dp-1",
          to_json(deploy_plan::DeployPlanRecord{.suiteName = "shop",
                                                .kitVersion = "2.10.0",
                                                .environment = "prod",
                                                .currentPhase = deploy_plan::DeployPlanCurrentPhase::complete,
                                                .number = 1}));
  kit.put_element("DeployPlan.components", "dp-1", 0,
                  to_json(deploy_plan::DeployPlanComponent{.component = "web", .kit = "front"}));
  ASSERT_EQ(execute(planned("2.9.0")).variant, "ok");
  engine::End end = promote();
  ASSERT_EQ(end.variant, "versionMismatch") << write(end.fields);
  EXPECT_EQ(text(end, "details"), "prod has 2.10.0, which is newer than 2.9.0");
}

TEST_F(Promotion, ABrokenPlanIsNoEvidence) {
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  engine::End end = kit.run(
      "DeployPlan/plan",
      {{"manifest",
        "app: {name: shop, version: '2'}\nonFailure: stop\ncomponents:\n  web: {folder: ./web, kit: front}\n"},
       {"environment", "local"},
       {"bundles",
        {{{"component", "web"}, {"archive", world.put("web", "2", "env: {BROKEN: \"1\"}\n")}, {"signature", ""}}}}});
  ASSERT_EQ(execute(text(end, "plan")).variant, "partial");
  EXPECT_EQ(text(promote(), "message"), text(end, "plan") + " is partial");
}

// ---- manifests of environments

TEST_F(PlanDelivery, ManifestsAreResolvedAndCompared) {
  const std::string manifest = R"(app: {name: shop, version: "1"}
components: {web: {folder: w, settings: {COLOUR: red}}}
environments:
  base: {components: {web: {settings: {COLOUR: blue}}}}
  prod: {extends: base}
  lost: {extends: nowhere}
  torn: {rollout: {strategy: canary}, overrides: {rollout: {strategy: immediate}}}
)";
  auto resolve = [&](const std::string& environment) {
    return kit.run("Env/resolve", {{"environment", environment}, {"manifest", manifest}});
  };
  engine::End end = resolve("prod");
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_THAT(text(end, "resolved"), HasSubstr(R"("settings":{"COLOUR":"blue"})"));
  EXPECT_EQ(text(resolve("lost"), "message"), "lost extends nowhere, which the manifest does not have");
  end = resolve("torn");
  ASSERT_EQ(end.variant, "conflictingOverrides");
  EXPECT_THAT(std::string(end.fields.at("conflicts").at(0).as_string()),
              HasSubstr("environments/torn/overrides/rollout/strategy says"));
  EXPECT_EQ(kit.run("Env/resolve", {{"environment", "prod"}, {"manifest", "app: 1"}}).variant, "invalid");
  EXPECT_EQ(kit.run("Env/resolve", {{"environment", "prod"}}).variant, "notFound");
  EXPECT_EQ(kit.run("Env/resolve", {{"environment", "nowhere"}}).variant, "notFound");
  auto diff = [&](const std::string& a, const std::string& b) {
    return kit.run("Env/diff", {{"envA", a}, {"envB", b}, {"manifest", manifest}});
  };
  end = diff("local", "prod");
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(write(end.fields.at("differences")),
            R"x(["/components/web/settings/COLOUR  local: \"red\" (manifest), prod: \"blue\" (environments/base)"])x");
  EXPECT_EQ(diff("local", "lost").variant, "missingBase");
  EXPECT_EQ(diff("torn", "local").variant, "conflictingOverrides");
  EXPECT_EQ(kit.run("Env/diff", {{"envA", "local"}, {"envB", "prod"}}).variant, "notFound");
  EXPECT_EQ(kit.run("Env/diff", {{"envA", "local"}, {"envB", "prod"}, {"manifest", "x: 1"}}).variant, "invalid");
  ASSERT_EQ(execute(planned("1")).variant, "ok");
  EXPECT_THAT(text(kit.run("Env/resolve", {{"environment", "local"}}), "resolved"), HasSubstr(R"("name":"shop")"));
}

}  // namespace plan_delivery_sync_test
}  // namespace sluice::deploy
