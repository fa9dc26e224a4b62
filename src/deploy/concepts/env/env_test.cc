// Env through the harness: one test a variant.
#include <gtest/gtest.h>

#include "base/version.h"
#include "env.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::env {

void prepare(lang::Harness&) {}

namespace env_test {

const EnvId kLocal("local");
const EnvId kProd("prod-eu");

class EnvTest : public testing::Test {
 protected:
  EnvRecord record(const EnvId& id) { return *State(harness.rows()).get(id); }
  std::vector<EnvPack> packs(const EnvId& id) { return State(harness.rows()).packs(id).values(); }
  void made(const EnvId& id = kProd) { harness.invoke(Create{.environment = id}).as<Create::Ok>(); }
  lang::Invoked<Bind> bind(const std::string& slot, const std::string& kind) {
    return harness.invoke(Bind{.environment = kProd, .slot = slot, .kind = kind});
  }
  lang::Invoked<Rebind> rebind(const std::string& kind) {
    return harness.invoke(Rebind{.environment = kProd, .slot = "telemetry", .kind = kind});
  }

  lang::Harness harness{env_binding()};
};

TEST_F(EnvTest, Greentic01OpenMakesLocalOnceHealsItsDefaultsAndReplacesNothing) {
  EXPECT_EQ(harness.invoke(Open{}).as<Open::Ok>(), (Open::Ok{.environment = kLocal, .created = true}));
  ASSERT_EQ(packs(kLocal).size(), 5U);
  EXPECT_EQ(packs(kLocal)[0].kind, "sluice.deployer.local-process@1.0.0");
  EXPECT_EQ(record(kLocal).runtimeType, "local");
  EXPECT_EQ(record(kLocal).generation, 1);
  EXPECT_EQ(harness.invoke(Open{}).as<Open::Ok>(), (Open::Ok{.environment = kLocal, .created = false}));
  EXPECT_EQ(record(kLocal).generation, 1) << "nothing was changed";
  harness.invoke(Unbind{.environment = kLocal, .slot = "secrets"}).as<Unbind::Ok>();
  harness.invoke(Rebind{.environment = kLocal, .slot = "state", .kind = "acme.state.redis@2.0.0"}).as<Rebind::Ok>();
  EXPECT_EQ(packs(kLocal).size(), 5U) << "the default came back at once";
  EXPECT_EQ(harness.invoke(Open{}).as<Open::Ok>(), (Open::Ok{.environment = kLocal}));
  State(harness.rows()).packs(EnvId(kLocal)).clear();
  EXPECT_EQ(harness.invoke(Open{}).as<Open::Ok>().healed.size(), 5U) << "in a home of which they are missing";
  harness.invoke(Rebind{.environment = kLocal, .slot = "state", .kind = "acme.state.redis@2.0.0"}).as<Rebind::Ok>();
  harness.invoke(Unbind{.environment = kLocal, .slot = "secrets"}).as<Unbind::Ok>();
  for (const EnvPack& each : packs(kLocal)) {
    if (each.slot == "state") {
      EXPECT_EQ(each.kind, "acme.state.redis@2.0.0");
    }
    if (each.slot == "secrets") {
      EXPECT_EQ(each.generation, 2) << "generations go on counting";
    }
  }
}

TEST_F(EnvTest, AliasOkMeansItForSoManyDays) {
  made();
  auto alias = [&](const std::string& name, int64_t days) {
    return harness.invoke(Alias{.environment = kProd, .name = name, .days = days});
  };
  auto names = [&] { return State(harness.rows()).other_names(kProd).values(); };
  const int64_t now = State(harness.rows()).now().ms;
  EXPECT_EQ(alias("dev", 90).as<Alias::Ok>().until.ms - now, 90LL * 86'400'000);
  alias("dev", 10).as<Alias::Ok>();
  ASSERT_EQ(names().size(), 1U);
  EXPECT_EQ(names()[0].name, "dev");
  alias("dev", 0).as<Alias::Ok>();
  EXPECT_TRUE(names().empty());
}

TEST_F(EnvTest, AliasInvalidAndNotFound) {
  made();
  auto refused = [&](const std::string& name, int64_t days) {
    return harness.invoke(Alias{.environment = kProd, .name = name, .days = days}).as<Alias::Invalid>().message;
  };
  EXPECT_EQ(refused("..", 1), "an alias is named as an environment is");
  EXPECT_EQ(refused("prod-eu", 1), "prod-eu is its own name");
  EXPECT_EQ(refused("dev", -1), "an alias is kept for 0 to 3650 days");
  EXPECT_TRUE(harness.invoke(Alias{.environment = EnvId("none"), .name = "dev", .days = 1}).is<Alias::NotFound>());
}

TEST_F(EnvTest, AbsorbOkTakesThePacksOfEmptySlotsAndRemovesTheOther) {
  harness.invoke(Open{}).as<Open::Ok>();
  const EnvId dev("dev");
  made(dev);
  for (auto [slot, kind] : {std::pair{"state", "acme.state.redis@2.0.0"}, {"gitops", "acme.gitops.flux@1.0.0"}}) {
    harness.invoke(Bind{.environment = dev, .slot = slot, .kind = kind}).as<Bind::Ok>();
  }
  EXPECT_EQ(harness.invoke(Absorb{.environment = kLocal, .other = dev}).as<Absorb::Ok>().taken,
            (std::vector<std::string>{"gitops"}));
  EXPECT_EQ(packs(kLocal).size(), 6U);
  EXPECT_EQ(packs(kLocal)[4].kind, "sluice.state.memory@1.0.0") << "what is bound stays";
  EXPECT_FALSE(State(harness.rows()).has(dev));
}

TEST_F(EnvTest, AbsorbRefusesItselfCredentialsAndWhatIsNotThere) {
  made();
  made(EnvId("dev"));
  auto absorb = [&](const EnvId& other) { return harness.invoke(Absorb{.environment = kProd, .other = other}); };
  EXPECT_EQ(absorb(kProd).as<Absorb::Invalid>().message, "an environment cannot take over itself");
  EXPECT_EQ(absorb(EnvId("none")).as<Absorb::NotFound>().environment, EnvId("none"));
  harness.invoke(Update{.environment = EnvId("dev"), .credentialsRef = "secret://dev/k"}).as<Update::Ok>();
  EXPECT_EQ(absorb(EnvId("dev")).as<Absorb::InUse>().message, "dev has credentials, and they would be lost");
}

TEST_F(EnvTest, CreateOkBeginsWithTheDefaultsOfRetention) {
  EXPECT_EQ(harness.invoke(Create{.environment = kProd}).as<Create::Ok>(),
            (Create::Ok{.environment = kProd, .generation = 1}));
  EXPECT_EQ(record(kProd).name, "prod-eu");
  EXPECT_EQ(record(kProd).retention, (EnvRetention{.archivedMaxAgeDays = 14, .stagedMaxCount = 5}));
  EXPECT_EQ(record(kProd).health.lastDoctorStatus, EnvLastDoctorStatus::pending);
}

TEST_F(EnvTest, CreateExtendsWithThePacksOfItsBase) {
  harness.invoke(Open{}).as<Open::Ok>();
  harness.invoke(Create{.environment = kProd, .extends = kLocal}).as<Create::Ok>();
  EXPECT_EQ(packs(kProd).size(), 5U);
  EXPECT_EQ(record(kProd).runtimeType, "local");
}

TEST_F(EnvTest, CreateInvalidForWhatIsNoLabel) {
  for (const char* name : {"..", ".", "a/b", "A", "-a", "a-", "a b", "a\n"}) {
    EXPECT_EQ(harness.invoke(Create{.environment = EnvId(name)}).as<Create::Invalid>().message,
              "an environment is named by 1 to 63 of a-z, 0-9 and -, with no - at an end")
        << name;
  }
  EXPECT_TRUE(harness.invoke(Create{.environment = EnvId(std::string(64, 'a'))}).is<Create::Invalid>());
  EXPECT_TRUE(harness.invoke(Create{.environment = kProd, .name = "two\nlines"}).is<Create::Invalid>());
}

TEST_F(EnvTest, CreateExistsAndNoBase) {
  made();
  EXPECT_EQ(harness.invoke(Create{.environment = kProd}).as<Create::Exists>().message,
            "there is an environment prod-eu already");
  EXPECT_EQ(harness.invoke(Create{.environment = kLocal, .extends = EnvId("none")}).as<Create::NoBase>().message,
            "there is no environment none to extend");
}

TEST_F(EnvTest, UpdateOkChangesWhatIsGivenAlone) {
  made();
  Update ask{.environment = kProd,
             .credentialsRef = "secret://prod-eu/credentials/token",
             .revocationRequired = true,
             .revocationList = "/lists/revoked.json",
             .archivedMaxAgeDays = 3};
  EXPECT_EQ(harness.invoke(ask).as<Update::Ok>().generation, 2);
  EXPECT_EQ(record(kProd).retention, (EnvRetention{.archivedMaxAgeDays = 3, .stagedMaxCount = 5}));
  EXPECT_EQ(record(kProd).revocation, (EnvRevocation{.required = true, .listRef = "/lists/revoked.json"}));
  harness.invoke(Update{.environment = kProd, .name = "Production", .credentialsRef = "", .stagedMaxCount = 7})
      .as<Update::Ok>();
  EXPECT_FALSE(record(kProd).credentialsRef);
  EXPECT_EQ(record(kProd).name, "Production");
}

TEST_F(EnvTest, UpdateInvalid) {
  made();
  auto refused = [&](const Update& ask) { return harness.invoke(ask).as<Update::Invalid>().message; };
  EXPECT_EQ(refused({.environment = kProd, .name = ""}), "a name is not empty");
  EXPECT_EQ(refused({.environment = kProd, .credentialsRef = "secret://other/x"}),
            "credentials are referred to as secret://prod-eu/…");
  EXPECT_EQ(refused({.environment = kProd, .archivedMaxAgeDays = -1}),
            "archived revisions are kept for 0 to 36500 days");
  EXPECT_EQ(refused({.environment = kProd, .stagedMaxCount = 0}), "1 to 1000 staged revisions are kept");
  EXPECT_EQ(refused({.environment = kProd, .revocationList = "a\nb"}), "a text is one line of at most 1000 characters");
  EXPECT_EQ(record(kProd).generation, 1);
}

TEST_F(EnvTest, WhatIsNotThereIsNotFound) {
  EXPECT_TRUE(harness.invoke(Update{.environment = kProd}).is<Update::NotFound>());
  EXPECT_TRUE(harness.invoke(Destroy{.environment = kProd}).is<Destroy::NotFound>());
  EXPECT_TRUE(bind("telemetry", "a.b@1.0.0").is<Bind::NotFound>());
  EXPECT_TRUE(rebind("a.b@1.0.0").is<Rebind::NotFound>());
  EXPECT_TRUE(harness.invoke(Unbind{.environment = kProd, .slot = "state"}).is<Unbind::NotFound>());
  EXPECT_TRUE(harness.invoke(Rollback{.environment = kProd, .slot = "state", .steps = 1}).is<Rollback::NotFound>());
  EXPECT_TRUE(harness.invoke(Doctor{.environment = kProd}).is<Doctor::NotFound>());
}

TEST_F(EnvTest, DestroyOkTakesItsPacksWithIt) {
  made();
  bind("state", "sluice.state.memory@1.0.0").as<Bind::Ok>();
  harness.invoke(Destroy{.environment = kProd}).as<Destroy::Ok>();
  EXPECT_TRUE(packs(kProd).empty());
  made();
  EXPECT_TRUE(packs(kProd).empty());
}

TEST_F(EnvTest, BindOkServesAnEmptySlot) {
  made();
  EXPECT_EQ(bind("deployer", "acme.deployer.k8s@1.2.3").as<Bind::Ok>().generation, 0);
  EXPECT_EQ(record(kProd).runtimeType, "acme.deployer.k8s@1.2.3");
  EXPECT_EQ(packs(kProd)[0].packRef, "acme.deployer.k8s");
}

TEST_F(EnvTest, BindBoundNamesWhatServesIt) {
  made();
  bind("state", "sluice.state.memory@1.0.0").as<Bind::Ok>();
  EXPECT_EQ(bind("state", "acme.state.x@1.0.0").as<Bind::Bound>().message,
            "the slot state of prod-eu is served by sluice.state.memory@1.0.0");
}

class FirstWeek15Env : public EnvTest {};

TEST_F(FirstWeek15Env, BindInvalidForAPackThatThisVersionLacks) {
  made();
  const std::string sluice = "Sluice " + std::string(version_number());
  EXPECT_EQ(bind("deployer", "sluice.deployer.ecs@1.0.0").as<Bind::Invalid>().message,
            sluice +
                " has no pack sluice.deployer.ecs@1.0.0; for the slot deployer it has "
                "sluice.deployer.local-process@1.0.0 or sluice.deployer.container@1.0.0 or sluice.deployer.k8s@1.0.0");
  EXPECT_EQ(bind("gitops", "sluice.gitops.flux@1.0.0").as<Bind::Invalid>().message,
            sluice + " has no pack sluice.gitops.flux@1.0.0, and none for the slot gitops");
  EXPECT_TRUE(packs(kProd).empty());
}

TEST_F(EnvTest, BindInvalidForNoSlotNoPackAndAnotherSlot) {
  made();
  EXPECT_EQ(bind("messaging", "a.b@1.0.0").as<Bind::Invalid>().message,
            "there is no slot 'messaging'; the slots are deployer, secrets, telemetry, sessions, state, revocation, "
            "iac, gitops");
  EXPECT_EQ(bind("state", "memory").as<Bind::Invalid>().message, "'memory' names no pack: it has no @ and version");
  EXPECT_EQ(bind("state", "sluice.sessions.memory@1.0.0").as<Bind::Invalid>().message,
            "sluice.sessions.memory@1.0.0 serves the slot sessions, not state");
}

TEST_F(EnvTest, RebindKeepsGenerationsAndRollbackGoesBackNSteps) {
  made();
  bind("telemetry", "a.t.one@1.0.0").as<Bind::Ok>();
  EXPECT_EQ(rebind("a.t.two@1.0.0").as<Rebind::Ok>().generation, 1);
  EXPECT_EQ(rebind("a.t.three@1.0.0").as<Rebind::Ok>().generation, 2);
  Rollback back{.environment = kProd, .slot = "telemetry", .steps = 2};
  EXPECT_EQ(harness.invoke(back).as<Rollback::Ok>(),
            (Rollback::Ok{.environment = kProd, .slot = "telemetry", .kind = "a.t.one@1.0.0", .generation = 3}));
  EXPECT_EQ(harness.invoke(back).as<Rollback::NoPast>().message,
            "the slot telemetry of prod-eu can go back 0 steps, not 2");
  back.steps = 0;
  EXPECT_EQ(harness.invoke(back).as<Rollback::Invalid>().message, "expected one step or more");
  EXPECT_TRUE(harness.invoke(Rollback{.environment = kProd, .slot = "x", .steps = 1}).is<Rollback::Invalid>());
}

TEST_F(EnvTest, RollbackBringsBackWhatWasUnbound) {
  made();
  bind("telemetry", "a.t.one@1.0.0").as<Bind::Ok>();
  harness.invoke(Unbind{.environment = kProd, .slot = "telemetry"}).as<Unbind::Ok>();
  harness.invoke(Rollback{.environment = kProd, .slot = "telemetry", .steps = 1}).as<Rollback::Ok>();
  EXPECT_EQ(packs(kProd)[0].kind, "a.t.one@1.0.0");
}

TEST_F(EnvTest, OnlySoManyBindingsAreKept) {
  made();
  bind("telemetry", "a.t.x0@1.0.0").as<Bind::Ok>();
  for (int i = 1; i <= 30; ++i) rebind("a.t.x" + std::to_string(i) + "@1.0.0").as<Rebind::Ok>();
  EXPECT_EQ(
      harness.invoke(Rollback{.environment = kProd, .slot = "telemetry", .steps = 21}).as<Rollback::NoPast>().message,
      "the slot telemetry of prod-eu can go back 20 steps, not 21");
}

TEST_F(EnvTest, RebindUnboundAndInvalid) {
  made();
  EXPECT_EQ(rebind("a.b@1.0.0").as<Rebind::Unbound>().message, "nothing serves the slot telemetry of prod-eu");
  bind("telemetry", "a.t.one@1.0.0").as<Bind::Ok>();
  EXPECT_TRUE(rebind("nothing").is<Rebind::Invalid>());
}

TEST_F(EnvTest, UnbindUnboundAndInvalid) {
  made();
  EXPECT_TRUE(harness.invoke(Unbind{.environment = kProd, .slot = "state"}).is<Unbind::Unbound>());
  EXPECT_TRUE(harness.invoke(Unbind{.environment = kProd, .slot = "none"}).is<Unbind::Invalid>());
}

TEST_F(EnvTest, ListNamesAll) {
  made();
  harness.invoke(Open{}).as<Open::Ok>();
  auto all = harness.invoke(List{}).as<List::Ok>().environments;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].packs, 5);
  EXPECT_EQ(all[1].environment, kProd);
}

TEST_F(EnvTest, TakeBackGoesBackOnceAndKeepsWhy) {
  made();
  bind("telemetry", "a.t.one@1.0.0").as<Bind::Ok>();
  rebind("a.t.two@1.0.0").as<Rebind::Ok>();
  const TakeBack ask{.environment = kProd, .slot = "telemetry", .generation = 1, .message = "it lacks one"};
  EXPECT_TRUE(harness.invoke(ask).is<TakeBack::Ok>());
  EXPECT_EQ(packs(kProd)[0].kind, "a.t.one@1.0.0");
  EXPECT_TRUE(harness.invoke(ask).is<TakeBack::Again>()) << "another generation is bound";
  const WhyTakenBack why{.environment = kProd, .slot = "telemetry", .kind = "a.t.two@1.0.0"};
  EXPECT_EQ(harness.invoke(why).as<WhyTakenBack::Ok>().message, "it lacks one");
  rebind("a.t.two@1.0.0").as<Rebind::Ok>();
  EXPECT_TRUE(harness.invoke(why).is<WhyTakenBack::NotFound>());
}

}  // namespace env_test
}  // namespace sluice::deploy::env
