// Numbers are sums over threads at one moment or shortly after one another; each is right, their sum may be a request
// off.
#include "router/report.h"

#include <algorithm>
#include <map>

#include "base/json_text.h"
#include "router/tls/tls_report.h"

namespace sluice::router {
namespace {

constexpr size_t kMostListed = 1'000;
constexpr const char* kClasses[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};

int64_t as_int(uint64_t number) { return static_cast<int64_t>(number); }

// What the threads know of a revision's replicas, by address.
struct ReplicaSum {
  uint32_t in_flight = 0;
  uint32_t idle = 0;
  bool ejected = false;
};
using ReplicaSums = std::map<std::string, ReplicaSum>;

// As the table has it.
std::string place_text(const Address& address, bool secure) {
  const std::string text = to_string(address);
  return address.family() == AF_UNIX ? text : (secure ? "tls:" : "tcp:") + text;
}

json::array replicas_json(const Revision& revision, const ReplicaSums& sums) {
  json::array replicas;
  for (const ReplicaPlace& place : revision.replicas) {
    const std::string text = place_text(place.address, place.tls != nullptr);
    auto found = sums.find(text);
    ReplicaSum sum = found != sums.end() ? found->second : ReplicaSum();
    replicas.push_back(
        json::object{{"address", text}, {"in_flight", sum.in_flight}, {"idle", sum.idle}, {"ejected", sum.ejected}});
  }
  return replicas;
}

json::object revision_json(const Reported& router, const Revision& revision, const ReplicaSums& sums) {
  Counts counts = router.counters.total(revision.series);
  uint32_t websockets = router.counters.websockets(revision.series);
  uint32_t under_way = router.counters.in_flight(revision.series);
  json::object classes;
  for (size_t i = 0; i < counts.classes.size(); ++i) classes[kClasses[i]] = as_int(counts.classes[i]);
  json::array latencies;
  for (uint64_t each : counts.latencies) latencies.emplace_back(as_int(each));
  return {
      {"id", revision.id},
      {"state", revision.draining() ? "draining" : "ready"},
      {"weight_bps", revision.weight_bps},
      {"requests", as_int(counts.requests)},
      {"in_flight", under_way > websockets ? under_way - websockets : 0},
      {"websockets", websockets},
      {"status", std::move(classes)},
      {"retries", as_int(counts.retries)},
      {"failures", as_int(counts.failures)},
      {"bytes_in", as_int(counts.bytes_in)},
      {"bytes_out", as_int(counts.bytes_out)},
      {"latency_us", json::object{{"p50", as_int(latency_at(counts, 0.5))}, {"p99", as_int(latency_at(counts, 0.99))}}},
      {"latency_counts", std::move(latencies)},
      {"replicas", replicas_json(revision, sums)}};
}

json::object deployment_json(const Reported& router, const Deployment& deployment,
                             const std::map<uint32_t, ReplicaSums>& sums) {
  static const ReplicaSums kNone;
  json::array revisions;
  for (const Revision& revision : deployment.revisions) {
    auto found = sums.find(revision.memory->number);
    revisions.push_back(revision_json(router, revision, found != sums.end() ? found->second : kNone));
  }
  return {{"id", deployment.id},
          {"generation", deployment.generation},
          {"status", deployment.paused ? "paused" : "active"},
          {"revisions", std::move(revisions)}};
}

std::map<uint32_t, ReplicaSums> ask_threads(const Reported& router) {
  std::map<uint32_t, ReplicaSums> sums;
  for (const auto& thread : router.threads) {
    thread->ask([&](Proxy& proxy) {
      for (const auto& pool : proxy.pools()) {
        if (!pool) continue;
        for (const auto& replica : pool->replicas()) {
          const std::string text = place_text(replica->address, replica->tls != nullptr);
          ReplicaSum& sum = sums[pool->revision().memory->number][text];
          sum.in_flight += replica->pending;
          sum.idle += replica->idle_count;
          sum.ejected = sum.ejected || replica->ejected_until_ms != 0;
        }
      }
    });
  }
  return sums;
}

template <class Of>
int64_t sum_of(const Reported& router, Of&& of) {
  int64_t sum = 0;
  for (const auto& thread : router.threads) sum += as_int(of(*thread));
  return sum;
}

// What the threads say of the Redis that pins are kept in.
struct PinSum {
  bool in_use = false;
  bool up = true;  // of all threads
  std::string trouble;
  uint64_t lookups = 0, hits = 0, misses = 0, timeouts = 0, failures = 0, writes = 0;

