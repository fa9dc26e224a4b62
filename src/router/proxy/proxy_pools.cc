// Pools as tables change, and the connections that are kept in them: which may be used again, and when.
#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int64_t kFreshForUnsafe_ms = 1'000;
constexpr int64_t kUpstreamIdle_ms = 60'000;
constexpr int64_t kSettle_ms = 1'000;

}  // namespace

// ------------------------------------------------------------------------------------------------------------- pools

RevisionPool& Proxy::pool_of(const Deployment& deployment, const Revision& revision) {
  uint32_t number = revision.memory->number;
  if (pools_.size() <= number) pools_.resize(number + 1);
  auto& pool = pools_[number];
  if (!pool) {
    pool = std::make_unique<RevisionPool>(revision, deployment.shared_from_this());
  } else if (pool->stamp() != revision.stamp) {
    pool->update(revision, deployment.shared_from_this());
    for (const auto& replica : pool->replicas()) {
      if (!replica->listed) close_idle(*replica);
    }
  }
  return *pool;
}

// The pool as the table has its revision; without it, it goes as soon as nothing is under way.
void Proxy::renew_pool(uint32_t number, const Table& table) {
  RevisionPool* pool = number < pools_.size() ? pools_[number].get() : nullptr;
  if (pool == nullptr) return;
  const auto* deployment = table.named(pool->deployment().id);
  const Revision* revision = deployment != nullptr ? (*deployment)->named(pool->revision().id) : nullptr;
  if (revision != nullptr && revision->memory->number == number) {
    pool_of(**deployment, *revision);
    draining_ = draining_ || revision->draining();
    return;
  }
  for (const auto& replica : pool->replicas()) close_idle(*replica);
  if (pool->is_unused()) pools_[number] = nullptr;
}

void Proxy::catch_up() {
  const Table* before = caught_up();
  const Table* table = this->table();
  if (table == before) return;
  pins_.use(table != nullptr ? table->settings.get() : nullptr);
  // A patch says what it has touched; after a load, or if a patch was missed, it may be anything.
  bool next = table != nullptr && before != nullptr && table->generation == before->generation + 1;
  if (next && !table->touched.empty()) {
    for (const Table* each : {before, table}) {
      const auto* deployment = each->named(table->touched);
      if (deployment == nullptr) continue;
      for (const Revision& revision : (*deployment)->revisions) renew_pool(revision.memory->number, *table);
    }
  } else if (table != nullptr) {
    for (uint32_t number = 0; number < pools_.size(); ++number) renew_pool(number, *table);
  }
  release_held();
  if (draining_) drain();
  caught_up_.store(table, std::memory_order_release);
}

void Proxy::drain() {
  draining_ = false;
  drained_ms_ = now_.monotonic_ms();
  for (auto& pool : pools_) {
    if (!pool || !pool->revision().draining()) continue;
    int64_t cut_at_ms = pool->revision().memory->cut_at_ms.load(std::memory_order_relaxed);
    for (Exchange* exchange = pool->exchanges(); exchange != nullptr;) {
      Exchange* next = exchange->next;
      draining_ = true;
      if (cut_at_ms != 0 && now_.monotonic_ms() >= cut_at_ms) {
        exchange->error = "the revision's time to drain was over";
        pool->revision().memory->cut.fetch_add(1, std::memory_order_relaxed);
        close(*exchange->client);
      } else if (exchange->is_websocket && exchange->tunnel) {
        close_websocket(*exchange);
      }
      exchange = next;
    }
    for (const auto& replica : pool->replicas()) close_idle(*replica);
  }
}

// ---------------------------------------------------------------------------------------------------- kept connections

// A kept connection for this request; nothing if it needs a new one. Each is looked at right before it is used: what
// has come on it unasked would be taken for the answer.
Upstream* Proxy::take_kept(const Exchange& exchange, Replica& replica) {
  // After a kept connection that had ended, a new one: the others may have, too.
  if (exchange.attempts > 1) return nullptr;
  while (Upstream* upstream = replica.idle) {
    // What cannot be sent twice goes only where hardly anybody closes.
    if (!exchange.idempotent && upstream->idle_since_ms < now_.monotonic_ms() - kFreshForUnsafe_ms) return nullptr;
    switch (wire_.look(upstream->fd)) {
      case Look::quiet:
        replica.pool->remove_idle(replica, *upstream);
        remove_spare(*upstream);
        upstream->reused = true;
        return upstream;
      case Look::speaks:
        spoke_unasked(*upstream);
        break;
      case Look::ended:
        close(*upstream);
        break;
    }
  }
  return nullptr;
}

