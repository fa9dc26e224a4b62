// The rules of docs/internals/router.md, The table.
#include "router/table/table_compile.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/basis_points.h"
#include "base/terminal.h"
#include "base/thread_turns.h"
#include "crypto/base64.h"
#include "router/http1/fields.h"

namespace sluice::router {
namespace {

constexpr size_t kMaxId = 64;
constexpr size_t kMaxText = 200;
constexpr size_t kMaxRevisions = 64;
constexpr size_t kMaxReplicas = 256;
constexpr size_t kMaxRouteParts = 1'000;
constexpr size_t kMaxPage = 1 << 20;
constexpr size_t kMaxKeys = 8;
constexpr size_t kMaxReserved = 1'000'000;
constexpr int64_t kMaxTime_ms = 86'400'000;
constexpr int64_t kMaxHsts_s = 100'000'000;
constexpr size_t kMaxAuthorities = 1 << 20;
constexpr size_t kMaxCallers = 1'000;
constexpr size_t kMaxCaller = 2'048;
constexpr int64_t kMaxTtl_s = 400LL * 86'400;

Error fault(std::string path, std::string message) {
  return {.code = Code::invalid, .message = std::move(message), .path = std::move(path)};
}

bool is_id(std::string_view text) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kMaxId && std::ranges::all_of(text, fits);
}

bool is_route_host(std::string_view host) {
  std::string_view name = host.starts_with("*.") ? host.substr(2) : host;
  auto fits = [](char c) {
    return is_lower(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '[' || c == ']';
  };
  return !name.empty() && host.size() <= 253 && name.front() != '.' && name.back() != '.' &&
         std::ranges::all_of(name, fits);
}

bool is_server_name(std::string_view name) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == ':'; };
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, fits);
}

