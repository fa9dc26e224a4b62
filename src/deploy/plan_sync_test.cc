// Plans from a manifest to traffic and back, on the whole kit in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "deploy/testing_workflow.h"

namespace sluice::deploy {
namespace plan_sync_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  std::string newest_plan() { return kit.rows("DeployPlan").rbegin()->first; }
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

TEST_F(PlanTest, WhatARollbackBringsBackIsTheAppsAgain) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"};
  const Part web{"web", world.put("web", "1.0.0"), "    needs: [api]\n    routes: [{path: /}]\n"};
  const std::string first = planned({api, web});
  ASSERT_EQ(execute(first).variant, "ok");
  const std::string before = state();
  auto destroyed = [&] {
    engine::End end = kit.run("DeployPlan/plan", {{"manifest", ""}, {"environment", "local"}, {"destroy", "shop"}});
    EXPECT_EQ(end.variant, "ok") << write(end.fields);
    EXPECT_EQ(execute(text(end, "plan")).variant, "ok");
    EXPECT_EQ(state(), "0 running");
    return text(end, "plan");
  };
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", destroyed()}}).variant, "ok");
  EXPECT_EQ(state(), before);
  EXPECT_EQ(kit.row("DeployPlan", planned({api, web})).at("summary").at("nodes"), 0) << "all of it is the app's";
  engine::End back = kit.run("DeployPlan/rollback", {{"plan", first}});
  EXPECT_EQ(back.variant, "notExecuted");
  EXPECT_THAT(text(back, "message"), HasSubstr("was removed and brought back since"));
  destroyed();
}

TEST_F(PlanTest, AnUpIsListedAndRolledBackLikeAPlan) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"};
  const std::string first = planned({api});
  ASSERT_EQ(execute(first).variant, "ok");
  const std::string before = state();
  ASSERT_EQ(up(world.put("api", "1.5.0"), {{"keepRoutes", true}}).variant, "ok");
  ASSERT_EQ(up(world.put("api", "1.5.0"), {{"keepRoutes", true}}).variant, "ok") << "which changes nothing";
  std::vector<std::string> ups;
  for (const auto& [key, row] : kit.rows("DeployPlan")) {
    if (row.as_object().contains("origin") && row.at("origin") == json::value("up")) ups.push_back(key);
  }
  ASSERT_EQ(ups.size(), 1U) << "the plan's own node is none";
  EXPECT_EQ(kit.row("DeployPlan", ups[0]).at("kitVersion"), json::value("1.5.0"));
  EXPECT_EQ(phase(ups[0]), "complete");
  EXPECT_THAT(nodes(ups[0]),
              ElementsAre("deploy-concept/api done", "configure-transport/api done", "traffic-split/api done"));

  // A plan sees it, and is not undone over it.
  engine::End seen = plan_of({api});
  EXPECT_THAT(text(seen, "graph"), HasSubstr(R"({"name":"version","before":"1.5.0","after":"1.0.0"})"));
  EXPECT_THAT(text(kit.run("DeployPlan/rollback", {{"plan", first}}), "message"),
              HasSubstr(ups[0] + ", an up of api, was executed after it"));
  engine::End back = kit.run("DeployPlan/rollback", {{"plan", ups[0]}});
  ASSERT_EQ(back.variant, "ok") << write(back.fields);
  EXPECT_THAT(texts(back, "rolledBack"),
              ElementsAre("deploy-concept/api", "configure-transport/api", "traffic-split/api"));
  EXPECT_EQ(state(), before);
  EXPECT_EQ(kit.run("DeployPlan/rollback", {{"plan", first}}).variant, "ok");
  EXPECT_EQ(state(), "0 running");
}

