// Deployment through the harness: one test a variant.
#include <gtest/gtest.h>

#include "deploy/concepts/deployment/deployment_work.h"
#include "deploy/revenue_policy.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deployment {

void prepare(lang::Harness&) {}

namespace deployment_test {

class DeploymentTest : public testing::Test {
 protected:
  DeploymentTest() { harness.tools().add(seal); }

  static Add add_of(const std::string& bundle, const std::string& customer) {
    return {.environment = "prod", .bundle = bundle, .customer = customer};
  }
  DeploymentId added(const Add& ask) { return harness.invoke(ask).as<Add::Ok>().deployment; }
  DeploymentRecord record(const DeploymentId& id) { return *State(harness.rows()).get(id); }
  std::string refused(const Add& ask) { return harness.invoke(ask).as<Add::Invalid>().message; }

  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::optional<Error> no_key;
  PolicySeal seal{[this]() -> Result<crypto::PrivateKey> {
    if (no_key) return *no_key;
    return crypto::PrivateKey::from_pem(key.to_pem().reveal());
  }};
  lang::Harness harness{deployment_binding()};
};

TEST_F(DeploymentTest, AddOkSignsTheFirstPolicy) {
  auto ok = harness.invoke(add_of("shop", "acme")).as<Add::Ok>();
  EXPECT_EQ(ok.policyVersion, 1);
  RevenuePolicy policy = seal.open(ok.policy).value();
  EXPECT_EQ(policy.deployment_id, ok.deployment.text());
  EXPECT_EQ(policy.revenue_share, (std::vector<RevenueParty>{{"sluice", 10'000}}));
  EXPECT_FALSE(policy.previous_version_ref);
  EXPECT_EQ(record(ok.deployment).status, DeploymentStatus::active);
  EXPECT_FALSE(record(ok.deployment).signing);
}

TEST_F(DeploymentTest, AddTakesTheLocalCustomerWhereNoneIsNamed) {
  EXPECT_EQ(harness.invoke(Add{.environment = "local", .bundle = "shop"}).as<Add::Ok>().customer, "local-dev");
}

TEST_F(DeploymentTest, Greentic04AddExistsForTheSamePairAlone) {
  DeploymentId acme = added(add_of("shop", "acme"));
  DeploymentId other = added(add_of("shop", "other"));
  EXPECT_NE(acme, other);
  auto exists = harness.invoke(add_of("shop", "acme")).as<Add::Exists>();
  EXPECT_EQ(exists.deployment, acme);
  EXPECT_EQ(exists.message, "shop is deployed in prod for acme already, as " + acme.text());
}

TEST_F(DeploymentTest, AddAmbiguousNamesTheOther) {
  Add first = add_of("shop", "acme");
  first.hosts = {"*.shop.example"};
  DeploymentId id = added(first);
  Add second = add_of("mail", "acme");
  second.hosts = {"a.example", "*.Shop.example"};
  auto ambiguous = harness.invoke(second).as<Add::Ambiguous>();
  EXPECT_EQ(ambiguous.deployment, id);
  EXPECT_EQ(ambiguous.message, "*.shop.example/ is the route of " + id.text() + " (shop for acme) already");
  second.environment = "staging";
  EXPECT_TRUE(harness.invoke(second).is<Add::Ok>()) << "another environment has routes of its own";
}

TEST_F(DeploymentTest, AddInvalid) {
  EXPECT_EQ(refused(add_of("a/b", "acme")), "a bundle has a name of letters, digits, -, _ and .");
  EXPECT_EQ(refused(add_of("shop", "..")), "a customer has a name of letters, digits, -, _ and .");
  Add ask = add_of("shop", "acme");
  ask.hosts = {"-"};
  EXPECT_EQ(refused(ask), "host '-': expected a name such as shop.example or *.shop.example");
  ask.hosts.clear();
  ask.parties = {{"agency", 3000}, {"sluice", 6999}};
  EXPECT_EQ(refused(ask), "the shares sum to 9999 bps, not 10000");
}

TEST_F(DeploymentTest, AddUnsignedLeavesNothing) {
  no_key = Error{.message = "there is no key"};
  EXPECT_EQ(harness.invoke(add_of("shop", "acme")).as<Add::Unsigned>().message, "there is no key");
  no_key.reset();
  harness.end_with({.outcome = lang::EngineOutcome::timeout, .message = "too late"});
  EXPECT_EQ(harness.invoke(add_of("shop", "acme")).as<Add::Unsigned>().message, "too late");
  EXPECT_TRUE(harness.invoke(add_of("shop", "acme")).is<Add::Ok>());
}

TEST_F(DeploymentTest, UpdateOkWithOtherSharesIsANewVersionThatNamesTheOneBefore) {
  auto first = harness.invoke(add_of("shop", "acme")).as<Add::Ok>();
  Update ask{.deployment = first.deployment,
             .parties = std::vector<DeploymentParty>{{"agency", 3000}, {"sluice", 7000}}};
  auto second = harness.invoke(ask).as<Update::Ok>();
  EXPECT_EQ(second.policyVersion, 2);
  EXPECT_EQ(seal.open(second.policy).value().previous_version_ref, policy_ref(first.policy));
  EXPECT_EQ(record(first.deployment).revenueShare.parties.size(), 2U);
  EXPECT_EQ(harness.invoke(ask).as<Update::Ok>().policyVersion, 2) << "the same shares are the same policy";
  ask.parties = std::vector<DeploymentParty>{{"sluice", 10'000}};
  EXPECT_EQ(harness.invoke(ask).as<Update::Ok>().policyVersion, 3);
  EXPECT_EQ(harness.invoke(Policies{.deployment = first.deployment}).as<Policies::Ok>().policies.size(), 3U);
}

TEST_F(DeploymentTest, UpdateOkChangesRoutesAndOverrides) {
  DeploymentId id = added(add_of("shop", "acme"));
  Update ask{.deployment = id,
             .hosts = std::vector<std::string>{"shop.example"},
             .tenant = "acme",
             .configOverrides = R"({"shop":{"color":"red"}})"};
  harness.invoke(ask).as<Update::Ok>();
  EXPECT_EQ(record(id).route.hosts, std::vector<std::string>{"shop.example"});
  EXPECT_EQ(record(id).configOverrides, R"({"shop":{"color":"red"}})");
  EXPECT_TRUE(harness.invoke(CheckRoutes{.deployment = id}).is<CheckRoutes::Ok>());
}

TEST_F(DeploymentTest, UpdateInvalid) {
  DeploymentId id = added(add_of("shop", "acme"));
  auto why = [&](const Update& ask) { return harness.invoke(ask).as<Update::Invalid>().message; };
  EXPECT_EQ(why({.deployment = id, .tenant = "acme"}), "a route with a tenant needs a host or a path");
  EXPECT_EQ(why({.deployment = id, .parties = std::vector<DeploymentParty>{}}), "at least one party must have a share");
  EXPECT_EQ(why({.deployment = id, .configOverrides = "[]"}), "overrides are a JSON object by pack");
  EXPECT_EQ(why({.deployment = id, .configOverrides = R"({"a":1})"}), "overrides of a pack are a JSON object by key");
  EXPECT_EQ(why({.deployment = id, .configOverrides = "{\"a\":{\"b\":\"" + std::string(17'000, 'x') + "\"}}"}),
            "overrides have at most 16 kB");
  EXPECT_EQ(record(id).generation, 2);
}

TEST_F(DeploymentTest, UpdateNotFoundAmbiguousArchivedAndBusy) {
  EXPECT_TRUE(harness.invoke(Update{.deployment = DeploymentId("none")}).is<Update::NotFound>());
  Add other = add_of("mail", "acme");
  other.hosts = {"mail.example"};
  added(other);
  DeploymentId id = added(add_of("shop", "acme"));
  Update ask{.deployment = id, .hosts = std::vector<std::string>{"mail.example"}};
  EXPECT_TRUE(harness.invoke(ask).is<Update::Ambiguous>());
  State state(harness.rows());
  state.edit(id, [](DeploymentRecord& row) { row.signing = lang::Request("another"); });
  Update shares{.deployment = id, .parties = std::vector<DeploymentParty>{{"sluice", 10'000}}};
  EXPECT_TRUE(harness.invoke(shares).is<Update::Busy>());
  state.edit(id, [](DeploymentRecord& row) { row.signing.reset(); });
  harness.invoke(Archive{.deployment = id}).as<Archive::Ok>();
  EXPECT_EQ(harness.invoke(ask).as<Update::Archived>().message, id.text() + " is archived");
}

TEST_F(DeploymentTest, UpdatePolicyBrokenIfTheOneBeforeDoesNotHold) {
  DeploymentId id = added(add_of("shop", "acme"));
  Update ask{.deployment = id, .parties = std::vector<DeploymentParty>{{"agency", 10'000}}};
  State state(harness.rows());
  state.edit(id, [](DeploymentRecord& row) { row.revenueShare.parties = {{"thief", 10'000}}; });
  EXPECT_EQ(harness.invoke(ask).as<Update::PolicyBroken>().message,
            "the revenue policy before does not say what " + id.text() + " has");
  state.edit(id, [](DeploymentRecord& row) { row.revenueShare.parties = {{"sluice", 10'000}}; });
  EXPECT_EQ(harness.invoke(ask).as<Update::Ok>().policyVersion, 2);
}

TEST_F(DeploymentTest, UpdateUnsignedChangesNoShares) {
  DeploymentId id = added(add_of("shop", "acme"));
  Update ask{.deployment = id, .parties = std::vector<DeploymentParty>{{"agency", 10'000}}};
  no_key = Error{.message = "there is no key"};
  EXPECT_EQ(harness.invoke(ask).as<Update::Unsigned>().message, "there is no key");
  EXPECT_EQ(record(id).policyVersion, 1);
  EXPECT_FALSE(record(id).signing);
}

TEST_F(DeploymentTest, StatusGoesOnlyWhereItMay) {
  DeploymentId id = added(add_of("shop", "acme"));
  EXPECT_EQ(harness.invoke(Resume{.deployment = id}).as<Resume::WrongStatus>().message, id.text() + " is active");
  harness.invoke(Pause{.deployment = id}).as<Pause::Ok>();
  EXPECT_TRUE(harness.invoke(Pause{.deployment = id}).is<Pause::WrongStatus>());
  harness.invoke(Resume{.deployment = id}).as<Resume::Ok>();
  harness.invoke(Archive{.deployment = id}).as<Archive::Ok>();
  EXPECT_TRUE(harness.invoke(Resume{.deployment = id}).is<Resume::WrongStatus>()) << "archived is the end";
  EXPECT_EQ(harness.invoke(Archive{.deployment = id}).as<Archive::WrongStatus>().status, "archived");
}

TEST_F(DeploymentTest, LabelReplacesLabels) {
  DeploymentId id = added(add_of("shop", "acme"));
  auto labels = [&](const std::vector<std::string>& given) {
    return harness.invoke(Label{.deployment = id, .labels = given});
  };
  EXPECT_EQ(labels({"tier=web", "team=shop", "team=shop"}).as<Label::Ok>().labels,
            (std::vector<std::string>{"team=shop", "tier=web"}));
  EXPECT_EQ(labels({"team=shop"}).as<Label::Ok>().labels, (std::vector<std::string>{"team=shop"}));
  EXPECT_EQ(labels({"shop"}).as<Label::Invalid>().message, "'shop' is no label: write key=value");
  std::vector<std::string> many;
  for (int i = 0; i < 33; ++i) many.push_back("k=" + std::to_string(i));
  EXPECT_EQ(labels(many).as<Label::Invalid>().message, "a deployment has at most 32 labels");
  State state(harness.rows());
  EXPECT_EQ(state.labels(id).values(), (std::vector<std::string>{"team=shop"}));
  harness.invoke(Remove{.deployment = id}).as<Remove::Ok>();
  EXPECT_TRUE(state.labels(id).values().empty());
  EXPECT_TRUE(labels({}).is<Label::NotFound>());
}

TEST_F(DeploymentTest, ScaleIsBegunOnce) {
  DeploymentId id = added(add_of("shop", "acme"));
  EXPECT_TRUE(harness.invoke(BeginScale{.deployment = id}).is<BeginScale::Ok>()) << "nobody has asked";
  EXPECT_EQ(harness.invoke(Scale{.deployment = id, .replicas = 0}).as<Scale::Invalid>().message,
            "expected 1 to 1000 replicas");
  EXPECT_EQ(harness.invoke(Scale{.deployment = id, .replicas = 3}).as<Scale::Ok>().replicas, 3);
  EXPECT_EQ(harness.invoke(BeginScale{.deployment = id}).as<BeginScale::Due>().replicas, 3);
  EXPECT_TRUE(harness.invoke(BeginScale{.deployment = id}).is<BeginScale::Ok>());
  EXPECT_EQ(State(harness.rows()).get(id)->replicas, 3) << "for what is warmed later";
  EXPECT_TRUE(harness.invoke(Scale{.deployment = DeploymentId("none"), .replicas = 3}).is<Scale::NotFound>());
}

TEST_F(DeploymentTest, WhatIsNotThereIsNotFound) {
  const DeploymentId none("none");
  EXPECT_TRUE(harness.invoke(Pause{.deployment = none}).is<Pause::NotFound>());
  EXPECT_TRUE(harness.invoke(Resume{.deployment = none}).is<Resume::NotFound>());
  EXPECT_TRUE(harness.invoke(Archive{.deployment = none}).is<Archive::NotFound>());
  EXPECT_TRUE(harness.invoke(Remove{.deployment = none}).is<Remove::NotFound>());
  EXPECT_TRUE(harness.invoke(CheckRoutes{.deployment = none}).is<CheckRoutes::NotFound>());
  EXPECT_TRUE(harness.invoke(Policies{.deployment = none}).is<Policies::NotFound>());
}

TEST_F(DeploymentTest, RemoveOkFreesThePair) {
  DeploymentId id = added(add_of("shop", "acme"));
  harness.invoke(Remove{.deployment = id}).as<Remove::Ok>();
  EXPECT_TRUE(harness.invoke(add_of("shop", "acme")).is<Add::Ok>());
}

TEST_F(DeploymentTest, CheckRoutesAmbiguousIfRowsSayOtherwise) {
  DeploymentId one = added(add_of("shop", "acme")), two = added(add_of("mail", "acme"));
  State state(harness.rows());
  for (const DeploymentId& id : {one, two}) {
    state.edit(id, [](DeploymentRecord& row) { row.route.pathPrefixes = {"/x"}; });
  }
  EXPECT_EQ(harness.invoke(CheckRoutes{.deployment = one}).as<CheckRoutes::Ambiguous>().deployment, two);
}

}  // namespace deployment_test
}  // namespace sluice::deploy::deployment
