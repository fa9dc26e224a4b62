// The form of a trust root, and what must hold in one. Judging by it is in verdict.cc.
#include "bundle/trust/trust_root.h"

#include <algorithm>
#include <boost/describe.hpp>
#include <set>

#include "base/canonical_json.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/utc_time.h"
#include "base/utf8.h"
#include "bundle/trust/field_fault.h"

namespace sluice::bundle {
namespace {

struct RevocationJson {
  std::string at;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(RevocationJson, (), (at, reason))

struct KeyJson {
  std::string key_id;
  std::string public_key_pem;
  std::string label;
  std::vector<std::string> environments;
  std::vector<std::string> bundles;
  std::optional<std::string> not_before;
  std::optional<std::string> expires;
  std::optional<std::string> group;
  std::optional<RevocationJson> revoked;
  static constexpr std::string_view kDefaulted[] = {"label"};
};
BOOST_DESCRIBE_STRUCT(KeyJson, (),
                      (key_id, public_key_pem, label, environments, bundles, not_before, expires, group, revoked))

struct GroupJson {
  std::string name;
  int64_t threshold = 1;
};
BOOST_DESCRIBE_STRUCT(GroupJson, (), (name, threshold))

struct RootJson {
  std::string schema;
  std::vector<KeyJson> keys;
  std::vector<GroupJson> groups;
  static constexpr std::string_view kDefaulted[] = {"groups"};
};
BOOST_DESCRIBE_STRUCT(RootJson, (), (schema, keys, groups))

Error beneath(const std::string& path, Error error) {
  error.path = path + error.path;
  return error;
}

bool visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool is_name(std::string_view text) {
  auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kMaxPatternBytes && std::ranges::all_of(text, good);
}

Result<void> check_patterns(const std::vector<std::string>& patterns, const std::string& path) {
  if (patterns.empty()) return invalid(path, "expected at least one pattern", "* stands for all");
  if (patterns.size() > kMaxPatterns) {
    return Error{.code = Code::limit,
                 .message = "at most " + std::to_string(kMaxPatterns) + " patterns are allowed, found " +
                            std::to_string(patterns.size()),
                 .path = path};
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].empty() || patterns[i].size() > kMaxPatternBytes || !visible(patterns[i])) {
      return invalid(path + "/" + std::to_string(i),
                     "expected a pattern of 1 to " + std::to_string(kMaxPatternBytes) + " visible ASCII characters");
    }
  }
  return {};
}

Result<TrustedKey> key_from(KeyJson& json) {
  auto key = crypto::PublicKey::from_pem(json.public_key_pem);
  if (!key) return invalid("/public_key_pem", key.error().message, key.error().next);
  if (json.key_id != key->key_id()) {
    return invalid("/key_id", "expected " + key->key_id() + ", the id of this public key, found " + json.key_id);
  }
  TrustedKey made{.key = *key,
                  .label = std::move(json.label),
                  .environments = std::move(json.environments),
                  .bundles = std::move(json.bundles),
                  .group = json.group.value_or("")};
  if (json.group && json.group->empty()) return invalid("/group", "expected a group's name");
  auto not_before = time_of(json.not_before, "/not_before");
  if (!not_before) return not_before.error();
  made.not_before_ms = *not_before;
  auto expires = time_of(json.expires, "/expires");
  if (!expires) return expires.error();
  made.expires_ms = *expires;
  if (json.revoked) {
    auto at = time_of(json.revoked->at, "/revoked/at");
    if (!at) return at.error();
    made.revocation = Revocation{**at, std::move(json.revoked->reason)};
  }
  if (auto sound = check(made); !sound) return sound.error();
  return made;
}

Result<TrustRoot> root_from(RootJson& json) {
  if (json.schema != kTrustRootSchema) {
    return invalid("/schema", "expected " + std::string(kTrustRootSchema) + ", found " + json.schema);
  }
  if (json.keys.size() > kMaxTrustedKeys) {
    return Error{.code = Code::limit,
                 .message = "at most " + std::to_string(kMaxTrustedKeys) + " keys are allowed, found " +
                            std::to_string(json.keys.size()),
                 .path = "/keys"};
  }
  TrustRoot root;
  for (size_t i = 0; i < json.groups.size(); ++i) {
    std::string path = "/groups/" + std::to_string(i);
    TrustGroup group{std::move(json.groups[i].name), json.groups[i].threshold};
    if (auto sound = check(group); !sound) return beneath(path, sound.error());
    if (root.find_group(group.name)) return invalid(path + "/name", "there is a group " + group.name + " already");
    root.groups.push_back(std::move(group));
  }
  std::set<std::string> ids;
  for (size_t i = 0; i < json.keys.size(); ++i) {
    std::string path = "/keys/" + std::to_string(i);
    auto key = key_from(json.keys[i]);
    if (!key) return beneath(path, key.error());
    if (!ids.insert(json.keys[i].key_id).second) return invalid(path + "/key_id", "an earlier key is the same");
    if (!key->group.empty() && !root.find_group(key->group)) {
      return invalid(path + "/group", "there is no group " + key->group);
    }
    root.keys.push_back(*std::move(key));
  }
  return root;
}

KeyJson json_of(const TrustedKey& key) {
  KeyJson json{.key_id = key.key.key_id(),
               .public_key_pem = key.key.to_pem(),
               .label = key.label,
               .environments = key.environments,
               .bundles = key.bundles};
  if (key.not_before_ms) json.not_before = utc_text(*key.not_before_ms);
  if (key.expires_ms) json.expires = utc_text(*key.expires_ms);
  if (!key.group.empty()) json.group = key.group;
  if (key.revocation) json.revoked = RevocationJson{utc_text(key.revocation->at_ms), key.revocation->reason};
  return json;
}

}  // namespace

