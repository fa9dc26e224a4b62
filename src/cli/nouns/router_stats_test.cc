// The table of a router, once and between two looks; that it is drawn on a terminal is tested end to end.
#include "cli/nouns/router_stats.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_context.h"

namespace sluice::cli {
namespace router_stats_test {

json::object revision(const std::string& id, int64_t weight_bps, int64_t requests, int64_t bad = 0) {
  json::array latencies(::sluice::router::kLatencyBuckets, 0);
  latencies[::sluice::router::latency_bucket(100)] = requests;
  return {{"id", id},
          {"state", "ready"},
          {"weight_bps", weight_bps},
          {"requests", requests},
          {"in_flight", 2},
          {"websockets", 1},
          {"status", json::object{{"2xx", requests - bad}, {"4xx", 3}, {"5xx", bad}}},
          {"latency_counts", std::move(latencies)},
          {"replicas", json::array{json::object{{"address", "a"}, {"ejected", false}},
                                   json::object{{"address", "b"}, {"ejected", bad > 0}}}}};
}

RouterSeen seen(json::array revisions, const std::string& status = "active") {
  return seen_in({{"generation", 7},
                  {"connections", 1},
                  {"threads", 2},
                  {"quarantined", json::array()},
                  {"deployments",
                   json::array{json::object{{"id", "d1"}, {"status", status}, {"revisions", std::move(revisions)}}}}});
}

const NamesOfRevisions kNames = {{"r1", {"hello", "hello@1"}}, {"r2", {"hello", "hello@2"}}};

TEST(RouterStats, ShowWhatPassedSinceTheCountersBegan) {
  EXPECT_EQ(stats_text(seen({revision("r2", 1'000, 10, 4), revision("r1", 9'000, 30)}), kNames, {}),
            "generation 7, 1 connection, 2 threads\n"
            "DEPLOYMENT  REVISION  WEIGHT  SHARE  REQUESTS  FLIGHT  WS  4XX  5XX   P50   P99  REPLICAS\n"
            "hello       hello@2      10%    25%        10       2   1    3    4  75us  99us    1 of 2\n"
            "hello       hello@1      90%    75%        30       2   1    3    -  75us  99us         2\n");
  EXPECT_EQ(stats_text(seen({}), kNames, {}), "generation 7, 1 connection, 2 threads\nNo deployments yet.\n");
}

TEST(RouterStats, BetweenTwoLooksAreRatesSharesAndLatenciesOfThatTime) {
  RouterSeen before = seen({revision("r2", 1'000, 10), revision("r1", 9'000, 30)});
  RouterSeen now = seen({revision("r2", 1'000, 15), revision("r1", 9'000, 30)});
  EXPECT_EQ(live_text(now, {&before, 2.0}, kNames, {}),
            "generation 7, 1 connection, 2 threads\n"
            "DEPLOYMENT  REVISION  WEIGHT  SHARE  REQ/S  FLIGHT  WS  4XX  5XX   P50   P99  REPLICAS\n"
            "hello       hello@2      10%   100%    2.5       2   1    3    -  75us  99us         2\n"
            "hello       hello@1      90%     0%    0.0       2   1    3    -     -     -         2\n");
  EXPECT_EQ(live_text(now, {}, kNames, {}),
            "generation 7, 1 connection, 2 threads\n"
            "DEPLOYMENT  REVISION  WEIGHT  SHARE  REQ/S  FLIGHT  WS  4XX  5XX  P50  P99  REPLICAS\n"
            "hello       hello@2      10%      -      -       2   1    3    -    -    -         2\n"
            "hello       hello@1      90%      -      -       2   1    3    -    -    -         2\n");
}

TEST(RouterStats, CountersThatBeganAnewAndRevisionsThatAreNewCountFromNothing) {
  RouterSeen before = seen({revision("r1", 10'000, 500)});
  std::string text = live_text(seen({revision("r2", 0, 6), revision("r1", 10'000, 4)}), {&before, 1.0}, kNames, {});
  EXPECT_NE(text.find("hello@2       0%    60%    6.0"), std::string::npos) << text;
  EXPECT_NE(text.find("hello@1     100%    40%    4.0"), std::string::npos) << text;
}

TEST(RouterStats, PausedDrainingAndUnknown) {
  json::object draining = revision("01JABCDEFGHJKMNPQRSTVWXYZ0", 0, 0);
  draining["state"] = "draining";
  RouterSeen now = seen({draining}, "paused");
  EXPECT_NE(stats_text(now, kNames, {}).find("d1, paused  01JABCDEFGHJKMNPQRSTVWXYZ0  draining"), std::string::npos);
  EXPECT_NE(stats_text(now, kNames, {.tty = true, .width = 100}).find("d1, paused  STVWXYZ0  draining"),
            std::string::npos)
      << "on a terminal as much of an id as commands take";
  now.quarantined = {"d2, it is odd"};
  EXPECT_NE(stats_text(now, kNames, {}).find("\nquarantined: d2, it is odd\n"), std::string::npos);
}

TEST(RouterStats, FitAHundredColumns) {
  RouterSeen now = seen({revision("r2", 9'900, 1'234'567, 12'345)});
  std::string text = stats_text(now, kNames, {.tty = true, .width = 100});
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    EXPECT_LE(display_width(text.substr(at, text.find('\n', at) - at)), 100U) << text;
  }
  EXPECT_EQ(text.find("…"), std::string::npos) << text;
}

TEST(RouterStats, AreDrawnOverWhatStandsThereAndCutToTheScreen) {
  EXPECT_EQ(over_screen("a\nb\n", 24), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
  EXPECT_EQ(over_screen("1\n2\n3\n4\n", 4), "\x1b[H1\x1b[K\n2\x1b[K\n… 2 more\x1b[K\n\x1b[J");
  EXPECT_EQ(over_screen("1\n2\n3\n", 4), "\x1b[H1\x1b[K\n2\x1b[K\n3\x1b[K\n\x1b[J");
}

TEST(RouterStats, AHomeWithoutAStoreKnowsNoNames) {
  TestingContext world({});
  EXPECT_TRUE(names_of_revisions(world.context).empty());
}

TEST(RouterStats, WatchingARouterThatIsNotThereFails) {
  TestingContext world({});
  auto none = [] { return Result<json::object>(Error{.message = "no router listens"}); };
  EXPECT_EQ(watch_router(world.context, "main", 1'000, none).error().message, "no router listens");
  EXPECT_EQ(world.out.str(), "");
}

}  // namespace router_stats_test
}  // namespace sluice::cli
