// Counts that outlive whoever counted.
#include "router/counters.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"
#include "router/report.h"

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

uint64_t taken_on_disk(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return static_cast<uint64_t>(found.st_blocks) * 512;
}

TEST(FirstWeek03, CountersHaveTheirRoomOnDiskBeforeAnythingIsCounted) {
  TestingFolder folder;
  auto counters = *Counters::open(folder.path("counters"), "R", "E1", 2);
  EXPECT_EQ(counters->trouble(), "");
  // The header, and of the first 32 series their names and a block for each of two threads.
  const uint64_t group = 32 * 512 + 2 * 32 * 384;
  EXPECT_GE(taken_on_disk(folder.path("counters")), 4'096 + group);
  for (int i = 0; i < 33; ++i) counters->series_of({.deployment = "d", .revision = std::to_string(i)});
  uint64_t before = taken_on_disk(folder.path("counters"));
  EXPECT_GE(before, 4'096 + 2 * group);
  for (uint32_t i = 0; i < 33; ++i) add(counters->of(i % 2, i).requests, 1);
  EXPECT_EQ(taken_on_disk(folder.path("counters")), before) << "counting takes no room";
}

TEST(FirstWeek03, CountersAreInMemoryWhereTheirFileCannotBeMade) {
  TestingFolder folder;
  int spare = *Counters::make_spare();
  {
    auto counters = *Counters::open(folder.path("none/counters"), "R", "E1", 1, spare);
    EXPECT_NE(counters->trouble().find("No such file"), std::string::npos) << counters->trouble();
    uint32_t series = counters->series_of({.deployment = "d", .revision = "r"});
    EXPECT_TRUE(counters->is_in_memory(series));
    add(counters->of(0, series).requests, 3);
    json::object usage = usage_of(*counters, "R");
    EXPECT_TRUE(usage.at("series").as_array().empty());
    EXPECT_EQ(usage.at("memory").at("epoch"), "E1-m");
    EXPECT_EQ(usage.at("memory").at("series").at(0).at("requests"), 3);
    EXPECT_EQ(usage.at("memory").at("error"), counters->trouble().c_str());
  }
  // The next worker has the same memory of its master, and stays there.
  std::filesystem::create_directories(folder.path("none"));
  auto counters = *Counters::open(folder.path("none/counters"), "R", "E2", 1, spare);
  ::close(spare);
  EXPECT_EQ(usage_of(*counters, "R").at("memory").at("sequence"), 2);
  EXPECT_EQ(counters->memory_epoch(), "E1-m");
  uint32_t series = counters->series_of({.deployment = "d", .revision = "r"});
  add(counters->of(0, series).requests, 1);
  EXPECT_EQ(counters->total(series).requests, 4U);
}

TEST(FirstWeek03, CountsGoOnWhenTheDiskFailsUnderThem) {
  TestingFolder folder;
  auto counters = *Counters::open(folder.path("counters"), "R", "E1", 1);
  counters->rescue_from_disk_faults();
  uint32_t series = counters->series_of({.deployment = "d", .revision = "r"});
  EXPECT_EQ(counters->trouble(), "");
  std::filesystem::resize_file(folder.path("counters"), 4'096);
  for (int i = 0; i < 5; ++i) add(counters->of(0, series).requests, 1);
  EXPECT_EQ(counters->total(series).requests, 5U);
  EXPECT_EQ(counters->trouble(), "the disk has failed to take them");
  ::signal(SIGBUS, SIG_DFL);
}

TEST(Counters, PutALatencyIntoItsBucket) {
  EXPECT_EQ(latency_bucket(0), 0U);
  EXPECT_EQ(latency_bucket(50), 0U);
  EXPECT_EQ(latency_bucket(51), 1U);
  EXPECT_EQ(latency_bucket(30'000'000), 28U);
  EXPECT_EQ(latency_bucket(30'000'001), 29U);
}

TEST(Counters, TwoWorkersCountInLanesOfTheirOwn) {
  TestingFolder folder;
  const int gauges = *Counters::make_gauges();
  auto open = [&](size_t lanes) { return Counters::open(folder.path("counters"), "R", "E1", lanes, -1, gauges); };
  auto first = open(2);
  ASSERT_TRUE(first);
  const uint32_t series = (*first)->series_of({.deployment = "d1", .revision = "r1"});
  {
    auto second = open(3);
    ASSERT_TRUE(second);
    EXPECT_EQ((*first)->first_lane(), 0U);
    EXPECT_EQ((*second)->first_lane(), 2U);
    ASSERT_EQ((*second)->series_of({.deployment = "d1", .revision = "r1"}), series);
    add((*first)->of(0, series).requests, 2);
    add((*second)->of(2, series).requests, 3);
    (*first)->gauge(1, series).in_flight = 1;
    (*second)->gauge(4, series).in_flight = 4;
    for (const auto* each : {&*first, &*second}) {
      EXPECT_EQ((*each)->total(series).requests, 5U);
      EXPECT_EQ((*each)->in_flight(series), 5U);
    }
    EXPECT_EQ(open(60).error().code, Code::conflict);
  }
  auto third = open(1);
  ASSERT_TRUE(third);
  EXPECT_EQ((*third)->first_lane(), 2U) << "the second is gone, and its lanes are free";
  EXPECT_EQ((*third)->in_flight(series), 1U) << "what it had under way has ended with it";
  EXPECT_EQ((*third)->total(series).requests, 5U);
  ::close(gauges);
}

}  // namespace counters_test
}  // namespace sluice::router