const TrustedKey* TrustRoot::find(std::string_view key_id) const {
  auto found = std::ranges::find_if(keys, [&](const TrustedKey& each) { return each.key.key_id() == key_id; });
  return found == keys.end() ? nullptr : &*found;
}

const TrustGroup* TrustRoot::find_group(std::string_view name) const {
  auto found = std::ranges::find(groups, name, &TrustGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

// After a mismatch the last star takes one character more; earlier ones never need to, so it costs at most the product
// of the lengths.
bool fits(std::string_view pattern, std::string_view name) {
  size_t at = 0, star = std::string_view::npos, taken = 0, read = 0;
  while (read < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = read;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[read])) {
      ++at;
      ++read;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      read = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Result<void> check_sentence(std::string_view text) {
  if (text.size() > kMaxSentenceBytes) {
    return Error{.code = Code::limit, .message = "expected at most " + std::to_string(kMaxSentenceBytes) + " bytes"};
  }
  auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (!valid_utf8(text) || std::ranges::any_of(text, control)) {
    return invalid("", "expected one line of UTF-8 without control characters");
  }
  return {};
}

Result<void> check(const TrustedKey& key) {
  if (auto sound = check_sentence(key.label); !sound) return beneath("/label", sound.error());
  if (auto sound = check_patterns(key.environments, "/environments"); !sound) return sound;
  if (auto sound = check_patterns(key.bundles, "/bundles"); !sound) return sound;
  if (!key.group.empty() && !is_name(key.group)) {
    return invalid("/group", "expected a name of a-z, 0-9 and -");
  }
  if (key.not_before_ms && key.expires_ms && *key.not_before_ms >= *key.expires_ms) {
    return invalid("/expires", "the key would expire before it is valid");
  }
  if (!key.revocation) return {};
  if (auto sound = check_sentence(key.revocation->reason); !sound) return beneath("/revoked/reason", sound.error());
  return {};
}

Result<void> check(const TrustGroup& group) {
  if (!is_name(group.name)) return invalid("/name", "expected a name of a-z, 0-9 and -");
  if (group.threshold < 1 || group.threshold > kMaxThreshold) {
    return invalid("/threshold", "expected 1 to " + std::to_string(kMaxThreshold) + " keys, found " +
                                     std::to_string(group.threshold));
  }
  return {};
}

Result<TrustRoot> parse_trust_root(std::string_view text, std::string file) {
  auto document = parse_json(text, std::move(file), {.max_depth = 8, .max_bytes = kMaxTrustRootBytes});
  if (!document) return document.error();
  auto json = read<RootJson>(*document);
  if (!json) return json.error();
  auto root = root_from(*json);
  if (root) return root;
  Error error = std::move(root).error();
  error.position = document->position_of(error.path);
  return error;
}

Result<std::string> write_trust_root(const TrustRoot& root) {
  RootJson json{.schema = std::string(kTrustRootSchema)};
  for (const TrustedKey& key : root.keys) json.keys.push_back(json_of(key));
  for (const TrustGroup& group : root.groups) json.groups.push_back({group.name, group.threshold});
  std::ranges::sort(json.keys, {}, &KeyJson::key_id);
  std::ranges::sort(json.groups, {}, &GroupJson::name);
  return canonical(to_json(json));
}

}  // namespace sluice::bundle
