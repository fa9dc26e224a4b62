// Rules are sorted by what they are about when bounds are read, so that a deployment costs a few lookups.
#include "router/table/bounds.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <utility>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "base/utc_time.h"
#include "base/yaml.h"
#include "crypto/base64.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"

namespace sluice::router {
namespace bounds {

constexpr std::string_view kStatementType = "application/vnd.in-toto+json";

Error fault(std::string path, std::string message) {
  return {.code = Code::invalid, .message = std::move(message), .path = std::move(path)};
}

bool is_digest(std::string_view text) {
  return text.size() == 71 && text.starts_with("sha256:") &&
         text.find_first_not_of("0123456789abcdef", 7) == std::string_view::npos;
}

// Whether a path means what it says: nothing in it leads elsewhere once it is read by somebody else.
bool is_plain_path(std::string_view path) {
  return path.starts_with('/') && path.find("//") == std::string_view::npos &&
         path.find("/./") == std::string_view::npos && path.find("/../") == std::string_view::npos &&
         !path.ends_with("/.") && !path.ends_with("/..") && path.find('%') == std::string_view::npos &&
         path.find('\\') == std::string_view::npos;
}

// "/shop" covers "/shop" and "/shop/cart", and not "/shopping".
bool covers(std::string_view prefix, std::string_view path) {
  if (!is_plain_path(path)) return false;
  while (prefix.size() > 1 && prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix == "/") return true;
  return path == prefix || (path.starts_with(prefix) && path[prefix.size()] == '/');
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return made;
}

// The SHA-256 digests that an in-toto statement is about.
std::set<std::string> subjects_of(std::string_view statement) {
  std::set<std::string> found;
  auto document = parse_json(statement, "statement");
  const json::object* root = document ? document->root.if_object() : nullptr;
  const json::value* subjects = root != nullptr ? root->if_contains("subject") : nullptr;
  if (subjects == nullptr || !subjects->is_array()) return found;
  for (const json::value& each : subjects->get_array()) {
    const json::object* subject = each.if_object();
    const json::value* digest = subject != nullptr ? subject->if_contains("digest") : nullptr;
    const json::object* by_name = digest != nullptr ? digest->if_object() : nullptr;
    const json::value* sha256 = by_name != nullptr ? by_name->if_contains("sha256") : nullptr;
    if (sha256 != nullptr && sha256->is_string()) found.insert("sha256:" + std::string(sha256->get_string()));
  }
  return found;
}

struct Field {
  std::string path;
  std::vector<std::string_view> types;  // that it may have
};

Result<void> check_rule(const Field& field, const BoundRule& rule, const std::string& path) {
  if (std::ranges::find(field.types, rule.type) == field.types.end()) {
    std::string known;
    for (std::string_view each : field.types) known += (known.empty() ? "" : ", ") + std::string(each);
    return fault(path + "/type",
                 "'" + printable(rule.type.substr(0, 40)) + "' is no rule for this; known are " + known);
  }
  const std::pair<bool, std::string_view> members[] = {{rule.members.has_value(), "enum"},
                                                       {rule.suffix.has_value(), "suffix"},
                                                       {rule.network.has_value(), "cidr"},
                                                       {rule.keys.has_value(), "signed_by"}};
  for (const auto& [there, type] : members) {
    if (there != (rule.type == type))
      return fault(path, there ? "this belongs to a rule of type " + std::string(type)
                               : "a rule of type " + std::string(type) + " needs its value");
  }
  if (rule.prefix.has_value() != (rule.type == "below" || rule.type == "unix"))
    return fault(path, "prefix is what a rule of type below or unix has, and no other");
  if (rule.threshold && rule.type != "signed_by") return fault(path, "only a rule of type signed_by has a threshold");
  if (rule.suffix && (rule.suffix->size() < 2 || !rule.suffix->starts_with('.')))
    return fault(path + "/suffix", "expected a name that begins with a dot, such as .shop.example");
  if (rule.type == "unix" && (!is_plain_path(*rule.prefix) || !rule.prefix->ends_with('/')))
    return fault(path + "/prefix", "expected a folder that ends with a slash, such as /run/sluice/");
  if (rule.type == "below" && !is_plain_path(*rule.prefix))
    return fault(path + "/prefix", "expected a path such as /shop");
  return {};
}

}  // namespace bounds

Result<Bounds> Bounds::compile(BoundsDocument document) {
  using bounds::fault;
  Bounds made;
  if (document.schema != kBoundsSchema) return fault("/schema", "this is not a " + std::string(kBoundsSchema));
  if (document.environment.empty()) return fault("/environment", "expected the name of an environment");
  if (document.version < 1) return fault("/version", "a version is at least 1");
  if (document.expires_at) {
    auto expires = parse_utc(*document.expires_at);
    if (!expires) return fault("/expires_at", expires.error().message);
    made.expires_ms_ = *expires;
  }
  const auto texts = [](const bounds::Field& field, const std::vector<BoundRule>& rules, Texts& into) -> Result<void> {
    for (size_t i = 0; i < rules.size(); ++i) {
      const BoundRule& rule = rules[i];
      const std::string path = field.path + "/" + std::to_string(i);
      if (auto sound = bounds::check_rule(field, rule, path); !sound) return sound;
      if (rule.type == "any") into.any = true;
      if (rule.members) into.members.insert(rule.members->begin(), rule.members->end());
      if (rule.suffix) into.suffixes.push_back(bounds::lower(*rule.suffix));
      if (rule.type == "below") into.below.push_back(*rule.prefix);
    }
    return {};
  };
  const auto networks = [](const std::string& path, const BoundRule& rule, std::vector<Network>& into) -> Result<void> {
    auto network = parse_network(*rule.network);
    if (!network) return bounds::fault(path + "/network", network.error().message);
    into.push_back(*network);
    return {};
  };
  for (size_t i = 0; i < document.deployments.size(); ++i) {
    const DeploymentBound& bound = document.deployments[i];
    const std::string at = "/deployments/" + std::to_string(i);
    Entry entry;
    const std::vector<BoundRule> any = {{.type = "any"}};
    using Rules = std::vector<BoundRule>;
    const std::tuple<std::string, std::vector<std::string_view>, const Rules*, Texts*> fields[] = {
        {"/bundles", {"any", "enum"}, &bound.bundles, &entry.bundles},
        {"/customers", {"any", "enum"}, bound.customers ? &*bound.customers : &any, &entry.customers},
        {"/ids", {"any", "enum"}, bound.ids ? &*bound.ids : &any, &entry.ids},
        {"/hosts", {"any", "enum", "suffix"}, &bound.hosts, &entry.hosts},
        {"/prefixes", {"any", "enum", "below"}, &bound.prefixes, &entry.prefixes},
        {"/revisions", {"any", "enum", "signed_by"}, &bound.revisions, &entry.digests}};
    for (const auto& [name, types, rules, into] : fields) {
      if (auto read = texts({at + name, types}, *rules, *into); !read) return read.error();
    }
    for (const std::string& digest : entry.digests.members) {
      if (!bounds::is_digest(digest))
        return fault(at + "/revisions", "'" + printable(digest) + "' is no sha256: digest");
    }
    for (size_t j = 0; j < bound.revisions.size(); ++j) {
      const BoundRule& rule = bound.revisions[j];
      if (!rule.keys) continue;
      const std::string path = at + "/revisions/" + std::to_string(j);
      SignedBy by{.threshold = rule.threshold.value_or(1)};
      for (const std::string& text : *rule.keys) {
        auto bytes = crypto::from_base64(text);
        auto key = bytes ? crypto::PublicKey::from_raw(*bytes) : Result<crypto::PublicKey>(bytes.error());
        if (!key) return fault(path + "/keys", "expected Ed25519 public keys, 32 bytes as base64");
        by.keys.push_back(*key);
      }
      if (by.threshold < 1 || by.threshold > by.keys.size())
        return fault(path + "/threshold", "expected 1 to the number of keys");
      entry.signed_by.push_back(std::move(by));
    }
    for (size_t j = 0; j < bound.upstreams.size(); ++j) {
      const BoundRule& rule = bound.upstreams[j];
      const std::string path = at + "/upstreams/" + std::to_string(j);
      if (auto sound = bounds::check_rule({at + "/upstreams", {"any", "cidr", "unix"}}, rule, path); !sound)
        return sound.error();
      if (rule.type == "any") entry.any_upstream = true;
      if (rule.type == "unix") entry.unix_prefixes.push_back(*rule.prefix);
      if (rule.type == "cidr") {
        if (auto read = networks(path, rule, entry.networks); !read) return read.error();
      }
    }
    if (entry.bundles.any) made.of_any_bundle_.push_back(i);
    for (const std::string& bundle : entry.bundles.members) made.by_bundle_[bundle].push_back(i);
    made.entries_.push_back(std::move(entry));
  }
  for (size_t i = 0; i < document.trusted_proxies.size(); ++i) {
    const std::string path = "/trusted_proxies/" + std::to_string(i);
    const BoundRule& rule = document.trusted_proxies[i];
    if (auto sound = bounds::check_rule({"/trusted_proxies", {"cidr"}}, rule, path); !sound) return sound.error();
    if (auto read = networks(path, rule, made.proxies_); !read) return read.error();
  }
  if (auto read = texts({"/debug_keys", {"any", "enum"}}, document.debug_keys, made.debug_keys_); !read)
    return read.error();
  if (document.pins) {
    if (auto read = texts({"/pins", {"any", "enum"}}, *document.pins, made.pins_); !read) return read.error();
  }
  made.document_ = std::move(document);
  return made;
}

Result<void> Bounds::check_settings(const TableDocument& table) const {
  const auto beyond = [](std::string what) {
    return Error{.code = Code::denied,
                 .message = what + " goes beyond the operator's bounds; nothing of the order is obeyed",
                 .next = "widen the bounds, sign them, and give them to the router"};
  };
  if (table.environment != document_.environment)
    return beyond("the environment " + printable(table.environment) + ", where " + document_.environment +
                  " is bound,");
  for (const std::string& each : table.trusted_proxies) {
    auto network = parse_network(each);
    // A network is within another if its first address is and if it is no wider.
    const bool within = network && std::ranges::any_of(proxies_, [&](const Network& bound) {
                          return bound.contains(network->address) && network->bits >= bound.bits;
                        });
    if (!within) return beyond("the trusted proxy " + printable(each));
  }
  for (const std::string& each : table.debug_keys) {
    if (!debug_keys_.has(each)) return beyond("the debug key " + printable(each));
  }
  if (table.pins && !pins_.has(table.pins->redis)) return beyond("the place of session pins");
  return {};
}

std::optional<std::string> Bounds::breach_of(const Entry& entry, const DeploymentDocument& deployment) const {
  if (!entry.customers.has(deployment.customer)) return "its customer is " + deployment.customer;
  if (!entry.ids.has(deployment.id)) return "its id is " + deployment.id;
  // Without hosts and prefixes it has no route: only a debug token leads to it.
  const bool routed = !deployment.routes.hosts.empty() || !deployment.routes.path_prefixes.empty();
  if (routed && !entry.hosts.any) {
    if (deployment.routes.hosts.empty()) return "it takes requests for every host";
    for (const std::string& each : deployment.routes.hosts) {
      if (entry.hosts.members.contains(each)) continue;
      const std::string host = bounds::lower(each);
      if (entry.hosts.members.contains(host)) continue;
      if (std::ranges::any_of(entry.hosts.suffixes, [&](const std::string& suffix) {
            return host.size() > suffix.size() && host.ends_with(suffix);
          }))
        continue;
      return "the host " + each;
    }
  }
  if (routed && !entry.prefixes.any) {
    static const std::vector<std::string> kWhole = {"/"};
    const auto& prefixes = deployment.routes.path_prefixes.empty() ? kWhole : deployment.routes.path_prefixes;
    for (const std::string& each : prefixes) {
      if (entry.prefixes.members.contains(each)) continue;
      if (std::ranges::any_of(entry.prefixes.below,
                              [&](const std::string& prefix) { return bounds::covers(prefix, each); }))
        continue;
      return "the path " + each;
    }
  }
  for (const RevisionDocument& revision : deployment.revisions) {
    for (const ReplicaDocument& replica : revision.replicas) {
      if (entry.any_upstream) break;
      if (replica.address.starts_with("unix:")) {
        const std::string_view path = std::string_view(replica.address).substr(5);
        if (bounds::is_plain_path(path) && std::ranges::any_of(entry.unix_prefixes, [&](const std::string& prefix) {
              return path.size() > prefix.size() && path.starts_with(prefix);
            }))
          continue;
        return "the upstream " + replica.address;
      }
      auto address = parse_replica_address(replica.address);
      if (address) {
        const IpBytes ip = ip_bytes(*address);
        if (std::ranges::any_of(entry.networks, [&](const Network& network) { return network.contains(ip); })) continue;
      }
      return "the upstream " + replica.address;
    }
    if (entry.digests.any) continue;
    const std::string digest = revision.digest.value_or("");
    if (digest.empty()) return "revision " + revision.id + " does not say what it is";
    if (!lets_run(entry, digest, revision.statement ? &*revision.statement : nullptr))
      return "revision " + revision.id + " is " + digest;
  }
  return std::nullopt;
}

bool Bounds::lets_run(const Entry& entry, const std::string& digest, const std::string* statement) {
  if (entry.digests.any || entry.digests.members.contains(digest)) return true;
  return statement != nullptr && std::ranges::any_of(entry.signed_by, [&](const SignedBy& by) {
           auto envelope = crypto::parse_envelope(*statement, "statement");
           return envelope && envelope->payload_type == bounds::kStatementType &&
                  crypto::verified_key_ids(*envelope, by.keys).size() >= by.threshold &&
                  bounds::subjects_of(envelope->payload).contains(digest);
         });
}

template <class BreachOf>
std::optional<std::string> Bounds::first_breach(const std::string& bundle, const BreachOf& breach_of) const {
  const auto named = by_bundle_.find(bundle);
  std::string first;
  const auto lets_pass = [&](const std::vector<size_t>& entries) {
    for (size_t each : entries) {
      std::optional<std::string> why = breach_of(entries_[each]);
      if (!why) return true;
      if (first.empty()) first = *std::move(why);
    }
    return false;
  };
  if (named != by_bundle_.end() && lets_pass(named->second)) return std::nullopt;
  if (lets_pass(of_any_bundle_)) return std::nullopt;
  if (first.empty()) first = "the bundle " + bundle;
  return "beyond the operator's bounds (version " + std::to_string(document_.version) + "): " + printable(first);
}

std::optional<std::string> Bounds::breach(const DeploymentDocument& deployment) const {
  return first_breach(deployment.bundle, [&](const Entry& entry) { return breach_of(entry, deployment); });
}

std::optional<std::string> Bounds::breach(const StartingRevision& revision) const {
  return first_breach(revision.bundle, [&](const Entry& entry) -> std::optional<std::string> {
    if (!entry.ids.has(revision.deployment)) return "its deployment is " + revision.deployment;
    if (!lets_run(entry, revision.digest, &revision.statement)) return "its tree is " + revision.digest;
    return std::nullopt;
  });
}

void Bounds::narrow(ReadTable& read, bool keep_known) const {
  auto& all = read.document.deployments;
  auto kept = all.begin();
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (auto why = breach(*each)) {
      read.quarantined.push_back({printable(each->id.substr(0, 64)), *std::move(why), !keep_known});
      continue;
    }
    if (kept != each) *kept = std::move(*each);
    ++kept;
  }
  all.erase(kept, all.end());
}

