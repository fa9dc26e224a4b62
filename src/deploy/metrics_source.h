// Counts of a rollout's two revisions from somewhere else than the routers: a Prometheus, asked in PromQL, a webhook,
// or a pack. The criteria of a rollout name the source:
//
//   "source": {"type": "prometheus", "url": "http://prometheus.example:9090",
//              "requests": "sum(http_requests_total{revision=\"$revision\"})",
//              "failed": "sum(http_requests_total{revision=\"$revision\",code=~\"5..\"})",
//              "latency": "sum by (le) (http_request_duration_seconds_bucket{revision=\"$revision\"})"}
//
// $revision is the revision's id, $name its name (shop@2), $deployment the deployment's id. Each query gives one number
// that only grows; `latency` gives one for each `le`, in seconds. A webhook is sent the two revisions and answers the
// same counts; a pack is asked its query `measure` with the same (docs/guide/judge.md).
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "base/terminal.h"
#include "deploy/pack_health.h"
#include "judge/counts.h"

namespace sluice::deploy {

struct MetricsSource {
  std::string type;
  std::string url;
  std::string requests;
  std::string failed;
  std::string latency;
  std::string key;   // "env:NAME" or "file:/PATH": a bearer token; empty: the host's
  std::string pack;  // "acme.telemetry.file@1.0.0"
  static constexpr std::string_view kDefaulted[] = {"url", "requests", "failed", "latency", "key", "pack"};

  // What people call it.
  const std::string& name() const { return type == "pack" ? pack : url; }
};
BOOST_DESCRIBE_STRUCT(MetricsSource, (), (type, url, requests, failed, latency, key, pack))

// What is wrong with it; empty if it may be asked.
std::string fault_of_source(const MetricsSource& source);

// The two revisions that are asked about.
struct MeasuredSide {
  std::string revision;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(MeasuredSide, (), (revision, name))

struct MeasuredRollout {
  std::string rollout;
  std::string deployment;
  std::string environment;
  MeasuredSide canary;
  MeasuredSide baseline;  // empty: nothing serves beside it
};
BOOST_DESCRIBE_STRUCT(MeasuredRollout, (), (rollout, deployment, environment, canary, baseline))

// Since the counters began; latencies by bucket of router/counters.h.
struct MeasuredTotals {
  judge::Counts canary;
  judge::Counts baseline;
};

class MetricsReader {
 public:
  // All must outlive it; `keys` is the folder of hosts' keys (telemetry_backends.h).
  MetricsReader(Disk& disk, const Clock& clock, Variables variables, const PackHealth* packs = nullptr,
                std::string keys = "")
      : disk_(disk), clock_(clock), variables_(std::move(variables)), packs_(packs), keys_(std::move(keys)) {}

  // An error says why there are no counts.
  Result<MeasuredTotals> totals(const MetricsSource& source, const MeasuredRollout& rollout) const;

 private:
  Result<std::string> send(const MetricsSource& source, const std::string& method, const std::string& url,
                           const std::string& body) const;
  Result<judge::Counts> prometheus_counts(const MetricsSource& source, const MeasuredRollout& rollout,
                                          const MeasuredSide& side) const;
  Result<MeasuredTotals> webhook_totals(const MetricsSource& source, const MeasuredRollout& rollout) const;
  Result<MeasuredTotals> pack_totals(const MetricsSource& source, const MeasuredRollout& rollout) const;

  Disk& disk_;
  const Clock& clock_;
  Variables variables_;
  const PackHealth* packs_;
  std::string keys_;
};

}  // namespace sluice::deploy
