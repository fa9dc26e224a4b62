// Runtime through the harness, answered as the syncs of a provider do: one test a variant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "runtime.gen.h"

namespace sluice::deploy::runtime {
namespace runtime_test {

const lang::EngineEnd kUnanswered{.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"};

class RuntimeTest : public testing::Test {
 protected:
  RuntimeId provisioned(const std::string& name = "shop") {
    harness.answer_with(Provision::Ok{.endpoint = "local:1"});
    return harness.invoke(Provision{.concept_ = name, .runtimeType = "local", .config = "{}"})
        .as<Provision::Ok>()
        .instance;
  }
  void deploy(const RuntimeId& instance, const std::string& version) {
    harness.answer_with(Deploy::Ok{.endpoint = "http://" + version,
                                   .artifactHash = "sha-" + version,
                                   .replicas = {{.name = version + ".0", .endpoint = "http://" + version}}});
    harness.invoke(Deploy{.instance = instance, .artifact = "/a.bundle", .version = version}).as<Deploy::Ok>();
  }
  std::vector<RuntimeReplica> replicas(const RuntimeId& instance) {
    return harness.invoke(Show{.instance = instance}).as<Show::Ok>().replicas;
  }
  RuntimeRecord record(const RuntimeId& instance) { return *State(harness.rows()).get(instance); }

  lang::Harness harness{runtime_binding()};
};

TEST_F(RuntimeTest, ProvisionKeepsWhatTheProviderMade) {
  RuntimeId instance = provisioned();
  EXPECT_EQ(record(instance).endpoint, "local:1");
  EXPECT_EQ(record(instance).status, RuntimeStatus::provisioned);
  EXPECT_FALSE(record(instance).busy);
}

TEST_F(RuntimeTest, ProvisionFindsWhatIsThereAlready) {
  RuntimeId instance = provisioned();
  auto again = harness.invoke(Provision{.concept_ = "shop", .runtimeType = "local", .config = "{}"});
  EXPECT_EQ(again.as<Provision::AlreadyProvisioned>(),
            (Provision::AlreadyProvisioned{.instance = instance, .endpoint = "local:1"}));
  EXPECT_EQ(harness.invoke(List{}).as<List::Ok>().instances.size(), 1U);
}

TEST_F(RuntimeTest, ProvisionFailedLeavesNothing) {
  const Provision shop{.concept_ = "shop", .runtimeType = "local", .config = "{}"};
  const Provision::ProvisionFailed failed{.concept_ = "shop", .runtimeType = "local", .reason = "port 80 is in use"};
  harness.answer_with(failed);
  EXPECT_EQ(harness.invoke(shop).as<Provision::ProvisionFailed>(), failed);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(shop).as<Provision::ProvisionFailed>().reason,
            "nothing here has made it run as local: nobody answered");
  EXPECT_TRUE(harness.invoke(List{}).as<List::Ok>().instances.empty());
}

TEST_F(RuntimeTest, DeployRecordsVersionEndpointAndHistory) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  deploy(instance, "2");
  auto shown = harness.invoke(Show{.instance = instance}).as<Show::Ok>();
  EXPECT_EQ(shown.version, "2");
  EXPECT_EQ(shown.endpoint, "http://2");
  ASSERT_EQ(shown.history.size(), 2U);
  EXPECT_EQ(shown.history[0].artifactHash, "sha-1");
  EXPECT_THAT(shown.replicas, testing::ElementsAre(RuntimeReplica{"2.0", "http://2"}));
  EXPECT_EQ(record(instance).status, RuntimeStatus::running);
}

TEST_F(RuntimeTest, WhatHasNoHashIsKnownByItsName) {
  RuntimeId instance = provisioned();
  harness.answer_with(Deploy::Ok{.endpoint = "http://1"});
  harness.invoke(Deploy{.instance = instance, .artifact = "/folder", .version = "1"}).as<Deploy::Ok>();
  EXPECT_EQ(record(instance).artifactHash, "/folder");
}

TEST_F(RuntimeTest, ProvisionRefusesAComponentWithoutAName) {
  auto failed = harness.invoke(Provision{.runtimeType = "local", .config = "{}"}).as<Provision::ProvisionFailed>();
  EXPECT_EQ(failed.reason, "expected the name of a component");
  EXPECT_TRUE(harness.invoke(List{}).as<List::Ok>().instances.empty());
}

TEST_F(RuntimeTest, DeployFailedLeavesTheVersionBefore) {
  RuntimeId instance = provisioned();
  const Deploy second{.instance = instance, .artifact = "sha-2", .version = "2"};
  harness.answer_with(Deploy::DeployFailed{.instance = instance, .reason = "it crashes"});
  EXPECT_EQ(harness.invoke(second).as<Deploy::DeployFailed>().reason, "it crashes");
  EXPECT_EQ(record(instance).status, RuntimeStatus::provisioned);
  deploy(instance, "1");
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(second).as<Deploy::DeployFailed>().reason, "nobody answered");
  EXPECT_EQ(record(instance).version, "1");
  EXPECT_EQ(record(instance).status, RuntimeStatus::running);
  EXPECT_FALSE(record(instance).busy);
  EXPECT_EQ(harness.invoke(Deploy{.instance = RuntimeId("none")}).as<Deploy::DeployFailed>().reason,
            "there is no such instance");
}