  const char* state() const { return !in_use ? "none" : up ? "connected" : "down"; }
};

PinSum pin_sum(const Reported& router) {
  PinSum sum;
  for (const auto& thread : router.threads) {
    const PinCounts& counts = thread->pin_counts();
    sum.in_use = sum.in_use || counts.in_use.load(std::memory_order_relaxed);
    if (!counts.up.load(std::memory_order_relaxed)) {
      sum.up = false;
      sum.trouble = counts.trouble.load(std::memory_order_relaxed);
    }
    sum.lookups += counts.lookups.load(std::memory_order_relaxed);
    sum.hits += counts.hits.load(std::memory_order_relaxed);
    sum.misses += counts.misses.load(std::memory_order_relaxed);
    sum.timeouts += counts.timeouts.load(std::memory_order_relaxed);
    sum.failures += counts.failures.load(std::memory_order_relaxed);
    sum.writes += counts.writes.load(std::memory_order_relaxed);
  }
  if (!sum.in_use) sum.trouble.clear();
  return sum;
}

json::object pins_json(const PinSum& sum) {
  return {{"redis", sum.state()},
          {"error", sum.trouble},
          {"lookups", as_int(sum.lookups)},
          {"hits", as_int(sum.hits)},
          {"misses", as_int(sum.misses)},
          {"timeouts", as_int(sum.timeouts)},
          {"failures", as_int(sum.failures)},
          {"writes", as_int(sum.writes)}};
}

// A metric with its lines.
class MetricText {
 public:
  void metric(const char* name, const char* kind, const char* help) {
    name_ = name;
    out_ += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + kind + "\n";
  }
  void line(const std::string& labels, const std::string& value, const char* suffix = "") {
    out_ += name_ + suffix + "{" + labels + "} " + value + "\n";
  }
  std::string take() { return std::move(out_); }

