// Usage through the harness. What is collected needs routers, and is tested on the kit in deploy/routers_sync_test.cc.
#include <gtest/gtest.h>

#include "deploy/concepts/usage/usage_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::usage {

void prepare(lang::Harness&) {}

namespace usage_test {

TEST(Usage, WarmedOkAndCooledOkCountSeconds) {
  lang::Harness harness(usage_binding());
  const UsageId revision("r1");
  auto shown = [&] { return harness.invoke(Show{}).as<Show::Ok>().revisions.at(0); };
  harness
      .invoke(Warmed{
          .revision = revision, .environment = "local", .deployment = "d1", .bundle = "shop", .customer = "acme"})
      .as<Warmed::Ok>();
  EXPECT_EQ(shown().tenant, "default");
  EXPECT_EQ(shown().customer, "acme");
  State(harness.rows()).edit(revision, [](UsageRecord& record) { record.warmSince->ms -= 90'000; });
  EXPECT_EQ(shown().warmSeconds, 90);
  harness.invoke(Cooled{.revision = revision}).as<Cooled::Ok>();
  harness.invoke(Cooled{.revision = revision}).as<Cooled::Ok>();
  EXPECT_EQ(shown().warmSeconds, 90);
}

TEST(Usage, WhatWasNeverWarmIsNotCooled) {
  lang::Harness harness(usage_binding());
  harness.invoke(Cooled{.revision = UsageId("r1")}).as<Cooled::Ok>();
  EXPECT_TRUE(harness.invoke(Show{}).as<Show::Ok>().revisions.empty());
}

}  // namespace usage_test
}  // namespace sluice::deploy::usage
