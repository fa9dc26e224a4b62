// What the router says of itself: stats and usage for the control socket, metrics for Prometheus.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/document.h"
#include "router/counters.h"
#include "router/table/bounds_keeper.h"
#include "router/table/table.h"
#include "router/worker_thread.h"

namespace sluice::router {

// All that a report is made of, as it is at one moment: a report may be made on another thread while the router obeys
// the next change.
struct Reported {
  std::string name;
  std::string router;
  int master_pid = 0;
  int worker_pid = 0;
  int64_t uptime_s = 0;
  Counters& counters;
  std::shared_ptr<const Table> table;  // may be null
  std::string digest;                  // of the last order
  std::string state_error;
  uint64_t patches = 0;  // on disk
  uint64_t patch_bytes = 0;
  const std::vector<std::unique_ptr<WorkerThread>>& threads;
  uint64_t log_dropped = 0;        // bytes of the access log
  json::value bounds;              // as bounds_of says
  const TlsServer* tls = nullptr;  // only with listeners that speak TLS
  int64_t wall_ms = 0;

  int64_t generation() const { return table ? table->generation : 0; }
};

// Of all deployments, or of one.
json::object stats_of(const Reported& router, const std::string& deployment);

// What the judge of a rollout reads: weights and counts of a deployment's revisions; without a deployment, of all
// revisions that ever had a request. It asks no thread, so it costs little however often it is asked for.
json::object counts_of(const Reported& router, const std::string& deployment);

json::object usage_of(Counters& counters, const std::string& router);

std::string metrics_of(const Reported& router);

// Where a share of the counted latencies lies below, in microseconds; within a bucket it is taken to be even.
uint64_t latency_at(const Counts& counts, double share);

// Version, expiry and trouble of what an operator has signed; null without bounds.
json::value bounds_of(const BoundsKeeper* keeper);

json::array quarantined_of(const Table* table);

}  // namespace sluice::router