TEST_F(RuntimeTest, OneThingAtATimeIsDoneToAnInstance) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  deploy(instance, "2");
  State state(harness.rows());
  state.edit(instance, [](RuntimeRecord& record) { record.busy = lang::Request("another"); });
  const std::string busy = "something else is being done to it";
  EXPECT_EQ(harness.invoke(Deploy{.instance = instance}).as<Deploy::DeployFailed>().reason, busy);
  EXPECT_EQ(harness.invoke(Rollback{.instance = instance}).as<Rollback::RollbackFailed>().reason, busy);
  EXPECT_EQ(harness.invoke(Destroy{.instance = instance}).as<Destroy::DestroyFailed>().reason, busy);
  EXPECT_EQ(
      harness.invoke(Provision{.concept_ = "shop", .runtimeType = "local"}).as<Provision::ProvisionFailed>().reason,
      busy);
}

TEST_F(RuntimeTest, DeployNotesWhetherSecretsCameWithIt) {
  RuntimeId instance = provisioned();
  harness.answer_with(Deploy::Ok{.endpoint = "http://1"});
  harness.invoke(Deploy{.instance = instance, .artifact = "sha-1", .version = "1", .secrets = harness.seal("{}")});
  EXPECT_TRUE(record(instance).entrusted);
  deploy(instance, "2");
  EXPECT_FALSE(record(instance).entrusted);
}

TEST_F(RuntimeTest, SetTrafficWeightIsAnsweredByWhoSplitsTraffic) {
  RuntimeId instance = provisioned();
  const SetTrafficWeight ask{.instance = instance, .weight = 25};
  harness.answer_with(SetTrafficWeight::Ok{.instance = instance, .newWeight = 25});
  EXPECT_EQ(harness.invoke(ask).as<SetTrafficWeight::Ok>().newWeight, 25);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(ask).as<SetTrafficWeight::NotRouted>().reason, "nobody answered");
  EXPECT_EQ(harness.invoke(SetTrafficWeight{.instance = RuntimeId("none")}).as<SetTrafficWeight::NotRouted>().reason,
            "there is no such instance");
  for (int64_t weight : {-1, 10001}) {
    EXPECT_EQ(harness.invoke(SetTrafficWeight{.instance = instance, .weight = weight})
                  .as<SetTrafficWeight::Invalid>()
                  .message,
              "expected a weight from 0 to 10000, not " + std::to_string(weight));
  }
}

