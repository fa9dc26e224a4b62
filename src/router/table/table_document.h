// The table document, sluice.router-table.v1, and its patches, as typed values: what docs/internals/router.md says, to
// the letter. Writers fill the structs and call to_json; read_table reads them back, and leaves out alone the
// deployments that it cannot read.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/result.h"

namespace sluice::router {

inline constexpr std::string_view kTableSchema = "sluice.router-table.v1";
// After so many a load gives way to those that serve.
inline constexpr size_t kDeploymentsInATurn = 16;
inline constexpr std::string_view kPatchSchema = "sluice.router-patch.v1";

enum class DeploymentStatus { active, paused };
BOOST_DESCRIBE_ENUM(DeploymentStatus, active, paused)

enum class StickyMode { session, bucket, none };
BOOST_DESCRIBE_ENUM(StickyMode, session, bucket, none)

enum class Transport { http, http2 };
BOOST_DESCRIBE_ENUM(Transport, http, http2)

enum class RevisionState { ready, draining };
BOOST_DESCRIBE_ENUM(RevisionState, ready, draining)

struct CookieKeyDocument {
  std::string id;
  std::string key;
};
BOOST_DESCRIBE_STRUCT(CookieKeyDocument, (), (id, key))

struct RoutesDocument {
  std::vector<std::string> hosts;
  std::vector<std::string> path_prefixes;
  std::string tenant;
  std::string team;
  // Of the prefixes those that the application does not get to see. Left out if there are none, as routers that run
  // since before there were any know nothing of it.
  std::optional<std::vector<std::string>> strip_prefixes;
  static constexpr std::string_view kDefaulted[] = {"hosts", "path_prefixes", "tenant", "team"};
};
BOOST_DESCRIBE_STRUCT(RoutesDocument, (), (hosts, path_prefixes, tenant, team, strip_prefixes))

struct StickinessDocument {
  StickyMode mode = StickyMode::session;
  std::string key_header;
  std::string key_cookie;
  int64_t ttl_s = 3600;
  bool secure = true;
  static constexpr std::string_view kDefaulted[] = {"mode", "key_header", "key_cookie", "ttl_s", "secure"};
};
BOOST_DESCRIBE_STRUCT(StickinessDocument, (), (mode, key_header, key_cookie, ttl_s, secure))

struct TimeoutsDocument {
  int64_t connect_ms = 2'000;
  int64_t first_byte_ms = 60'000;
  int64_t idle_ms = 60'000;
  int64_t stream_idle_ms = 300'000;
  static constexpr std::string_view kDefaulted[] = {"connect_ms", "first_byte_ms", "idle_ms", "stream_idle_ms"};
};
BOOST_DESCRIBE_STRUCT(TimeoutsDocument, (), (connect_ms, first_byte_ms, idle_ms, stream_idle_ms))

// Whether clients must show a certificate.
enum class ClientCertificate { none, wanted, required };
BOOST_DESCRIBE_ENUM(ClientCertificate, none, wanted, required)

struct TlsDocument {
  bool redirect = false;  // requests in the clear are sent to https
  int64_t hsts_s = 0;     // 0: no Strict-Transport-Security
  // Left out where they say nothing, as older routers do not know them.
  std::optional<ClientCertificate> client;
  std::optional<std::string> client_ca;                     // PEM: who signs the certificates of clients
  std::optional<std::vector<std::string>> trusted_callers;  // SPIFFE IDs of clients that may say which revision
  static constexpr std::string_view kDefaulted[] = {"redirect", "hsts_s"};
};
BOOST_DESCRIBE_STRUCT(TlsDocument, (), (redirect, hsts_s, client, client_ca, trusted_callers))

struct ReplicaDocument {
  std::string address;
  // Of one at a `tls:` address.
  std::optional<std::string> server_name;  // that its certificate is of; nothing: its address
  std::optional<std::string> ca;           // PEM, or "system"
};
BOOST_DESCRIBE_STRUCT(ReplicaDocument, (), (address, server_name, ca))

struct RevisionDocument {
  std::string id;
  int64_t weight_bps = 0;
  RevisionState state = RevisionState::ready;
  int64_t drain_seconds = 30;
  std::vector<ReplicaDocument> replicas;
  std::optional<Transport> transport;  // left out where it is http, as older routers do not know it
  // For the operator's bounds; left out where nobody asks for them, as older routers know nothing of them.
  std::optional<std::string> digest;     // of the bundle's tree
  std::optional<std::string> statement;  // who signed it: a DSSE envelope
  static constexpr std::string_view kDefaulted[] = {"state", "drain_seconds", "replicas"};
};
BOOST_DESCRIBE_STRUCT(RevisionDocument, (),
                      (id, weight_bps, state, drain_seconds, replicas, transport, digest, statement))

struct DeploymentDocument {
  std::string id;
  std::string bundle;
  std::string customer;
  std::string tenant;
  std::string team;
  std::string pack_kind;
  int64_t generation = 0;
  DeploymentStatus status = DeploymentStatus::active;
  std::string paused_page;
  std::string paused_type = "text/html; charset=utf-8";
  int64_t retry_after_s = 30;
  RoutesDocument routes;
  StickinessDocument stickiness;
  TimeoutsDocument timeouts;
  std::optional<TlsDocument> tls;  // left out where it says nothing, as older routers do not know it
  std::vector<RevisionDocument> revisions;
  static constexpr std::string_view kDefaulted[] = {
      "bundle",      "customer",    "tenant",        "team",   "pack_kind",  "generation", "status",
      "paused_page", "paused_type", "retry_after_s", "routes", "stickiness", "timeouts",   "revisions"};
};
BOOST_DESCRIBE_STRUCT(DeploymentDocument, (),
                      (id, bundle, customer, tenant, team, pack_kind, generation, status, paused_page, paused_type,
                       retry_after_s, routes, stickiness, timeouts, tls, revisions))

struct PinsDocument {
  std::string redis;  // its URL
};
BOOST_DESCRIBE_STRUCT(PinsDocument, (), (redis))

struct TableDocument {
  std::string schema = std::string(kTableSchema);
  std::string environment;
  int64_t generation = 0;
  std::vector<CookieKeyDocument> cookie_keys;
  std::vector<std::string> debug_keys;
  std::vector<std::string> trusted_proxies;
  int64_t access_log_bps = 100;
  std::optional<int64_t> connections_per_address;  // nothing: half of all that the router may have
  std::optional<PinsDocument> pins;                // nothing: they are in the routers' memory alone
  std::vector<DeploymentDocument> deployments;
  static constexpr std::string_view kDefaulted[] = {"cookie_keys", "debug_keys", "trusted_proxies", "access_log_bps",
                                                    "deployments"};
};
BOOST_DESCRIBE_STRUCT(TableDocument, (),
                      (schema, environment, generation, cookie_keys, debug_keys, trusted_proxies, access_log_bps,
                       connections_per_address, pins, deployments))

struct PatchDocument {
  std::string schema = std::string(kPatchSchema);
  std::optional<DeploymentDocument> deployment;
  std::optional<std::string> removed;
};
BOOST_DESCRIBE_STRUCT(PatchDocument, (), (schema, deployment, removed))

// A deployment that is left out, and why.
struct Quarantined {
  std::string deployment;
  std::string reason;
  bool forget = false;  // what was known of it before must not go on

  bool operator==(const Quarantined&) const = default;
};

struct ReadTable {
  TableDocument document;  // its deployments are those that could be read
  std::vector<Quarantined> quarantined;
};

// Checks what concerns the whole table; deployments are read for their shape only. An error refuses all of it.
Result<ReadTable> read_table(std::string_view text, const std::string& file = "");

struct ReadPatch {
  PatchDocument document;
  std::string deployment;  // which one it is about
  std::optional<Quarantined> quarantined;
};
Result<ReadPatch> read_patch(std::string_view text);

}  // namespace sluice::router
