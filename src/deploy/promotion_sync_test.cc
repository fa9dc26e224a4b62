// What releases.sync and pins.sync say, on the whole kit: from a file to traffic in one environment, and on to the
// next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "deploy/promotion/release_sources.h"
#include "deploy/testing_kit_engine.h"
#include "deploy/testing_up.h"
#include "env.gen.h"
#include "pin.gen.h"
#include "pipeline.gen.h"
#include "registry.gen.h"
#include "release.gen.h"

namespace sluice::deploy {
namespace promotion_sync_test {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kHead = "---\napiVersion: openchoreo.dev/v1alpha1\n";

std::string pipeline(const std::string& more = "", int soak_s = 0) {
  return std::string(kHead) + "kind: DeploymentPipeline\nmetadata: {name: main}\nspec:\n  promotionPaths:\n" +
         "    - {sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: staging, soakSeconds: " +
         std::to_string(soak_s) + "}]}\n" +
         "    - {sourceEnvironmentRef: {name: staging}, targetEnvironmentRefs: [{name: prod}]}\n" + more;
}

std::string component(const std::string& name, const std::string& connections = "[]") {
  return std::string(kHead) + "kind: Component\nmetadata: {name: " + name +
         "}\nspec: {componentType: bundle/app, parameters: {path: /" + name + "}}\n" + kHead +
         "kind: Workload\nmetadata: {name: " + name + "}\nspec: {image: none, endpoints: [{name: api, port: 80}], " +
         "connections: " + connections + "}\n";
}

const std::string kType = std::string(kHead) + R"(kind: ComponentTypeDefinition
metadata: {name: app}
spec:
  workloadType: bundle
  schema:
    parameters:
      color: string | default=red
      path: string
  resources:
    - id: app
      template:
        apiVersion: sluice.dev/v1
        kind: BundleDeployment
        metadata: {name: "${metadata.name}"}
        spec:
          bundle: ${build.image}
          customer: acme
          config: {color: "${parameters.color}"}
          routes: {hosts: [], pathPrefixes: ["${parameters.path}"]}
)";

std::string settings(const std::string& name, const std::string& environment, const std::string& overrides) {
  return std::string(kHead) + "kind: EnvSettings\nmetadata: {name: " + name + "-" + environment +
         "}\nspec: {owner: {componentName: " + name + "}, environment: " + environment + ", overrides: " + overrides +
         "}\n";
}

class PromotionSync : public testing::Test {
 protected:
  PromotionSync() {
    kit.tools() = world.tools();
    for (const char* name : {"local", "staging", "prod"}) {
      kit.put("Env", name,
              to_json(env::EnvRecord{.name = name,
                                     .generation = 1,
                                     .runtimeType = "local",
                                     .secretsType = "store",
                                     .retention = {.archivedMaxAgeDays = 14, .stagedMaxCount = 5}}));
      kit.put_element("Env.packs", name, 0,
                      to_json(env::EnvPack{.slot = "deployer", .kind = "sluice.deployer.local-process@1.0.0"}));
    }
  }

  engine::End apply(const std::string& text) {
    return kit.run("Definition/apply", {{"documents", json::array{{{"file", "all.yaml"}, {"text", text}}}}});
  }
  void define(const std::string& more = "") {
    auto end = apply(pipeline() + kType + component("shop") + more);
    ASSERT_EQ(end.variant, "ok") << write(end.fields);
  }
  // A release of a component with a bundle of this version.
  std::string release(const std::string& name, const std::string& version, const std::string& more = "") {
    const std::string bundle =
        world.put(name, version, "config: [{name: color, question: Which?, default: none}]\n" + more);
    auto end = kit.run("Release/create", {{"component", name}, {"image", bundle}});
    EXPECT_EQ(end.variant, "ok") << write(end.fields);
    return end.variant == "ok" ? std::string(end.fields.at("release").as_string()) : "";
  }
  engine::End set(const std::string& name, const std::string& environment, const std::string& release,
                  const std::string& state = "Active") {
    return kit.run(
        "Pin/set",
        {{"pins",
          json::array{{{"component", name}, {"environment", environment}, {"release", release}, {"state", state}}}},
         {"wait", true}});
  }
  engine::End promote(const std::string& from, const std::string& to, json::array components = {}) {
    return kit.run("Pin/promote", {{"components", std::move(components)}, {"fromEnv", from}, {"toEnv", to}});
  }
  void put_secret(const std::string& value) {
    auto end = kit.run("Secret/put",
                       {{"environment", "local"}, {"name", "shop/TOKEN"}, {"provider", "store"}, {"value", value}});
    ASSERT_EQ(end.variant, "ok") << write(end.fields);
  }
  // The version of its secret that the revision of a pin was given.
  std::string secret_version(const std::string& name, const std::string& environment) {
    const auto versions =
        kit.elements("Revision.secretVersions", std::string(pin(name, environment).at("revision").as_string()));
    return versions.empty() ? "none" : std::string(versions.front().at("version").as_string());
  }
  static std::string said(const engine::End& end) {
    const auto* message = end.fields.if_contains("message");
    return end.variant + (message ? ": " + std::string(message->as_string()) : "");
  }
  json::value pin(const std::string& name, const std::string& environment) {
    return kit.row("Pin", name + "/" + environment);
  }
  std::string runs(const std::string& name, const std::string& environment) {
    const auto row = pin(name, environment);
    return row.is_null() ? "" : std::string(row.at("applied").as_string());
  }
  // The settings of the revision that a pin runs.
  std::string config(const std::string& name, const std::string& environment) {
    const auto row = kit.row("Revision", std::string(pin(name, environment).at("revision").as_string()));
    const auto kept = parse_json(std::string(row.at("config").as_string())).value().root;
    return write(kept.at("non_secret"));
  }

