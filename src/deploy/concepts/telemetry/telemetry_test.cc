// Telemetry through the harness: which analyses are open, and where telemetry goes.
#include <gtest/gtest.h>

#include "deploy/testing_markers.h"
#include "lang/run/harness.h"
#include "telemetry.gen.h"

namespace sluice::deploy::telemetry {

void prepare(lang::Harness&) {}

namespace telemetry_test {

class TelemetryTest : public testing::Test {
 protected:
  std::string refused(const Configure& ask) { return harness.invoke(ask).as<Configure::Invalid>().message; }
  auto mark(const std::string& status, const std::string& deploy = "r1/1") {
    return harness.invoke(
        DeployMarker{.kit = "shop", .version = "2.0.0", .environment = "local", .status = status, .deploy = deploy});
  }
  TelemetryMRecord kept(const TelemetryMId& id) { return *State(harness.rows()).get(id); }

  lang::Harness harness{telemetry_binding()};
};

TEST_F(TelemetryTest, AnAnalysisIsOpenUntilItIsAnswered) {
  const Analyze ask{.concept_ = "r2", .window = 5, .criteria = "{}"};
  for (const lang::Completion& answer :
       {lang::Completion{"ok",
                         {{"healthy", true}, {"reason", ""}, {"errorRate", 0.0}, {"latencyP99", 3}, {"sampleSize", 9}}},
        lang::Completion{"insufficientData",
                         {{"concept", "r2"}, {"samplesFound", 3}, {"samplesNeeded", 900}, {"reason", ""}}},
        lang::Completion{"backendUnavailable", {{"endpoint", "main"}, {"reason", ""}}}}) {
    harness.answer_with(answer);
    EXPECT_EQ(lang::to_text(harness.invoke(ask).ending()).substr(0, answer.variant.size()), answer.variant);
    EXPECT_TRUE(harness.invoke(Open{}).as<Open::Ok>().analyses.empty());
  }
}

TEST_F(TelemetryTest, OnlyAnOpenAnalysisTakesAVerdict) {
  const TelemetryAId id = State(harness.rows()).add(TelemetryARecord{.subject = "r2", .window = 5});
  ASSERT_EQ(harness.invoke(Open{}).as<Open::Ok>().analyses.size(), 1U);
  EXPECT_EQ(harness.invoke(Open{}).as<Open::Ok>().analyses[0].concept_, "r2");
  EXPECT_TRUE(harness.invoke(Report{.analysis = id, .verdict = TelemetryVerdict::healthy}).is<Report::Ok>());
  EXPECT_EQ(harness.invoke(Report{.analysis = TelemetryAId("none")}).as<Report::Closed>().message,
            "no analysis none is open");
}

TEST_F(TelemetryTest, ConfigureRefusesWhatNobodyCanSendTo) {
  EXPECT_EQ(refused({.concept_ = "*", .endpoint = "otel.example"}),
            "the endpoint is an http:// or https:// URL, not otel.example");
  EXPECT_EQ(refused({.concept_ = "*", .endpoint = "http://otel.example", .samplingRate = 2}),
            "the sampling rate is a share, 0 to 1");
  EXPECT_EQ(refused({.concept_ = "*", .endpoint = "http://otel.example", .provider = "fax"}),
            "there is no provider fax; it is otlp, grafana or datadog");
  EXPECT_EQ(refused({.concept_ = "*", .endpoint = "http://otel.example", .key = "secret"}),
            "a key is read from env:NAME or file:/PATH; its value is never given");
  EXPECT_EQ(refused({.concept_ = "*", .endpoint = "http://otel.example", .key = "env:TOKEN", .caller = "user:ann"}),
            "only the home's owner may name a key; without one, requests to a host carry what the owner has put into "
            "keys/backends/HOST of the home");
  EXPECT_EQ(refused({.concept_ = "*", .endpoint = "http://otel.example", .propagation = "b3"}),
            "there is no propagation b3; it is w3c or none");
}

TEST_F(TelemetryTest, RemoveForgetsWhereTelemetryGoes) {
  auto config =
      harness.invoke(Configure{.concept_ = "*", .endpoint = "http://otel.example"}).as<Configure::Ok>().config;
  EXPECT_TRUE(harness.invoke(Remove{.config = config}).is<Remove::Ok>());
  EXPECT_EQ(harness.invoke(Remove{.config = config}).as<Remove::NotFound>().message,
            "telemetry goes to no " + config.text());
}

TEST_F(TelemetryTest, AManifestSaysWhereTelemetryOfItsEnvironmentGoes) {
  auto adopt = [&](const std::string& configs) {
    EXPECT_TRUE(harness.invoke(Adopt{.app = "shop", .environment = "local", .configs = configs}).is<Adopt::Ok>());
    std::vector<TelemetryFound> all;
    for (const auto& each : State(harness.rows()).all()) all.push_back(each);
    return all;
  };
  harness.invoke(Configure{.concept_ = "*", .endpoint = "http://by-hand.example", .environment = "prod"});
  const std::string otlp = R"({"provider": "otlp", "endpoint": "http://otel.example", "samplingRate": 0.5, "key": "",
      "propagation": "none", "conceptSpans": false, "syncSpans": true, "markers": false})";
  const std::string grafana = R"({"provider": "grafana", "endpoint": "http://grafana.example", "samplingRate": 1,
      "key": "env:KEY", "propagation": "w3c", "conceptSpans": true, "syncSpans": true, "markers": true})";
  adopt("[" + otlp + "," + grafana + "]");
  ASSERT_EQ(adopt("[" + otlp + "," + grafana + "]").size(), 3U) << "once each";
  auto kept = adopt("[" + otlp + "]");
  ASSERT_EQ(kept.size(), 2U) << "what the manifest says no more is gone";
  for (const auto& each : kept) {
    if (each.record.scope != "local") continue;
    EXPECT_EQ(each.record.target, "*");
    EXPECT_EQ(each.record.endpoint, "http://otel.example");
    EXPECT_EQ(each.record.samplingRate, 0.5);
    EXPECT_EQ(each.record.propagation, "none");
    EXPECT_EQ(each.record.conceptSpans, false);
    EXPECT_EQ(each.record.marked, false);
  }
  kept = adopt("[]");
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].record.endpoint, "http://by-hand.example") << "what somebody has said stays";
}

