// Sources that answer as Prometheus's documentation and docs/guide/judge.md say, and those that do not.
#include "deploy/metrics_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "base/json.h"
#include "deploy/rollout_criteria.h"
#include "deploy/testing_markers.h"
#include "router/counters.h"

namespace sluice::deploy {
namespace metrics_source_test {

using testing::HasSubstr;

std::string vector_of(const std::string& results) {
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + results + "]}}";
}

struct MetricsSourceTest : testing::Test {
  Result<MeasuredTotals> totals(const std::string& latency = "") {
    return reader.totals({.type = "prometheus",
                          .url = server.url() + "/",
                          .requests = "requests{v=\"$revision\"}",
                          .failed = "failed{v=\"$name\",d=\"$deployment\"}",
                          .latency = latency},
                         rollout);
  }
  Result<MeasuredTotals> totals_of_pack_here() {
    return reader.totals({.type = "pack", .pack = "acme.telemetry.file@1.0.0"}, rollout);
  }
  std::string trouble(const std::string& latency = "") { return totals(latency).error().message; }

  RealClock clock;
  RealDisk disk;
  MarkerServer server;
  MetricsReader reader{disk, clock, [](const std::string&) { return std::nullopt; }};
  MeasuredRollout rollout{.rollout = "o1",
                          .deployment = "d1",
                          .environment = "local",
                          .canary = {"r2", "shop@2"},
                          .baseline = {"r1", "shop@1"}};
};

TEST_F(MetricsSourceTest, PrometheusIsAskedForEachRevision) {
  server.body = vector_of(R"({"metric":{},"value":[1700000000.1,"42"]})");
  auto counted = totals();
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->canary.requests, 42);
  EXPECT_EQ(counted->baseline.failed, 42);
  ASSERT_EQ(server.requests.size(), 4U);
  EXPECT_EQ(server.requests[0].path, (std::vector<std::string>{"api", "v1", "query"}));
  EXPECT_EQ(*server.requests[0].parameter("query"), "requests{v=\"r2\"}");
  EXPECT_EQ(*server.requests[1].parameter("query"), "failed{v=\"shop@2\",d=\"d1\"}");
  EXPECT_EQ(*server.requests[2].parameter("query"), "requests{v=\"r1\"}");
}

struct OnePack final : PackHealth {
  std::string health(const std::string&) const override { return ""; }
  ToolProbe probe(const ToolQuestion&) const override { return {}; }
  Result<json::object> query(const std::string& kind, const std::string& action, const json::object& input,
                             int64_t) const override {
    asked = kind + " " + action + " " + std::string(input.at("canary").at("name").as_string());
    return fields;
  }
  mutable std::string asked;
  Result<json::object> fields = Error{.code = Code::unavailable, .message = "it has ended"};
};

TEST_F(MetricsSourceTest, APackIsAskedWhatItHasMeasured) {
  OnePack pack;
  const MetricsReader with(
      disk, clock, [](const std::string&) { return std::nullopt; }, &pack);
  const MetricsSource source{.type = "pack", .pack = "acme.telemetry.file@1.0.0"};
  EXPECT_EQ(fault_of_source(source), "");
  EXPECT_EQ(with.totals(source, rollout).error().message, "it has ended");
  pack.fields =
      json::object{{"canary", {{"requests", 10}, {"failed", 1}}}, {"baseline", {{"requests", 90}, {"failed", 0}}}};
  auto counted = with.totals(source, rollout);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->canary.failed, 1);
  EXPECT_EQ(counted->baseline.requests, 90);
  EXPECT_EQ(pack.asked, "acme.telemetry.file@1.0.0 measure shop@2");
  pack.fields = json::object{{"canary", "many"}};
  EXPECT_THAT(with.totals(source, rollout).error().message, HasSubstr("something else than counts"));
  EXPECT_THAT(fault_of_source({.type = "pack", .pack = "nonsense"}), HasSubstr("source: `pack` names a pack"));
  EXPECT_THAT(totals_of_pack_here().error().message, HasSubstr("no packs are here"));
}

TEST_F(MetricsSourceTest, NothingCountedYetIsZeroAndNoNumberStaysNone) {
  server.body = vector_of("");
  EXPECT_EQ(totals()->canary.requests, 0);
  server.body = vector_of(R"({"metric":{},"value":[1,"NaN"]})");
  EXPECT_TRUE(std::isnan(totals()->canary.requests)) << "the judge leaves such a window out";
}