TEST_F(RuntimeTest, ScaleKeepsWhereTheReplicasAre) {
  RuntimeId instance = provisioned();
  const Scale ask{.instance = instance, .replicas = 2};
  EXPECT_TRUE(harness.invoke(ask).is<Scale::Notfound>()) << "nothing is deployed";
  deploy(instance, "1");
  const std::vector<RuntimeReplica> two{{"1.0", "http://a"}, {"1.1", "http://b"}};
  harness.answer_with(Scale::Ok{.instance = instance, .endpoint = "http://a", .replicas = two});
  EXPECT_TRUE(harness.invoke(ask).is<Scale::Ok>());
  EXPECT_EQ(replicas(instance), two);
  EXPECT_EQ(record(instance).endpoint, "http://a");
  EXPECT_EQ(record(instance).status, RuntimeStatus::running);
}

TEST_F(RuntimeTest, SizeCountsTheReplicasOfAComponent) {
  EXPECT_EQ(harness.invoke(Size{.concept_ = "shop"}).as<Size::Ok>().replicas, 0);
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  EXPECT_EQ(harness.invoke(Size{.concept_ = "shop"}).as<Size::Ok>().replicas,
            static_cast<int64_t>(replicas(instance).size()));
}

TEST_F(RuntimeTest, ScaleThatFailsLeavesTheReplicasThereAre) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  const auto before = replicas(instance);
  const Scale ask{.instance = instance, .replicas = 0};
  harness.answer_with(Scale::Invalid{.message = "expected 1 to 1000 replicas"});
  EXPECT_TRUE(harness.invoke(ask).is<Scale::Invalid>());
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(ask).as<Scale::ScaleFailed>().reason, "nobody answered");
  EXPECT_FALSE(record(instance).busy);
  State(harness.rows()).edit(instance, [](RuntimeRecord& record) { record.busy = lang::Request("r"); });
  EXPECT_EQ(harness.invoke(ask).as<Scale::ScaleFailed>().reason, "something else is being done to it");
  EXPECT_EQ(replicas(instance), before);
}

TEST_F(RuntimeTest, EnterLetsIntoAReplicaThatIsThere) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  const Enter ask{.instance = instance, .replica = "1.0", .program = "sh"};
  EXPECT_EQ(harness.invoke(ask).as<Enter::Ok>(), (Enter::Ok{.instance = instance, .replica = "1.0"}));
  EXPECT_EQ(
      harness.invoke(Enter{.instance = instance, .replica = "1.7", .program = "sh"}).as<Enter::Notfound>().message,
      "shop has no replica 1.7");
  EXPECT_TRUE(harness.invoke(Enter{.instance = RuntimeId("none"), .replica = "1.0"}).is<Enter::Notfound>());
}

TEST_F(RuntimeTest, ObservedKeepsWhereTheReplicasAreNow) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  const std::vector<RuntimeReplica> now{{"1.0", "http://c"}};
  EXPECT_EQ(harness.invoke(Observed{.instance = instance, .endpoint = "http://c", .replicas = now}).as<Observed::Ok>(),
            (Observed::Ok{.instance = instance, .endpoint = "http://c"}));
  EXPECT_EQ(record(instance).endpoint, "http://c");
  EXPECT_EQ(replicas(instance), now);
  const RuntimeId none("none");
  EXPECT_TRUE(harness.invoke(Observed{.instance = none, .replicas = now}).is<Observed::Ok>()) << "it is gone";
  EXPECT_TRUE(State(harness.rows()).replicas(none).empty());
}

