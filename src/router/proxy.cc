// The machine as a whole: its queue, its timers, and its end.
#include "router/proxy.h"

#include <cstddef>

namespace sluice::router {
namespace {

constexpr int64_t kLookAtDrains_ms = 100;

}  // namespace

Proxy::Proxy(Wire& wire, Random& random, Counters& counters, size_t lane, LogExchange& log, const Now& now)
    : wire_(wire),
      counters_(counters),
      lane_(lane),
      log_(log),
      now_(now),
      timers_(now.monotonic_ms()),
      dispatcher_(random),
      pins_(wire),
      input_(std::make_unique_for_overwrite<char[]>(kReadBytes)),
      output_(std::make_unique_for_overwrite<char[]>(kMaxHeadBytes + kReadBytes)),
      trace_state_(random.u64()),
      sample_(static_cast<uint32_t>(random.u64())) {}

Proxy::~Proxy() {
  cut_all();
  rest();
}

void Proxy::wake(Endpoint& endpoint) {
  if (endpoint.queued) return;
  endpoint.queued = true;
  queue_.push_back(&endpoint);
}

bool Proxy::run_queue() {
  take_pins();
  working_.swap(queue_);
  for (Endpoint* endpoint : working_) {
    endpoint->queued = false;
    if (endpoint->fd < 0) continue;
    if (endpoint->kind == Endpoint::Kind::client) {
      progress(static_cast<Client&>(*endpoint));
    } else {
      progress(static_cast<Upstream&>(*endpoint));
    }
  }
  working_.clear();
  pins_.flush();
  return !queue_.empty();
}

void Proxy::run_timers() {
  while (Timer* timer = timers_.due(now_.monotonic_ms())) {
    auto* endpoint = reinterpret_cast<Endpoint*>(reinterpret_cast<char*>(timer) - offsetof(Endpoint, timer));
    if (endpoint->fd < 0) continue;
    if (endpoint->kind == Endpoint::Kind::client) {
      fire(static_cast<Client&>(*endpoint));
    } else {
      fire(static_cast<Upstream&>(*endpoint));
    }
  }
  if (draining_ && now_.monotonic_ms() - drained_ms_ >= kLookAtDrains_ms) drain();
}

void Proxy::rest() {
  // What is in the queue must not be taken for another one.
  if (!queue_.empty()) return;
  clients_.rest();
  upstreams_.rest();
  exchanges_.rest();
}

bool Proxy::is_trusted(Client& client) {
  if (client.at_unix) return true;
  const TableSettings& settings = *table()->settings;
  if (client.trust_stamp != static_cast<uint32_t>(settings.stamp)) {
    client.trust_stamp = static_cast<uint32_t>(settings.stamp);
    client.trusted = false;
    for (const Network& network : settings.trusted_proxies)
      client.trusted = client.trusted || network.contains(client.ip);
  }
  return client.trusted;
}

void Proxy::release_held() {
  for (Client* client : held_) {
    client->phase = Client::Phase::idle;
    wake(*client);
  }
  held_.clear();
}

void Proxy::begin_stop() {
  stopping_ = true;
  for (Client* client = all_clients_; client != nullptr;) {
    Client* next = client->next;
    if (client->phase == Client::Phase::idle && client->in == nullptr) close(*client);
    client = next;
  }
  for (auto& pool : pools_) {
    if (!pool) continue;
    for (Exchange* exchange = pool->exchanges(); exchange != nullptr;) {
      Exchange* next = exchange->next;
      exchange->keep_alive = false;
      if (exchange->is_websocket && exchange->tunnel) close_websocket(*exchange);
      exchange = next;
    }
  }
}

void Proxy::cut_all() {
  while (all_clients_ != nullptr) close(*all_clients_);
  for (auto& pool : pools_) {
    if (!pool) continue;
    for (const auto& replica : pool->replicas()) close_idle(*replica);
  }
  queue_.clear();
}

}  // namespace sluice::router
