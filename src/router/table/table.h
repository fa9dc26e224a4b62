// The compiled routing table: what every request is looked up in. It is immutable, and threads read it through one
// atomic pointer. A table that differs in one deployment shares everything else with the one before, so a patch costs
// the same however large the table is.
#pragma once

#include <array>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/ed25519.h"
#include "router/address.h"
#include "router/keyed_hash.h"
#include "router/pins/redis_url.h"
#include "router/pins/session_pins.h"
#include "router/shard.h"
#include "router/table/table_document.h"
#include "router/tls/client_rule.h"
#include "router/tls/upstream_tls.h"

namespace sluice::router {

inline constexpr uint32_t kAllPoints = 10'000;

// What outlives the tables in which a deployment stands.
struct DeploymentMemory {
  std::atomic<uint32_t> sequence = 0;      // how far the sequence of points has come
  std::atomic<int64_t> held_until_ms = 0;  // requests wait; monotonic, 0: no hold
  std::unique_ptr<SessionPins> pins;       // only if the deployment names a session key
};

// What outlives the tables in which a revision stands.
struct RevisionMemory {
  uint32_t number = 0;                 // of this revision alone, in this process
  std::atomic<bool> draining = false;  // by order, besides the table
  std::atomic<int64_t> cut_at_ms = 0;  // what is still under way then is cut; monotonic
  std::atomic<int64_t> cut = 0;        // how many requests that were, of the last drain
};

// Where a replica is.
struct ReplicaPlace {
  Address address;
  std::shared_ptr<const UpstreamTls> tls;  // nothing: in the clear
};

struct Revision {
  std::string id;
  uint32_t weight_bps = 0;
  uint32_t first_point = 0;  // its points are [first_point, first_point + weight_bps)
  RevisionState state = RevisionState::ready;
  uint32_t drain_seconds = 0;
  bool http2 = false;   // its replicas speak HTTP/2, in the clear by prior knowledge, over TLS by ALPN
  uint32_t series = 0;  // its counters; many may share one
  uint64_t stamp = 0;   // another for each compilation: whether a thread's pool is still that of this revision
  std::vector<ReplicaPlace> replicas;
  std::shared_ptr<RevisionMemory> memory;

  bool draining() const { return state == RevisionState::draining || memory->draining.load(std::memory_order_relaxed); }
  // Whether sessions may stay, and new ones may begin.
  bool serves() const { return weight_bps > 0 && !draining(); }
};

struct Timeouts {
  uint32_t connect_ms = 0;
  uint32_t first_byte_ms = 0;
  uint32_t idle_ms = 0;
  uint32_t stream_idle_ms = 0;
};

struct Deployment : std::enable_shared_from_this<Deployment> {
  std::string id, bundle, customer, tenant, team, pack_kind;
  int64_t generation = 0;
  bool paused = false;
  std::string paused_page, paused_type;
  int64_t retry_after_s = 0;
  StickyMode mode = StickyMode::session;
  std::string key_header;  // in small letters
  std::string key_cookie;
  int64_t ttl_s = 0;
  bool secure = true;
  std::string cookie_name;
  uint64_t id_hash = 0;  // of its id, by a key of this process
  RoutesDocument routes;
  Timeouts timeouts;
  bool redirect = false;                          // requests in the clear are sent to https
  std::string hsts;                               // the line for answers over TLS, with CRLF; empty: none
  std::shared_ptr<const ClientRule> client_rule;  // nothing: it wants no certificate of its clients
  std::vector<std::string> trusted_callers;
  std::vector<Revision> revisions;
  std::shared_ptr<DeploymentMemory> memory;