bool is_route_prefix(std::string_view prefix) {
  if (!prefix.starts_with('/') || prefix.size() > 1'000) return false;
  if (prefix.size() > 1 && prefix.ends_with('/')) return false;
  return std::ranges::all_of(prefix, [](char c) { return c > ' ' && c != 0x7f && c != '?' && c != '#'; });
}

bool is_header_text(std::string_view text) {
  return text.size() <= kMaxText && std::ranges::all_of(text, [](char c) { return c >= ' ' && c != 0x7f; });
}

Result<void> check_texts(const DeploymentDocument& document) {
  if (!is_id(document.id)) return fault("/id", "expected 1 to 64 letters, digits, -, _ and .");
  const std::pair<const char*, const std::string*> texts[] = {
      {"/bundle", &document.bundle}, {"/customer", &document.customer},   {"/tenant", &document.tenant},
      {"/team", &document.team},     {"/pack_kind", &document.pack_kind}, {"/paused_type", &document.paused_type}};
  for (const auto& [path, text] : texts) {
    if (!is_header_text(*text)) return fault(path, "expected at most 200 bytes without control characters");
  }
  if (document.paused_page.size() > kMaxPage) return fault("/paused_page", "a page is at most 1 MB");
  if (document.retry_after_s < 0 || document.retry_after_s > 86'400) {
    return fault("/retry_after_s", "expected 0 to 86400 seconds");
  }
  return {};
}

Result<void> check_routes(const RoutesDocument& routes) {
  if (routes.hosts.size() > kMaxRouteParts || routes.path_prefixes.size() > kMaxRouteParts) {
    return fault("/routes", "at most 1000 hosts and 1000 prefixes");
  }
  for (const std::string& host : routes.hosts) {
    if (!is_route_host(host)) return fault("/routes/hosts", "'" + host + "' is no host in small letters");
  }
  for (const std::string& prefix : routes.path_prefixes) {
    if (!is_route_prefix(prefix)) {
      return fault("/routes/path_prefixes", "'" + prefix + "' is no path without a slash at its end");
    }
  }
  for (const std::string& prefix : routes.strip_prefixes.value_or(std::vector<std::string>())) {
    if (!is_route_prefix(prefix) || prefix == "/") {
      return fault("/routes/strip_prefixes", "'" + prefix + "' is no path without a slash at its end");
    }
  }
  if (routes.tenant.empty() && !routes.team.empty()) return fault("/routes/team", "a team needs its tenant");
  return {};
}

Result<void> check_stickiness(const StickinessDocument& sticky) {
  if (!sticky.key_header.empty() && !sticky.key_cookie.empty()) {
    return fault("/stickiness", "a session key is in a header or in a cookie, not in both");
  }
  for (const std::string* name : {&sticky.key_header, &sticky.key_cookie}) {
    if (!name->empty() && (name->size() > kMaxText || !is_token(*name))) {
      return fault("/stickiness", "'" + *name + "' is no name of a header or cookie");
    }
  }
  if (sticky.ttl_s < 1 || sticky.ttl_s > kMaxTtl_s) return fault("/stickiness/ttl_s", "expected 1 to 34560000 seconds");
  return {};
}

Result<Timeouts> compile_timeouts(const TimeoutsDocument& given) {
  for (int64_t each : {given.connect_ms, given.first_byte_ms, given.idle_ms, given.stream_idle_ms}) {
    if (each < 1 || each > kMaxTime_ms) return fault("/timeouts", "expected 1 to 86400000 milliseconds");
  }
  return Timeouts{static_cast<uint32_t>(given.connect_ms), static_cast<uint32_t>(given.first_byte_ms),
                  static_cast<uint32_t>(given.idle_ms), static_cast<uint32_t>(given.stream_idle_ms)};
}

Result<void> check_tls(const std::optional<TlsDocument>& given) {
  if (!given) return {};
  if (given->hsts_s < 0 || given->hsts_s > kMaxHsts_s) return fault("/tls/hsts_s", "expected 0 to 100000000 seconds");
  const bool asks = given->client.value_or(ClientCertificate::none) != ClientCertificate::none;
  if (asks != given->client_ca.has_value()) {
    return fault("/tls/client_ca", "an authority of clients goes with client: wanted or required");
  }
  if (given->client_ca && given->client_ca->size() > kMaxAuthorities) {
    return fault("/tls/client_ca", "authorities are at most 1 MB");
  }
  if (!given->trusted_callers) return {};
  if (!asks)
    return fault("/tls/trusted_callers", "callers are known by their certificates: client: wanted or required");
  if (given->trusted_callers->size() > kMaxCallers) return fault("/tls/trusted_callers", "at most 1000 callers");
  for (const std::string& each : *given->trusted_callers) {
    const bool plain = std::ranges::all_of(each, [](char c) { return c > ' ' && c < 0x7f; });
    if (!each.starts_with("spiffe://") || each.size() > kMaxCaller || !plain) {
      return fault("/tls/trusted_callers", "'" + printable(each.substr(0, 80)) + "' is no SPIFFE ID");
    }
  }
  return {};
}

// What is made of a text once for all who say it, and again when nobody does any more.
template <class T, class Make>
Result<std::shared_ptr<const T>> once(std::map<std::string, std::weak_ptr<const T>>& known, const std::string& text,
                                      Make&& make) {
  auto found = known.find(text);
  if (found != known.end()) {
    if (auto made = found->second.lock()) return made;
  }
  std::erase_if(known, [](const auto& each) { return each.second.expired(); });
  Result<std::shared_ptr<const T>> made = make();
  if (made) known[text] = *made;
  return made;
}

// Lays the ranges of points, in order; whether they fill all of it, or nothing.
Result<void> lay_points(std::vector<Revision>& revisions) {
  uint32_t next = 0;
  for (Revision& revision : revisions) {
    revision.first_point = next;
    next += revision.weight_bps;
  }
  if (next != 0 && next != kAllPoints) {
    return fault("/revisions", "the weights sum to " + std::to_string(next) + " instead of 10000");
  }
  return {};
}

Result<std::shared_ptr<TableSettings>> compile_settings(const TableDocument& document, uint64_t stamp) {
  auto settings = std::make_shared<TableSettings>();
  settings->environment = document.environment;
  settings->access_log_bps = static_cast<uint32_t>(document.access_log_bps);
  settings->connections_per_address = static_cast<uint64_t>(document.connections_per_address.value_or(0));
  settings->stamp = stamp;
  if (document.cookie_keys.size() > kMaxKeys || document.debug_keys.size() > kMaxKeys) {
    return fault("", "at most 8 keys of a kind");
  }
  for (size_t i = 0; i < document.cookie_keys.size(); ++i) {
    const CookieKeyDocument& given = document.cookie_keys[i];
    std::string path = "/cookie_keys/" + std::to_string(i);
    if (given.id.empty() || given.id.size() > 16 ||
        !std::ranges::all_of(given.id, [](char c) { return is_letter(c) || is_digit(c); })) {
      return fault(path + "/id", "expected 1 to 16 letters and digits");
    }
    for (const CookieKey& other : settings->cookie_keys) {
      if (other.id == given.id) return fault(path + "/id", "two keys have the id " + given.id);
    }
    auto bytes = crypto::from_base64(given.key, crypto::Base64::url_unpadded);
    if (!bytes || bytes->size() != 32) return fault(path + "/key", "expected 32 bytes as unpadded base64url");
    settings->cookie_keys.push_back({given.id, *std::move(bytes)});
  }
  for (size_t i = 0; i < document.debug_keys.size(); ++i) {
    auto bytes = crypto::from_base64(document.debug_keys[i]);
    auto key = bytes ? crypto::PublicKey::from_raw(*bytes) : Result<crypto::PublicKey>(bytes.error());
    if (!key) return fault("/debug_keys/" + std::to_string(i), "expected an Ed25519 public key, 32 bytes as base64");
    settings->debug_keys.push_back(*key);
  }
  if (document.trusted_proxies.size() > 1'000) return fault("/trusted_proxies", "at most 1000 networks");
  for (size_t i = 0; i < document.trusted_proxies.size(); ++i) {
    auto network = parse_network(document.trusted_proxies[i]);
    if (!network) return fault("/trusted_proxies/" + std::to_string(i), network.error().message);
    settings->trusted_proxies.push_back(*network);
  }
  if (document.pins) {
    auto redis = parse_redis_url(document.pins->redis);
    if (!redis) return fault("/pins/redis", redis.error().message);
    settings->redis = *std::move(redis);
  }
  return settings;
}

// Whether a patch of this deployment can have changed which rule holds for some host.
bool changes_rules(const Table& before, const Table& after, const std::string& id) {
  const auto* was = before.named(id);
  const auto* is = after.named(id);
  const bool any = before.client_rules || (is != nullptr && (*is)->client_rule);
  if (!any || (was == nullptr && is == nullptr)) return false;
  if (was == nullptr || is == nullptr) return true;
  return (*was)->client_rule != (*is)->client_rule || (*was)->routes.hosts != (*is)->routes.hosts ||
         (*was)->routes.path_prefixes != (*is)->routes.path_prefixes;
}

}  // namespace

TableCompiler::TableCompiler(Random& random, SeriesOf series_of)
    : series_of_(std::move(series_of)), key_(random_hash_key(random)) {}

Result<Revision> TableCompiler::compile_revision(RevisionDocument& document, const Deployment* before) {
  if (!is_id(document.id)) return fault("/id", "expected 1 to 64 letters, digits, -, _ and .");
  if (document.weight_bps < 0 || document.weight_bps > kAllBasisPoints) {
    return fault("/weight_bps", "expected 0 to 10000 basis points");
  }
  if (document.state == RevisionState::draining && document.weight_bps != 0) {
    return fault("/weight_bps", "a draining revision has no weight");
  }
  if (document.drain_seconds < 0 || document.drain_seconds > 86'400) {
    return fault("/drain_seconds", "expected 0 to 86400 seconds");
  }
  if (document.replicas.size() > kMaxReplicas) return fault("/replicas", "at most 256 replicas");
  Revision revision{.id = std::move(document.id),
                    .weight_bps = static_cast<uint32_t>(document.weight_bps),
                    .state = document.state,
                    .drain_seconds = static_cast<uint32_t>(document.drain_seconds),
                    .http2 = document.transport == Transport::http2,
                    .stamp = ++stamp_};
  for (size_t i = 0; i < document.replicas.size(); ++i) {
    auto place = place_of(document.replicas[i], revision.http2);
    if (!place) return fault("/replicas/" + std::to_string(i) + place.error().path, place.error().message);
    revision.replicas.push_back(*std::move(place));
  }
  const Revision* known = before != nullptr ? before->named(revision.id) : nullptr;
  if (known != nullptr) {
    revision.memory = known->memory;
  } else {
    revision.memory = std::make_shared<RevisionMemory>();
    revision.memory->number = ++numbers_;
  }
  return revision;
}

Result<ReplicaPlace> TableCompiler::place_of(const ReplicaDocument& document, bool http2) {
  auto address = parse_replica_address(document.address);
  if (!address) return fault("/address", address.error().message);
  if (!document.address.starts_with("tls:")) {
    if (document.server_name || document.ca) return fault("/address", "a server_name and a ca are for tls: addresses");
    return ReplicaPlace{.address = *address};
  }
  if (!document.ca || document.ca->size() > kMaxAuthorities) {
    return fault("/ca", "whom to believe at a tls: address: certificates of authorities as PEM, or system");
  }
  const std::string name = document.server_name.value_or(host_text(*address));
  if (!is_server_name(name)) return fault("/server_name", "'" + printable(name.substr(0, 80)) + "' is no host");
  auto tls = once(upstreams_, (http2 ? "2" : "1") + name + "\n" + *document.ca,
                  [&] { return UpstreamTls::make(name, *document.ca, http2); });
  if (!tls) return fault("/ca", tls.error().message);
  return ReplicaPlace{.address = *address, .tls = *std::move(tls)};
}

Result<void> TableCompiler::read_client_rule(const TlsDocument& given, Deployment& deployment) {
  if (!given.client_ca) return {};
  const bool required = given.client == ClientCertificate::required;
  auto rule = once(rules_, (required ? "required\n" : "wanted\n") + *given.client_ca,
                   [&] { return ClientRule::make(required, *given.client_ca); });
  if (!rule) return fault("/tls/client_ca", rule.error().message);
  deployment.client_rule = *std::move(rule);
  deployment.trusted_callers = given.trusted_callers.value_or(std::vector<std::string>());
  return {};
}

// What touches others, once nothing is wrong with it: counters, and the end of holds and drains.
void TableCompiler::enlist(Deployment& deployment) {
  deployment.memory->held_until_ms.store(0, std::memory_order_relaxed);
  for (Revision& revision : deployment.revisions) {
    revision.series = series_of_(
        {deployment.id, revision.id, deployment.bundle, deployment.customer, deployment.tenant, deployment.team});
    if (revision.weight_bps == 0) continue;
    revision.memory->draining.store(false, std::memory_order_relaxed);
    revision.memory->cut_at_ms.store(0, std::memory_order_relaxed);
  }
}

Result<std::shared_ptr<const Deployment>> TableCompiler::compile(DeploymentDocument&& document, const Table* before) {
  if (auto sound = check_texts(document); !sound) return sound.error();
  if (auto sound = check_routes(document.routes); !sound) return sound.error();
  if (auto sound = check_stickiness(document.stickiness); !sound) return sound.error();
  if (auto sound = check_tls(document.tls); !sound) return sound.error();
  auto timeouts = compile_timeouts(document.timeouts);
  if (!timeouts) return timeouts.error();
  if (document.revisions.size() > kMaxRevisions) return fault("/revisions", "at most 64 revisions");
  const auto* found = before != nullptr ? before->named(document.id) : nullptr;
  const Deployment* known = found != nullptr ? found->get() : nullptr;

  auto deployment = std::make_shared<Deployment>();
  for (size_t i = 0; i < document.revisions.size(); ++i) {
    std::string path = "/revisions/" + std::to_string(i);
    auto revision = compile_revision(document.revisions[i], known);
    if (!revision) {
      Error error = revision.error();
      error.path = path + error.path;
      return error;
    }
    if (deployment->named(revision->id) != nullptr) return fault(path + "/id", "the revision is listed twice");
    deployment->revisions.push_back(*std::move(revision));
  }
  if (auto sound = lay_points(deployment->revisions); !sound) return sound.error();

  deployment->memory = known != nullptr ? known->memory : nullptr;
  bool has_key = !document.stickiness.key_header.empty() || !document.stickiness.key_cookie.empty();
  bool wants_pins = has_key && document.stickiness.mode == StickyMode::session;
  deployment->id_hash = keyed_hash(key_, document.id);
  if (!deployment->memory || (wants_pins && !deployment->memory->pins)) {
    auto memory = std::make_shared<DeploymentMemory>();
    // Another beginning in each process and deployment.
    memory->sequence = deployment->memory ? deployment->memory->sequence.load()
                                          : static_cast<uint32_t>(deployment->id_hash % kAllPoints);
    if (wants_pins) memory->pins = std::make_unique<SessionPins>(key_);
    deployment->memory = std::move(memory);
  }
  deployment->cookie_name = "_sl_rev_" + document.id;
  deployment->id = std::move(document.id);
  deployment->bundle = std::move(document.bundle);
  deployment->customer = std::move(document.customer);
  deployment->tenant = std::move(document.tenant);
  deployment->team = std::move(document.team);
  deployment->pack_kind = std::move(document.pack_kind);
  deployment->generation = document.generation;
  deployment->paused = document.status == DeploymentStatus::paused;
  deployment->paused_page = std::move(document.paused_page);
  deployment->paused_type = std::move(document.paused_type);
  deployment->retry_after_s = document.retry_after_s;
  deployment->mode = document.stickiness.mode;
  deployment->key_header = std::move(document.stickiness.key_header);
  for (char& c : deployment->key_header) c = is_upper(c) ? static_cast<char>(c | 0x20) : c;
  deployment->key_cookie = std::move(document.stickiness.key_cookie);
  deployment->ttl_s = document.stickiness.ttl_s;
  deployment->secure = document.stickiness.secure;
  deployment->routes = std::move(document.routes);
  deployment->timeouts = *timeouts;
  if (document.tls) {
    if (auto read = read_client_rule(*document.tls, *deployment); !read) return read.error();
    deployment->redirect = document.tls->redirect;
    if (document.tls->hsts_s > 0) {
      deployment->hsts = "Strict-Transport-Security: max-age=" + std::to_string(document.tls->hsts_s) + "\r\n";
    }
  }
  enlist(*deployment);
  return std::shared_ptr<const Deployment>(std::move(deployment));
}

Result<std::shared_ptr<const Table>> TableCompiler::load(ReadTable&& read, const Table* before) {
  auto settings = compile_settings(read.document, ++stamp_);
  if (!settings) return settings.error();
  auto table = std::make_shared<Table>(key_);
  table->generation = read.document.generation;
  table->settings = *std::move(settings);
  size_t routes = 0;
  for (const DeploymentDocument& each : read.document.deployments) {
    routes += std::max<size_t>(each.routes.hosts.size(), 1) * std::max<size_t>(each.routes.path_prefixes.size(), 1);
  }
  table->reserve(read.document.deployments.size(), std::min(routes, kMaxReserved));
  table->quarantined = std::move(read.quarantined);
  for (size_t i = 0; i < read.document.deployments.size(); ++i) {
    if (i % kDeploymentsInATurn == 0) give_way();
    DeploymentDocument& each = read.document.deployments[i];
    std::string id = each.id;
    Result<void> done;
    if (table->named(id) != nullptr) {
      done = fault("/id", "the deployment is listed twice");
    } else {
      auto deployment = compile(std::move(each), before);
      done = deployment ? table->put(*std::move(deployment)) : Result<void>(deployment.error());
    }
    if (done) continue;
    table->quarantined.push_back(
        {id, "/deployments/" + std::to_string(i) + (done.error().path.empty() ? ": " : "") + to_string(done.error())});
  }
  // What was known of those at fault goes on, unless its routes have become another's.
  for (const Quarantined& each : table->quarantined) {
    if (each.forget) continue;
    const auto* known = before != nullptr ? before->named(each.deployment) : nullptr;
    if (known != nullptr && table->named(each.deployment) == nullptr) (void)table->put(*known);
  }
  table->client_rules = ClientRules::of(*table);
  return std::shared_ptr<const Table>(std::move(table));
}

Result<std::shared_ptr<const Table>> TableCompiler::patch(ReadPatch&& read, int64_t generation, const Table& before) {
  auto table = std::make_shared<Table>(before);
  table->generation = generation;
  table->touched = read.deployment;
  std::erase_if(table->quarantined, [&](const Quarantined& each) { return each.deployment == read.deployment; });
  if (read.quarantined) {
    table->quarantined.push_back(*std::move(read.quarantined));
  } else if (read.document.removed) {
    table->remove(*read.document.removed);
  } else {
    auto deployment = compile(*std::move(read.document.deployment), &before);
    Result<void> done = deployment ? table->put(*std::move(deployment)) : Result<void>(deployment.error());
    if (!done) table->quarantined.push_back({read.deployment, to_string(done.error())});
  }
  if (changes_rules(before, *table, read.deployment)) table->client_rules = ClientRules::of(*table);
  return std::shared_ptr<const Table>(std::move(table));
}

}  // namespace sluice::router