  TestingFolder folder;
  UpTools world{folder.path()};
  KitEngine kit{trusting(concepts_with_files_for_programs(folder.path()))};
};

TEST_F(PromotionSync, AReleaseGoesFromFilesToTrafficAndOn) {
  define();
  const std::string first = release("shop", "1");
  auto end = set("shop", "local", first);
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(pin("shop", "local").at("ready"), json::value(true));
  EXPECT_EQ(pin("shop", "local").at("reason"), json::value("ReconcileSuccess"));
  EXPECT_EQ(config("shop", "local"), R"({"color":"red"})");
  EXPECT_EQ(kit.elements("Pin.locks", "shop/local").size(), 1U);
  end = promote("local", "staging");
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(end.fields.at("pins").at(0).at("release"), json::value(first));
  EXPECT_EQ(runs("shop", "staging"), first);
  EXPECT_EQ(world.running().size(), 2U);
  EXPECT_EQ(promote("local", "staging").variant, "ok") << "it is there already";
  EXPECT_EQ(kit.count("Pin[C]"), 0U);
}

TEST_F(PromotionSync, Choreo18ASecretThatIsMissingIsNamed) {
  define();
  const std::string first = release("shop", "1", "secrets: [TOKEN]\n");
  auto end = set("shop", "local", first);
  EXPECT_EQ(end.variant, "failed");
  EXPECT_THAT(said(end), HasSubstr("there is no secret shop/TOKEN in local"));
  EXPECT_EQ(pin("shop", "local").at("ready"), json::value(false));
}

TEST_F(PromotionSync, Choreo20TheSameInputsAreTheSameRelease) {
  define();
  const std::string first = release("shop", "1");
  EXPECT_EQ(kit.run("Release/compose", {{"component", "shop"}}).fields.at("image"), json::value("none"));
  EXPECT_EQ(release("shop", "1"), first);
  EXPECT_EQ(kit.count("Release"), 1U);
  EXPECT_NE(release("shop", "2"), first);
}

TEST_F(PromotionSync, Choreo21PathsAreKept) {
  define(settings("shop", "staging", "{color: blue}"));
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  EXPECT_EQ(said(promote("local", "prod")),
            "pathMissing: main has no path from local to prod, which shop would take; nothing was changed");
  EXPECT_THAT(said(promote("staging", "local")), StartsWith("nothing: ")) << "nothing is there";
  ASSERT_EQ(promote("local", "staging").variant, "ok");
  EXPECT_EQ(config("shop", "staging"), R"({"color":"blue"})") << "the settings of staging stay";
  EXPECT_THAT(said(promote("staging", "local")), StartsWith("ok")) << "local has it already";
}

TEST_F(PromotionSync, WhatIsAppliedWithAPinThatMayNotMoveIsUndone) {
  define(settings("cart", "local", "{}"));
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  // When something was kept is not what it says.
  const auto kept = [&] {
    std::string all;
    for (const char* relation : {"Definition", "Settings", "Pipeline", "Pipeline.paths", "Release", "Pin"}) {
      for (auto [key, row] : kit.rows(relation)) {
        row.as_object().erase("since");
        all += key + " " + write(row) + "\n";
      }
    }
    return all;
  };
  const std::string before = kept();
  const auto becomes_as_before = [&] { return eventually([&] { return kept() == before; }); };
  std::string type = kType;
  type.replace(type.find("default=red"), 11, "default=pink");
  const std::string more = pipeline("", 60) + type + component("cart") + settings("shop", "local", "{color: green}") +
                           settings("cart", "local", "{color: green}") + kHead +
                           "kind: ReleasePin\nmetadata: {name: shop-prod}\nspec: {component: shop, environment: prod, "
                           "releaseName: " +
                           first + "}\n";
  EXPECT_EQ(said(apply(more)),
            "refused: no environment before prod in main runs " + first + " of shop; nothing was changed");
  EXPECT_TRUE(becomes_as_before()) << kept() << "instead of\n" << before;
  EXPECT_EQ(config("shop", "local"), R"({"color":"red"})");
  EXPECT_EQ(kit.elements("Pin.locks", "shop/local").size(), 1U) << "it was not brought up anew";
  const auto end = apply(more + kHead +
                         "kind: DeploymentPipeline\nmetadata: {name: other}\nspec: {promotionPaths: "
                         "[{sourceEnvironmentRef: {name: a}, targetEnvironmentRefs: [{name: b}]}]}\n");
  EXPECT_THAT(said(end), StartsWith("refused: the Component names no pipeline, and there are 2"));
  EXPECT_TRUE(becomes_as_before()) << kept() << "instead of\n" << before;
}

TEST_F(PromotionSync, Choreo22NobodySkipsAnEnvironment) {
  define();
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  EXPECT_EQ(said(set("shop", "prod", first)),
            "notInSource: no environment before prod in main runs " + first + " of shop; nothing was changed");
  EXPECT_THAT(said(set("shop", "prod", "shop-none")), StartsWith("notInSource: "));
  EXPECT_THAT(said(set("shop", "qa", first)), StartsWith("pathMissing: qa is no environment of main"));
  const std::string file = std::string(kHead) +
                           "kind: ReleasePin\nmetadata: {name: shop-prod}\nspec: {component: shop, "
                           "environment: prod, releaseName: " +
                           first + "}\n";
  EXPECT_THAT(said(apply(file)), StartsWith("refused: no environment before prod"));
  EXPECT_TRUE(pin("shop", "prod").is_null());
}

TEST_F(PromotionSync, SoakFreezeStopAndRejectRefuse) {
  define();
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  apply(pipeline("", 3600));
  EXPECT_THAT(said(promote("local", "staging")), testing::ContainsRegex("soaking: .* has 3[0-9]{3} s left"));
  apply(pipeline(
      "  freezes: [{name: holidays, timeZone: Europe/Zurich, from: 2000-01-01T00:00, until: 2999-01-01T00:00}]\n"));
  EXPECT_EQ(said(promote("local", "staging")),
            "frozen: staging is frozen by holidays, until 2999-01-01T00:00 (Europe/Zurich); nothing was changed");
  apply(pipeline());
  EXPECT_EQ(kit.run("Pipeline/stop", {{"pipeline", "main"}, {"reason", "an incident"}}).variant, "ok");
  EXPECT_EQ(said(promote("local", "staging")), "stopped: main is stopped: an incident; nothing was changed");
  EXPECT_EQ(kit.run("Pipeline/resume", {{"pipeline", "main"}}).variant, "ok");
  EXPECT_EQ(kit.run("Release/reject", {{"release", first}, {"reason", "slow"}}).variant, "ok");
  EXPECT_EQ(said(promote("local", "staging")),
            "rejected: " + first + " of shop was rejected: slow; nothing was changed");
  EXPECT_EQ(
      kit.run("Pin/override",
              {{"pins",
                json::array{
                    {{"component", "shop"}, {"environment", "staging"}, {"release", first}, {"state", "Active"}}}},
               {"reason", "fire"}})
          .variant,
      "ok");
  EXPECT_EQ(runs("shop", "staging"), first);
}

TEST_F(PromotionSync, PeopleAgreeToAPromotionOnce) {
  define();
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  std::string text = pipeline();
  text.replace(text.find("soakSeconds: 0"), 14, "approvals: 1");
  ASSERT_EQ(apply(text).variant, "ok");
  kit.caller = "user:ann";
  const Ulid asked =
      kit.start("Pin/promote", {{"components", json::array{}}, {"fromEnv", "local"}, {"toEnv", "staging"}});
  ASSERT_TRUE(eventually([&] { return kit.count("Approval") == 1; })) << to_string(asked);
  const auto [id, approval] = *kit.rows("Approval").begin();
  EXPECT_EQ(approval.at("requester"), json::value("user:ann"));
  EXPECT_EQ(approval.at("action"), json::value("Pin/promote"));
  EXPECT_TRUE(pin("shop", "staging").is_null());
  kit.caller = "user:bob";
  ASSERT_EQ(kit.run("Approval/vote", {{"approval", id}, {"agree", true}}).variant, "ok");
  // As the host does with what is approved.
  ASSERT_EQ(kit.run("Approval/conclude", {{"approval", id}, {"status", "running"}, {"outcome", ""}}).variant, "ok");
  kit.caller = "user:ann";
  auto end = kit.run("Pin/promote", parse_json(std::string(approval.at("input").as_string())).value().root.as_object());
  EXPECT_EQ(end.variant, "ok") << said(end);
}

TEST_F(PromotionSync, PeopleAgreeToFilesAsAWhole) {
  define();
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  std::string text = pipeline();
  text.replace(text.find("soakSeconds: 0"), 14, "approvals: 1");
  ASSERT_EQ(apply(text).variant, "ok");
  kit.caller = "user:ann";
  const std::string files = settings("shop", "staging", "{color: green}") + kHead +
                            "kind: ReleasePin\nmetadata: {name: shop-staging}\nspec: {component: shop, environment: "
                            "staging, releaseName: " +
                            first + "}\n";
  const json::object input{{"documents", json::array{{{"file", "all.yaml"}, {"text", files}}}}};
  kit.start("Definition/apply", input);
  ASSERT_TRUE(eventually([&] { return kit.ends("Definition/apply").size() == 3; }));
  EXPECT_EQ(said(kit.ends("Definition/apply").back()), "approvalNeeded: 1 other people must agree before " + first +
                                                           " of shop goes to staging; nothing was changed");
  ASSERT_TRUE(eventually([&] { return kit.count("Approval") == 1 && kit.count("Settings") == 0; }));
  const auto [id, approval] = *kit.rows("Approval").begin();
  EXPECT_EQ(approval.at("wholeAction"), json::value("Definition/apply"));
  EXPECT_EQ(approval.at("wholeInput"), json::value(write(input)));
  kit.caller = "user:bob";
  ASSERT_EQ(kit.run("Approval/vote", {{"approval", id}, {"agree", true}}).variant, "ok");
  ASSERT_EQ(kit.run("Approval/conclude", {{"approval", id}, {"status", "running"}, {"outcome", ""}}).variant, "ok");
  kit.caller = "user:ann";
  const auto end = kit.run("Definition/apply", input);
  EXPECT_EQ(end.variant, "ok") << said(end);
  EXPECT_TRUE(eventually([&] { return runs("shop", "staging") == first; }));
  EXPECT_EQ(config("shop", "staging"), R"({"color":"green"})");
  EXPECT_EQ(kit.count("Approval"), 1U);
}

TEST_F(PromotionSync, AReleaseThatIsAppliedHasNeedlessOnesGo) {
  define();
  for (int i = 0; i < 9; ++i) release("shop", std::to_string(i));
  const size_t kept = kit.count("Release");
  ASSERT_LT(kept, 9U) << "one for each of three environments, and five more";
  const auto newest = kit.rows("Release").rbegin()->first;
  std::string text =
      std::string(kHead) +
      "kind: Release\nmetadata: {name: shop-99}\nspec:\n  component: {name: shop, "
      "content: {apiVersion: openchoreo.dev/v1alpha1, kind: Component, metadata: {name: shop}, spec: "
      "{componentType: bundle/app, parameters: {path: /x}}}}\n  componentTypeDefinition: {name: app, "
      "content: {apiVersion: openchoreo.dev/v1alpha1, kind: ComponentTypeDefinition, metadata: {name: app}, "
      "spec: {workloadType: bundle, schema: {parameters: {path: string}}, resources: []}}}\n  workload: "
      "{apiVersion: openchoreo.dev/v1alpha1, kind: Workload, metadata: {name: shop}, spec: {image: none}}\n";
  const auto end = apply(text);
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_FALSE(kit.row("Release", "shop-99").is_null());
  EXPECT_TRUE(eventually([&] { return kit.count("Release") == kept; })) << kit.count("Release");
  EXPECT_FALSE(kit.row("Release", newest).is_null());
}

TEST_F(PromotionSync, WhatOthersChangeOfABundleIsCorrected) {
  define();
  const std::string first = release("shop", "1"), second = release("shop", "2");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  const std::string before(pin("shop", "local").at("revision").as_string());
  const auto end = kit.run("Pin/set", {{"pins", json::array{{{"component", "shop"},
                                                             {"environment", "local"},
                                                             {"release", second},
                                                             {"state", "Active"},
                                                             {"drift", "correct"}}}},
                                       {"wait", true}});
  ASSERT_EQ(end.variant, "ok") << said(end);
  const std::string deployment(pin("shop", "local").at("deployment").as_string());
  const std::string after(pin("shop", "local").at("revision").as_string());
  const auto served = [&] {
    return std::string(kit.elements("Traffic.entries", deployment).at(0).at("revision").as_string());
  };
  ASSERT_EQ(kit.run("Traffic/rollback", {{"deployment", deployment}, {"steps", 1}}).variant, "ok");
  EXPECT_EQ(served(), before);
  ASSERT_EQ(kit.run("Pin/drifted", {{"pin", "shop/local"}, {"drift", {"traffic: shop@1 100%"}}}).variant, "ok");
  EXPECT_TRUE(eventually([&] { return served() == after && kit.elements("Pin.drift", "shop/local").empty(); }));
}

TEST_F(PromotionSync, WhatIsNotHealthyOrDoesNotRenderStays) {
  define(component("cart"));
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  apply(settings("shop", "staging", "{colour: blue}"));
  EXPECT_THAT(said(promote("local", "staging", {"shop"})),
              testing::AllOf(StartsWith("renderFailed: "), HasSubstr("colour")));
  apply(settings("shop", "staging", "{}"));
  // In local it would take the cart's route, which is seen only when it is brought up.
  ASSERT_EQ(set("cart", "local", release("cart", "1")).variant, "ok");
  apply(settings("shop", "local", "{path: /cart}"));
  EXPECT_EQ(pin("shop", "local").at("ready"), json::value(false)) << write(pin("shop", "local"));
  EXPECT_THAT(said(promote("local", "staging", {"shop"})),
              StartsWith("notHealthy: " + first + " of shop is not ready in local"));
  EXPECT_TRUE(pin("shop", "staging").is_null());
  EXPECT_EQ(kit.run("Settings/remove", {{"component", "shop"}, {"environment", "local"}}).variant, "ok");
  EXPECT_EQ(kit.run("Pin/reconcile", {{"pin", "shop/local"}}).variant, "ok");
  EXPECT_EQ(promote("local", "staging").variant, "ok");
}

TEST_F(PromotionSync, SeveralMoveTogetherOrAllGoBack) {
  define(component("cart"));
  const std::string shop1 = release("shop", "1"), cart1 = release("cart", "1");
  ASSERT_EQ(set("shop", "local", shop1).variant, "ok");
  ASSERT_EQ(set("cart", "local", cart1).variant, "ok");
  ASSERT_EQ(promote("local", "staging").variant, "ok");
  const std::string shop2 = release("shop", "2"), cart2 = release("cart", "2");
  ASSERT_EQ(set("shop", "local", shop2).variant, "ok");
  ASSERT_EQ(set("cart", "local", cart2).variant, "ok");
  // In staging the cart would take the shop's route, which is seen only when it is brought up.
  EXPECT_EQ(apply(settings("cart", "staging", "{path: /shop}")).variant, "ok");
  auto end = promote("local", "staging");
  EXPECT_EQ(end.variant, "failed") << said(end);
  EXPECT_THAT(said(end), HasSubstr("cart in staging: "));
  EXPECT_EQ(pin("shop", "staging").at("release"), json::value(shop1));
  EXPECT_EQ(pin("cart", "staging").at("release"), json::value(cart1));
  EXPECT_EQ(runs("shop", "staging"), shop1) << "it is brought back";
  EXPECT_THAT(said(promote("local", "staging", {"cart"})), StartsWith("rejected: " + cart2 + " of cart"));
  EXPECT_EQ(promote("local", "staging", {"shop"}).variant, "ok");
}

TEST_F(PromotionSync, OfTwoPromotionsAtOnceOneWins) {
  define();
  ASSERT_EQ(set("shop", "local", release("shop", "1")).variant, "ok");
  ASSERT_EQ(promote("local", "staging").variant, "ok");
  const auto generation = [&] { return pin("shop", "staging").at("generation").as_int64(); };
  for (int round = 0; round < 5; ++round) {
    const std::string next = release("shop", std::to_string(round + 2));
    ASSERT_EQ(set("shop", "local", next).variant, "ok");
    const int64_t before = generation();
    const size_t ended = kit.ends("Pin/promote").size();
    for (int i = 0; i < 3; ++i) {
      kit.start("Pin/promote", {{"components", json::array{}}, {"fromEnv", "local"}, {"toEnv", "staging"}});
    }
    ASSERT_TRUE(eventually([&] { return kit.ends("Pin/promote").size() == ended + 3; }));
    size_t won = 0;
    const auto ends = kit.ends("Pin/promote");
    for (size_t i = ended; i < ends.size(); ++i) {
      won += ends[i].variant == "ok";
      // One that came later finds nothing to do; the others have seen what is not so any more.
      EXPECT_TRUE(ends[i].variant == "ok" || ends[i].variant == "changed") << said(ends[i]);
    }
    EXPECT_GE(won, 1U);
    EXPECT_EQ(generation(), before + 1) << "the pin has moved once";
    EXPECT_EQ(runs("shop", "staging"), next);
  }
}

// The type of which a new release takes its traffic in steps.
std::string gradual_type() {
  return kType + "          rollout: {strategy: canary, steps: [10%], analysis: {interval: 1, warmUp: 0, settle: 0}}\n";
}

class PromotionRollouts : public PromotionSync {
 protected:
  PromotionRollouts() { EXPECT_EQ(apply(pipeline() + gradual_type() + component("shop")).variant, "ok"); }
  // Answers the next analysis of a rollout.
  void judge(const std::string& verdict) {
    std::string found;
    ASSERT_TRUE(eventually([&] {
      for (const auto& [key, row] : kit.rows("Telemetry[A]")) {
        if (!judged.contains(key)) found = key;
      }
      return !found.empty();
    })) << "nobody asks for a verdict: "
        << write(pin("shop", "local"));
    judged.insert(found);
    ASSERT_EQ(kit.run("Telemetry/report", {{"analysis", found},
                                           {"verdict", verdict},
                                           {"reason", "it fails"},
                                           {"errorRate", 0.0},
                                           {"latencyP99", 1},
                                           {"sampleSize", 1'000},
                                           {"samplesNeeded", 10},
                                           {"endpoint", "main"}})
                  .variant,
              "ok");
  }
  void begin_set(const std::string& release) {
    kit.start(
        "Pin/set",
        {{"pins",
          json::array{{{"component", "shop"}, {"environment", "local"}, {"release", release}, {"state", "Active"}}}},
         {"wait", true}});
  }
  // Applying files sets pins as well, also if there are none in them.
  bool ends_as(const std::string& variant, size_t number) {
    return eventually([&] { return kit.ends("Pin/set").size() == number; }) &&
           kit.ends("Pin/set").back().variant == variant;
  }
  // The shares of the pin's deployment.
  std::string shares() {
    std::string all;
    for (const auto& each :
         kit.elements("Traffic.entries", std::string(pin("shop", "local").at("deployment").as_string()))) {
      all += write(each.at("weightBps")) + " ";
    }
    return all;
  }
  std::set<std::string> judged;
};

TEST_F(PromotionRollouts, StepsThatCannotBeAreFoundBeforeAnythingMoves) {
  ASSERT_EQ(set("shop", "local", release("shop", "1")).variant, "ok");
  std::string type = gradual_type();
  type.replace(type.find("[10%]"), 5, "[50%, 10%]");
  ASSERT_EQ(apply(type).variant, "ok");
  EXPECT_EQ(
      said(set("shop", "local", release("shop", "2"))),
      "renderFailed: shop cannot run in local: rollout: step 2: its weight 10% is not above step 1's 50%; nothing "
      "was changed");
}

TEST_F(PromotionRollouts, AReleaseTakesItsTrafficInSteps) {
  ASSERT_EQ(set("shop", "local", release("shop", "1")).variant, "ok");
  EXPECT_EQ(kit.count("Rollout"), 0U) << "there is nothing to take traffic from";
  const std::string second = release("shop", "2");
  begin_set(second);
  judge("healthy");
  ASSERT_TRUE(ends_as("ok", 3)) << said(kit.ends("Pin/set").back());
  EXPECT_EQ(runs("shop", "local"), second);
  EXPECT_EQ(shares(), "10000 ");
  EXPECT_EQ(kit.count("Rollout"), 1U);
  // What went back is there at once.
  EXPECT_EQ(kit.run("Pin/rollback", {{"pin", "shop/local"}}).variant, "ok");
  EXPECT_EQ(kit.count("Rollout"), 1U);
}

TEST_F(PromotionRollouts, AnAbortedRolloutPutsThePinBackAndRejectsTheRelease) {
  const std::string first = release("shop", "1"), second = release("shop", "2");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  begin_set(second);
  judge("unhealthy");
  ASSERT_TRUE(ends_as("failed", 3)) << said(kit.ends("Pin/set").back());
  EXPECT_EQ(said(kit.ends("Pin/set").back()),
            "failed: shop in local: its rollout ended before 100 %: it fails; what ran before stays");
  EXPECT_TRUE(eventually([&] { return pin("shop", "local").at("ready") == json::value(true); }))
      << write(pin("shop", "local"));
  EXPECT_EQ(pin("shop", "local").at("release"), json::value(first));
  EXPECT_EQ(shares(), "10000 ");
  EXPECT_THAT(said(set("shop", "local", second)), StartsWith("rejected: " + second + " of shop did not become ready"));
}

TEST_F(PromotionRollouts, AMoveEndsTheRolloutBeforeIt) {
  const std::string first = release("shop", "1"), second = release("shop", "2"), third = release("shop", "3");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  begin_set(second);
  ASSERT_TRUE(eventually([&] { return kit.count("Telemetry[A]") > 0; }));
  for (const auto& [key, row] : kit.rows("Telemetry[A]")) judged.insert(key);
  begin_set(third);
  judge("healthy");
  EXPECT_TRUE(eventually([&] { return runs("shop", "local") == third; })) << write(pin("shop", "local"));
  EXPECT_EQ(shares(), "10000 ");
}

TEST_F(PromotionSync, OfTwoChangesOfOnePinOneWins) {
  pin::PinMove move{.pin = pin::PinId("shop/local"),
                    .component = "shop",
                    .environment = "local",
                    .release = "r1",
                    .wanted = "Active",
                    .expected = 4};
  kit.put("Pin[C]", "c1", to_json(pin::PinCRecord{.kind = pin::PinKind::set}));
  kit.put_element("Pin.moves", "c1", 0, to_json(move));
  EXPECT_EQ(kit.run("Pin/move", {{"change", "c1"}}).variant, "changed");
}

TEST_F(PromotionSync, ARollbackBringsBackImageAndSettingsWithoutAnythingElse) {
  define();
  const std::string first = release("shop", "1"), second = release("shop", "2");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  ASSERT_EQ(apply(settings("shop", "local", "{color: green}")).variant, "ok");
  EXPECT_EQ(config("shop", "local"), R"({"color":"green"})");
  ASSERT_EQ(set("shop", "local", second).variant, "ok");
  ASSERT_EQ(apply(settings("shop", "local", "{color: blue}")).variant, "ok");
  ASSERT_EQ(kit.elements("Pin.locks", "shop/local").size(), 4U);
  auto end = kit.run("Pin/rollback", {{"pin", "shop/local"}, {"to", 2}});
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(runs("shop", "local"), first);
  EXPECT_EQ(config("shop", "local"), R"({"color":"green"})");
  EXPECT_EQ(kit.run("Pin/rollback", {{"pin", "shop/local"}}).variant, "ok") << "one further";
  EXPECT_EQ(config("shop", "local"), R"({"color":"red"})");
  EXPECT_EQ(kit.run("Pin/rollback", {{"pin", "shop/local"}, {"to", 77}}).variant, "noHistory");
}

TEST_F(PromotionSync, ARollbackBringsBackSecretsWithTheImageAndTheSettings) {
  define();
  put_secret("one");
  const std::string first = release("shop", "1", "secrets: [TOKEN]\n");
  const std::string second = release("shop", "2", "secrets: [TOKEN]\n");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  EXPECT_EQ(secret_version("shop", "local"), "1");
  put_secret("two");
  ASSERT_TRUE(eventually([&] { return kit.elements("Pin.locks", "shop/local").size() == 2; })) << "an entry of its own";
  EXPECT_EQ(secret_version("shop", "local"), "2");
  ASSERT_EQ(apply(settings("shop", "local", "{color: green}")).variant, "ok");
  ASSERT_EQ(set("shop", "local", second).variant, "ok");
  auto end = kit.run("Pin/rollback", {{"pin", "shop/local"}, {"to", 1}});
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(runs("shop", "local"), first);
  EXPECT_EQ(config("shop", "local"), R"({"color":"red"})");
  EXPECT_EQ(secret_version("shop", "local"), "1");
  // Whoever puts a newer one means everybody.
  put_secret("three");
  EXPECT_TRUE(eventually([&] { return secret_version("shop", "local") == "3"; }));
  EXPECT_EQ(runs("shop", "local"), first);
}

TEST_F(PromotionSync, ATagIsResolvedWithTheLoginOfAnEnvironment) {
  std::optional<oci::Login> shown;
  ReleaseSources sources;
  sources.pin_image = [&](const std::string& image, const std::optional<oci::Login>& login) {
    shown = login;
    return Result<std::string>(image + "@sha256:" + std::string(64, 'a'));
  };
  kit.tools().add<ReleaseSources>(sources);
  define();
  kit.put("Registry", "local/registry.example",
          to_json(registry::RegistryRecord{
              .environment = "local", .host = "registry.example", .secret = "registry/LOGIN"}));
  const json::object cut = {{"component", "shop"}, {"image", "registry.example/shop:1"}};
  EXPECT_EQ(kit.run("Release/create", cut).variant, "invalid") << "there is no such secret";
  EXPECT_FALSE(shown);
  ASSERT_EQ(
      kit.run("Secret/put",
              {{"environment", "local"}, {"name", "registry/LOGIN"}, {"provider", "store"}, {"value", "ann:apple"}})
          .variant,
      "ok");
  auto end = kit.run("Release/create", cut);
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(shown, (oci::Login{.user = "ann", .password = "apple"}));
  EXPECT_THAT(std::string(end.fields.at("image").as_string()), StartsWith("registry.example/shop:1@sha256:"));
}

TEST_F(PromotionSync, ARollbackThatWasHeldEndsWithTheNextMove) {
  define();
  put_secret("one");
  const std::string first = release("shop", "1", "secrets: [TOKEN]\n");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  put_secret("two");
  ASSERT_TRUE(eventually([&] { return kit.elements("Pin.locks", "shop/local").size() == 2; }));
  ASSERT_EQ(kit.run("Pin/rollback", {{"pin", "shop/local"}, {"to", 1}}).variant, "ok");
  EXPECT_EQ(secret_version("shop", "local"), "1") << "the same revision, with the secret of that time";
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  EXPECT_TRUE(eventually([&] { return secret_version("shop", "local") == "2"; }));
}

TEST_F(PromotionSync, Choreo23AConsumerWaitsForItsProvider) {
  const std::string needs = "[{name: cart, type: api, params: {componentName: cart, endpoint: api}}]";
  auto end = apply(pipeline() + kType + component("shop", needs) + component("cart"));
  ASSERT_EQ(end.variant, "ok") << said(end);
  const std::string shop = release("shop", "1"), cart = release("cart", "1");
  end = kit.run(
      "Pin/set",
      {{"pins",
        json::array{{{"component", "shop"}, {"environment", "local"}, {"release", shop}, {"state", "Active"}}}}});
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(pin("shop", "local").at("reason"), json::value("ConnectionsPending"));
  EXPECT_EQ(pin("shop", "local").at("message"), json::value("cart is not deployed in local"));
  EXPECT_TRUE(world.running().empty()) << "it is not started before";
  end = set("shop", "local", shop, "Undeploy");
  end = set("shop", "local", shop);
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(end.fields.at("pins").at(0).at("waits"), json::value("cart is not deployed in local"));
  ASSERT_EQ(set("cart", "local", cart).variant, "ok");
  EXPECT_EQ(pin("shop", "local").at("ready"), json::value(true));
}

TEST_F(PromotionSync, Choreo24WhatIsUndeployedIsGoneAndComesBack) {
  define();
  const std::string first = release("shop", "1");
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  ASSERT_EQ(set("shop", "local", first, "Undeploy").variant, "ok");
  EXPECT_EQ(pin("shop", "local").at("reason"), json::value("ResourcesUndeployed"));
  EXPECT_TRUE(world.running().empty());
  EXPECT_EQ(kit.count("Deployment"), 0U);
  ASSERT_EQ(set("shop", "local", first).variant, "ok");
  EXPECT_EQ(world.running().size(), 1U);
  EXPECT_EQ(kit.run("Env/destroy", {{"environment", "local"}}).variant, "inUse");
}

TEST_F(PromotionSync, Choreo25WhatIsPinnedIsNeverForgotten) {
  define();
  std::vector<std::string> all;
  for (int i = 1; i <= 10; ++i) {
    all.push_back(release("shop", std::to_string(i)));
    if (i > 1) continue;
    ASSERT_EQ(set("shop", "local", all[0]).variant, "ok");
  }
  EXPECT_EQ(kit.run("Release/remove", {{"release", all[0]}}).variant, "inUse");
  // Three environments and five more, and the one that is pinned.
  EXPECT_EQ(kit.count("Release"), 9U);
  EXPECT_FALSE(kit.row("Release", all[0]).is_null());
  EXPECT_TRUE(kit.row("Release", all[1]).is_null());
  EXPECT_FALSE(kit.row("Release", all[2]).is_null());
  EXPECT_EQ(kit.run("Pipeline/remove", {{"pipeline", "main"}}).variant, "inUse");
}

TEST_F(PromotionSync, APinMayComeBeforeItsRelease) {
  define();
  auto end = kit.run(
      "Pin/set",
      {{"pins",
        json::array{{{"component", "shop"}, {"environment", "local"}, {"release", "shop-x"}, {"state", "Active"}}}}});
  ASSERT_EQ(end.variant, "ok") << said(end);
  EXPECT_EQ(pin("shop", "local").at("message"), json::value("there is no release shop-x"));
  const std::string bundle = world.put("shop", "1", "config: [{name: color, question: Which?, default: none}]\n");
  ASSERT_EQ(kit.run("Release/create", {{"component", "shop"}, {"image", bundle}, {"name", "shop-x"}}).variant, "ok");
  EXPECT_EQ(runs("shop", "local"), "shop-x");
}

TEST_F(PromotionSync, ABadFileChangesNothing) {
  auto end = apply(pipeline() + kType + "---\nkind: Cat\n");
  EXPECT_EQ(end.variant, "invalid");
  EXPECT_THAT(said(end), HasSubstr("all.yaml:"));
  EXPECT_EQ(kit.count("Pipeline"), 0U);
  EXPECT_EQ(kit.count("Definition"), 0U);
  EXPECT_THAT(said(apply(component("lone"))), StartsWith("ok"));
  EXPECT_EQ(kit.run("Release/create", {{"component", "lone"}}).variant, "notFound");
}

// Each rule of Pin/move, asked by itself.
class MoveGuards : public testing::Test {
 protected:
  MoveGuards() {
    kit.put_element("Pipeline.paths", "main", 0, to_json(pipeline::PipelinePath{.from = "dev", .to = "prod"}));
    kit.put_element("Pipeline.stages", "main", 0, to_json(pipeline::PipelineStage{.environment = "dev", .root = true}));
    kit.put_element("Pipeline.stages", "main", 1, to_json(pipeline::PipelineStage{.environment = "prod"}));
    kit.put("Release", "r1", to_json(release::ReleaseRecord{.component = "shop", .ready = true}));
    move = {.pin = pin::PinId("shop/prod"),
            .component = "shop",
            .environment = "prod",
            .pipeline = "main",
            .source = "dev",
            .release = "r1",
            .wanted = "Active",
            .ruled = true};
    source = {.component = "shop", .environment = "dev", .release = "r1", .generation = 1, .ready = true};
  }
  void put() {
    kit.put("Pipeline", "main", to_json(main));
    kit.put("Pin", "shop/dev", to_json(source));
    kit.put("Pin[C]", "c1", to_json(pin::PinCRecord{.kind = pin::PinKind::set}));
    kit.put_element("Pin.moves", "c1", 0, to_json(move));
  }
  std::string moved() {
    put();
    return kit.run("Pin/move", {{"change", "c1"}}).variant;
  }
  KitEngine kit;
  pipeline::PipelineRecord main;
  pin::PinMove move;
  pin::PinRecord source;
};

TEST_F(MoveGuards, NothingAgainstIt) { EXPECT_EQ(moved(), "ok"); }
TEST_F(MoveGuards, PathMissing) {
  move.source = "qa";
  EXPECT_EQ(moved(), "pathMissing");
}
TEST_F(MoveGuards, NotInSource) {
  source.release = "r0";
  EXPECT_EQ(moved(), "notInSource");
}
TEST_F(MoveGuards, NotHealthy) {
  source.ready = false;
  EXPECT_EQ(moved(), "notHealthy");
}
TEST_F(MoveGuards, Soaking) {
  move.soakLeft = 5;
  EXPECT_EQ(moved(), "soaking");
}
TEST_F(MoveGuards, Frozen) {
  move.freeze = "holidays";
  EXPECT_EQ(moved(), "frozen");
}
TEST_F(MoveGuards, Stopped) {
  main.stopped = true;
  main.reason = "fire";
  EXPECT_EQ(moved(), "stopped");
}
TEST_F(MoveGuards, Rejected) {
  kit.put_element("Pin.rejected", "shop/prod", 0, to_json(pin::PinRejectedItem{.release = "r1", .reason = "slow"}));
  EXPECT_EQ(moved(), "rejected");
}
TEST_F(MoveGuards, ApprovalNeeded) {
  move.approvals = 2;
  put();
  // People are asked, and have a week.
  kit.start("Pin/move", {{"change", "c1"}});
  ASSERT_TRUE(eventually([&] { return kit.count("Approval") == 1; }));
  EXPECT_EQ(kit.ends("Pin/move").front().variant, "approvalNeeded");
}
TEST_F(MoveGuards, SchemaContracted) {
  move.contracted = "migration 2 has removed what was there before";
  EXPECT_EQ(moved(), "schemaContracted");
}
TEST_F(MoveGuards, RenderFailed) {
  move.renderFault = "no such parameter";
  EXPECT_EQ(moved(), "renderFailed");
}

}  // namespace promotion_sync_test
}  // namespace sluice::deploy