 private:
  std::string name_, out_;
};

struct MetricSeries {
  std::string labels;
  Counts counts;
  uint32_t in_flight = 0;
  uint32_t websockets = 0;
};

void sum_up(Counts& sum, const Counts& more) {
  sum.requests += more.requests;
  sum.bytes_in += more.bytes_in;
  sum.bytes_out += more.bytes_out;
  for (size_t i = 0; i < sum.classes.size(); ++i) sum.classes[i] += more.classes[i];
  sum.retries += more.retries;
  sum.failures += more.failures;
  sum.latency_us += more.latency_us;
  for (size_t i = 0; i < sum.latencies.size(); ++i) sum.latencies[i] += more.latencies[i];
}

std::string metric_labels(const std::string& environment, const std::string& deployment, const std::string& revision) {
  return environment + ",deployment=" + json_quoted(deployment) + ",revision=" + json_quoted(revision);
}

std::vector<MetricSeries> metric_series(const Reported& router, const std::string& environment) {
  std::vector<MetricSeries> all;
  MetricSeries rest{.labels = metric_labels(environment, "other", "other")};
  for (uint32_t series = 0; series < router.counters.series(); ++series) {
    Counts counts = router.counters.total(series);
    uint32_t under_way = router.counters.in_flight(series), websockets = router.counters.websockets(series);
    if (counts.requests == 0 && under_way == 0) continue;
    if (all.size() == kMostListed) {
      sum_up(rest.counts, counts);
      rest.in_flight += under_way;
      rest.websockets += websockets;
      continue;
    }
    const SeriesName& name = router.counters.name(series);
    all.push_back({metric_labels(environment, name.deployment, name.revision), counts, under_way, websockets});
  }
  if (rest.counts.requests > 0) all.push_back(std::move(rest));
  return all;
}

std::string seconds_text(uint64_t us) {
  std::string fraction = std::to_string(us % 1'000'000);
  return std::to_string(us / 1'000'000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

void write_pins(MetricText& text, const PinSum& sum, const std::string& environment) {
  if (!sum.in_use) return;
  text.metric("sluice_router_pins_redis_up", "gauge", "Whether all threads are connected to the Redis of session pins");
  text.line(environment, sum.up ? "1" : "0");
  text.metric("sluice_router_pin_lookups_total", "counter", "Session pins that Redis was asked for, by result");
  for (auto [result, number] : {std::pair("hit", sum.hits), std::pair("miss", sum.misses),
                                std::pair("timeout", sum.timeouts), std::pair("failure", sum.failures)}) {
    text.line(environment + ",result=\"" + result + "\"", std::to_string(number));
  }
  text.metric("sluice_router_pin_writes_total", "counter", "Session pins that were written to Redis");
  text.line(environment, std::to_string(sum.writes));
}

void write_latencies(MetricText& text, const std::vector<MetricSeries>& all) {
  text.metric("sluice_router_request_duration_seconds", "histogram", "From a request's head to the end of its answer");
  for (const MetricSeries& each : all) {
    uint64_t below = 0;
    for (size_t i = 0; i < kLatencyBuckets; ++i) {
      below += each.counts.latencies[i];
      std::string end = i < kLatencyEnds_us.size() ? seconds_text(kLatencyEnds_us[i]) : "+Inf";
      text.line(each.labels + ",le=\"" + end + "\"", std::to_string(below), "_bucket");
    }
    text.line(each.labels, seconds_text(each.counts.latency_us), "_sum");
    text.line(each.labels, std::to_string(below), "_count");
  }
}

// Null without bounds.
}  // namespace

json::value bounds_of(const BoundsKeeper* keeper) {
  if (keeper == nullptr) return nullptr;
  const BoundsDocument& bounds = keeper->current().bounds.document();
  return json::object{{"version", bounds.version},
                      {"expires_at", bounds.expires_at ? json::value(*bounds.expires_at) : json::value()},
                      {"error", keeper->trouble()}};
}

uint64_t latency_at(const Counts& counts, double share) {
  uint64_t all = 0;
  for (uint64_t each : counts.latencies) all += each;
  if (all == 0) return 0;
  double wanted = share * static_cast<double>(all), below = 0;
  for (size_t i = 0; i < kLatencyBuckets; ++i) {
    auto here = static_cast<double>(counts.latencies[i]);
    if (below + here < wanted || here == 0) {
      below += here;
      continue;
    }
    double from = i == 0 ? 0 : kLatencyEnds_us[i - 1];
    double to = i < kLatencyEnds_us.size() ? kLatencyEnds_us[i] : from;
    return static_cast<uint64_t>(from + (to - from) * (wanted - below) / here);
  }
  return kLatencyEnds_us.back();
}

json::array quarantined_of(const Table* table) {
  json::array all;
  if (table == nullptr) return all;
  for (const Quarantined& each : table->quarantined) {
    all.push_back(json::object{{"deployment", each.deployment}, {"reason", each.reason}});
  }
  return all;
}

json::object stats_of(const Reported& router, const std::string& deployment) {
  const Table* table = router.table.get();
  std::map<uint32_t, ReplicaSums> sums = ask_threads(router);
  json::array deployments;
  if (table != nullptr) {
    std::vector<const Deployment*> all;
    table->for_each([&](const std::shared_ptr<const Deployment>& each) {
      if (deployment.empty() || each->id == deployment) all.push_back(each.get());
    });
    std::ranges::sort(all, {}, &Deployment::id);
    for (const Deployment* each : all) deployments.push_back(deployment_json(router, *each, sums));
  }
  int64_t connections = sum_of(router, [](const WorkerThread& each) { return each.clients(); });
  int64_t busy = sum_of(router, [](const WorkerThread& each) { return each.exchanges(); });
  return {{"ok", true},
          {"router", router.router},
          {"name", router.name},
          {"pid", router.master_pid},
          {"worker_pid", router.worker_pid},
          {"environment", table != nullptr ? table->settings->environment : ""},
          {"generation", router.generation()},
          {"digest", router.digest},
          {"uptime_s", router.uptime_s},
          {"threads", static_cast<int64_t>(router.threads.size())},
          {"connections", connections},
          {"idle_connections", std::max<int64_t>(connections - busy, 0)},
          {"held", sum_of(router, [](const WorkerThread& each) { return each.held(); })},
          {"quarantined", quarantined_of(table)},
          {"state", json::object{{"patches", as_int(router.patches)},
                                 {"bytes", as_int(router.patch_bytes)},
                                 {"error", router.state_error}}},
          {"bounds", router.bounds},
          {"counters", json::object{{"kept", router.counters.trouble().empty()}, {"error", router.counters.trouble()}}},
          {"access_log", json::object{{"dropped_bytes", as_int(router.log_dropped)}}},
          {"pins", pins_json(pin_sum(router))},
          {"deployments", std::move(deployments)}};
}

json::object counts_of(const Reported& router, const std::string& deployment) {
  json::array revisions;
  auto tell = [&](const std::shared_ptr<const Deployment>& each) {
    for (const Revision& revision : each->revisions) {
      const Counts counts = router.counters.total(revision.series);
      // Of thousands of deployments most are quiet, and a caller that asks for all of them asks every second.
      if (deployment.empty() && counts.requests == 0) continue;
      json::array latencies;
      for (uint64_t one : counts.latencies) latencies.emplace_back(as_int(one));
      revisions.push_back(json::object{{"id", revision.id},
                                       {"weight_bps", revision.weight_bps},
                                       {"requests", as_int(counts.requests)},
                                       {"failed", as_int(counts.classes[4])},
                                       {"latency_counts", std::move(latencies)}});
    }
  };
  if (router.table && deployment.empty()) router.table->for_each(tell);
  const auto* found = router.table ? router.table->named(deployment) : nullptr;
  if (found != nullptr) tell(*found);
  return {{"ok", true},
          {"router", router.router},
          {"generation", router.generation()},
          {"revisions", std::move(revisions)}};
}

json::object usage_of(Counters& counters, const std::string& router) {
  json::array kept, in_memory;
  for (uint32_t series = 0; series < counters.series(); ++series) {
    const Counts total = counters.total(series);
    if (total.requests == 0) continue;
    const SeriesName& name = counters.name(series);
    json::array& all = counters.is_in_memory(series) ? in_memory : kept;
    all.push_back(json::object{{"deployment", name.deployment},
                               {"revision", name.revision},
                               {"bundle", name.bundle},
                               {"customer", name.customer},
                               {"tenant", name.tenant},
                               {"team", name.team},
                               {"requests", as_int(total.requests)},
                               {"bytes_in", as_int(total.bytes_in)},
                               {"bytes_out", as_int(total.bytes_out)}});
  }
  json::object usage{{"ok", true},
                     {"router", router},
                     {"epoch", counters.epoch()},
                     {"sequence", as_int(counters.next_sequence())},
                     {"series", std::move(kept)},
                     {"lost", counters.lost_epoch()}};
  if (counters.any_in_memory()) {
    usage["memory"] = json::object{{"epoch", counters.memory_epoch()},
                                   {"sequence", as_int(counters.next_memory_sequence())},
                                   {"series", std::move(in_memory)},
                                   {"error", counters.trouble()}};
  }
  return usage;
}

std::string metrics_of(const Reported& router) {
  const Table* table = router.table.get();
  std::string environment = "environment=" + json_quoted(table != nullptr ? table->settings->environment : "");
  std::vector<MetricSeries> all = metric_series(router, environment);
  MetricText text;
  text.metric("sluice_router_requests_total", "counter", "Requests by class of status");
  for (const MetricSeries& each : all) {
    for (size_t i = 0; i < each.counts.classes.size(); ++i) {
      text.line(each.labels + ",class=\"" + kClasses[i] + "\"", std::to_string(each.counts.classes[i]));
    }
  }
  write_latencies(text, all);
  const std::tuple<const char*, const char*, const char*, uint64_t (*)(const MetricSeries&)> plain[] = {
      {"sluice_router_request_bytes_total", "counter", "Bytes of requests",
       [](const MetricSeries& each) { return each.counts.bytes_in; }},
      {"sluice_router_response_bytes_total", "counter", "Bytes of answers",
       [](const MetricSeries& each) { return each.counts.bytes_out; }},
      {"sluice_router_retries_total", "counter", "Requests that were sent again",
       [](const MetricSeries& each) { return each.counts.retries; }},
      {"sluice_router_upstream_failures_total", "counter", "Replicas that did not do",
       [](const MetricSeries& each) { return each.counts.failures; }},
      {"sluice_router_in_flight", "gauge", "Requests under way",
       [](const MetricSeries& each) { return uint64_t{each.in_flight}; }},
      {"sluice_router_websockets", "gauge", "WebSockets that are open",
       [](const MetricSeries& each) { return uint64_t{each.websockets}; }}};
  for (const auto& [name, kind, help, of] : plain) {
    text.metric(name, kind, help);
    for (const MetricSeries& each : all) text.line(each.labels, std::to_string(of(each)));
  }
  text.metric("sluice_router_connections", "gauge", "Connections of clients");
  text.line(environment, std::to_string(sum_of(router, [](const WorkerThread& each) { return each.clients(); })));
  text.metric("sluice_router_generation", "gauge", "The table's generation; 0 without one");
  text.line(environment, std::to_string(router.generation()));
  text.metric("sluice_router_quarantined", "gauge", "Deployments that are left out");
  text.line(environment, std::to_string(table != nullptr ? table->quarantined.size() : 0));
  text.metric("sluice_router_refused_total", "counter", "What was not taken for a request");
  text.line(environment, std::to_string(sum_of(router, [](const WorkerThread& each) { return each.refused(); })));
  text.metric("sluice_router_http2_streams_total", "counter", "Requests that came over HTTP/2");
  text.line(environment, std::to_string(sum_of(router, [](const WorkerThread& each) {
              return each.http2_counts().streams.load(std::memory_order_relaxed);
            })));
  text.metric("sluice_router_http2_resets_total", "counter",
              "Streams of HTTP/2 that clients have reset, or have made end so");
  text.line(environment, std::to_string(sum_of(router, [](const WorkerThread& each) {
              return each.http2_counts().resets.load(std::memory_order_relaxed);
            })));
  text.metric("sluice_router_counters_in_memory", "gauge",
              "Whether the disk does not take counts, so that they are in memory");
  text.line(environment, router.counters.trouble().empty() ? "0" : "1");
  write_pins(text, pin_sum(router), environment);
  return text.take() + (router.tls != nullptr ? tls_metrics(*router.tls, environment, router.wall_ms) : "");
}

}  // namespace sluice::router