void Bounds::narrow(ReadPatch& read) const {
  if (!read.document.deployment || read.quarantined) return;
  if (auto why = breach(*read.document.deployment)) read.quarantined = Quarantined{read.deployment, *std::move(why)};
}

Result<BoundsDocument> parse_bounds(std::string_view text, const std::string& file) {
  auto document = parse_yaml(text, file);
  if (!document) return document.error();
  auto read = sluice::read<BoundsDocument>(*document);
  if (!read) return read.error();
  auto made = Bounds::compile(*read);
  if (made) return read;
  Error error = made.error();
  if (auto position = document->position_of(error.path)) error.position = *position;
  return error;
}

Result<std::string> sign_bounds(const BoundsDocument& document, const crypto::PrivateKey& key) {
  if (auto sound = Bounds::compile(document); !sound) return sound.error();
  auto payload = canonical(to_json(document));
  if (!payload) return payload.error();
  auto envelope = crypto::sign_envelope(kBoundsType, *payload, std::span(&key, 1));
  if (!envelope) return envelope.error();
  return crypto::write_envelope(*envelope);
}

Result<SignedBounds> read_bounds(std::string_view text, std::span<const crypto::PublicKey> trusted) {
  auto envelope = crypto::parse_envelope(text, "bounds");
  if (!envelope) return envelope.error();
  if (envelope->payload_type != kBoundsType)
    return Error{.code = Code::verification_failed, .message = "the envelope is not that of a router's bounds"};
  auto signers = crypto::verified_key_ids(*envelope, trusted);
  if (signers.empty())
    return Error{.code = Code::verification_failed, .message = "the bounds are not signed by a key that counts"};
  auto document = parse_json(envelope->payload, "bounds");
  if (!document) return document.error();
  auto read = sluice::read<BoundsDocument>(*document);
  if (!read) return read.error();
  auto bounds = Bounds::compile(*std::move(read));
  if (!bounds) return bounds.error();
  return SignedBounds{*std::move(bounds), std::move(signers), crypto::to_string(crypto::sha256(envelope->payload))};
}

