// SeriesWatch on a clock of the test's, beside a router that counts what the test says.
#include "deploy/series_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_rollouts.h"
#include "deploy/testing_router.h"

namespace sluice::deploy {
namespace series_watch_test {

class SeriesWatchTest : public testing::Test {
 protected:
  void look_after_ms(int64_t passed_ms, int64_t requests, int64_t failed = 0) {
    json::array latencies(30, 0);
    latencies[12] = requests;  // between 7.5 and 10 ms
    router.count_revisions({json::object{{"id", "r1"},
                                         {"weight_bps", 10'000},
                                         {"requests", requests},
                                         {"failed", failed},
                                         {"latency_counts", latencies}}});
    clock.advance_ms(passed_ms);
    watch.look(nobody);
  }

  TestingFolder folder;
  RealDisk disk;
  ManualClock clock{1'000'000'000};  // a whole minute is at 1'000'020 s
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TestingRouter router{folder.path("router"), "main", key.public_key()};
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  RolloutRows rows{router.control()};
  lang::Observer::Tell nobody = [](const std::string&, const json::object&) { FAIL() << "it only looks"; };
  SeriesWatch watch{fleet, clock};
};

TEST_F(SeriesWatchTest, TellsWhatCameBetweenTwoLooks) {
  watch.compare(rows, nobody);
  look_after_ms(1'000, 500);
  EXPECT_TRUE(watch.since("r1", 0, 1).empty()) << "how long the first counts took nobody knows";
  look_after_ms(1'000, 600, 3);
  look_after_ms(1'000, 600, 3);
  const auto seconds = watch.since("r1", 0, 1);
  ASSERT_EQ(seconds.size(), 2U);
  const CountedSpan& first = seconds.at(1'000'002);
  EXPECT_EQ(first.requests, 100);
  EXPECT_EQ(first.failed, 3);
  EXPECT_EQ(first.span_ms, 1'000);
  EXPECT_NEAR(first.quantile_ms(0.5).value(), 8.75, 0.001);
  EXPECT_EQ(seconds.at(1'000'003).requests, 0) << "a quiet second is counted";
  EXPECT_EQ(watch.last_minute("r1"), 100);
  EXPECT_EQ(watch.since("r1", 0, 60).at(999'960).requests, 100);
  EXPECT_TRUE(watch.since("r2", 0, 1).empty());
}

TEST_F(SeriesWatchTest, LeavesOutWhatNoSecondCanBeMadeOf) {
  watch.compare(rows, nobody);
  look_after_ms(1'000, 500);
  look_after_ms(1'000, 510);
  look_after_ms(10'000, 900);  // it was silent: 390 requests of ten seconds are no peak
  EXPECT_EQ(watch.since("r1", 0, 1).size(), 1U);
  look_after_ms(1'000, 20);  // it began again
  EXPECT_EQ(watch.since("r1", 0, 1).size(), 1U);
  look_after_ms(1'000, 30);
  EXPECT_EQ(watch.last_minute("r1"), 20);
}

TEST_F(SeriesWatchTest, ARouterThatDoesNotAnswerLeavesAGap) {
  watch.compare(rows, nobody);
  look_after_ms(1'000, 1);
  look_after_ms(1'000, 2);
  router.stop(false);
  clock.advance_ms(1'000);
  watch.look(nobody);
  EXPECT_EQ(watch.since("r1", 0, 1).size(), 1U);
}

TEST(RequestSeries, KeepsSecondsForMinutesAndMinutesForADay) {
  RequestSeries series;
  const int64_t begin_s = 1'200'000'000;
  const int64_t days_s = 2 * 86'400;
  for (int64_t at_s = begin_s; at_s < begin_s + days_s; ++at_s) {
    series.add({.at_s = at_s, .span_ms = 1'000, .requests = 2, .failed = 1});
  }
  EXPECT_EQ(series.since(0, 1).size(), static_cast<size_t>(RequestSeries::kSeconds));
  const auto minutes = series.since(0, 60);
  ASSERT_EQ(minutes.size(), static_cast<size_t>(RequestSeries::kMinutes));
  EXPECT_EQ(minutes.begin()->first, begin_s + 86'400);
  EXPECT_EQ(minutes.begin()->second.requests, 120);
  EXPECT_EQ(series.since(begin_s + days_s - 20, 5).size(), 4U);
  EXPECT_EQ(series.since(0, 600).begin()->second.failed, 600);
}

TEST_F(SeriesWatchTest, TheQuietestMakesRoom) {
  watch.compare(rows, nobody);
  json::array revisions;
  auto count = [&](int64_t more) {
    for (json::value& each : revisions) each.at("requests").as_int64() += more;
    router.count_revisions(revisions);
    clock.advance_ms(1'000);
    watch.look(nobody);
  };
  for (size_t i = 0; i < SeriesWatch::kMostSeries; ++i) {
    revisions.push_back(
        json::object{{"id", "s" + std::to_string(i)}, {"weight_bps", 1}, {"requests", 0}, {"failed", 0}});
  }
  count(0);
  count(1);
  EXPECT_EQ(watch.last_minute("s0"), 1);
  revisions = {json::object{{"id", "late"}, {"weight_bps", 1}, {"requests", 0}, {"failed", 0}}};
  count(7);
  EXPECT_EQ(watch.last_minute("late"), 7);
  EXPECT_EQ(watch.last_minute("s0"), 0) << "all were as quiet, and it is the first";
  EXPECT_EQ(watch.last_minute("s1"), 1);
}

}  // namespace series_watch_test
}  // namespace sluice::deploy
