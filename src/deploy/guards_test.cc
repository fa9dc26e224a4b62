// What guards.sync says, on the whole kit: one test a guard.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json_writer.h"
#include "deploy/packs.h"
#include "deploy/revenue_policy.h"
#include "deploy/testing_kit_engine.h"
#include "deployment.gen.h"
#include "engine/rules/next_steps.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "runtime.gen.h"
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

  // With `deployer` none, nothing can be warmed.
  void begin(const std::string& deployer = "acme.deployer.x@1.0.0") {
    if (!deployer.empty()) {
      kit.put_element("Env.packs", "prod", 0,
                      to_json(env::EnvPack{.slot = "deployer", .kind = deployer, .packRef = "x"}));
    }
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
  // With what to do next, if that is said.
  static std::string message(const engine::End& end, const char* field = "message") {
    const json::value* text = end.fields.if_contains(field);
    std::string all = text == nullptr ? "" : std::string(text->as_string());
    for (const json::value& each : end.next) all += "; next: " + engine::next_text(each);
    return all;
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

TEST_F(GuardsTest, NobodyElseStartsARevisionOrRunsSomethingElseInItsPlace) {
  begin();
  const char* instance = "01J0000000000000000000000I";
  kit.put("Runtime", instance,
          to_json(runtime::RuntimeRecord{
              .concept_ = kReady, .runtimeType = "local", .version = "1", .status = runtime::RuntimeStatus::running}));
  auto reason = [](const engine::End& end) { return end.variant + ": " + message(end, "reason"); };
  EXPECT_EQ(reason(kit.run("Runtime/provision", {{"concept", kStaged}, {"runtimeType", "local"}, {"config", ""}})),
            "provisionFailed: it is shop@2, which is staged; next: Revision/warm revision=" + std::string(kStaged));
  EXPECT_EQ(reason(kit.run("Runtime/deploy", {{"instance", instance}, {"artifact", "/other"}, {"version", "9"}})),
            "deployFailed: it is shop@1, which never becomes another version; next: stage the other version as a "
            "revision of its own");
  EXPECT_EQ(reason(kit.run("Runtime/rollback", {{"instance", instance}})),
            "rollbackFailed: it is shop@1, which never becomes another version; next: Deployment/rollBack deployment=" +
                std::string(kShop) + " steps=1");
  EXPECT_EQ(kit.row("Runtime", instance).at("version"), json::value("1"));
}

TEST_F(GuardsTest, OnlyReadyRevisionsGetTraffic) {
  begin();
  EXPECT_EQ(split({{kReady, 10'000}}).variant, "ok");
  engine::End refused = split({{kStaged, 100}, {kReady, 9900}});
  EXPECT_EQ(refused.variant, "notReady");
  EXPECT_EQ(refused.fields.at("revision"), json::value(kStaged));
  EXPECT_EQ(split({{kStaged, 0}, {kReady, 10'000}}).variant, "notReady") << "also without weight";
  EXPECT_EQ(kit.row("Traffic", kShop).at("generation").as_int64(), 1);
}

TEST_F(GuardsTest, WhatIsNotReadyIsToldWithTheWayThereIs) {
  using enum revision::RevisionLifecycle;
  begin();
  int64_t sequence = 9;
  for (auto [state, next] : {std::pair{staged, "Revision/warm revision="},
                             {failed, "Revision/retry revision="},
                             {inactive, "Revision/retry revision="},
                             {archived, "stage its bundle again"},
                             {draining, "view revisions environment=prod bundle=shop"}}) {
    const std::string id = "01J000000000000000000000Z" + std::to_string(sequence--);
    kit.put("Revision", id, to_json(revision_of(state, sequence)));
    engine::End refused = split({{id.c_str(), 10'000}});
    EXPECT_EQ(refused.variant, "notReady");
    EXPECT_NE(message(refused).find(", not ready; next: " + std::string(next)), std::string::npos) << message(refused);
  }
}

TEST_F(GuardsTest, AnArchivedDeploymentIsSentAway) {
  shop.status = deployment::DeploymentStatus::archived;
  begin();
  engine::End refused = split({{kReady, 10'000}});
  EXPECT_EQ(message(refused), std::string(kShop) +
                                  " is archived and never takes traffic again; next: "
                                  "Deployment/down deployment=" +
                                  kShop + " deleteData=false");
  EXPECT_EQ(message(stage()), message(refused));
}

TEST_F(GuardsTest, NothingIsWarmedWhereNothingWouldStartIt) {
  begin("");
  engine::End refused = kit.run("Revision/warm", {{"revision", kStaged}});
  EXPECT_EQ(refused.variant, "sickEnvironment");
  EXPECT_EQ(message(refused),
            "nothing serves the slot deployer of prod; next: Env/bind environment=prod slot=deployer "
            "kind=sluice.deployer.local-process@1.0.0");
  EXPECT_EQ(lifecycle(kStaged), "staged");
}

TEST_F(GuardsTest, WhatIsMadeInSomethingThatWasChangedMeanwhileIsRefused) {
  begin();
  json::object ask{{"deployment", kShop},  {"environment", "prod"}, {"bundle", "shop"},
                   {"source", "/nowhere"}, {"config", ""},          {"deploymentGeneration", 7}};
  engine::End stale = kit.run("Revision/stage", ask);
  EXPECT_EQ(stale.variant, "changed");
  EXPECT_EQ(stale.fields.at("expected").to_number<int64_t>(), 7);
  EXPECT_EQ(stale.fields.at("actual").to_number<int64_t>(), 1);
  ask["deploymentGeneration"] = 1;
  EXPECT_NE(kit.run("Revision/stage", ask).variant, "changed");
  json::object added{
      {"environment", "prod"},         {"bundle", "shop"}, {"customer", "other"}, {"hosts", json::array()},
      {"pathPrefixes", json::array()}, {"tenant", ""},     {"team", ""},          {"parties", json::array()},
      {"environmentGeneration", 7}};
  EXPECT_EQ(kit.run("Deployment/add", added).variant, "changed");
  added["environmentGeneration"] = 1;
  EXPECT_NE(kit.run("Deployment/add", added).variant, "changed");
}

TEST_F(GuardsTest, WhatWasFoundOutGoesWithItsRevisionWhateverDeployerIsBound) {
  begin();
  const std::string key = "endpoint." + std::string(kReady);
  auto found_out = [&] {
    std::string all;
    for (const json::value& each : kit.elements("Config.discovered", "prod")) {
      all += std::string(each.at("key").as_string()) + " " + std::string(each.at("value").as_string()) + " of " +
             std::string(each.at("producer").as_string());
    }
    return all;
  };
  kit.run(
      "Config/discover",
      {{"environment", "prod"}, {"producer", "acme.deployer.x@1.0.0"}, {"key", key}, {"value", "http://127.0.0.1:1"}});
  kit.run("Env/unbind", {{"environment", "prod"}, {"slot", "deployer"}});
  kit.run("Revision/move", {{"revision", kReady}, {"endpoint", "http://127.0.0.1:2"}});
  EXPECT_EQ(found_out(), key + " http://127.0.0.1:2 of acme.deployer.x@1.0.0");
  EXPECT_EQ(kit.run("Revision/fail", {{"revision", kReady}, {"check", "x"}, {"message", "y"}}).variant, "ok");
  EXPECT_EQ(found_out(), "");
}

TEST_F(GuardsTest, SharesChangeThoughTheOperatorHasAnotherKeyByNow) {
  crypto::PrivateKey before = crypto::PrivateKey::generate(), now = crypto::PrivateKey::generate();
  const crypto::PrivateKey* key = &before;
  PolicySeal seal([&] { return crypto::PrivateKey::from_pem(key->to_pem().reveal()); });
  kit.tools().add(seal);
  begin();
  engine::End added = add("prod", "other");
  ASSERT_EQ(added.variant, "ok") << message(added);
  key = &now;
  auto update = [&] {
    return kit.run("Deployment/update",
                   {{"deployment", added.fields.at("deployment")},
                    {"parties", json::array{json::object{{"partyId", "agency"}, {"basisPoints", 10'000}}}}});
  };
  engine::End broken = update();
  EXPECT_EQ(broken.variant, "policyBroken");
  EXPECT_EQ(message(broken), "the revenue policy before cannot be verified: neither the operator's key " +
                                 now.public_key().key_id() +
                                 " nor one that is trusted has signed it; next: trust the key that did");
  EXPECT_EQ(
      kit.run("Trust/bootstrap", {{"publicKey", before.public_key().to_pem()}, {"environments", json::array{"local"}}})
          .variant,
      "ok");
  EXPECT_EQ(update().variant, "ok");
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

TEST_F(GuardsTest, RollbackAndForwardLeaveOutWhatGotNothingAndIsGone) {
  const char* other = "01J0000000000000000000000Q";
  const char* drained = "01J0000000000000000000000P";
  begin();
  kit.put("Revision", other, to_json(revision_of(revision::RevisionLifecycle::ready, 3)));
  kit.put("Revision", drained, to_json(revision_of(revision::RevisionLifecycle::ready, 4)));
  split({{kReady, 0}, {drained, 0}, {other, 10'000}});
  split({{other, 10'000}});
  split({{kReady, 0}, {other, 10'000}});
  EXPECT_EQ(kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}}).variant, "ok");
  EXPECT_EQ(kit.run("Revision/archive", {{"revision", kReady}}).variant, "ok");
  EXPECT_EQ(kit.run("Revision/drain", {{"revision", drained}}).variant, "ok");
  engine::End back = kit.run("Traffic/rollback", {{"deployment", kShop}, {"steps", 1}});
  ASSERT_EQ(back.variant, "ok") << message(back);
  EXPECT_EQ(back.fields.at("entries").as_array().size(), 1U);
  EXPECT_EQ(kit.run("Traffic/forward", {{"deployment", kShop}, {"steps", 2}}).variant, "ok");
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

TEST_F(GuardsTest, ARolloutMovesWhatCouldBeSetAlone) {
  begin();
  auto move = [&](const char* revision, const std::string& deployment = kShop) {
    return kit
        .run("Traffic/move", {{"deployment", deployment},
                              {"entries", json::array{{{"revision", revision}, {"weightBps", 10'000}}}},
                              {"rollout", "01J0000000000000000000000R"},
                              {"why", "a step"}})
        .variant;
  };
  EXPECT_EQ(move(kReady, "01J0000000000000000000000Z"), "notFound");
  EXPECT_EQ(move(kStaged), "notReady");
  EXPECT_EQ(kit.run("Deployment/pause", {{"deployment", kShop}}).variant, "ok");
  EXPECT_EQ(move(kReady), "inactive");
  EXPECT_EQ(kit.run("Deployment/resume", {{"deployment", kShop}}).variant, "ok");
  EXPECT_EQ(move(kReady), "ok");
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
  EXPECT_NE(message(refused).find("Revision/archive revision="), std::string::npos);
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
            "another environment extends prod; next: view environments");
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
            "prod requires a revocation list and has none; next: give prod a revocation list, or let it "
            "require none");
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
  EXPECT_EQ(message(absorb("prod")), "another environment extends prod; next: view environments");
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
  EXPECT_EQ(message(refused), "prod was found red; next: Env/doctor environment=prod");
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

TEST_F(GuardsTest, APackThatServesASlotStays) {
  begin("acme.deployer.x@1.0.0");
  auto refused = kit.run("EnvPack/uninstall", {{"pack", "acme.deployer.x@1.0.0"}});
  EXPECT_EQ(refused.variant, "inUse");
  EXPECT_EQ(message(refused),
            "acme.deployer.x@1.0.0 serves the slot deployer of prod; next: Env/unbind environment=prod slot=deployer");
}

TEST_F(GuardsTest, AShiftIsASplitLikeAnyOther) {
  begin();
  auto shift = [&](const char* deployment, const char* revision) {
    return kit.run("Traffic/shift", {{"deployment", deployment}, {"revision", revision}, {"weightBps", 10'000}});
  };
  EXPECT_EQ(shift("none", kReady).variant, "notFound");
  EXPECT_EQ(shift(kShop, kStaged).variant, "notReady");
  EXPECT_EQ(shift(kShop, kReady).variant, "ok");
  kit.run("Deployment/pause", {{"deployment", kShop}});
  EXPECT_EQ(message(shift(kShop, kReady)), std::string(kShop) + " is paused and takes no traffic");
}

}  // namespace guards_test
}  // namespace sluice::deploy
