// Bounds: what an operator lets a router serve, signed with a key that the control plane does not have. A control plane
// can only narrow them: a deployment beyond them is left out alone, settings beyond them refuse the whole order.
// docs/internals/router.md, Bounds, has every field.
//
//   auto bounds = read_bounds(envelope, bounds_keys);
//   if (auto sound = bounds->check_settings(table); !sound) return sound.error();
//   bounds->narrow(read, keep_known);
//
// Each field is a list of typed rules, of which one must hold; an empty list lets nothing pass.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "router/address.h"
#include "router/table/table_document.h"

namespace sluice::router {

inline constexpr std::string_view kBoundsSchema = "sluice.router-bounds.v1";
inline constexpr std::string_view kBoundsType = "application/vnd.sluice.router-bounds+json";
inline constexpr size_t kMaxBoundsBytes = 4 << 20;

struct BoundRule {
  std::string type;                                 // any, enum, suffix, below, cidr, unix or signed_by
  std::optional<std::vector<std::string>> members;  // of enum
  std::optional<std::string> suffix;                // ".shop.example"
  std::optional<std::string> prefix;                // of below and of unix
  std::optional<std::string> network;               // of cidr
  std::optional<std::vector<std::string>> keys;     // of signed_by: Ed25519 in base64
  std::optional<uint32_t> threshold;                // of signed_by; else 1
};
BOOST_DESCRIBE_STRUCT(BoundRule, (), (type, members, suffix, prefix, network, keys, threshold))

struct DeploymentBound {
  std::vector<BoundRule> bundles;                   // any, enum
  std::optional<std::vector<BoundRule>> customers;  // any, enum; else any
  std::optional<std::vector<BoundRule>> ids;        // any, enum; else any
  std::vector<BoundRule> hosts;                     // any, enum, suffix
  std::vector<BoundRule> prefixes;                  // any, enum, below
  std::vector<BoundRule> revisions;                 // any, enum (of digests), signed_by
  std::vector<BoundRule> upstreams;                 // any, cidr, unix
};
BOOST_DESCRIBE_STRUCT(DeploymentBound, (), (bundles, customers, ids, hosts, prefixes, revisions, upstreams))

struct BoundsDocument {
  std::string schema = std::string(kBoundsSchema);
  std::string environment;
  int64_t version = 0;
  std::optional<std::string> expires_at;
  std::vector<DeploymentBound> deployments;
  std::vector<BoundRule> trusted_proxies;      // cidr
  std::vector<BoundRule> debug_keys;           // any, enum
  std::optional<std::vector<BoundRule>> pins;  // any, enum of URLs; else none
};
BOOST_DESCRIBE_STRUCT(BoundsDocument, (),
                      (schema, environment, version, expires_at, deployments, trusted_proxies, debug_keys, pins))

// A revision that is about to be started, by whoever can see what it is.
struct StartingRevision {
  std::string bundle;
  std::string deployment;  // its id; empty: of none
  std::string digest;      // of the tree as it was unpacked
  std::string statement;   // the DSSE envelope that names the digest; empty: there is none
};

class Bounds {
 public:
  // Checks every rule. Errors name their place.
  static Result<Bounds> compile(BoundsDocument document);

  const BoundsDocument& document() const { return document_; }
  bool has_expired(int64_t now_ms) const { return expires_ms_ && now_ms >= *expires_ms_; }

  // `denied`: settings of the table that go beyond.
  Result<void> check_settings(const TableDocument& table) const;
  // Why a deployment goes beyond all that is allowed; nothing if it does not.
  std::optional<std::string> breach(const DeploymentDocument& deployment) const;
  std::optional<std::string> breach(const StartingRevision& revision) const;
  // Moves deployments that go beyond to the quarantined. `keep_known`: a router may go on with what it knew of them.
  void narrow(ReadTable& read, bool keep_known) const;
  void narrow(ReadPatch& read) const;

 private:
  struct SignedBy {
    std::vector<crypto::PublicKey> keys;
    size_t threshold = 1;
  };
  struct Texts {
    bool any = false;
    std::unordered_set<std::string> members;
    std::vector<std::string> suffixes;
    std::vector<std::string> below;

    bool has(const std::string& text) const { return any || members.contains(text); }
  };
  struct Entry {
    Texts bundles, customers, ids, hosts, prefixes, digests;
    std::vector<SignedBy> signed_by;
    bool any_upstream = false;
    std::vector<Network> networks;
    std::vector<std::string> unix_prefixes;
  };

  std::optional<std::string> breach_of(const Entry& entry, const DeploymentDocument& deployment) const;
  static bool lets_run(const Entry& entry, const std::string& digest, const std::string* statement);
  // The first breach of entries for the bundle; nothing if one lets it pass.
  template <class BreachOf>
  std::optional<std::string> first_breach(const std::string& bundle, const BreachOf& breach_of) const;

  BoundsDocument document_;
  std::optional<int64_t> expires_ms_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::vector<size_t>> by_bundle_;
  std::vector<size_t> of_any_bundle_;
  std::vector<Network> proxies_;
  Texts debug_keys_, pins_;
};

// Of the document as YAML or JSON, before it is signed.
Result<BoundsDocument> parse_bounds(std::string_view text, const std::string& file = "");

Result<std::string> sign_bounds(const BoundsDocument& document, const crypto::PrivateKey& key);

struct SignedBounds {
  Bounds bounds;
  std::vector<std::string> signers;  // ids of keys
  std::string digest;                // of what was signed
};
// `verification_failed` if no trusted key has signed it.
Result<SignedBounds> read_bounds(std::string_view envelope, std::span<const crypto::PublicKey> trusted);

// Bounds that let exactly this table pass, to begin with.
BoundsDocument bounds_around(const TableDocument& table);

}  // namespace sluice::router
