// What guards.sync says, on the whole kit: one test a guard.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json_writer.h"
#include "deploy/packs.h"
#include "deploy/testing_kit_engine.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace guards_test {

constexpr const char* kShop = "01J0000000000000000000000D";
constexpr const char* kReady = "01J0000000000000000000000R";
constexpr const char* kStaged = "01J0000000000000000000000S";

class GuardsTest : public testing::Test {
 protected:
  GuardsTest() {
    environment.name = "prod";
    environment.retention = {.archivedMaxAgeDays = 14, .stagedMaxCount = 5};
    environment.generation = 1;
    shop.environment = "prod";
    shop.bundle = "shop";
    shop.customer = "acme";
    shop.generation = 1;
  }

  static revision::RevisionRecord revision_of(revision::RevisionLifecycle lifecycle, int64_t sequence) {
    revision::RevisionRecord record{.deployment = kShop,
                                    .environment = "prod",
                                    .bundle = "shop",
                                    .sequence = sequence,
                                    .generation = 1,
                                    .lifecycle = lifecycle};
    return record;
  }

  void begin() {
    kit.put("Env", "prod", to_json(environment));
    kit.put("Deployment", kShop, to_json(shop));
    kit.put("Revision", kReady, to_json(revision_of(revision::RevisionLifecycle::ready, 1)));
    kit.put("Revision", kStaged, to_json(revision_of(revision::RevisionLifecycle::staged, 2)));
  }
  engine::End split(std::initializer_list<std::pair<const char*, int>> weights, const std::string& deployment = kShop) {
    json::array entries;
    for (auto [revision, bps] : weights) {
      entries.push_back(json::object{{"revision", revision}, {"weightBps", bps}});
    }
    return kit.run("Traffic/set", {{"deployment", deployment}, {"entries", std::move(entries)}});
  }
  static std::string message(const engine::End& end) {
    const json::value* text = end.fields.if_contains("message");
    return text == nullptr ? "" : std::string(text->as_string());
  }
  engine::End stage() {
    return kit.run(
        "Revision/stage",
        {{"deployment", kShop}, {"environment", "prod"}, {"bundle", "shop"}, {"source", "/nowhere"}, {"config", ""}});
  }
  engine::End add(const std::string& environment_id, const std::string& customer) {
    return kit.run("Deployment/add", {{"environment", environment_id},
                                      {"bundle", "shop"},
                                      {"customer", customer},
                                      {"hosts", json::array()},
                                      {"pathPrefixes", json::array()},
                                      {"tenant", ""},
                                      {"team", ""},
                                      {"parties", json::array()}});
  }
  std::string lifecycle(const char* id) { return std::string(kit.row("Revision", id).at("lifecycle").as_string()); }

  env::EnvRecord environment;
  deployment::DeploymentRecord shop;
  KitEngine kit;
};