BoundsDocument bounds_around(const TableDocument& table) {
  const auto enumeration = [](std::set<std::string> members) {
    return BoundRule{.type = "enum", .members = std::vector<std::string>(members.begin(), members.end())};
  };
  BoundsDocument made{.environment = table.environment, .version = 1};
  for (const DeploymentDocument& each : table.deployments) {
    DeploymentBound bound{.bundles = {enumeration({each.bundle})}};
    if (!each.customer.empty()) bound.customers = {enumeration({each.customer})};
    if (!each.routes.hosts.empty() || !each.routes.path_prefixes.empty()) {
      bound.hosts = {each.routes.hosts.empty() ? BoundRule{.type = "any"}
                                               : enumeration({each.routes.hosts.begin(), each.routes.hosts.end()})};
      bound.prefixes = {each.routes.path_prefixes.empty()
                            ? enumeration({"/"})
                            : enumeration({each.routes.path_prefixes.begin(), each.routes.path_prefixes.end()})};
    }
    std::set<std::string> digests, networks, folders;
    bool unnamed = each.revisions.empty();
    for (const RevisionDocument& revision : each.revisions) {
      if (revision.digest) digests.insert(*revision.digest);
      unnamed = unnamed || !revision.digest;
      for (const ReplicaDocument& replica : revision.replicas) {
        if (replica.address.starts_with("unix:")) {
          const std::string path = replica.address.substr(5);
          folders.insert(path.substr(0, path.rfind('/') + 1));
        } else if (auto address = parse_replica_address(replica.address)) {
          networks.insert(host_text(*address));
        }
      }
    }
    bound.revisions = {unnamed ? BoundRule{.type = "any"} : enumeration(digests)};
    for (const std::string& network : networks) bound.upstreams.push_back({.type = "cidr", .network = network});
    for (const std::string& folder : folders) bound.upstreams.push_back({.type = "unix", .prefix = folder});
    made.deployments.push_back(std::move(bound));
  }
  for (const std::string& each : table.trusted_proxies)
    made.trusted_proxies.push_back({.type = "cidr", .network = each});
  if (!table.debug_keys.empty()) made.debug_keys = {enumeration({table.debug_keys.begin(), table.debug_keys.end()})};
  if (table.pins) made.pins = std::vector<BoundRule>{enumeration({table.pins->redis})};
  return made;
}

}  // namespace sluice::router