TEST_F(PlanTest, AnUpThatWasTakenDownIsNotRolledBack) {
  engine::End there = up(world.put("api", "1.0.0"));
  ASSERT_EQ(there.variant, "ok");
  ASSERT_EQ(kit.run("Deployment/down", {{"deployment", text(there, "deployment")}, {"deleteData", false}}).variant,
            "ok");
  for (const auto& [key, row] : kit.rows("DeployPlan")) {
    engine::End back = kit.run("DeployPlan/rollback", {{"plan", key}});
    EXPECT_EQ(back.variant, "notExecuted");
    EXPECT_EQ(text(back, "message"), "what it brought was taken down since");
  }
  EXPECT_EQ(kit.rows("DeployPlan").size(), 1U);
}

TEST_F(PlanTest, AnUpThatFailsIsAPlanThatWasUndone) {
  ASSERT_EQ(up(world.put("api", "1.0.0")).variant, "ok");
  const std::string before = state();
  engine::End failed = up(world.put("api", "2.0.0", "env: {BROKEN: \"1\"}\n"));
  EXPECT_EQ(failed.variant, "failed");
  EXPECT_EQ(text(failed, "check"), "provider-health") << write(failed.fields);
  const std::string plan = newest_plan();
  EXPECT_EQ(phase(plan), "rolledBack");
  EXPECT_THAT(nodes(plan), ElementsAre("deploy-concept/api failed"));
  EXPECT_THAT(std::string(kit.row("DeployPlan", plan).at("reason").as_string()), HasSubstr("deploy-concept/api: "));
  EXPECT_EQ(state(), before);

  // What was held for it is undone when it cannot have the traffic.
  before_deploy = [&] {
    for (const auto& [key, row] : kit.rows("Deployment")) (void)kit.run("Deployment/pause", {{"deployment", key}});
  };
  engine::End paused = up(world.put("api", "3.0.0"));
  EXPECT_EQ(paused.variant, "failed") << write(paused.fields);
  EXPECT_THAT(text(paused, "message"), HasSubstr("is not active"));
  EXPECT_THAT(nodes(newest_plan()), ElementsAre("deploy-concept/api undone", "configure-transport/api failed"));
  EXPECT_EQ(phase(newest_plan()), "rolledBack");
  EXPECT_TRUE(kit.rows("Deployment[C]").empty());
}

TEST_F(PlanTest, StorageIsMadeFirstAndGoesWithAPlanThatFails) {
  auto stores = [&] { return kit.rows("Runtime.storages").size(); };
  const std::string keeps = "storage: [{name: data}]\n";
  const std::string broken =
      planned({{"store", world.put("store", "1.0.0", keeps), "    routes: [{path: /store}]\n"},
               {"web", world.put("web", "1.0.0", "env: {BROKEN: \"1\"}\n"), "    needs: [store]\n"}});
  EXPECT_EQ(execute(broken).variant, "rollbackTriggered");
  EXPECT_THAT(nodes(broken), ElementsAre("provision-storage/store undone", "deploy-concept/store undone",
                                         "configure-transport/store undone", "traffic-split/store undone",
                                         "deploy-concept/web failed"));
  EXPECT_EQ(stores(), 0U);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("storage")));

  const Part api{"api", world.put("api", "1.0.1", keeps)};
  const std::string plan = planned({api});
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_THAT(nodes(plan), ElementsAre("provision-storage/api done", "deploy-concept/api done",
                                       "configure-transport/api done", "traffic-split/api done"));
  EXPECT_EQ(stores(), 1U);
  const std::string storage = std::filesystem::directory_iterator(folder.path("storage"))->path().string();
  EXPECT_TRUE(std::filesystem::is_directory(storage + "/data"));
  EXPECT_EQ(kit.row("DeployPlan", planned({api})).at("summary").at("nodes"), 0);

  // What the programs have stored outlives the rollback of what brought them.
  std::filesystem::remove(storage + "/data");
  std::ofstream(storage + "/data") << "kept";
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", plan}}).variant, "ok");
  EXPECT_THAT(state(), testing::Not(HasSubstr("api")));
  EXPECT_TRUE(std::filesystem::exists(storage + "/data"));
  EXPECT_EQ(stores(), 1U);
}