TEST_F(GuardsTest, OnlyReadyRevisionsGetTraffic) {
  begin();
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
  engine::End refused = split({{kStaged, 100}, {kReady, 9900}});
  EXPECT_EQ(refused.variant, "notReady");
  EXPECT_EQ(refused.fields.at("revision"), json::value(kStaged));
  EXPECT_EQ(split({{kStaged, 0}, {kReady, 10'000}}).variant, "notReady") << "also without weight";
  EXPECT_EQ(kit.row("Traffic", kShop).at("generation").as_int64(), 1);
}

TEST_F(GuardsTest, ARevisionOfAnotherDeploymentGetsNothing) {
  begin();
  deployment::DeploymentRecord other = shop;
  other.customer = "other";
  kit.put("Deployment", "01J0000000000000000000000X", to_json(other));
  EXPECT_EQ(split({{kReady, 10'000}}, "01J0000000000000000000000X").variant, "notReady");
}

TEST_F(GuardsTest, Greentic15RollbackToWhatIsNotReadyAnyMoreIsRefusedAndChangesNothing) {
  begin();
  kit.put("Revision", "01J0000000000000000000000Q", to_json(revision_of(revision::RevisionLifecycle::ready, 3)));
  split({{kReady, 10'000}});
  split({{"01J0000000000000000000000Q", 10'000}});
  EXPECT_EQ(kit.run("Revision/archive", {{"revision", kReady}}).variant, "ok");
  engine::End refused = kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}});
  EXPECT_EQ(refused.variant, "notReady");
  EXPECT_EQ(kit.row("Traffic", kShop).at("generation").as_int64(), 2);
}

TEST_F(GuardsTest, ForwardToWhatIsNotReadyAnyMoreIsRefusedToo) {
  begin();
  kit.put("Revision", "01J0000000000000000000000Q", to_json(revision_of(revision::RevisionLifecycle::ready, 3)));
  split({{kReady, 10'000}});
  split({{"01J0000000000000000000000Q", 10'000}});
  EXPECT_EQ(kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}}).variant, "ok");
  kit.run("Revision/fail", {{"revision", "01J0000000000000000000000Q"}, {"check", "x"}, {"message", "y"}});
  EXPECT_EQ(kit.run("Traffic/forward", {{"deployment", kShop}, {"steps", 1}}).variant, "notReady");
}

TEST_F(GuardsTest, ASplitIsOfADeploymentThatIsThereAndActive) {
  shop.status = deployment::DeploymentStatus::active;
  begin();
  EXPECT_EQ(split({{kReady, 10'000}}, "01J0000000000000000000000Z").variant, "notFound");
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
  EXPECT_EQ(kit.run("Deployment/pause", {{"deployment", kShop}}).variant, "ok");
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "inactive");
  EXPECT_EQ(kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}}).variant, "inactive");
  EXPECT_EQ(kit.run("Traffic/forward", {{"deployment", kShop}, {"steps", 1}}).variant, "inactive");
  EXPECT_EQ(kit.run("Deployment/resume", {{"deployment", kShop}}).variant, "ok");
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
}

TEST_F(GuardsTest, Greentic21ARoutedRevisionIsNeitherArchivedNorDrained) {
  begin();
  split({{kReady, 10'000}});
  for (const char* action : {"Revision/archive", "Revision/drain"}) {
    engine::End refused = kit.run(action, {{"revision", kReady}});
    EXPECT_EQ(refused.variant, "inUse");
    EXPECT_EQ(refused.fields.at("deployment"), json::value(kShop));
    EXPECT_EQ(refused.fields.at("weightBps").to_number<int64_t>(), 10'000);
    EXPECT_NE(message(refused).find("10000 bps"), std::string::npos) << message(refused);
  }
  EXPECT_EQ(lifecycle(kReady), "ready");
}

TEST_F(GuardsTest, Greentic21AnEntryWithoutWeightGoesWithItsRevision) {
  begin();
  kit.put("Revision", "01J0000000000000000000000Q", to_json(revision_of(revision::RevisionLifecycle::ready, 3)));
  kit.put("Revision", "01J0000000000000000000000P", to_json(revision_of(revision::RevisionLifecycle::ready, 4)));
  split({{kReady, 0}, {"01J0000000000000000000000Q", 10'000}, {"01J0000000000000000000000P", 0}});
  EXPECT_EQ(kit.run("Revision/archive", {{"revision", kReady}}).variant, "ok");
  EXPECT_EQ(kit.row("Traffic", kShop).at("generation").as_int64(), 2);
  EXPECT_EQ(kit.run("Revision/drain", {{"revision", "01J0000000000000000000000P"}}).variant, "ok");
  EXPECT_EQ(lifecycle("01J0000000000000000000000P"), "inactive");
  EXPECT_EQ(kit.row("Traffic", kShop).at("generation").as_int64(), 3);
}

TEST_F(GuardsTest, ADeploymentWithTrafficStaysAndWithoutItGoes) {
  begin();
  split({{kReady, 10'000}});
  EXPECT_EQ(kit.run("Deployment/archive", {{"deployment", kShop}}).variant, "inUse");
  EXPECT_EQ(kit.run("Deployment/remove", {{"deployment", kShop}}).variant, "inUse");
  EXPECT_EQ(kit.run("Traffic/clear", {{"deployment", kShop}}).variant, "ok");
  EXPECT_EQ(kit.run("Deployment/archive", {{"deployment", kShop}}).variant, "ok");
  EXPECT_EQ(stage().variant, "inactive");
  engine::End refused = kit.run("Deployment/remove", {{"deployment", kShop}});
  EXPECT_EQ(refused.variant, "inUse");
  EXPECT_NE(message(refused).find("sluice revisions archive"), std::string::npos);
  for (const char* id : {kReady, kStaged}) EXPECT_EQ(kit.run("Revision/archive", {{"revision", id}}).variant, "ok");
  EXPECT_EQ(kit.run("Deployment/remove", {{"deployment", kShop}}).variant, "ok");
  EXPECT_TRUE(kit.row("Revision", kReady).is_null());
  EXPECT_TRUE(kit.row("Traffic", kShop).is_null());
}

TEST_F(GuardsTest, AnEnvironmentGoesWhenNothingNeedsIt) {
  env::EnvRecord child = environment;
  child.extends = env::EnvId("prod");
  kit.put("Env", "staging", to_json(child));
  begin();
  EXPECT_EQ(message(kit.run("Env/destroy", {{"environment", "prod"}})),
            "another environment extends prod; next: sluice env list");
  EXPECT_EQ(kit.run("Env/destroy", {{"environment", "staging"}}).variant, "ok");
  engine::End used = kit.run("Env/destroy", {{"environment", "prod"}});
  EXPECT_EQ(used.variant, "inUse");
  EXPECT_NE(message(used).find(kShop), std::string::npos);
}

TEST_F(GuardsTest, ADeploymentIsInAnEnvironmentAndForACustomer) {
  begin();
  EXPECT_EQ(add("none", "acme").variant, "noEnvironment");
  EXPECT_EQ(add("prod", "").variant, "customerRequired");
  EXPECT_EQ(add("prod", "acme").variant, "exists");
}

TEST_F(GuardsTest, ConfigIsOfAnEnvironmentThatIsThere) {
  begin();
  json::array values = {json::object{{"key", "region"}, {"value", "eu"}}};
  EXPECT_EQ(kit.run("Config/set", {{"environment", "none"}, {"values", values}}).variant, "notFound");
  EXPECT_EQ(kit.run("Config/set", {{"environment", "prod"}, {"values", values}}).variant, "ok");
}

TEST_F(GuardsTest, OnlyTheDeployerTellsWhatItHasFoundOut) {
  kit.put_element("Env.packs", "prod", 0,
                  to_json(env::EnvPack{.slot = "deployer", .kind = "acme.deployer.x@1.0.0", .packRef = "x"}));
  begin();
  json::object ask{{"environment", "prod"}, {"producer", "acme.deployer.x@1.0.0"}, {"key", "a"}, {"value", "1"}};
  EXPECT_EQ(kit.run("Config/discover", ask).variant, "ok");
  ask["producer"] = "acme.secrets.y@1.0.0";
  engine::End refused = kit.run("Config/discover", ask);
  EXPECT_EQ(refused.variant, "engine.refused");
  EXPECT_EQ(message(refused), "acme.secrets.y@1.0.0 is not the deployer of prod");
}

TEST_F(GuardsTest, ARevisionIsStagedIntoItsOwnDeployment) {
  begin();
  EXPECT_EQ(
      kit.run("Revision/stage",
              {{"deployment", kShop}, {"environment", "prod"}, {"bundle", "other"}, {"source", "/x"}, {"config", ""}})
          .variant,
      "noDeployment");
}

TEST_F(GuardsTest, ARequiredRevocationListIsThereBeforeAnythingIsStaged) {
  environment.revocation.required = true;
  begin();
  EXPECT_EQ(stage().variant, "revocationRequired");
}

TEST_F(GuardsTest, ARequiredRevocationListIsThereBeforeAnythingIsWarmedOrRetried) {
  environment.revocation.required = true;
  begin();
  kit.put("Revision", "01J0000000000000000000000F", to_json(revision_of(revision::RevisionLifecycle::failed, 3)));
  engine::End refused = kit.run("Revision/warm", {{"revision", kStaged}});
  EXPECT_EQ(refused.variant, "revocationRequired");
  EXPECT_EQ(message(refused),
            "prod requires a revocation list and has none; next: sluice env update prod --revocation-list FILE");
  EXPECT_EQ(lifecycle(kStaged), "staged");
  EXPECT_EQ(kit.run("Revision/retry", {{"revision", "01J0000000000000000000000F"}}).variant, "revocationRequired");
}

TEST_F(GuardsTest, TheSameSplitAgainIsLookedAtAgain) {
  begin();
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
  kit.run("Revision/fail", {{"revision", kReady}, {"check", "provider-health"}, {"message", "it is gone"}});
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "notReady");
  EXPECT_EQ(kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}}).variant, "notReady")
      << "what it leads back to is the same";
  EXPECT_EQ(kit.row("Traffic", kShop).at("generation").as_int64(), 2);
}

TEST_F(GuardsTest, AnEnvironmentIsTakenOverWhenNothingNeedsIt) {
  env::EnvRecord child = environment;
  child.extends = env::EnvId("prod");
  kit.put("Env", "staging", to_json(child));
  kit.put("Env", "dev", to_json(environment));
  kit.put_element("Env.packs", "dev", 0,
                  to_json(env::EnvPack{.slot = "iac", .kind = "acme.iac.x@1.0.0", .packRef = "x"}));
  begin();
  EXPECT_EQ(kit.run("Config/set",
                    {{"environment", "dev"}, {"values", json::array{json::object{{"key", "region"}, {"value", "eu"}}}}})
                .variant,
            "ok");
  auto absorb = [&](const char* other) {
    return kit.run("Env/absorb", {{"environment", "staging"}, {"other", other}});
  };
  EXPECT_EQ(message(absorb("prod")), "another environment extends prod; next: sluice env list");
  kit.run("Env/destroy", {{"environment", "staging"}});
  kit.run("Env/create", {{"environment", "staging"}});
  engine::End used = absorb("prod");
  EXPECT_EQ(used.variant, "inUse");
  EXPECT_NE(message(used).find(kShop), std::string::npos);
  EXPECT_EQ(absorb("dev").variant, "ok");
  EXPECT_TRUE(kit.row("Env", "dev").is_null());
  EXPECT_TRUE(kit.row("Config", "dev").is_null());
  EXPECT_EQ(kit.row("Config", "staging").at("generation").as_int64(), 1) << "its host's values came along";
}

TEST_F(GuardsTest, NobodyForgetsPartsOfWhatIsThere) {
  begin();
  split({{kReady, 10'000}});
  for (const char* action : {"Revision/forget", "Traffic/forget"}) {
    engine::End refused = kit.run(action, {{"deployment", kShop}});
    EXPECT_EQ(refused.variant, "engine.refused") << action;
    EXPECT_EQ(message(refused), std::string(kShop) + " is deployed");
  }
  EXPECT_EQ(kit.run("Config/forget", {{"environment", "prod"}}).variant, "engine.refused");
  EXPECT_EQ(kit.run("Config/absorb", {{"environment", "x"}, {"other", "prod"}}).variant, "engine.refused");
  EXPECT_EQ(lifecycle(kReady), "ready");
}

TEST_F(GuardsTest, TheDoctorKeepsWhatItFoundAsHealth) {
  auto doctor = [&] { return kit.run("Env/doctor", {{"environment", "new"}}); };
  auto health = [&] { return kit.row("Env", "new").at("health").as_object(); };
  kit.run("Env/create", {{"environment", "new"}});
  engine::End red = doctor();
  EXPECT_EQ(red.fields.at("status"), json::value("red"));
  ASSERT_EQ(red.fields.at("findings").as_array().size(), 5U);
  EXPECT_EQ(red.fields.at("findings").as_array()[0].at("what"), json::value("nothing serves the slot deployer"));
  EXPECT_EQ(health().at("lastDoctorStatus"), json::value("red"));
  for (const DefaultPack& each : default_packs()) {
    kit.run("Env/bind", {{"environment", "new"}, {"slot", each.slot}, {"kind", each.kind}});
  }
  EXPECT_EQ(doctor().fields.at("status"), json::value("green"));
  kit.run("Env/rebind", {{"environment", "new"}, {"slot", "telemetry"}, {"kind", "acme.telemetry.x@1.0.0"}});
  EXPECT_EQ(doctor().fields.at("status"), json::value("yellow"));
  EXPECT_EQ(health().at("message"),
            json::value("this program has no pack acme.telemetry.x@1.0.0 for the slot telemetry"));
  kit.run("Env/update", {{"environment", "new"}, {"revocationRequired", true}});
  EXPECT_EQ(doctor().fields.at("status"), json::value("red"));
}

TEST_F(GuardsTest, NothingIsWarmedInASickEnvironment) {
  environment.health.lastDoctorStatus = env::EnvLastDoctorStatus::red;
  begin();
  engine::End refused = kit.run("Revision/warm", {{"revision", kStaged}});
  EXPECT_EQ(refused.variant, "sickEnvironment");
  EXPECT_EQ(message(refused), "prod was found red; next: sluice env doctor prod");
  EXPECT_EQ(lifecycle(kStaged), "staged");
}

TEST_F(GuardsTest, AnUnsignedRevisionIsNotWarmedOutsideLocal) {
  environment.runtimeType = "none";
  begin();
  engine::End refused = kit.run("Revision/warm", {{"revision", kStaged}});
  EXPECT_EQ(refused.variant, "failed");
  EXPECT_EQ(refused.fields.at("check"), json::value("signature-status"));
  EXPECT_EQ(lifecycle(kStaged), "failed");
  EXPECT_EQ(split({{kStaged, 10'000}}).variant, "notReady");
}

TEST_F(GuardsTest, AStaleGenerationIsAConflict) {
  begin();
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
  json::object ask{{"deployment", kShop},
                   {"entries", json::array{json::object{{"revision", kReady}, {"weightBps", 10'000}}}}};
  engine::End stale = kit.run("Traffic/set", ask, 0);
  EXPECT_EQ(stale.variant, "engine.conflict");
  EXPECT_EQ(stale.fields.at("actual").to_number<int64_t>(), 1);
  EXPECT_EQ(kit.run("Traffic/set", ask, 1).variant, "ok") << "the row's generation is the one that people see";
}

}  // namespace guards_test
}  // namespace sluice::deploy