TEST_F(RuntimeTest, StoragesAreNotedUntilTheyAreForgotten) {
  auto storages = [&] { return State(harness.rows()).storages().values(); };
  harness.answer_with(Provision::Ok{.endpoint = "local:1", .storage = "d-1"});
  harness.invoke(Provision{.concept_ = "shop", .runtimeType = "local", .config = "{}"}).as<Provision::Ok>();
  EXPECT_TRUE(harness.invoke(Stored{.storage = "d-1", .runtimeType = "local"}).is<Stored::Ok>()) << "it is known";
  EXPECT_THAT(storages(), testing::ElementsAre(RuntimeStorage{"d-1", "local"}));
  const ForgetStorage ask{.storage = "d-1", .runtimeType = "local"};
  harness.answer_with(ForgetStorage::Stuck{.storage = "d-1", .reason = "it is in use"});
  EXPECT_TRUE(harness.invoke(ask).is<ForgetStorage::Stuck>());
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(ask).as<ForgetStorage::Stuck>().reason, "nobody answered");
  EXPECT_EQ(storages().size(), 1U);
  harness.answer_with(ForgetStorage::Ok{.storage = "d-1"});
  EXPECT_TRUE(harness.invoke(ask).is<ForgetStorage::Ok>());
  EXPECT_TRUE(storages().empty());
}

TEST_F(RuntimeTest, StorageThatIsMadeIsKnownUntilItIsFoundEmpty) {
  auto storages = [&] { return State(harness.rows()).storages().values(); };
  const MakeStorage make{.storage = "d-1", .runtimeType = "local", .names = {"data"}};
  harness.answer_with(MakeStorage::Failed{.storage = "d-1", .reason = "the disk is full"});
  EXPECT_EQ(harness.invoke(make).as<MakeStorage::Failed>().reason, "the disk is full");
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(make).as<MakeStorage::Failed>().reason, "nobody answered");
  EXPECT_TRUE(storages().empty());
  harness.answer_with(MakeStorage::Ok{.storage = "d-1"});
  harness.invoke(make).as<MakeStorage::Ok>();
  EXPECT_THAT(storages(), testing::ElementsAre(RuntimeStorage{"d-1", "local"}));
  const UnmakeStorage unmake{.storage = "d-1", .runtimeType = "local"};
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(unmake).as<UnmakeStorage::Failed>().reason, "nobody answered");
  harness.answer_with(UnmakeStorage::Ok{.storage = "d-1", .empty = false});
  harness.invoke(unmake).as<UnmakeStorage::Ok>();
  EXPECT_EQ(storages().size(), 1U);
  harness.answer_with(UnmakeStorage::Ok{.storage = "d-1", .empty = true});
  harness.invoke(unmake).as<UnmakeStorage::Ok>();
  EXPECT_TRUE(storages().empty());
}

TEST_F(RuntimeTest, MovedGivesAnInstanceAnotherEndpoint) {
  RuntimeId instance = provisioned();
  EXPECT_TRUE(harness.invoke(Moved{.instance = instance, .endpoint = "http://2"}).is<Moved::Ok>());
  EXPECT_EQ(record(instance).endpoint, "http://2");
  EXPECT_TRUE(harness.invoke(Moved{.instance = RuntimeId("none")}).is<Moved::Ok>()) << "it is gone";
}

TEST_F(RuntimeTest, RollbackGoesBackToTheVersionBefore) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  deploy(instance, "2");
  harness.answer_with(Rollback::Ok{.previousVersion = "1", .endpoint = "http://1b"});
  EXPECT_EQ(harness.invoke(Rollback{.instance = instance}).as<Rollback::Ok>(),
            (Rollback::Ok{.instance = instance, .previousVersion = "1", .endpoint = "http://1b"}));
  EXPECT_EQ(record(instance).endpoint, "http://1b");
  EXPECT_EQ(record(instance).artifactHash, "sha-1");
  EXPECT_EQ(harness.invoke(Rollback{.instance = instance}).as<Rollback::NoHistory>().instance, instance);
}

TEST_F(RuntimeTest, RollbackFailedLeavesWhatRuns) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  deploy(instance, "2");
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Rollback{.instance = instance}).as<Rollback::RollbackFailed>().reason, "nobody answered");
  EXPECT_EQ(record(instance).version, "2");
  EXPECT_FALSE(record(instance).busy);
}