TEST_F(PlanTest, AHandlerThatPanicsFailsItsNode) {
  const std::vector<Part> parts = {{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"},
                                   {"web", world.put("web", "1.0.0"), "    needs: [api]\n"}};
  ASSERT_EQ(execute(planned({parts[0]})).variant, "ok");
  const std::string before = state();
  before_deploy = [] { throw std::runtime_error("a bug"); };
  const std::string plan = planned(parts);
  engine::End end = execute(plan);
  ASSERT_EQ(end.variant, "rollbackTriggered") << write(end.fields);
  EXPECT_THAT(text(end, "reason"), HasSubstr("a bug"));
  EXPECT_THAT(nodes(plan), ElementsAre("deploy-concept/web failed"));
  EXPECT_THAT(state(), HasSubstr(before.substr(0, before.find(';'))));
  before_deploy = [] {};
  EXPECT_EQ(execute(planned(parts)).variant, "ok") << "the next one is not hindered";
}

TEST_F(PlanTest, VersionsOfSecretsAreShown) {
  auto paper = [&](const std::string& plan, const char* name) {
    for (const json::value& each : kit.elements("DeployPlan.papers", plan)) {
      if (each.at("name") == json::value(name)) return std::string(each.at("text").as_string());
    }
    return std::string("no such paper");
  };
  auto put = [&](const char* value) {
    return kit
        .run("Secret/put", {{"environment", "local"}, {"name", "api/TOKEN"}, {"provider", "store"}, {"value", value}})
        .variant;
  };
  const std::string first = world.put("api", "1.0.0", "secrets: [TOKEN]\npin_secrets: true\n");
  std::string plan = planned({{"api", first}});
  EXPECT_EQ(paper(plan, "warnings"), R"(["api needs the secret api/TOKEN, which nobody has put into local yet"])");
  EXPECT_THAT(paper(plan, "changes"), HasSubstr(R"({"name":"secrets.TOKEN","before":"","after":"missing"})"));
  ASSERT_EQ(put("one"), "ok");
  plan = planned({{"api", first}});
  EXPECT_EQ(paper(plan, "warnings"), "[]");
  EXPECT_THAT(paper(plan, "changes"), HasSubstr(R"({"name":"secrets.TOKEN","before":"","after":"version 1"})"));
  ASSERT_EQ(execute(plan).variant, "ok");
  ASSERT_EQ(put("two"), "ok");
  EXPECT_THAT(paper(planned({{"api", first}}), "changes"), Not(HasSubstr("secrets.")));
  EXPECT_THAT(paper(planned({{"api", world.put("api", "2.0.0", "secrets: [TOKEN]\npin_secrets: true\n")}}), "changes"),
              HasSubstr(R"({"name":"secrets.TOKEN","before":"version 1","after":"version 2"})"));
}

TEST_F(PlanTest, ReplicasAndHealthHoldOverTheBundle) {
  const std::string api = world.put("api", "1.0.0");
  auto with = [&](const std::string& more) { return std::vector<Part>{{"api", api, more}}; };
  auto settings_that_serve = [&] {
    for (const auto& [key, row] : kit.rows("Revision")) {
      if (!row.as_object().contains("lifecycle") || row.at("lifecycle") != json::value("ready")) continue;
      const std::string deployment(row.at("deployment").as_string());
      for (const json::value& each : kit.elements("Traffic.entries", deployment)) {
        if (each.at("revision") != json::value(key)) continue;
        const json::value config = parse_json(std::string(row.at("runtimeConfig").as_string())).value().root;
        return write(config.at("replicas")) +
               (config.as_object().contains("health") ? " " + write(config.at("health")) : "");
      }
    }
    return std::string("none");
  };
  ASSERT_EQ(execute(planned(with(""))).variant, "ok");
  EXPECT_EQ(settings_that_serve(), "1");
  const std::string three = "    replicas: 3\n    health: {path: /, unhealthy_after: 9}\n";
  const std::string plan = planned(with(three));
  EXPECT_EQ(kit.row("DeployPlan", plan).at("summary").at("change"), 1);
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(settings_that_serve(), R"(3 {"path":"/","unhealthy_after":9})");
  EXPECT_EQ(kit.row("DeployPlan", planned(with(three))).at("summary").at("nodes"), 0);
  // Not said any more: as the bundle says.
  ASSERT_EQ(execute(planned(with(""))).variant, "ok");
  EXPECT_EQ(settings_that_serve(), "1");
  ASSERT_EQ(execute(planned(with(three))).variant, "ok");
  // What sluice scale has said is drift, and ends with the plan; a rollback brings it back.
  const std::string deployment = [&] {
    for (const auto& [key, row] : kit.rows("Deployment")) {
      if (row.as_object().contains("bundle")) return key;
    }
    return std::string();
  }();
  ASSERT_EQ(kit.run("Deployment/scale", {{"deployment", deployment}, {"replicas", 2}}).variant, "ok");
  const std::string again = planned(with(three));
  EXPECT_EQ(kit.row("DeployPlan", again).at("summary").at("change"), 1);
  ASSERT_EQ(execute(again).variant, "ok");
  EXPECT_FALSE(kit.row("Deployment", deployment).as_object().contains("replicas"));
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", again}}).variant, "ok");
  EXPECT_EQ(kit.row("Deployment", deployment).at("replicas"), 2);
  engine::End bad = plan_of(with("    health: {paht: /}\n"));
  ASSERT_EQ(bad.variant, "invalidManifest") << write(bad.fields);
  EXPECT_THAT(texts(bad, "errors"), ElementsAre(HasSubstr("app.deploy.yaml:5:14: /health/paht of api: unknown field")));
}

TEST_F(PlanTest, AKitOfAnotherAppMustBeThereAndWell) {
  auto other = [&](const std::string& version) {
    json::object input{{"manifest", "app: {name: mails, version: " + version +
                                        "}\ncomponents: {mail: {folder: m, kit: mail, routes: [{path: /mail}]}}\n"},
                       {"environment", "local"}};
    input["bundles"] =
        json::array{json::object{{"component", "mail"}, {"archive", world.put("mail", version)}, {"signature", ""}}};
    engine::End end = kit.run("DeployPlan/plan", input);
    EXPECT_EQ(end.variant, "ok") << write(end.fields);
    EXPECT_EQ(execute(text(end, "plan")).variant, "ok");
  };
  const Part web{"web", world.put("web", "1.0.0"), "    routes: [{path: /}]\n"};
  const std::string needs = "kits: [{name: mail, version: 2.0.0}]\n";
  EXPECT_THAT(texts(plan_of({web}, needs), "missing"),
              ElementsAre("app.deploy.yaml:2:8: no plan has brought the kit mail to local"));
  other("1.0.0");
  EXPECT_THAT(texts(plan_of({web}, needs), "missing"),
              ElementsAre(HasSubstr("is needed in version 2.0.0, and local has 1.0.0")));
  other("2.0.0");
  const std::string plan = planned({web}, needs);
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_THAT(nodes(plan), testing::Contains("external-dependency-check/mail done"));
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", plan}}).variant, "ok") << "a check has nothing to undo";

  // Nothing of it answers any more: nothing here changes.
  std::filesystem::create_directory(folder.path() + "/ill");
  engine::End failed = execute(planned({web}, needs));
  ASSERT_EQ(failed.variant, "rollbackTriggered") << write(failed.fields);
  EXPECT_EQ(text(failed, "reason"),
            "external-dependency-check/mail: not every revision of the kit mail answers its health check");
  EXPECT_THAT(texts(failed, "rolledBack"), IsEmpty());
}

TEST_F(PlanTest, RoutesThatTwoWouldHaveAreFoundBeforehand) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /}]\n"};
  engine::End end = plan_of({api, {"web", world.put("web", "1.0.0"), "    routes: [{path: /}]\n"}});
  ASSERT_EQ(end.variant, "invalidManifest") << write(end.fields);
  EXPECT_THAT(texts(end, "errors"),
              ElementsAre("app.deploy.yaml:8:5: the route any host / of web is that of api as well"));
  ASSERT_EQ(up(world.put("other", "1.0.0")).variant, "ok");
  EXPECT_THAT(texts(plan_of({api}), "errors"),
              ElementsAre(HasSubstr("the route any host / of api is that of other for local-dev as well")));
}