TEST_F(MetricsSourceTest, BucketsUpToAnEndBecomeCountsInBetween) {
  server.says = [](const http::Request& request) {
    if (*request.parameter("query") != "l") return vector_of(R"({"metric":{},"value":[1,"10"]})");
    return vector_of(R"({"metric":{"le":"+Inf"},"value":[1,"10"]},{"metric":{"le":"0.1"},"value":[1,"8"]},)"
                     R"({"metric":{"le":"0.01"},"value":[1,"5"]})");
  };
  auto counted = totals("l");
  ASSERT_TRUE(counted) << counted.error().message;
  const auto& ends = ::sluice::router::kLatencyEnds_us;
  const std::vector<double>& latencies = counted->canary.latencies;
  EXPECT_EQ(latencies[static_cast<size_t>(std::ranges::find(ends, 10'000U) - ends.begin())], 5);
  EXPECT_EQ(latencies[static_cast<size_t>(std::ranges::find(ends, 100'000U) - ends.begin())], 3);
  EXPECT_EQ(latencies.back(), 2);
  server.says = nullptr;
  server.body = vector_of(R"({"metric":{},"value":[1,"10"]})");
  EXPECT_THAT(trouble("l"), HasSubstr("it answered no buckets to the latency query"));
}

TEST_F(MetricsSourceTest, WhatPrometheusRefusesIsSaid) {
  server.status = 400;
  server.body = R"({"status":"error","errorType":"bad_data","error":"unknown function"})";
  EXPECT_EQ(trouble(), "it refused requests{v=\"r2\"}: unknown function");
  server.body = "oh no";
  EXPECT_EQ(trouble(), "it answered 400");
  server.status = 200;
  EXPECT_EQ(trouble(), "it answered no JSON");
  server.body = R"({"status":"success","data":{"resultType":"matrix","result":[]}})";
  EXPECT_THAT(trouble(), HasSubstr("it answered no instant vector"));
  server.body = vector_of(R"({"metric":{"a":"1"},"value":[1,"1"]},{"metric":{"a":"2"},"value":[1,"2"]})");
  EXPECT_EQ(trouble(), "it answered several series to requests{v=\"r2\"}; write sum(…)");
  server.body = R"({"status":"success","data":{}})";
  EXPECT_EQ(trouble(), "it answered in a form that Prometheus does not have");
}

TEST_F(MetricsSourceTest, ASlowPrometheusIsNotWaitedFor) {
  std::promise<void> over;
  server.says = [ended = over.get_future().share()](const http::Request&) {
    ended.wait();
    return std::string();
  };
  EXPECT_THAT(trouble(), HasSubstr("there was no answer within 2000 ms"));
  over.set_value();
}

TEST_F(MetricsSourceTest, AWebhookAnswersCounts) {
  const MetricsSource source{.type = "webhook", .url = server.url() + "/counts"};
  server.body = R"({"canary":{"requests":10,"failed":1,"latencies":[{"le_ms":100,"count":9},{"le_ms":10,"count":4}]},
                    "baseline":{"requests":90,"failed":0}})";
  auto counted = reader.totals(source, rollout);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->canary.failed, 1);
  EXPECT_EQ(counted->baseline.requests, 90);
  double all = 0;
  for (double each : counted->canary.latencies) all += each;
  EXPECT_EQ(all, 9);
  EXPECT_EQ(counted->canary.latencies.size(), ::sluice::router::kLatencyEnds_us.size() + 1);
  EXPECT_EQ(server.requests[0].method, "POST");
  EXPECT_EQ(parse_json(server.requests[0].body)->root.at("canary").at("name"), json::value("shop@2"));
  server.body = R"({"canary":{"requests":"many"}})";
  EXPECT_THAT(reader.totals(source, rollout).error().message, HasSubstr("something else than counts"));
}

TEST(Criteria, ASourceThatCannotBeAskedIsRefused) {
  auto refused = [](const std::string& source) {
    auto criteria = parse_criteria(R"({"source": )" + source + "}");
    return criteria ? std::string() : criteria.error().message;
  };
  EXPECT_EQ(refused(R"({"type": "graphite", "url": "http://a.example"})"),
            "criteria: source: there is no type graphite; it is prometheus, webhook or pack");
  EXPECT_EQ(refused(R"({"type": "webhook", "url": "a.example"})"),
            "criteria: source: the url is http:// or https://, not a.example");
  EXPECT_EQ(refused(R"({"type": "prometheus", "url": "http://a.example", "requests": "r"})"),
            "criteria: source: prometheus needs two queries, requests and failed");
  EXPECT_EQ(refused(R"({"type": "webhook", "url": "http://a.example", "key": "abc"})"),
            "criteria: source: a key is read from env:NAME or file:/PATH; its value is never given");
  EXPECT_EQ(refused(R"({"type": "webhook", "url": "http://a.example"})"), "");
}

}  // namespace metrics_source_test
}  // namespace sluice::deploy
