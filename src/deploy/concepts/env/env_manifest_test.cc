// What is kept of promotions; what decides about them is in plan_delivery_sync_test.cc.
#include <gtest/gtest.h>

#include "env.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::env {
namespace env_manifest_test {

class PromotionRows : public testing::Test {
 protected:
  PromotionRows() {
    for (const EnvId& each : {kStaging, kProd}) harness.invoke(Create{.environment = each}).as<Create::Ok>();
  }
  lang::Invoked<Promote> promote() {
    return harness.invoke(Promote{.fromEnv = kStaging, .toEnv = kProd, .suiteName = "shop", .caller = "uid:1"});
  }

  const EnvId kStaging{"staging"}, kProd{"prod"};
  lang::Harness harness{env_binding()};
};

TEST_F(PromotionRows, TheNewestVersionOfAKitIsKeptWithWhoPromotedIt) {
  for (const char* version : {"1", "2"}) {
    harness.answer_with(Promote::Ok{.toEnv = kProd, .version = version, .plan = "dp-1"});
    promote().as<Promote::Ok>();
  }
  const auto kept = State(harness.rows()).kit_versions(kProd).values();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].version, "2");
  EXPECT_EQ(kept[0].promotedFrom, "staging");
  EXPECT_EQ(kept[0].promotedBy, "uid:1");
}

TEST_F(PromotionRows, WhatNobodyAnswersIsNotValidated) {
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  EXPECT_EQ(promote().as<Promote::NotValidated>().message, "nobody answered");
  EXPECT_TRUE(State(harness.rows()).kit_versions(kProd).values().empty());
}

}  // namespace env_manifest_test
}  // namespace sluice::deploy::env
