// Access keeps tokens and the policy. What a policy is and what it gives is access_policy.h's to say. Whoever calls
// over the home's own socket is its owner, whom no policy binds: nobody else gets this far from there.
#include <algorithm>

#include "access.gen.h"
#include "crypto/sha256.h"
#include "deploy/access_policy.h"

namespace sluice::deploy::access {
namespace {

constexpr size_t kMaxNameBytes = 100;
constexpr size_t kPastKept = 50;

AccessPolicy policy_in(const State& state) {
  const std::string& text = state.whole().policy;
  if (text.empty()) return {};
  auto policy = AccessPolicy::parse(text);
  if (!policy) throw std::runtime_error("the stored policy is damaged: " + to_string(policy.error()));
  return *std::move(policy);
}

bool is_owner(const std::optional<std::string>& caller) { return !caller || caller->starts_with("uid:"); }

bool works(const AccessRecord& token, lang::DateTime now) {
  return !token.revoked && (!token.expires || now < *token.expires);
}

std::string status_of(const AccessRecord& token, lang::DateTime now) {
  return token.revoked ? "revoked" : works(token, now) ? "good" : "expired";
}

std::string fault_of(const Issue& ask, lang::DateTime now) {
  if (auto sound = check_subject(ask.subject); !sound) return sound.error().message;
  auto shown = [](unsigned char c) { return c >= ' ' && c != 0x7f; };
  if (ask.name.empty() || ask.name.size() > kMaxNameBytes || !std::ranges::all_of(ask.name, shown)) {
    return "a token's name is one line of at most 100 bytes";
  }
  if (auto digest = crypto::parse_sha256(ask.digest); !digest) return "the digest: " + digest.error().message;
  if (ask.role && !role_named(*ask.role)) {
    return "'" + *ask.role + "' is no role: write viewer, deployer, operator or admin";
  }
  if (ask.expires && *ask.expires <= now) return "the token would be expired already";
  return "";
}

}  // namespace

Apply::Result Access::apply(const Apply& ask, State& state) {
  auto next = AccessPolicy::parse(ask.policy);
  if (!next) return Apply::Invalid{.message = to_string(next.error())};
  auto whole = state.whole();
  if (ask.version && *ask.version != whole.version) {
    return Apply::Stale{.expected = *ask.version,
                        .actual = whole.version,
                        .message = "version " + std::to_string(whole.version) + " holds, not " +
                                   std::to_string(*ask.version) + "; nothing was changed"};
  }
  const AccessPolicy before = policy_in(state);
  if (!is_owner(ask.caller)) {
    if (std::string more = before.exceeds({.subject = *ask.caller}, *next); !more.empty()) {
      return Apply::Exceeds{.message = more};
    }
    const auto bound = before.bindings();
    for (const auto& each : next->bindings()) {
      if (std::ranges::find(bound, each) != bound.end()) continue;
      if (std::string more = before.exceeds({.subject = *ask.caller}, each.second); !more.empty()) {
        return Apply::Exceeds{.message = more};
      }
    }
  }
  if (before.has_admin() && !next->has_admin()) {
    return Apply::LastAdmin{.message = "this would leave nobody who is admin everywhere; nothing was changed"};
  }
  if (whole.version > 0) {
    state.past().push(
        {.version = whole.version, .policy = whole.policy, .appliedAt = whole.appliedAt, .appliedBy = whole.appliedBy});
    std::vector<int64_t> numbers;
    for (const auto& each : state.past()) numbers.push_back(each.number);
    for (size_t i = 0; i + kPastKept < numbers.size(); ++i) state.past().erase(numbers[i]);
  }
  whole.policy = ask.policy;
  whole.version += 1;
  whole.appliedAt = state.now();
  whole.appliedBy = ask.caller.value_or("");
  state.put_whole(whole);
  return Apply::Ok{.version = whole.version, .grants = static_cast<int64_t>(next->grants().size())};
}

Issue::Result Access::issue(const Issue& ask, State& state) {
  if (std::string fault = fault_of(ask, state.now()); !fault.empty()) return Issue::Invalid{.message = fault};
  for (const AccessFound& each : state.find_by_subject(ask.subject)) {
    if (each.record.name != ask.name || !works(each.record, state.now())) continue;
    return Issue::Exists{.token = each.id, .message = ask.subject + " has a token " + ask.name + " already"};
  }
  if (!is_owner(ask.caller)) {
    if (std::string more = policy_in(state).exceeds({.subject = *ask.caller}, ask.subject); !more.empty()) {
      return Issue::Exceeds{.message = more};
    }
  }
  AccessId id = state.add({.name = ask.name,
                           .subject = ask.subject,
                           .digest = ask.digest,
                           .role = ask.role,
                           .createdAt = state.now(),
                           .createdBy = ask.caller.value_or(""),
                           .expires = ask.expires});
  state.environments(id).assign(ask.environments);
  return Issue::Ok{.token = id, .name = ask.name, .subject = ask.subject};
}

Revoke::Result Access::revoke(const Revoke& ask, State& state) {
  auto record = state.get(ask.token);
  if (!record) return Revoke::NotFound{.token = ask.token, .message = "there is no token " + ask.token.text()};
  if (!record->revoked) {
    const AccessPolicy policy = policy_in(state);
    auto admits = [&](const AccessFound& each) {
      return works(each.record, state.now()) && !each.record.role && state.environments(each.id).values().empty() &&
             policy.is_admin(each.record.subject);
    };
    if (admits({ask.token, *record})) {
      bool another = false;
      for (const AccessFound& each : state.all()) another = another || (each.id != ask.token && admits(each));
      if (!another) {
        return Revoke::LastAdmin{.token = ask.token,
                                 .message = record->name + " is the last token of an admin; nothing was changed"};
      }
    }
    record->revoked = AccessRevoked{.at = state.now(), .by = ask.caller.value_or("")};
    state.put(ask.token, *record);
  }
  return Revoke::Ok{.token = ask.token, .name = record->name, .subject = record->subject};
}

NoteUse::Result Access::note_use(const NoteUse& ask, State& state) {
  for (const auto& each : ask.tokens) {
    auto record = state.get(each);
    if (!record) continue;
    record->lastUsed = state.now();
    state.put(each, *record);
  }
  return NoteUse::Ok{};
}

Show::Result Access::show(const Show& ask, const State& state) {
  const auto whole = state.whole();
  if (!ask.version || *ask.version == whole.version) {
    return Show::Ok{
        .version = whole.version, .policy = whole.policy, .appliedAt = whole.appliedAt, .appliedBy = whole.appliedBy};
  }
  for (const auto& each : state.past()) {
    if (each.value.version != *ask.version) continue;
    return Show::Ok{.version = each.value.version,
                    .policy = each.value.policy,
                    .appliedAt = each.value.appliedAt,
                    .appliedBy = each.value.appliedBy};
  }
  return Show::NotFound{.version = *ask.version,
                        .message = "there is no version " + std::to_string(*ask.version) + " of the policy"};
}

List::Result Access::list(const List&, const State& state) {
  List::Ok listed;
  for (const AccessFound& each : state.all()) {
    listed.tokens.push_back({.token = each.id,
                             .name = each.record.name,
                             .subject = each.record.subject,
                             .environments = state.environments(each.id).values(),
                             .role = each.record.role,
                             .createdAt = each.record.createdAt,
                             .createdBy = each.record.createdBy,
                             .expires = each.record.expires,
                             .lastUsed = each.record.lastUsed,
                             .status = status_of(each.record, state.now())});
  }
  return listed;
}

}  // namespace sluice::deploy::access