TEST_F(PlanTest, ComponentsWithoutRoutesHaveHostsOfTheirOwn) {
  const std::string plan = planned({{"api", world.put("api", "1.0.0")}, {"web", world.put("web", "1.0.0")}});
  ASSERT_EQ(execute(plan).variant, "ok");
  std::vector<std::string> hosts;
  for (const auto& [key, row] : kit.rows("Deployment")) {
    if (row.as_object().contains("bundle")) hosts.push_back(write(row.at("route").at("hosts")));
  }
  std::ranges::sort(hosts);
  EXPECT_THAT(hosts, ElementsAre(R"(["api.localhost"])", R"(["web.localhost"])"));
}

TEST_F(PlanTest, ARenamedComponentKeepsItsDeployment) {
  const std::string api = world.put("api", "1.0.0");
  ASSERT_EQ(execute(planned({{"api", api}})).variant, "ok");
  const std::string before = state();
  const std::string plan = planned({{"backend", api}});
  EXPECT_EQ(kit.row("DeployPlan", plan).at("summary").at("nodes"), 0);
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(state(), before);
  engine::End twice = plan_of({{"backend", api}, {"api", api}});
  ASSERT_EQ(twice.variant, "invalidManifest") << write(twice.fields);
  EXPECT_THAT(texts(twice, "errors"), ElementsAre(HasSubstr("are the same bundle for the same customer")));
}

