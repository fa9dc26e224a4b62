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

TEST(FirstWeek20, UsageIsShownByTheHour) {
  lang::Harness harness(usage_binding());
  const UsageId revision("r1");
  harness.invoke(Warmed{.revision = revision, .environment = "local", .deployment = "d1", .bundle = "shop"})
      .as<Warmed::Ok>();
  State state(harness.rows());
  constexpr int64_t kHour = 3'600'000;
  const int64_t now = state.now().ms, hour = now - now % kHour;
  // Warm for half an hour before this hour, and in all of it so far.
  state.edit(revision, [&](UsageRecord& record) { record.warmSince = lang::DateTime{.ms = hour - kHour / 2}; });
  harness.invoke(Cooled{.revision = revision}).as<Cooled::Ok>();
  state.hours(revision).push({.hour = {.ms = hour - 2 * kHour}, .requests = 5});
  auto between = [&](std::optional<int64_t> from, std::optional<int64_t> to) {
    Show ask;
    if (from) ask.since = lang::DateTime{.ms = *from};
    if (to) ask.until = lang::DateTime{.ms = *to};
    auto shown = harness.invoke(ask).as<Show::Ok>().revisions;
    return shown.empty() ? std::pair<int64_t, int64_t>(0, 0) : std::pair(shown[0].requests, shown[0].warmSeconds);
  };
  EXPECT_EQ(between(hour - 2 * kHour, hour - kHour), std::pair(int64_t{5}, int64_t{0}));
  EXPECT_EQ(between(hour - kHour, hour), std::pair(int64_t{0}, int64_t{1'800}));
  EXPECT_EQ(between(hour - 1, hour).second, 1'800) << "whole hours: the one in which it lies";
  EXPECT_EQ(between(std::nullopt, hour), std::pair(int64_t{5}, int64_t{1'800}));
  EXPECT_EQ(between(hour, std::nullopt).second, (now - hour) / 1'000);
  EXPECT_EQ(between(std::nullopt, hour - 3 * kHour), std::pair(int64_t{0}, int64_t{0}));
}

TEST(Usage, WhatWasNeverWarmIsNotCooled) {
  lang::Harness harness(usage_binding());
  harness.invoke(Cooled{.revision = UsageId("r1")}).as<Cooled::Ok>();
  EXPECT_TRUE(harness.invoke(Show{}).as<Show::Ok>().revisions.empty());
}

}  // namespace usage_test
}  // namespace sluice::deploy::usage
