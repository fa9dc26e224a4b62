// Trust keeps the trust root as rows. What a root is, what must hold in it and how it judges is bundle's to say: the
// handlers make a root of the rows and ask.
#include <algorithm>

#include "bundle/trust/trust_root.h"
#include "bundle/trust/verdict.h"
#include "trust.gen.h"

namespace sluice::deploy::trust {
namespace {

using bundle::TrustedKey;
using bundle::TrustRoot;

std::optional<int64_t> ms_of(const std::optional<lang::DateTime>& time) {
  return time ? std::optional(time->ms) : std::nullopt;
}

// A row as bundle knows it. What is in the rows was checked when it came there.
TrustedKey trusted_key(const State& state, const TrustFound& found) {
  auto key = crypto::PublicKey::from_pem(found.record.publicKey);
  if (!key) throw std::runtime_error("the stored key " + found.id.text() + " is damaged: " + key.error().message);
  TrustedKey made{.key = *key,
                  .label = found.record.label,
                  .environments = state.environments(found.id).values(),
                  .bundles = state.bundles(found.id).values(),
                  .not_before_ms = ms_of(found.record.notBefore),
                  .expires_ms = ms_of(found.record.expires),
                  .group = found.record.group ? found.record.group->text() : ""};
  if (found.record.revoked) {
    made.revocation = bundle::Revocation{found.record.revoked->at.ms, found.record.revoked->reason};
  }
  return made;
}

TrustRoot root_of(const State& state) {
  TrustRoot root;
  for (const TrustFound& found : state.all()) root.keys.push_back(trusted_key(state, found));
  for (const TrustGroupFound& found : state.all_group()) {
    root.groups.push_back({found.id.text(), found.record.threshold});
  }
  return root;
}

size_t count_of(const State& state) {
  size_t count = 0;
  for (const TrustFound& found : state.all()) count += found.id.empty() ? 0 : 1;
  return count;
}

void put(State& state, const KeyId& id, const TrustRecord& record, const TrustedKey& key) {
  state.put(id, record);
  state.environments(id).assign(key.environments);
  state.bundles(id).assign(key.bundles);
}

std::string status_of(const TrustRecord& record, lang::DateTime now) {
  if (record.revoked) return "revoked";
  if (record.expires && *record.expires <= now) return "expired";
  if (record.notBefore && now < *record.notBefore) return "not yet";
  return "good";
}

}  // namespace

Bootstrap::Result Trust::bootstrap(const Bootstrap& ask, State& state) {
  auto key = crypto::PublicKey::from_pem(ask.publicKey);
  if (!key) return Bootstrap::Invalid{.message = "the public key cannot be read: " + key.error().message};
  KeyId id(key->key_id());
  auto record = state.get(id);
  if (record && record->revoked) return Bootstrap::Revoked{.key = id, .reason = record->revoked->reason};
  TrustedKey wanted{.key = *key, .label = "operator", .environments = ask.environments, .bundles = {"*"}};
  if (record) wanted = trusted_key(state, {id, *record});
  for (const std::string& each : ask.environments) {
    if (std::ranges::find(wanted.environments, each) == wanted.environments.end()) wanted.environments.push_back(each);
  }
  if (auto sound = check(wanted); !sound) return Bootstrap::Invalid{.message = to_string(sound.error())};
  if (!record) record = TrustRecord{.publicKey = key->to_pem(), .label = wanted.label, .addedAt = state.now()};
  put(state, id, *record, wanted);
  state.put_whole({.decided = true});
  return Bootstrap::Ok{.key = id, .environments = wanted.environments};
}

Open::Result Trust::open(const Open& ask, State& state) {
  auto key = crypto::PublicKey::from_pem(ask.publicKey);
  if (!key) return Open::Invalid{.message = "the public key cannot be read: " + key.error().message};
  KeyId id(key->key_id());
  if (state.whole().decided || count_of(state) > 0) return Open::Ok{.key = id, .trusted = false};
  TrustedKey wanted{.key = *key, .label = "operator", .environments = {"local"}, .bundles = {"*"}};
  put(state, id, {.publicKey = key->to_pem(), .label = wanted.label, .addedAt = state.now()}, wanted);
  state.put_whole({.decided = true});
  return Open::Ok{.key = id, .trusted = true};
}

Add::Result Trust::add(const Add& ask, State& state) {
  auto key = crypto::PublicKey::from_pem(ask.publicKey);
  if (!key) return Add::Invalid{.message = "the public key cannot be read: " + key.error().message};
  KeyId id(key->key_id());
  TrustedKey wanted{.key = *key,
                    .label = ask.label,
                    .environments = ask.environments,
                    .bundles = ask.bundles,
                    .not_before_ms = ms_of(ask.notBefore),
                    .expires_ms = ms_of(ask.expires),
                    .group = ask.group ? ask.group->text() : ""};
  if (auto sound = check(wanted); !sound) return Add::Invalid{.message = to_string(sound.error())};
  if (auto record = state.get(id)) {
    if (record->revoked) return Add::Revoked{.key = id, .reason = record->revoked->reason};
    // Adding what is there already is adding it once.
    if (trusted_key(state, {id, *record}) != wanted) return Add::Exists{.key = id};
  } else if (count_of(state) >= bundle::kMaxTrustedKeys) {
    return Add::Full{.limit = bundle::kMaxTrustedKeys};
  }
  if (!ask.group && ask.threshold) return Add::Invalid{.message = "only a group has a threshold"};
  if (ask.group) {
    auto group = state.get(*ask.group);
    if (group && ask.threshold && *ask.threshold != group->threshold) {
      return Add::OtherThreshold{.group = *ask.group, .threshold = group->threshold};
    }
    bundle::TrustGroup made{ask.group->text(), ask.threshold.value_or(1)};
    if (auto sound = check(made); !sound) return Add::Invalid{.message = to_string(sound.error())};
    if (!group) state.put(*ask.group, {.threshold = made.threshold});
  }
  auto before = state.get(id);
  put(state, id,
      {.publicKey = key->to_pem(),
       .label = ask.label,
       .notBefore = ask.notBefore,
       .expires = ask.expires,
       .group = ask.group,
       .addedAt = before ? before->addedAt : state.now()},
      wanted);
  state.put_whole({.decided = true});
  return Add::Ok{.key = id};
}

Remove::Result Trust::remove(const Remove& ask, State& state) {
  auto record = state.get(ask.key);
  if (!record) return Remove::NotFound{.key = ask.key};
  if (record->revoked) return Remove::Revoked{.key = ask.key, .reason = record->revoked->reason};
  state.environments(ask.key).clear();
  state.bundles(ask.key).clear();
  state.erase(ask.key);
  // A group without keys is gone with the last of them.
  if (record->group && state.find_by_group(*record->group).empty()) state.erase(*record->group);
  return Remove::Ok{.key = ask.key};
}

Revoke::Result Trust::revoke(const Revoke& ask, State& state) {
  auto record = state.get(ask.key);
  if (!record) return Revoke::NotFound{.key = ask.key};
  if (record->revoked) return Revoke::Ok{.key = ask.key, .at = record->revoked->at};
  if (auto sound = bundle::check_sentence(ask.reason); !sound) return Revoke::Invalid{.message = sound.error().message};
  record->revoked = TrustRevoked{.at = state.now(), .reason = ask.reason};
  state.put(ask.key, *record);
  return Revoke::Ok{.key = ask.key, .at = record->revoked->at};
}

SetThreshold::Result Trust::set_threshold(const SetThreshold& ask, State& state) {
  if (!state.has(ask.group)) return SetThreshold::NotFound{.group = ask.group};
  if (auto sound = check(bundle::TrustGroup{ask.group.text(), ask.threshold}); !sound) {
    return SetThreshold::Invalid{.message = sound.error().message};
  }
  state.put(ask.group, {.threshold = ask.threshold});
  return SetThreshold::Ok{.group = ask.group, .threshold = ask.threshold};
}

List::Result Trust::list(const List&, const State& state) {
  List::Ok listed;
  for (const TrustFound& found : state.all()) {
    const TrustRecord& record = found.record;
    listed.keys.push_back({.key = found.id,
                           .label = record.label,
                           .environments = state.environments(found.id).values(),
                           .bundles = state.bundles(found.id).values(),
                           .notBefore = record.notBefore,
                           .expires = record.expires,
                           .group = record.group,
                           .addedAt = record.addedAt,
                           .status = status_of(record, state.now()),
                           .reason = record.revoked ? std::optional(record.revoked->reason) : std::nullopt});
  }
  for (const TrustGroupFound& found : state.all_group()) {
    auto counts = [&](const TrustKey& key) { return key.group == found.id && key.status == "good"; };
    auto members = std::ranges::count_if(listed.keys, counts);
    listed.groups.push_back({.group = found.id, .threshold = found.record.threshold, .keys = members});
  }
  return listed;
}

Export::Result Trust::export_(const Export&, const State& state) {
  auto text = bundle::write_trust_root(root_of(state));
  if (!text) throw std::runtime_error(to_string(text.error()));
  return Export::Ok{.root = *std::move(text)};
}

Verify::Result Trust::verify(const Verify& ask, State& state) {
  bundle::Claim claim{.bundle = ask.bundle, .environment = ask.environment};
  auto tree = crypto::parse_sha256(ask.tree);
  if (!tree) return Verify::Invalid{.message = "the tree's digest: " + tree.error().message};
  claim.tree = *tree;
  if (ask.archive) {
    auto archive = crypto::parse_sha256(*ask.archive);
    if (!archive) return Verify::Invalid{.message = "the archive's digest: " + archive.error().message};
    claim.archive = *archive;
  }
  // Syncs pass on a sidecar from where it is kept; an empty one is none.
  const std::optional<std::string> sidecar = ask.sidecar && !ask.sidecar->empty() ? ask.sidecar : std::nullopt;
  bundle::Verdict verdict = bundle::verify(root_of(state), sidecar, claim, state.now().ms);
  if (const auto* verified = std::get_if<bundle::Verified>(&verdict)) {
    Verify::Ok ok;
    for (const std::string& id : verified->keys) ok.keys.push_back(KeyId(id));
    return ok;
  }
  const auto& [clause, message, next] = std::get<bundle::Refusal>(verdict);
  switch (clause) {
    case bundle::Clause::sidecar_missing:
      return Verify::SidecarMissing{message};
    case bundle::Clause::sidecar_unreadable:
      return Verify::SidecarUnreadable{message};
    case bundle::Clause::unknown_key:
      return Verify::UnknownKey{message};
    case bundle::Clause::wrong_key_id:
      return Verify::WrongKeyId{message};
    case bundle::Clause::signature_changed:
      return Verify::SignatureChanged{message};
    case bundle::Clause::revoked_key:
      return Verify::RevokedKey{message};
    case bundle::Clause::expired_key:
      return Verify::ExpiredKey{message};
    case bundle::Clause::out_of_scope:
      return Verify::OutOfScope{message};
    case bundle::Clause::threshold_not_met:
      return Verify::ThresholdNotMet{message};
    case bundle::Clause::payload_changed:
      return Verify::PayloadChanged{message};
  }
  throw std::logic_error("a clause without a variant");
}

}  // namespace sluice::deploy::trust