TEST_F(PlanTest, OfSeveralCustomersItIsTheOneThatIsNamed) {
  const std::string api = world.put("api", "1.0.0");
  auto up_for = [&](const std::string& customer) {
    const json::object mine{
        {"customer", customer}, {"hosts", json::array{customer + ".example"}}, {"pathPrefixes", json::array{"/"}}};
    ASSERT_EQ(up(api, mine).variant, "ok");
  };
  up_for("acme");
  up_for("globex");
  engine::End several = plan_of({{"api", world.put("api", "2.0.0")}});
  ASSERT_EQ(several.variant, "invalidManifest") << write(several.fields);
  EXPECT_THAT(texts(several, "errors"), ElementsAre(HasSubstr("3:3: api runs in local for several customers: ")));
  // In local, local-dev is meant where nobody is named.
  up_for("local-dev");
  ASSERT_EQ(execute(planned({{"api", world.put("api", "2.0.0")}})).variant, "ok");
  EXPECT_THAT(state(), HasSubstr(R"(api["/"] 1.0.0=10000; api["/"] 1.0.0=10000; api["/"] 2.0.0=10000; )"));
  ASSERT_EQ(execute(planned({{"api", world.put("api", "3.0.0"), "    customer: globex\n"}})).variant, "ok");
  EXPECT_THAT(state(), HasSubstr(R"(api["/"] 1.0.0=10000; api["/"] 2.0.0=10000; api["/"] 3.0.0=10000; )"));
}

