// Counts are those of one thread: each finds out for itself who is well, without asking the others.
#include "router/proxy/upstream_pool.h"

#include <algorithm>
#include <cstring>

namespace sluice::router {
namespace {

constexpr uint8_t kFailuresToEject = 3;
constexpr int64_t kFirstEjection_ms = 1'000;
constexpr int64_t kLongestEjection_ms = 30'000;
constexpr int64_t kSlowStart_ms = 10'000;

bool same_address(const Address& one, const Address& other) {
  return one.size == other.size && std::memcmp(&one.storage, &other.storage, one.size) == 0;
}

bool is_same(const std::shared_ptr<const UpstreamTls>& one, const std::shared_ptr<const UpstreamTls>& other) {
  return one == other || (one && other && one->stamp() == other->stamp());
}

// How busy a replica is for its share: one that has just recovered begins with a tenth of it.
uint64_t load_of(const Replica& replica, int64_t now_ms) {
  uint64_t load = (uint64_t{replica.pending} + 1) * 1'000;
  if (replica.recovered_ms == 0 || now_ms - replica.recovered_ms >= kSlowStart_ms) return load;
  int64_t share = std::max<int64_t>((now_ms - replica.recovered_ms) * 1'000 / kSlowStart_ms, 100);
  return load * 1'000 / static_cast<uint64_t>(share);
}

bool may_take(const Replica& replica, int64_t now_ms) {
  return replica.ejected_until_ms == 0 || (replica.ejected_until_ms <= now_ms && !replica.probing);
}

}  // namespace

RevisionPool::RevisionPool(const Revision& revision, std::shared_ptr<const Deployment> deployment)
    : revision_(nullptr) {
  update(revision, std::move(deployment));
}

void RevisionPool::update(const Revision& revision, std::shared_ptr<const Deployment> deployment) {
  for (auto& replica : replicas_) replica->listed = false;
  for (const ReplicaPlace& place : revision.replicas) {
    auto known = std::ranges::find_if(replicas_, [&](const auto& each) {
      return !each->listed && same_address(each->address, place.address) && is_same(each->tls, place.tls);
    });
    if (known != replicas_.end()) {
      (*known)->listed = true;
      continue;
    }
    replicas_.push_back(std::make_unique<Replica>(Replica{.address = place.address, .tls = place.tls, .pool = this}));
  }
  std::erase_if(replicas_, [](const auto& each) { return !each->listed && each->is_unused(); });
  for (size_t i = 0; i < replicas_.size(); ++i) replicas_[i]->place = static_cast<uint8_t>(std::min<size_t>(i, 63));
  revision_ = &revision;
  deployment_ = std::move(deployment);
}

Replica* RevisionPool::pick(uint64_t tried, int64_t now_ms, bool any) {
  Replica* best = nullptr;
  Replica* due = nullptr;
  uint64_t least = UINT64_MAX;
  size_t count = replicas_.size();
  ++turn_;
  for (size_t i = 0; i < count; ++i) {
    Replica& replica = *replicas_[(turn_ + i) % count];
    if (!replica.listed || (count > 1 && (tried >> replica.place & 1) != 0)) continue;
    if (!may_take(replica, now_ms)) {
      if (due == nullptr || replica.ejected_until_ms < due->ejected_until_ms) due = &replica;
      continue;
    }
    if (uint64_t load = load_of(replica, now_ms); load < least) {
      least = load;
      best = &replica;
    }
  }
  if (best == nullptr && any) best = due;
  if (best != nullptr && best->ejected_until_ms != 0) best->probing = true;
  return best;
}

bool RevisionPool::is_well(int64_t now_ms) const {
  return std::ranges::any_of(replicas_, [&](const auto& each) { return each->listed && may_take(*each, now_ms); });
}

void RevisionPool::failed(Replica& replica, int64_t now_ms) {
  bool again = replica.probing;
  replica.probing = false;
  if (!again && ++replica.failures < kFailuresToEject) return;
  replica.failures = 0;
  replica.recovered_ms = 0;
  int64_t time_ms = kFirstEjection_ms << std::min<int>(replica.ejections, 5);
  replica.ejected_until_ms = now_ms + std::min(time_ms, kLongestEjection_ms);
  if (replica.ejections < 10) ++replica.ejections;
}

void RevisionPool::succeeded(Replica& replica, int64_t now_ms) {
  replica.failures = 0;
  if (replica.ejected_until_ms == 0) return;
  replica.ejected_until_ms = 0;
  replica.ejections = 0;
  replica.probing = false;
  replica.recovered_ms = now_ms;
}

void RevisionPool::add_idle(Replica& replica, Upstream& upstream) {
  Upstream*& first = upstream.settling ? replica.settling : replica.idle;
  upstream.prev = nullptr;
  upstream.next = first;
  if (first != nullptr) first->prev = &upstream;
  first = &upstream;
  ++replica.idle_count;
}

void RevisionPool::remove_idle(Replica& replica, Upstream& upstream) {
  if (upstream.prev != nullptr) upstream.prev->next = upstream.next;
  if (upstream.next != nullptr) upstream.next->prev = upstream.prev;
  Upstream*& first = upstream.settling ? replica.settling : replica.idle;
  if (first == &upstream) first = upstream.next;
  upstream.prev = upstream.next = nullptr;
  --replica.idle_count;
}

void RevisionPool::add_exchange(Exchange& exchange) {
  exchange.pool = this;
  exchange.prev = nullptr;
  exchange.next = exchanges_;
  if (exchanges_ != nullptr) exchanges_->prev = &exchange;
  exchanges_ = &exchange;
}

void RevisionPool::remove_exchange(Exchange& exchange) {
  if (exchange.prev != nullptr) exchange.prev->next = exchange.next;
  if (exchange.next != nullptr) exchange.next->prev = exchange.prev;
  if (exchanges_ == &exchange) exchanges_ = exchange.next;
  exchange.prev = exchange.next = nullptr;
  exchange.pool = nullptr;
}

bool RevisionPool::is_unused() const {
  return exchanges_ == nullptr && std::ranges::all_of(replicas_, [](const auto& each) { return each->is_unused(); });
}

}  // namespace sluice::router