TEST_F(TelemetryTest, AMarkerIsKeptAlsoIfNobodyIsToldOfIt) {
  auto first = mark("started").as<DeployMarker::Ok>().marker;
  EXPECT_EQ(kept(first).kit, "shop");
  EXPECT_FALSE(kept(first).sentAt);
  EXPECT_EQ(mark("started").as<DeployMarker::Ok>().marker, first) << "the same deployment and status is one marker";
  EXPECT_NE(mark("completed").as<DeployMarker::Ok>().marker, first);
}

TEST_F(TelemetryTest, AMarkerIsSentToEachBackendOnce) {
  RealClock clock;
  RealDisk disk;
  MarkerOutlet outlet(disk, clock, [](const std::string&) { return std::nullopt; });
  harness.tools().add(outlet);
  MarkerServer well, away;
  away.status = 503;
  for (auto [server, provider] : {std::pair(&well, "otlp"), {&away, "grafana"}}) {
    harness.invoke(Configure{.concept_ = "shop", .endpoint = server->url(), .provider = provider}).as<Configure::Ok>();
  }
  auto failed = mark("started").as<DeployMarker::BackendUnavailable>();
  EXPECT_EQ(failed.endpoint, away.url());
  EXPECT_EQ(failed.reason, "grafana: it answered 503");
  EXPECT_EQ(kept(failed.marker).trouble, away.url() + ": grafana: it answered 503");
  away.status = 200;
  EXPECT_EQ(mark("started").as<DeployMarker::Ok>().marker, failed.marker);
  EXPECT_TRUE(kept(failed.marker).sentAt);
  EXPECT_EQ(well.requests.size(), 1U);
  EXPECT_EQ(away.requests.size(), 2U);
}

TEST_F(TelemetryTest, ConfigureKeepsOneOfEachKind) {
  const Configure otlp{.concept_ = "*", .endpoint = "http://otel.example", .samplingRate = 0.5};
  Configure grafana = otlp;
  grafana.provider = "grafana";
  auto first = harness.invoke(otlp).as<Configure::Ok>().config;
  EXPECT_NE(harness.invoke(grafana).as<Configure::Ok>().config, first);
  EXPECT_EQ(harness.invoke(otlp).as<Configure::Ok>().config, first);
}

}  // namespace telemetry_test
}  // namespace sluice::deploy::telemetry
