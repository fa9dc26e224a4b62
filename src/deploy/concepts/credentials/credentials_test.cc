// What is kept of a look at the requirements.
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/concepts/credentials/credentials_work.h"
#include "deploy/rules_pack.h"
#include "lang/run/harness.h"

namespace sluice::deploy::credentials {

void prepare(lang::Harness&) {}

namespace credentials_test {

const CredentialsId kProd{"prod"};
const CredentialsCheck kGood{.capability = "home.writable", .description = "d", .status = CredentialsStatus::pass};
const CredentialsCheck kSkipped{.capability = "userns", .description = "d", .status = CredentialsStatus::skipped};
const CredentialsCheck kBad{.capability = "roles.create",
                            .description = "d",
                            .status = CredentialsStatus::fail,
                            .reason = "denied",
                            .fix = "apply rules/prod"};

TEST(Credentials, WhatIsMissingIsNamedWithItsFix) {
  lang::Harness harness(credentials_binding());
  EXPECT_EQ(harness.invoke(Show{.environment = kProd}).as<Show::Ok>().result, CredentialsShowOkResult::none);
  harness.answer_with(Requirements::Ok{.deployer = "local", .checks = {kGood, kBad}});
  auto missing = harness.invoke(Requirements{.environment = kProd}).as<Requirements::Missing>();
  EXPECT_EQ(missing.message, "missing roles.create, fix with apply rules/prod");
  EXPECT_EQ(missing.checks, (std::vector<CredentialsCheck>{kGood, kBad}));
  EXPECT_EQ(harness.invoke(Show{.environment = kProd}).as<Show::Ok>().result, CredentialsShowOkResult::fail);
}

TEST(Credentials, SkippedDoesNotFail) {
  lang::Harness harness(credentials_binding());
  harness.answer_with(Requirements::Ok{.deployer = "local", .checks = {kGood, kSkipped}});
  EXPECT_EQ(harness.invoke(Requirements{.environment = kProd}).as<Requirements::Ok>().deployer, "local");
  EXPECT_EQ(harness.invoke(Show{.environment = kProd}).as<Show::Ok>().result, CredentialsShowOkResult::pass);
  harness.invoke(Forget{.environment = kProd}).as<Forget::Ok>();
  EXPECT_EQ(harness.invoke(Show{.environment = kProd}).as<Show::Ok>().checks, std::vector<CredentialsCheck>{});
}

TEST(Credentials, ALookThatFailsChangesNothing) {
  lang::Harness harness(credentials_binding());
  harness.answer_with(Requirements::Failed{.message = "away"});
  EXPECT_EQ(harness.invoke(Requirements{.environment = kProd}).as<Requirements::Failed>().message, "away");
  harness.answer_with(Requirements::NotFound{.environment = kProd, .message = "none"});
  EXPECT_TRUE(harness.invoke(Requirements{.environment = kProd}).is<Requirements::NotFound>());
  EXPECT_EQ(harness.invoke(Show{.environment = kProd}).as<Show::Ok>().result, CredentialsShowOkResult::none);
  harness.answer_with(Check::Ok{.checks = {kGood}});
  EXPECT_TRUE(harness.invoke(Check{.environment = kProd, .deployer = "local"}).is<Check::Ok>());
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody"});
  EXPECT_EQ(harness.invoke(Check{.environment = kProd, .deployer = "x"}).as<Check::Failed>().message, "nobody");
}

class IssuingTest : public testing::Test {
 protected:
  IssuingTest() { harness.tools().add(packs); }
  Keep kept(std::optional<int64_t> life = 100) {
    return {.environment = kProd, .deployer = "x", .credential = "credentials/deployer", .lifetimeSeconds = life};
  }
  template <class Ask>
  void ends_as(const Ask& ask) {
    harness.answer_with(typename Ask::Ok{.deployer = "x", .issued = true, .checks = {kGood}});
    EXPECT_EQ(harness.invoke(ask).template as<typename Ask::Ok>().environment, kProd);
    harness.answer_with(typename Ask::Missing{.deployer = "x", .message = "m", .checks = {kBad}});
    EXPECT_EQ(harness.invoke(ask).template as<typename Ask::Missing>().environment, kProd);
    harness.answer_with(typename Ask::Refused{.message = "no"});
    EXPECT_EQ(harness.invoke(ask).template as<typename Ask::Refused>().environment, kProd);
    harness.answer_with(typename Ask::NotFound{.environment = kProd, .message = "none"});
    EXPECT_TRUE(harness.invoke(ask).template is<typename Ask::NotFound>());
    harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody"});
    EXPECT_EQ(harness.invoke(ask).template as<typename Ask::Failed>().message, "nobody");
  }
  Show::Ok shown() { return harness.invoke(Show{.environment = kProd}).as<Show::Ok>(); }

  RealDisk disk;
  TestingFolder folder;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::string rules = folder.path("rules");
  RulesPacks packs{disk, rules, [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  lang::Harness harness{credentials_binding()};
};

TEST_F(IssuingTest, BootstrapTellsWhatCameOfIt) {
  harness.invoke(kept()).as<Keep::Ok>();
  ends_as(Bootstrap{.environment = kProd, .profile = "ops", .admin = harness.seal("root")});
  EXPECT_TRUE(shown().adminUsedAt);
  EXPECT_EQ(shown().mode, "bootstrap");
  EXPECT_EQ(shown().credential, "credentials/deployer");
}

TEST_F(IssuingTest, RotateIsNotNeededBeforeFourFifthsOfItsLife) {
  ends_as(Rotate{.environment = kProd});
  const Rotate if_needed{.environment = kProd, .ifNeeded = true};
  harness.invoke(kept()).as<Keep::Ok>();
  EXPECT_EQ(shown().rotateAt->ms - shown().expiresAt->ms, -20'000);
  EXPECT_FALSE(harness.invoke(if_needed).as<Rotate::Ok>().issued);
  harness.invoke(kept(0)).as<Keep::Ok>();
  harness.answer_with(Rotate::Ok{.deployer = "x", .issued = true});
  EXPECT_TRUE(harness.invoke(if_needed).as<Rotate::Ok>().issued);
}

TEST_F(IssuingTest, IssueMustHandOverWhatItSaysThatItMade) {
  const Issue ask{.environment = kProd, .deployer = "x", .profile = "ops", .admin = harness.seal("root")};
  harness.answer_with(Issue::Ok{.issued = false});
  EXPECT_TRUE(harness.invoke(ask).is<Issue::Ok>());
  harness.answer_with(Issue::Ok{.issued = true});
  EXPECT_EQ(harness.invoke(ask).as<Issue::Failed>().message,
            "the deployer says that it made a credential, and hands over none");
  harness.answer_with(Issue::Refused{.message = "no"});
  EXPECT_TRUE(harness.invoke(ask).is<Issue::Refused>());
}

TEST_F(IssuingTest, PublishWritesTheRulesOrSaysWhyNot) {
  Publish ask{.environment = kProd, .deployer = "x", .rules = {{.path = "roles.json", .text = "{}"}}};
  EXPECT_EQ(harness.invoke(ask).as<Publish::Ok>().rules, "rules/prod/rules.json");
  ask.rules[0].path = "../roles.json";
  EXPECT_EQ(harness.invoke(ask).as<Publish::Failed>().message, "'../roles.json' is no name of a file of rules");
}

}  // namespace credentials_test
}  // namespace sluice::deploy::credentials