// A new connection; nothing if nobody is there. `no_file`: it is the router that can open none.
Upstream* Proxy::connect(Replica& replica, bool& no_file) {
  no_file = !make_room();
  if (no_file) return nullptr;
  Upstream* upstream = upstreams_.take();
  upstream->kind = Endpoint::Kind::upstream;
  upstream->replica = &replica;
  bool at_once = false;
  upstream->fd = connect_to(replica, *upstream, at_once);
  if (upstream->fd < 0) {
    no_file = upstream->fd == kNoFile;
    upstreams_.give(upstream);
    return nullptr;
  }
  upstream->connecting = !at_once;
  upstream->writable = at_once;
  return upstream;
}

// Begins to connect to it, with TLS if it wants that: then it is not connected before that is settled.
int Proxy::connect_to(const Replica& replica, Endpoint& endpoint, bool& at_once) {
  int fd = wire_.connect(replica.address, endpoint, at_once);
  // Once: what is missing may be something else than what a closed connection gives back.
  if (fd == kNoFile && evict()) fd = wire_.connect(replica.address, endpoint, at_once);
  if (fd >= 0 && replica.tls) {
    wire_.start_tls(fd, *replica.tls);
    at_once = false;
  }
  return fd;
}

// Parts the exchange from its connection, which is kept for others or closed.
void Proxy::detach(Exchange& exchange, bool reuse) {
  Upstream* upstream = exchange.upstream;
  if (upstream == nullptr) return;
  exchange.upstream = nullptr;
  upstream->exchange = nullptr;
  Replica& replica = *upstream->replica;
  --replica.pending;
  replica.probing = false;
  bool sound = upstream->in == nullptr && upstream->out == nullptr && !upstream->connecting && !upstream->readable;
  bool kept = !upstream->stream && replica.listed && replica.unruly_until_ms <= now_.monotonic_ms() &&
              replica.idle_count < kMaxIdleUpstreams && !stopping_;
  if (upstream->stream) upstream->stream->answered = reuse;
  if (reuse && sound && kept) {
    upstream->settling = exchange.response.kind == BodyKind::none;
    make_idle(*upstream);
  } else {
    close(*upstream);
  }
}

void Proxy::make_idle(Upstream& upstream) {
  upstream.idle_since_ms = now_.monotonic_ms();
  upstream.replica->pool->add_idle(*upstream.replica, upstream);
  add_spare(upstream);
  timers_.set(upstream.timer, upstream.idle_since_ms + (upstream.settling ? kSettle_ms : kUpstreamIdle_ms));
}

void Proxy::close_idle(Replica& replica) {
  while (replica.idle != nullptr) close(*replica.idle);
  while (replica.settling != nullptr) close(*replica.settling);
  close_shared(replica);
}

// Something came on a kept connection that nobody had asked for. What comes next may come on any, so none is kept.
void Proxy::spoke_unasked(Upstream& upstream) {
  Replica& replica = *upstream.replica;
  add(counters_.of(lane_, replica.pool->revision().series).failures, 1);
  replica.pool->failed(replica, now_.monotonic_ms());
  replica.unruly_until_ms = now_.monotonic_ms() + kUnruly_ms;
  close_idle(replica);
}

void Proxy::close(Upstream& upstream) {
  if (upstream.fd < 0) return;
  Replica& replica = *upstream.replica;
  if (upstream.stream) {
    leave_shared(upstream);
    upstream.prev = upstream.next = nullptr;
  }
  bool kept = upstream.prev != nullptr || replica.idle == &upstream || replica.settling == &upstream;
  if (kept && upstream.exchange == nullptr) replica.pool->remove_idle(replica, upstream);
  remove_spare(upstream);
  if (!upstream.stream) wire_.close(upstream.fd);
  upstream.stream = nullptr;
  upstream.fd = -1;
  timers_.remove(upstream.timer);
  buffers_.give_up(upstream.in);
  buffers_.give_up(upstream.out);
  upstreams_.give(&upstream);
}

}  // namespace sluice::router