TEST_F(PlanTest, OutsideLocalACustomerIsNamedBeforehand) {
  engine::End end = plan_of({{"api", world.put("api", "1.0.0")}}, "", {{"environment", "prod"}});
  ASSERT_EQ(end.variant, "invalidManifest") << write(end.fields);
  EXPECT_THAT(texts(end, "errors"),
              ElementsAre("app.deploy.yaml:3:3: outside local api runs for a customer; `customer` says for which"));
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
  const std::string raised = newest_plan();
  engine::End end = execute(plan);
  ASSERT_EQ(end.variant, "stale") << write(end.fields);
  EXPECT_THAT(text(end, "message"), HasSubstr("test has changed the traffic of api at "));
  EXPECT_EQ(state(), R"(api["/"] 1.5.0=10000; 2 running)");
  // What is undone has no caller of its own.
  const std::string later = planned({{"api", two}});
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", raised}}).variant, "ok");
  end = execute(later);
  ASSERT_EQ(end.variant, "stale") << write(end.fields);
  EXPECT_THAT(text(end, "message"), HasSubstr("a rollout or a rollback has changed the traffic of api at "));
}

TEST_F(PlanTest, OfTwoPlansThatMakeTheSameTheSecondIsStale) {
  const Part api{"api", world.put("api", "1.0.0")}, newer{"api", world.put("api", "2.0.0")};
  const std::string first = planned({api}), second = planned({newer}), third = planned({newer});
  ASSERT_EQ(execute(first).variant, "ok");
  engine::End end = execute(second);
  ASSERT_EQ(end.variant, "stale") << write(end.fields);
  EXPECT_EQ(text(end, "message"), "api for local-dev was deployed meanwhile");
  EXPECT_EQ(state(), R"(api["/"] 1.0.0=10000; 1 running)");
  // Once it is gone again there is nothing in the way.
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", first}}).variant, "ok");
  EXPECT_EQ(execute(third).variant, "ok");
  EXPECT_EQ(state(), R"(api["/"] 2.0.0=10000; 1 running)");
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

TEST_F(PlanTest, WhatAPlanDidThatEndedHalfWayIsTheApps) {
  const Part api{"api", world.put("api", "1.0.0"), "    routes: [{path: /api}]\n"};
  const Part web{"web", world.put("web", "1.0.0"), "    routes: [{path: /}]\n    needs: [api]\n"};
  const std::string first = planned({api, web});
  ASSERT_EQ(execute(first).variant, "ok");
  auto serves = [&] { return state().substr(0, state().rfind(';')); };
  const std::string before = serves();
  const Part newer{"api", world.put("api", "2.0.0"), api.more};
  const Part shop{"shop", world.put("shop", "1.0.0"), "    routes: [{path: /shop}]\n"};
  const Part bad{"web", world.put("web", "2.0.0", "env: {BROKEN: \"1\"}\n"),
                 "    routes: [{path: /}]\n    needs: [api, shop]\n"};
  auto stop_half_way = [&] {
    const std::string plan = planned({newer, shop, bad}, "onFailure: stop\n");
    EXPECT_EQ(execute(plan).variant, "partial");
    return plan;
  };
  const std::string half = stop_half_way();
  // An older plan is not undone beneath it.
  engine::End refused = kit.run("DeployPlan/rollback", {{"plan", first}});
  ASSERT_EQ(refused.variant, "notExecuted") << write(refused.fields);
  EXPECT_THAT(text(refused, "message"), HasSubstr(half + " was executed after it; roll that one back first"));
  ASSERT_EQ(kit.run("DeployPlan/rollback", {{"plan", half}}).variant, "ok");
  EXPECT_EQ(serves(), before);

  // What it has brought goes when a manifest does not name it, though no plan was complete with it.
  stop_half_way();
  const std::string plan = planned({api, web});
  EXPECT_EQ(kit.row("DeployPlan", plan).at("summary").at("remove"), 1);
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(serves(), before);
}

TEST_F(PlanTest, OnlyOneOfTwoExecutes) {
  const std::string plan = planned({{"api", world.put("api", "1.0.0")}});
  ASSERT_EQ(execute(plan).variant, "ok");
  EXPECT_EQ(execute(plan).variant, "notExecutable");
}

}  // namespace plan_sync_test
}  // namespace sluice::deploy
