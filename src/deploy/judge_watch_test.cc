// JudgeWatch on a clock of the test's, beside a router that counts what the test says.
#include "deploy/judge_watch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/series_watch.h"
#include "deploy/testing_rollouts.h"
#include "deploy/testing_router.h"

namespace sluice::deploy {
namespace judge_watch_test {

using testing::HasSubstr;

class JudgeWatchTest : public testing::Test {
 protected:
  struct Count {
    int64_t requests = 0, failed = 0, slow = 0;
  };
  static json::object revision(const std::string& id, const Count& count) {
    json::array latencies(30, 0);
    latencies[5] = count.requests - count.slow;
    latencies[20] = count.slow;
    return {{"id", id},
            {"weight_bps", 5'000},
            {"requests", count.requests},
            {"failed", count.failed},
            {"latency_counts", latencies}};
  }
  // A second in which the two get this much more.
  void second(const Count& canary, const Count& baseline) {
    canary_ = {canary_.requests + canary.requests, canary_.failed + canary.failed, canary_.slow + canary.slow};
    baseline_ = {baseline_.requests + baseline.requests, baseline_.failed + baseline.failed,
                 baseline_.slow + baseline.slow};
    router.count_revisions({revision("r2", canary_), revision("r1", baseline_)});
    clock.advance_ms(1'000);
    watch.look(tell);
  }
  std::string told(const char* field) {
    return reports.empty() ? "" : std::string(reports.back().at(field).as_string());
  }

  TestingFolder folder;
  RealDisk disk;
  ManualClock clock;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TestingRouter router{folder.path("router"), "main", key.public_key()};
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  RolloutRows rows{router.control()};
  MetricsReader metrics{disk, clock, [](const std::string&) { return std::nullopt; }};
  JudgeWatch watch{fleet, metrics, disk, clock, folder.path("judge")};
  std::vector<json::object> reports;
  lang::Observer::Tell tell = [this](const std::string& action, const json::object& input) {
    EXPECT_EQ(action, "Telemetry/report");
    reports.push_back(input);
  };
  Count canary_, baseline_;
};

TEST_F(JudgeWatchTest, AWorseOneIsReportedAtOnce) {
  rows.analyse(3'600);
  watch.compare(rows, tell);
  for (int i = 0; i < 10 && reports.empty(); ++i) second({100, 10, 0}, {100, 0, 0});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(told("verdict"), "unhealthy");
  EXPECT_EQ(told("analysis"), "a1");
  EXPECT_THAT(told("reason"), HasSubstr("shop@2 fails 10 % of requests, shop@1 0 %"));
  EXPECT_EQ(watch.seen(rows.kRollout.text())->obeyed_bps, 5'000);
}

TEST_F(JudgeWatchTest, AGoodOneIsReportedWhenTheWindowIsOver) {
  rows.analyse(30);
  watch.compare(rows, tell);
  for (int i = 0; i < 29; ++i) second({300, 0, 0}, {300, 0, 0});
  EXPECT_TRUE(reports.empty());
  second({300, 0, 0}, {300, 0, 0});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(told("verdict"), "healthy");
}

TEST_F(JudgeWatchTest, AWallClockThatJumpsMovesNoVerdict) {
  clock.set_wall_ms(1'800'000'000'000);
  rows.analyse(30);
  telemetry::State(rows.rows).edit(telemetry::TelemetryAId("a1"),
                                   [&](telemetry::TelemetryARecord& record) { record.since = {clock.wall_ms()}; });
  watch.compare(rows, tell);
  for (int i = 0; i < 29; ++i) {
    clock.set_wall_ms(clock.wall_ms() + (i % 2 == 0 ? 86'400'000 : -90'000'000));
    second({300, 0, 0}, {300, 0, 0});
  }
  EXPECT_TRUE(reports.empty()) << "a day forward is not the end of the window";
  second({300, 0, 0}, {300, 0, 0});
  ASSERT_EQ(reports.size(), 1U) << "nor does it begin again";
  EXPECT_EQ(told("verdict"), "healthy");
}

TEST_F(JudgeWatchTest, TooLittleIsSaidOnceAndThenWaitedFor) {
  watch.compare(rows, tell);
  for (int i = 0; i < 3; ++i) second({1, 0, 0}, {1, 0, 0});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(told("verdict"), "insufficientData");
  EXPECT_GT(reports.back().at("samplesNeeded").as_int64(), 100);
  telemetry::State(rows.rows).erase(telemetry::TelemetryAId("a1"));
  telemetry::State(rows.rows).put(
      telemetry::TelemetryAId("a2"),
      {.subject = "r2", .window = 3, .criteria = R"({"interval": 1, "warmUp": 0, "settle": 0})", .again = true});
  watch.compare(rows, tell);
  for (int i = 0; i < 100; ++i) second({1, 0, 0}, {1, 0, 0});
  EXPECT_EQ(reports.size(), 1U);
  for (int i = 0; i < 60 && reports.size() == 1; ++i) second({300, 0, 0}, {300, 0, 0});
  EXPECT_EQ(told("verdict"), "healthy") << "and then at once";
}

TEST_F(JudgeWatchTest, GoesOnWithItsEvidenceAfterAKill) {
  rows.analyse(3'600);
  watch.compare(rows, tell);
  for (int i = 0; i < 3; ++i) second({100, 10, 0}, {100, 0, 0});
  EXPECT_TRUE(reports.empty());
  const double against = watch.seen(rows.kRollout.text())->verdict->against;
  JudgeWatch again(fleet, metrics, disk, clock, folder.path("judge"));
  again.compare(rows, tell);
  EXPECT_EQ(again.seen(rows.kRollout.text())->verdict->against, against);
  EXPECT_GT(against, 1);
}

TEST_F(JudgeWatchTest, WhatWasKeptOfAnEndedRolloutIsForgottenAlsoByAnotherProcess) {
  rows.analyse(3'600);
  watch.compare(rows, tell);
  second({100, 0, 0}, {100, 0, 0});
  const std::string file = folder.path("judge") + "/" + rows.kRollout.text() + ".json";
  ASSERT_TRUE(disk.stat(file, FollowLinks::no));
  telemetry::State(rows.rows).erase(telemetry::TelemetryAId("a1"));
  JudgeWatch again(fleet, metrics, disk, clock, folder.path("judge"));
  again.compare(rows, tell);
  EXPECT_TRUE(disk.stat(file, FollowLinks::no)) << "the rollout may be between two steps";
  clock.advance_ms(600'000);
  again.compare(rows, tell);
  EXPECT_FALSE(disk.stat(file, FollowLinks::no));
}

TEST_F(JudgeWatchTest, ARouterThatBeganAgainAndOneOfOtherWeightsAreLeftOut) {
  rows.analyse(3'600);
  watch.compare(rows, tell);
  second({100, 0, 0}, {100, 0, 0});
  canary_ = baseline_ = {};
  second({5, 5, 0}, {5, 0, 0});
  EXPECT_EQ(watch.seen(rows.kRollout.text())->looks.back().canary.requests, 0) << "its counts went back";
  second({7, 0, 0}, {9, 0, 0});
  EXPECT_EQ(watch.seen(rows.kRollout.text())->looks.back().canary.requests, 7);
  json::object other = revision("r2", {500, 400, 0});
  other["weight_bps"] = 100;
  router.count_revisions({other, revision("r1", {500, 0, 0})});
  clock.advance_ms(1'000);
  watch.look(tell);
  EXPECT_EQ(watch.seen(rows.kRollout.text())->looks.back().canary.requests, 0);
  EXPECT_EQ(watch.seen(rows.kRollout.text())->obeyed_bps, 100);
}

TEST_F(JudgeWatchTest, ARouterThatIsSilentIsNamed) {
  rows.analyse(3'600);
  watch.compare(rows, tell);
  router.stop();
  for (int i = 0; i < 31 && reports.empty(); ++i) {
    clock.advance_ms(1'000);
    watch.look(tell);
  }
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(told("verdict"), "unavailable");
  EXPECT_EQ(told("endpoint"), "main");
  EXPECT_THAT(watch.seen(rows.kRollout.text())->silent, testing::ElementsAre("main"));
}

// Two rollouts are judged by a source that takes connections and says nothing.
TEST_F(JudgeWatchTest, ASourceThatDoesNotAnswerIsAskedOnceALook) {
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(silent, 8), 0);
  ::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const std::string criteria = R"({"interval": 1, "source": {"type": "webhook", "url": ")" + url + "\"}}";
  rows.in.deployment("d2", "other");
  rows.in.revision("r3", "d2", 1);
  rows.in.revision("r4", "d2", 2);
  rollout::State rollouts(rows.rows);
  rollout::RolloutRecord other = *rollouts.get(rows.kRollout);
  other.deployment = "d2";
  other.concept_ = "r4";
  other.baseline = "r3";
  rollouts.put(rollout::RolloutId("01J2000000000000000000000B"), other);
  telemetry::State analyses(rows.rows);
  for (auto [id, subject] : {std::pair("a1", "r2"), {"a2", "r4"}}) {
    analyses.put(telemetry::TelemetryAId(id), {.subject = subject, .window = 3'600, .criteria = criteria});
  }
  RealClock real;
  MetricsReader slow(disk, real, [](const std::string&) { return std::nullopt; });
  JudgeWatch both(fleet, slow, disk, clock, folder.path("judge"));
  both.compare(rows, tell);
  for (const char* each : {"01J2000000000000000000000A", "01J2000000000000000000000B"}) {
    EXPECT_THAT(both.seen(each)->trouble, HasSubstr("there was no answer within 2000 ms"));
  }
  int connections = 0;
  for (int one = 0; (one = ::accept(silent, nullptr, nullptr)) >= 0; ++connections) ::close(one);
  EXPECT_EQ(connections, 1);
  ::close(silent);
}

TEST_F(JudgeWatchTest, WithoutAnotherRevisionTheLimitsDecide) {
  rollout::State(rows.rows).edit(rows.kRollout, [](rollout::RolloutRecord& record) {
    record.weightBps = 5'000;
    record.criteria = R"({"interval": 1, "warmUp": 0, "settle": 0, "maxErrorRate": 0.01})";
    record.baseline.clear();
  });
  telemetry::State(rows.rows).edit(telemetry::TelemetryAId("a1"), [](telemetry::TelemetryARecord& record) {
    record.criteria = R"({"interval": 1, "warmUp": 0, "settle": 0, "maxErrorRate": 0.01})";
    record.window = -1;
  });
  watch.compare(rows, tell);
  for (int i = 0; i < 20 && reports.empty(); ++i) second({100, 10, 0}, {});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(told("verdict"), "unhealthy");
}

TEST_F(JudgeWatchTest, WithAllTrafficItIsJudgedByTheLastHourOfTheOneBefore) {
  SeriesWatch series(fleet, clock);
  series.compare(rows, tell);
  for (int i = 0; i < 120; ++i) {
    baseline_.requests += 20;
    router.count_revisions({revision("r2", canary_), revision("r1", baseline_)});
    clock.advance_ms(1'000);
    series.look(tell);
  }
  // It changes over at once, so that nothing was counted of the two beside each other.
  rollout::State(rows.rows).edit(rows.kRollout, [](rollout::RolloutRecord& record) {
    record.weightBps = 10'000;
    record.status = rollout::RolloutStatus::watching;
  });
  telemetry::State(rows.rows).edit(telemetry::TelemetryAId("a1"),
                                   [](telemetry::TelemetryARecord& record) { record.window = -1; });
  json::object all = revision("r2", canary_);
  int tried = 0;
  auto judged = [&](const SeriesWatch* past) {
    reports.clear();
    JudgeWatch one(fleet, metrics, disk, clock, folder.path("judge" + std::to_string(tried++)), past);
    one.compare(rows, tell);
    for (int i = 0; i < 60 && reports.empty(); ++i) {
      canary_.requests += 20;
      canary_.failed += 4;
      all = revision("r2", canary_);
      all["weight_bps"] = 10'000;
      router.count_revisions({all});
      clock.advance_ms(1'000);
      one.look(tell);
    }
    return one.seen(rows.kRollout.text())->verdict->sentence;
  };
  EXPECT_THAT(judged(nullptr), HasSubstr("shop@2 fails 20 % of requests, more than the 0.83 % of last_hour_errors"))
      << "a process that has just begun goes by all that the router knows";
  EXPECT_EQ(told("verdict"), "unhealthy");
  EXPECT_EQ(judged(nullptr),
            "Undecided, and more requests will not help: no limit was set, and shop@1 had fewer than 100 requests in "
            "its last hour to take limits from.")
      << "the router knows nothing of it any more";
  EXPECT_TRUE(reports.empty());
  EXPECT_THAT(judged(&series), HasSubstr("shop@2 fails 20 % of requests, more than the 0.50 % of last_hour_errors"));
  EXPECT_EQ(told("verdict"), "unhealthy");
}

}  // namespace judge_watch_test
}  // namespace sluice::deploy
