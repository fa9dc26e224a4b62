// Flows settle in another order than they begin: those that were open at the last look are asked about one by one.
#include "host/span_export.h"

#include <boost/json.hpp>
#include <chrono>

#include "base/json.h"
#include "base/terminal.h"
#include "deploy/telemetry_backends.h"
#include "host/authority.h"
#include "host/flows/flow_spans.h"
#include "host/flows/flow_view.h"
#include "host/moment.h"
#include "http/outgoing.h"

namespace sluice::host {
namespace {

constexpr auto kBetweenLooks = std::chrono::seconds(2);
constexpr int64_t kTaken_ns = 60'000'000'000;
constexpr int64_t kSend_ms = 5'000;
constexpr size_t kMostFlows = 1'000;
constexpr size_t kFlowsARequest = 50;

}  // namespace

bool post_otlp(const lang::Tools& tools, const Clock& clock, const deploy::views::OtlpEndpoint& to, const char* path,
               const std::string& body, std::function<bool()> cancelled) {
  const auto* variables = tools.find<Variables>();
  auto variable = [&](const std::string& name) {
    return variables != nullptr ? (*variables)(name).value_or("") : std::string();
  };
  std::vector<http::Header> headers = {{"Content-Type", "application/json"}};
  if (const auto* outlet = tools.find<deploy::MarkerOutlet>()) {
    auto key = outlet->key_for(to.key, to.url);
    if (!key) return false;
    if (!key->empty()) headers.push_back({"Authorization", "Bearer " + *key});
  }
  std::string endpoint = to.url;
  http::Outgoing outgoing({.proxy = http::proxy_of(variable, endpoint)}, clock);
  while (endpoint.ends_with('/')) endpoint.pop_back();
  auto answer = outgoing.send({.method = "POST",
                               .url = endpoint + path,
                               .headers = std::move(headers),
                               .body = body,
                               .timeout_ms = kSend_ms,
                               .cancelled = std::move(cancelled)});
  return answer && answer->status >= 200 && answer->status < 300;
}

SpanExport::SpanExport(store::Store& store, store::BlobStore& blobs, const lang::Tools& tools, const Clock& clock,
                       const Authority* authority)
    : store_(store), blobs_(blobs), tools_(tools), clock_(clock), authority_(authority) {
  look();
}

void SpanExport::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, kBetweenLooks, [this] { return ending_; })) {
      lock.unlock();
      if_readable([this] { look(); });
      lock.lock();
    }
  });
}

SpanExport::~SpanExport() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SpanExport::find_settled(store::Snapshot& snapshot, int64_t now_ns) {
  std::set<Ulid> still_open;
  (void)snapshot.open_flows([&](const store::FlowRow& row) {
    still_open.insert(row.id);
    return true;
  });
  auto settled = [&](const Ulid& flow) {
    if (!first_ && waiting_.size() < kMostFlows) waiting_.push_back({flow, now_ns});
  };
  for (const Ulid& each : open_) {
    if (!still_open.contains(each)) settled(each);
  }
  Ulid newest = newest_;
  (void)snapshot.flows_newest_first(std::nullopt, [&](const store::FlowRow& row) {
    if (row.id <= newest_) return false;
    newest = std::max(newest, row.id);
    if (!store::is_open(row.status)) settled(row.id);
    return !first_;
  });
  newest_ = newest;
  open_ = std::move(still_open);
  first_ = false;
}

// What a flow began with says where it belongs.
std::vector<std::string> SpanExport::environments_of(const engine::PastInvocation& asked) const {
  std::vector<std::string> environments;
  if (authority_ != nullptr) environments = authority_->environments_of(asked.action, asked.input);
  const json::value* named = asked.input.if_contains("environment");
  if (environments.empty() && named != nullptr && named->is_string()) environments.emplace_back(named->get_string());
  return environments;
}

bool SpanExport::look() {
  auto moment = Moment::of(store_, &blobs_, tools_, clock_.wall_ms());
  if (!moment) return false;
  store::Snapshot& snapshot = (*moment)->reading().store;
  const int64_t now_ns = clock_.monotonic_ns();
  find_settled(snapshot, now_ns);
  std::erase_if(waiting_, [&](const Waiting& each) { return now_ns - each.since_ns > kTaken_ns; });
  if (waiting_.empty()) return true;
  const auto endpoints = deploy::views::otlp_endpoints((*moment)->reading().rows);
  if (endpoints.empty()) {
    waiting_.clear();
    return true;
  }
  struct Settled {
    engine::History history;
    std::vector<std::string> environments;
  };
  std::vector<Settled> flows;
  const size_t many = std::min(waiting_.size(), kFlowsARequest);
  for (size_t i = 0; i < many; ++i) {
    auto row = snapshot.flow(waiting_[i].flow);
    if (!row || !*row) continue;
    auto view = view_flow(snapshot, **row);
    if (!view) continue;
    Settled flow{.history = std::move(view->history)};
    if (!flow.history.invocations.empty()) flow.environments = environments_of(flow.history.invocations.front());
    flows.push_back(std::move(flow));
  }
  bool taken = true;
  for (const auto& each : endpoints) {
    json::array spans;
    for (const Settled& flow : flows) {
      if (!each.takes_work_in(flow.environments)) continue;
      spans.push_back(spans_of(flow.history, {.actions = each.concept_spans, .syncs = each.sync_spans}));
    }
    if (spans.empty()) continue;
    const std::string body = write(json::object{{"resourceSpans", std::move(spans)}});
    taken = post_otlp(tools_, clock_, each, "/v1/traces", body, [this] { return is_ending(); }) && taken;
  }
  if (taken) waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(many));
  return taken && waiting_.empty();
}

}  // namespace sluice::host
