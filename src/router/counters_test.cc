// Counts that outlive whoever counted.
#include "router/counters.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"

namespace sluice::router {
namespace counters_test {

TEST(Counters, SumUpLanesAndOutliveTheirProcess) {
  TestingFolder folder;
  SeriesName name{"d1", "r1", "shop", "acme", "t", "m"};
  {
    auto counters = *Counters::open(folder.path("counters"), "R", "E1", 2);
    uint32_t series = counters->series_of(name);
    add(counters->of(0, series).requests, 2);
    add(counters->of(1, series).requests, 3);
    add(counters->of(1, series).classes[1], 3);
    counters->gauge(1, series).in_flight = 4;
    EXPECT_EQ(counters->total(series).requests, 5U);
    EXPECT_EQ(counters->in_flight(series), 4U);
    EXPECT_EQ(counters->next_sequence(), 1U);
  }
  auto counters = *Counters::open(folder.path("counters"), "R", "E2", 1);
  EXPECT_EQ(counters->epoch(), "E1");
  EXPECT_EQ(counters->next_sequence(), 2U);
  uint32_t series = counters->series_of(name);
  EXPECT_EQ(counters->name(series), name);
  EXPECT_EQ(counters->total(series).requests, 5U);
  EXPECT_EQ(counters->in_flight(series), 0U);
  EXPECT_NE(counters->series_of({.deployment = "d1", .revision = "r2"}), series);
}

TEST(Counters, ShareTheLastSeriesWhenAllAreTaken) {
  TestingFolder folder;
  auto counters = *Counters::open(folder.path("counters"), "R", "E1", 1);
  for (uint32_t i = 0; i < Counters::kOther; ++i) {
    ASSERT_EQ(counters->series_of({.deployment = "d", .revision = std::to_string(i)}), i);
  }
  EXPECT_EQ(counters->series_of({.deployment = "d", .revision = "more"}), Counters::kOther);
  EXPECT_EQ(counters->series_of({.deployment = "d", .revision = "even more"}), Counters::kOther);
  EXPECT_EQ(counters->name(Counters::kOther).deployment, "other");
  EXPECT_EQ(counters->series_of({.deployment = "d", .revision = "7"}), 7U);
}

TEST(Counters, SetAsideAFileThatIsNotTheirs) {
  TestingFolder folder;
  std::ofstream(folder.path("counters")) << "something else";
  auto counters = *Counters::open(folder.path("counters"), "R", "E1", 1);
  EXPECT_EQ(counters->epoch(), "E1");
  EXPECT_TRUE(std::filesystem::exists(folder.path("counters.old")));
}

TEST(Counters, AreReadWhereARouterHasLeftThem) {
  TestingFolder folder;
  EXPECT_EQ(Counters::left_at(folder.path("counters")).error().code, Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder.path("counters"))) << "nothing is made";
  {
    auto counters = *Counters::open(folder.path("counters"), "R", "E1", 2);
    add(counters->of(1, counters->series_of({.deployment = "d", .revision = "r"})).requests, 3);
    EXPECT_EQ(counters->next_sequence(), 1U);
  }
  auto left = *Counters::left_at(folder.path("counters"));
  EXPECT_EQ(left->router(), "R");
  EXPECT_EQ(left->epoch(), "E1");
  EXPECT_EQ(left->next_sequence(), 2U);
  ASSERT_EQ(left->series(), 1U);
  EXPECT_EQ(left->total(0).requests, 3U);
  std::ofstream(folder.path("other")) << "something else";
  EXPECT_EQ(Counters::left_at(folder.path("other")).error().code, Code::conflict);
}

TEST(Counters, PutALatencyIntoItsBucket) {
  EXPECT_EQ(latency_bucket(0), 0U);
  EXPECT_EQ(latency_bucket(50), 0U);
  EXPECT_EQ(latency_bucket(51), 1U);
  EXPECT_EQ(latency_bucket(30'000'000), 28U);
  EXPECT_EQ(latency_bucket(30'000'001), 29U);
}

}  // namespace counters_test
}  // namespace sluice::router