TEST_F(RuntimeTest, DestroyTakesItOutOfTheRegistry) {
  RuntimeId instance = provisioned();
  deploy(instance, "1");
  harness.answer_with(Destroy::Ok{.instance = instance});
  EXPECT_TRUE(harness.invoke(Destroy{.instance = instance}).is<Destroy::Ok>());
  EXPECT_TRUE(harness.invoke(Show{.instance = instance}).is<Show::Notfound>());
  EXPECT_TRUE(harness.invoke(Destroy{.instance = instance}).is<Destroy::Ok>()) << "it is gone already";
}

TEST_F(RuntimeTest, DestroyFailedKeepsItForPeopleToLookAt) {
  RuntimeId instance = provisioned();
  harness.answer_with(Destroy::DestroyFailed{.instance = instance, .reason = "it does not end"});
  EXPECT_EQ(harness.invoke(Destroy{.instance = instance}).as<Destroy::DestroyFailed>().reason, "it does not end");
  EXPECT_EQ(record(instance).status, RuntimeStatus::stuck);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Destroy{.instance = instance}).as<Destroy::DestroyFailed>().reason, "nobody answered");
}

TEST_F(RuntimeTest, HealthCheckSaysWhatTheProviderFound) {
  RuntimeId instance = provisioned();
  const HealthCheck ask{.instance = instance};
  EXPECT_TRUE(harness.invoke(ask).is<HealthCheck::Unreachable>()) << "nothing is deployed";
  deploy(instance, "1");
  harness.answer_with(HealthCheck::Ok{.latencyMs = 3});
  EXPECT_EQ(harness.invoke(ask).as<HealthCheck::Ok>(), (HealthCheck::Ok{.instance = instance, .latencyMs = 3}));
  harness.answer_with(HealthCheck::Degraded{.latencyMs = 900});
  EXPECT_EQ(harness.invoke(ask).as<HealthCheck::Degraded>().latencyMs, 900);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(ask).as<HealthCheck::Unreachable>().instance, instance);
}

TEST_F(RuntimeTest, RenewTakesTheInstanceAndGivesItBack) {
  RuntimeId instance = provisioned();
  const Renew ask{.instance = instance, .secrets = harness.seal("{}"), .reason = "a new version"};
  EXPECT_EQ(harness.invoke(ask).as<Renew::RenewFailed>().reason, "nothing runs in it");
  deploy(instance, "1");
  harness.answer_with(Renew::Ok{.instance = instance});
  EXPECT_EQ(harness.invoke(ask).as<Renew::Ok>().instance, instance);
  EXPECT_FALSE(record(instance).busy);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(ask).as<Renew::RenewFailed>().reason, "nobody answered");
  EXPECT_EQ(record(instance).status, RuntimeStatus::running);
  State(harness.rows()).edit(instance, [](RuntimeRecord& record) { record.busy = lang::Request("another"); });
  EXPECT_EQ(harness.invoke(ask).as<Renew::RenewFailed>().reason, "something else is being done to it");
}

TEST_F(RuntimeTest, ListNamesEveryInstance) {
  provisioned("shop");
  provisioned("mail");
  auto listed = harness.invoke(List{}).as<List::Ok>().instances;
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].runtimeType, "local");
  EXPECT_EQ(listed[0].status, RuntimeStatus::provisioned);
}

TEST_F(RuntimeTest, ReloadIsOfAnInstanceThatIsThere) {
  RuntimeId instance = provisioned();
  harness.answer_with(Reload::Ok{.instance = instance});
  EXPECT_EQ(harness.invoke(Reload{.instance = instance}).as<Reload::Ok>().instance, instance);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Reload{.instance = instance}).as<Reload::ReloadFailed>().reason, "nobody answered");
  EXPECT_EQ(harness.invoke(Reload{.instance = RuntimeId("none")}).as<Reload::ReloadFailed>().reason,
            "there is no instance none");
}

}  // namespace runtime_test
}  // namespace sluice::deploy::runtime
