// The machine as a whole: its queue, its timers, and its end.
#include "router/proxy/proxy.h"

#include <algorithm>
#include <cstddef>

namespace sluice::router {
namespace {

constexpr int64_t kLookAtDrains_ms = 100;
constexpr size_t kQueueAtOnce = 8;
constexpr size_t kMostWorkedOff = 1'024;  // of the queue, before what is behind it moves up

}  // namespace

Proxy::Proxy(Wire& wire, Random& random, Counters& counters, size_t lane, LogExchange& log, const Now& now,
             AddressCounts& addresses)
    : wire_(wire),
      counters_(counters),
      lane_(lane),
      log_(log),
      now_(now),
      timers_(now.monotonic_ms()),
      addresses_(addresses),
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

// A few at a time, so that whoever begins a hundred requests at once keeps others waiting for a few of them alone.
bool Proxy::run_queue() {
  take_pins();
  for (size_t i = 0; i < kQueueAtOnce && worked_off_ < queue_.size(); ++i) {
    Endpoint* endpoint = queue_[worked_off_++];
    endpoint->queued = false;
    if (endpoint->fd < 0) continue;
    if (endpoint->kind == Endpoint::Kind::client) {
      progress(static_cast<Client&>(*endpoint));
    } else if (endpoint->kind == Endpoint::Kind::http2) {
      progress(static_cast<Http2Connection&>(*endpoint));
    } else if (endpoint->kind == Endpoint::Kind::shared) {
      progress(static_cast<SharedUpstream&>(*endpoint));
    } else {
      progress(static_cast<Upstream&>(*endpoint));
    }
  }
  if (worked_off_ == queue_.size() || worked_off_ >= kMostWorkedOff) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(worked_off_));
    until_rest_ -= std::min(until_rest_, worked_off_);
    worked_off_ = 0;
  }
  pins_.flush();
  return !queue_.empty();
}

void Proxy::run_timers() {
  while (Timer* timer = timers_.due(now_.monotonic_ms())) {
    auto* endpoint = reinterpret_cast<Endpoint*>(reinterpret_cast<char*>(timer) - offsetof(Endpoint, timer));
    if (endpoint->fd < 0) continue;
    if (endpoint->kind == Endpoint::Kind::client) {
      fire(static_cast<Client&>(*endpoint));
    } else if (endpoint->kind == Endpoint::Kind::http2) {
      fire(static_cast<Http2Connection&>(*endpoint));
    } else if (endpoint->kind == Endpoint::Kind::shared) {
      fire(static_cast<SharedUpstream&>(*endpoint));
    } else {
      fire(static_cast<Upstream&>(*endpoint));
    }
  }
  if (draining_ && now_.monotonic_ms() - drained_ms_ >= kLookAtDrains_ms) drain();
}

void Proxy::rest() {
  // What is in the queue must not be taken for another one: all that was there at the last time has to be gone.
  if (worked_off_ < until_rest_) return;
  until_rest_ = queue_.size();
  clients_.rest();
  upstreams_.rest();
  exchanges_.rest();
  connections_.rest();
  shared_.rest();
}

bool Proxy::is_trusted(Peer& peer) {
  if (peer.at_unix) return true;
  const TableSettings& settings = *table()->settings;
  if (peer.trust_stamp != static_cast<uint32_t>(settings.stamp)) {
    peer.trust_stamp = static_cast<uint32_t>(settings.stamp);
    peer.trusted = false;
    for (const Network& network : settings.trusted_proxies) peer.trusted = peer.trusted || network.contains(peer.ip);
  }
  return peer.trusted;
}

// --------------------------------------------------------------------------------------------------------------- room

bool Proxy::admits(const Address& peer) {
  const IpBytes ip = ip_bytes(peer);
  if (!enter(ip)) return false;
  if (make_room()) return true;
  addresses_.leave(ip);
  return false;
}

// One connection more of that address, if it may have one.
bool Proxy::enter(const IpBytes& ip) {
  const Table* table = this->table();
  uint64_t limit = std::max<size_t>(most_of_all_ / 2, 1);  // so that nobody takes all
  if (table != nullptr && table->settings->connections_per_address != 0) {
    limit = table->settings->connections_per_address;
  }
  // Whoever stands between the clients and the router has all of theirs.
  bool trusted = table != nullptr && std::ranges::any_of(table->settings->trusted_proxies,
                                                         [&](const Network& each) { return each.contains(ip); });
  return addresses_.enter(ip, trusted ? UINT64_MAX : limit);
}

bool Proxy::make_room() {
  while (clients() + upstreams_.taken() - upstream_streams_ + shared_.taken() >= most_) {
    if (!evict()) return false;
  }
  return true;
}

bool Proxy::evict() {
  if (oldest_spare_ == nullptr) return false;
  if (oldest_spare_->kind == Endpoint::Kind::client) {
    close(static_cast<Client&>(*oldest_spare_));
  } else if (oldest_spare_->kind == Endpoint::Kind::http2) {
    close(static_cast<Http2Connection&>(*oldest_spare_));
  } else if (oldest_spare_->kind == Endpoint::Kind::shared) {
    close(static_cast<SharedUpstream&>(*oldest_spare_));
  } else {
    close(static_cast<Upstream&>(*oldest_spare_));
  }
  return true;
}

// It has nothing to do from now on, and may be closed without loss.
void Proxy::add_spare(Endpoint& endpoint) {
  remove_spare(endpoint);
  endpoint.spare = true;
  endpoint.older = newest_spare_;
  (newest_spare_ != nullptr ? newest_spare_->newer : oldest_spare_) = &endpoint;
  newest_spare_ = &endpoint;
}

void Proxy::remove_spare(Endpoint& endpoint) {
  if (!endpoint.spare) return;
  endpoint.spare = false;
  (endpoint.older != nullptr ? endpoint.older->newer : oldest_spare_) = endpoint.newer;
  (endpoint.newer != nullptr ? endpoint.newer->older : newest_spare_) = endpoint.older;
  endpoint.older = endpoint.newer = nullptr;
}

// ------------------------------------------------------------------------------------------------------------- the end

void Proxy::release_held() {
  for (Client* client : held_) {
    client->phase = Client::Phase::idle;
    wake(*client);
  }
  held_.clear();
}

void Proxy::begin_retire() {
  stopping_ = retiring_ = true;
  for (Http2Connection* each = all_connections_; each != nullptr; each = each->next) begin_stop(*each);
}

void Proxy::begin_stop() {
  stopping_ = true;
  retiring_ = false;
  for (Client* client = all_clients_; client != nullptr;) {
    Client* next = client->next;
    if (client->phase == Client::Phase::idle && client->in == nullptr) close(*client);
    client = next;
  }
  for (Http2Connection* each = all_connections_; each != nullptr; each = each->next) begin_stop(*each);
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
  while (all_connections_ != nullptr) close(*all_connections_);
  for (auto& pool : pools_) {
    if (!pool) continue;
    for (const auto& replica : pool->replicas()) close_idle(*replica);
  }
  queue_.clear();
}

}  // namespace sluice::router