  // The revision in whose range a point is; nothing if no revision has weight.
  const Revision* at_point(uint32_t point) const;
  const Revision* named(std::string_view revision) const;
};

// One host with one prefix, and who is behind it, those that name a team and a tenant first. There may be many routes,
// so they own nothing: the targets are deployments of the table, and host and prefix are texts of one of them.
struct RouteEntry {
  std::string_view host;  // "*.name" for a wildcard; empty: any
  std::string_view prefix;
  boost::container::small_vector<const Deployment*, 1> targets;
};

struct CookieKey {
  std::string id;
  std::string bytes;
};

// What the table as a whole says, besides its deployments.
struct TableSettings {
  std::string environment;
  std::vector<CookieKey> cookie_keys;
  std::vector<crypto::PublicKey> debug_keys;
  std::vector<Network> trusted_proxies;
  uint32_t access_log_bps = 0;
  uint64_t connections_per_address = 0;  // 0: half of all
  std::optional<RedisPlace> redis;       // where session pins are kept besides the memory
  uint64_t stamp = 0;                    // another for each load
};

struct RouteQuery {
  std::string_view host;  // in small letters
  std::string_view path;
  std::string_view tenant;
  std::string_view team;
};

struct Found {
  const Deployment* deployment = nullptr;
  std::string_view prefix;  // of its route
};

class Table {
 public:
  int64_t generation = 0;
  std::shared_ptr<const TableSettings> settings;
  std::vector<Quarantined> quarantined;
  std::string touched;                              // by the patch that made it; empty: it was loaded
  std::shared_ptr<const ClientRules> client_rules;  // nothing: no deployment has one

  explicit Table(const HashKey& key) : key_(key) {}

  // The deployment of the route with the highest rank.
  Found find(const RouteQuery& query) const;
  const std::shared_ptr<const Deployment>* named(std::string_view deployment) const;

  // Fails with `conflict`, and leaves the table as it was, if a route is another's. Replaces the deployment of that id.
  Result<void> put(std::shared_ptr<const Deployment> deployment);
  bool remove(std::string_view deployment);

  size_t size() const { return deployments_; }
  // Calls visit(const std::shared_ptr<const Deployment>&) for each, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& shard : by_id_) {
      if (!shard) continue;
      for (const auto& deployment : shard->values()) visit(deployment);
    }
  }

  // Frees what only this table has, little by little, and gives way in between. Nobody may look at it any more.
  void take_apart();

  // Makes the shards the table's own beforehand, with room, for a table that is built from nothing.
  void reserve(size_t deployments, size_t routes);

 private:
  static constexpr size_t kShards = 256;
  template <class T>
  using Shards = std::array<std::shared_ptr<Shard<T>>, kShards>;
  using Owned = std::shared_ptr<const Deployment>;

  // The shard of a hash, as this table's own.
  template <class T>
  static Shard<T>& own(Shards<T>& shards, uint64_t hash);

  uint64_t hash_of_route(std::string_view host, std::string_view prefix) const;
  const RouteEntry* route(uint64_t hash, std::string_view host, std::string_view prefix) const;
  Found find_at(std::string_view host, const RouteQuery& query) const;
  void put_route(uint64_t hash, std::string_view host, std::string_view prefix, const Deployment& deployment);
  void remove_routes(const Deployment& deployment);

  HashKey key_;
  Shards<RouteEntry> routes_;
  Shards<Owned> by_id_;
  size_t deployments_ = 0;
  uint32_t max_segments_ = 0;  // of any prefix
  uint32_t wildcards_ = 0;     // how many routes have a wildcard
  uint32_t any_hosts_ = 0;
};

// The hosts and prefixes of a deployment's routes, combined: visit(host, prefix).
template <class Visit>
void for_each_route(const RoutesDocument& routes, Visit&& visit) {
  static const std::vector<std::string> kAnyHost = {""}, kAnyPath = {"/"};
  if (routes.hosts.empty() && routes.path_prefixes.empty()) return;
  for (const std::string& host : routes.hosts.empty() ? kAnyHost : routes.hosts) {
    for (const std::string& prefix : routes.path_prefixes.empty() ? kAnyPath : routes.path_prefixes) {
      visit(std::string_view(host), std::string_view(prefix));
    }
  }
}

}  // namespace sluice::router
