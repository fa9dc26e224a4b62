// Grants are found by subject, so that a check costs what the caller's own grants cost, however many others there are.
#include "deploy/access_policy.h"

#include <algorithm>
#include <array>

#include "base/json_reader.h"
#include "base/yaml.h"
#include "bundle/trust/trust_root.h"

namespace sluice::deploy {
namespace {

constexpr std::string_view kEveryone = "everyone";
constexpr size_t kMaxGrants = 100'000;
constexpr size_t kMaxNameBytes = 128;
constexpr int64_t kMostApprovers = 20;
constexpr int64_t kMostHours = 720;
constexpr std::array<std::string_view, 4> kRoles = {"viewer", "deployer", "operator", "admin"};
constexpr std::array<std::string_view, 4> kRights = {"view", "deploy", "operate", "administer"};

bool is_plain(std::string_view text, std::string_view also) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}

bool any_fits(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& each) { return bundle::fits(each, name); });
}

bool is_within(const std::vector<std::string>& patterns, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& each) { return any_fits(patterns, each); });
}

// Whether the grant is about such a thing at all.
bool reaches(const AccessGrant& grant, const Wanted& wanted) {
  if (grant.environments && (wanted.environments.empty() || !is_within(*grant.environments, wanted.environments))) {
    return false;
  }
  return grant.labels.empty() || (wanted.labels && std::ranges::all_of(grant.labels, [&](const std::string& each) {
                                    return wanted.labels->contains(each);
                                  }));
}

bool gives(const AccessGrant& grant, const Wanted& wanted) {
  return (grant.role && covers(*grant.role, wanted.right)) || any_fits(grant.allow, wanted.action);
}

std::string where_of(const Wanted& wanted) {
  std::string text;
  for (const std::string& each : wanted.environments) text += (text.empty() ? " in " : " and ") + each;
  return text.empty() ? " outside of any environment" : text;
}

std::string list_of(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "" : ", ") + each;
  return text;
}

std::string words_of(const AccessGrant& grant) {
  std::string text = grant.role ? std::string(role_name(*grant.role)) : "";
  if (!grant.allow.empty()) text += (text.empty() ? "" : " and ") + list_of(grant.allow);
  text += grant.environments ? " in " + list_of(*grant.environments) : " everywhere";
  if (!grant.labels.empty()) text += " where " + list_of(grant.labels);
  return text;
}

Result<void> check_grant(const AccessGrant& grant, const std::string& path) {
  auto wrong = [&](const std::string& field, const std::string& message) {
    return Error{.code = Code::invalid, .message = message, .path = path + "/" + field};
  };
  if (grant.to.empty()) return wrong("to", "a grant says to whom");
  for (const std::string& each : grant.to) {
    const bool group = each.starts_with("group:") && is_plain(each.substr(6), ".-_@+/:");
    if (each != kEveryone && !group && !check_subject(each)) {
      return wrong(
          "to", "'" + each + "' is no user, service or group: write user:NAME, service:NAME, group:NAME or everyone");
    }
  }
  if (!grant.role && grant.allow.empty() && grant.deny.empty()) {
    return wrong("role", "a grant has a role, or actions that it allows or denies");
  }
  for (const auto* list : {&grant.allow, &grant.deny}) {
    for (const std::string& each : *list) {
      if (std::ranges::count(each, '/') == 1 && is_plain(each, "/*?")) continue;
      return wrong(list == &grant.allow ? "allow" : "deny", "'" + each + "' is no action: write Concept/action");
    }
  }
  if (grant.environments && grant.environments->empty()) {
    return wrong("environments", "a list without environments gives nothing; leave it out for everywhere");
  }
  for (const std::string& each : grant.environments.value_or(std::vector<std::string>())) {
    if (!is_plain(each, ".-_*?")) return wrong("environments", "'" + each + "' is no environment");
  }
  for (const std::string& each : grant.labels) {
    if (!is_label(each)) return wrong("labels", "'" + each + "' is no label: write key=value");
  }
  return {};
}

Result<void> check_actions(const std::vector<std::string>& actions, const std::string& path) {
  auto wrong = [&](const std::string& message) {
    return Error{.code = Code::invalid, .message = message, .path = path + "/actions"};
  };
  if (actions.empty()) return wrong("a rule names the actions that it is about");
  for (const std::string& each : actions) {
    if (std::ranges::count(each, '/') == 1 && is_plain(each, "/*?")) continue;
    return wrong("'" + each + "' is no action: write Concept/action");
  }
  return {};
}

Result<void> check_rule(const ApprovalRule& rule, const std::string& path) {
  auto wrong = [&](const std::string& field, const std::string& message) {
    return Error{.code = Code::invalid, .message = message, .path = path + "/" + field};
  };
  if (auto sound = check_actions(rule.actions, path); !sound) return sound;
  if (rule.needed < 1 || rule.needed > kMostApprovers) return wrong("needed", "1 to 20 people can be needed");
  if (rule.hours < 1 || rule.hours > kMostHours) return wrong("hours", "an approval waits for 1 to 720 hours");
  return {};
}

}  // namespace

std::string_view role_name(AccessRole role) { return kRoles[static_cast<size_t>(role)]; }

std::optional<AccessRole> role_named(std::string_view name) {
  const auto* found = std::ranges::find(kRoles, name);
  if (found == kRoles.end()) return std::nullopt;
  return static_cast<AccessRole>(found - kRoles.begin());
}

bool covers(AccessRole role, std::string_view right) {
  if (right == "self") return true;
  const auto* found = std::ranges::find(kRights, right);
  return found != kRights.end() && found - kRights.begin() <= static_cast<ptrdiff_t>(role);
}

bool is_label(std::string_view text) {
  const size_t equals = text.find('=');
  return equals != std::string_view::npos && is_plain(text.substr(0, equals), ".-_/") &&
         is_plain(text.substr(equals + 1), ".-_/");
}

Result<void> check_subject(std::string_view subject) {
  for (std::string_view kind : {"user:", "service:"}) {
    if (subject.starts_with(kind) && is_plain(subject.substr(kind.size()), ".-_@+")) return {};
  }
  return Error{.code = Code::invalid,
               .message = "'" + std::string(subject.substr(0, kMaxNameBytes)) +
                          "' is no user or service: write user:NAME or service:NAME, of letters, digits and . - _ @ +"};
}

namespace {

Result<void> check_issuer(const TrustedIssuer& issuer, const std::string& path) {
  auto wrong = [&](const std::string& field, const std::string& message) {
    return Error{.code = Code::invalid, .message = message, .path = path + "/" + field};
  };
  const bool local = issuer.issuer.starts_with("http://127.") || issuer.issuer.starts_with("http://localhost:");
  if (!issuer.issuer.starts_with("https://") && !local) return wrong("issuer", "an issuer is an https:// URL");
  if (issuer.audience.empty()) return wrong("audience", "say for whom its tokens must be, such as sluice");
  if (issuer.people) {
    if (issuer.people->name.empty()) return wrong("people", "say which claim has a person's name, such as email");
    if (std::ranges::find(issuer.people->scopes, "openid") == issuer.people->scopes.end()) {
      return wrong("people", "the scopes of a login have openid among them");
    }
  }
  for (const BoundService& each : issuer.services) {
    if (each.subject.find_first_not_of("*?") == std::string::npos) {
      return wrong("services", "a subject names more than wildcards: anybody who uses the issuer would be " + each.as);
    }
    if (!each.as.starts_with("service:") || !check_subject(each.as)) {
      return wrong("services", "'" + each.as + "' is no service: write service:NAME");
    }
  }
  return {};
}

// What the certificate is known by.
Result<std::string> certificate_name(const KnownCertificate& known, const std::string& path) {
  if (known.spiffe.has_value() == known.subject.has_value()) {
    return Error{.code = Code::invalid, .message = "a certificate is known by spiffe or by subject", .path = path};
  }
  if (known.spiffe && !known.spiffe->starts_with("spiffe://")) {
    return Error{.code = Code::invalid, .message = "a SPIFFE ID begins with spiffe://", .path = path + "/spiffe"};
  }
  if (known.subject && known.subject->find('=') == std::string::npos) {
    return Error{.code = Code::invalid, .message = "a subject is written like CN=ann", .path = path + "/subject"};
  }
  if (auto sound = check_subject(known.as); !sound) {
    return Error{.code = Code::invalid, .message = sound.error().message, .path = path + "/as"};
  }
  return known.spiffe ? *known.spiffe : *known.subject;
}

}  // namespace

Result<AccessPolicy> AccessPolicy::parse(std::string_view text, std::string file) {
  auto document = parse_yaml(text, std::move(file));
  if (!document) return document.error();
  auto read_in = sluice::read<AccessDocument>(*document);
  if (!read_in) return read_in.error();
  if (read_in->schema != kPolicySchema) {
    return Error{.code = Code::invalid,
                 .message = "the schema is '" + read_in->schema + "', not " + std::string(kPolicySchema),
                 .path = "/schema"};
  }
  if (read_in->grants.size() > kMaxGrants) {
    return Error{.code = Code::limit, .message = "a policy has at most 100,000 grants", .path = "/grants"};
  }
  AccessPolicy policy;
  policy.grants_ = std::move(read_in->grants);
  for (size_t i = 0; i < policy.grants_.size(); ++i) {
    if (auto sound = check_grant(policy.grants_[i], "/grants/" + std::to_string(i)); !sound) return sound.error();
    for (const std::string& each : policy.grants_[i].to) policy.by_subject_[each].push_back(i);
  }
  policy.approvals_ = std::move(read_in->approvals);
  for (size_t i = 0; i < policy.approvals_.size(); ++i) {
    if (auto sound = check_rule(policy.approvals_[i], "/approvals/" + std::to_string(i)); !sound) return sound.error();
  }
  policy.preconditions_ = std::move(read_in->preconditions);
  policy.reasons_ = std::move(read_in->reasons);
  for (const auto& [rules, name] :
       {std::pair{&policy.preconditions_, "preconditions"}, {&policy.reasons_, "reasons"}}) {
    for (size_t i = 0; i < rules->size(); ++i) {
      const std::string path = "/" + std::string(name) + "/" + std::to_string(i);
      if (auto sound = check_actions((*rules)[i].actions, path); !sound) return sound.error();
    }
  }
  policy.certificates_ = std::move(read_in->certificates);
  for (size_t i = 0; i < policy.certificates_.size(); ++i) {
    const KnownCertificate& each = policy.certificates_[i];
    const std::string path = "/certificates/" + std::to_string(i);
    auto name = certificate_name(each, path);
    if (!name) return name.error();
    if (!policy.certified_.emplace(*name, each.as).second) {
      return Error{.code = Code::invalid, .message = *name + " is there twice", .path = path};
    }
  }
  policy.issuers_ = std::move(read_in->issuers);
  for (size_t i = 0; i < policy.issuers_.size(); ++i) {
    if (auto sound = check_issuer(policy.issuers_[i], "/issuers/" + std::to_string(i)); !sound) return sound.error();
    if (policy.issuer_named(policy.issuers_[i].issuer) != &policy.issuers_[i]) {
      return Error{.code = Code::invalid,
                   .message = policy.issuers_[i].issuer + " is there twice",
                   .path = "/issuers/" + std::to_string(i)};
    }
    // Two of them could call different people by one name.
    if (policy.issuers_[i].people && policy.issuer_of_people() != &policy.issuers_[i]) {
      return Error{.code = Code::invalid,
                   .message = "people log in with one issuer, and " + policy.issuer_of_people()->issuer + " is one",
                   .path = "/issuers/" + std::to_string(i) + "/people"};
    }
  }
  return policy;
}

namespace {

bool demands(const std::vector<DemandRule>& rules, const Wanted& wanted) {
  return std::ranges::any_of(rules, [&](const DemandRule& each) {
    auto inside = [&](const std::string& place) { return any_fits(*each.environments, place); };
    return any_fits(each.actions, wanted.action) &&
           (!each.environments || std::ranges::any_of(wanted.environments, inside));
  });
}

// Whether the next rules still have all that were there.
template <class Rule>
bool keeps(const std::vector<Rule>& before, const std::vector<Rule>& next) {
  return std::ranges::all_of(before, [&](const Rule& each) { return std::ranges::find(next, each) != next.end(); });
}

}  // namespace

const TrustedIssuer* AccessPolicy::issuer_of_people() const {
  auto found = std::ranges::find_if(issuers_, [](const TrustedIssuer& each) { return each.people.has_value(); });
  return found == issuers_.end() ? nullptr : &*found;
}

const TrustedIssuer* AccessPolicy::issuer_named(std::string_view issuer) const {
  auto found = std::ranges::find(issuers_, issuer, &TrustedIssuer::issuer);
  return found == issuers_.end() ? nullptr : &*found;
}

std::string AccessPolicy::service_of(std::string_view issuer, const std::string& subject) const {
  const TrustedIssuer* known = issuer_named(issuer);
  if (known == nullptr) return "";
  for (const BoundService& each : known->services) {
    if (any_fits({each.subject}, subject)) return each.as;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> AccessPolicy::bindings() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const KnownCertificate& each : certificates_) {
    all.emplace_back("certificate " + (each.spiffe ? *each.spiffe : *each.subject), each.as);
  }
  for (const TrustedIssuer& issuer : issuers_) {
    for (const BoundService& each : issuer.services) {
      all.emplace_back("issuer " + issuer.issuer + " " + issuer.audience + " " + each.subject, each.as);
    }
  }
  return all;
}

std::string AccessPolicy::certified(const std::string& name) const {
  auto found = certified_.find(name);
  return found == certified_.end() ? "" : found->second;
}

bool AccessPolicy::demands_precondition(const Wanted& wanted) const { return demands(preconditions_, wanted); }

bool AccessPolicy::demands_reason(const Wanted& wanted) const { return demands(reasons_, wanted); }

const ApprovalRule* AccessPolicy::approval_for(const Wanted& wanted) const {
  const ApprovalRule* strictest = nullptr;
  for (const ApprovalRule& each : approvals_) {
    if (!any_fits(each.actions, wanted.action)) continue;
    auto inside = [&](const std::string& place) { return any_fits(*each.environments, place); };
    if (each.environments && std::ranges::none_of(wanted.environments, inside)) continue;
    if (strictest == nullptr || each.needed > strictest->needed) strictest = &each;
  }
  return strictest;
}

std::vector<const AccessGrant*> AccessPolicy::grants_of(const Identity& who) const {
  std::vector<size_t> found;
  auto add = [&](const std::string& subject) {
    auto listed = by_subject_.find(subject);
    if (listed != by_subject_.end()) found.insert(found.end(), listed->second.begin(), listed->second.end());
  };
  add(who.subject);
  for (const std::string& each : who.groups) add(each);
  add(std::string(kEveryone));
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  std::vector<const AccessGrant*> grants;
  for (size_t each : found) grants.push_back(&grants_[each]);
  return grants;
}

AccessVerdict AccessPolicy::judge(const Identity& who, const Wanted& wanted) const {
  if (wanted.right == "self") return {true, "everybody may who has shown who they are"};
  const std::string what = "the right " + wanted.right + where_of(wanted);
  if (who.at_most && !covers(*who.at_most, wanted.right)) {
    return {false, "the token of " + who.subject + " has the role " + std::string(role_name(*who.at_most)) +
                       " at most, and " + wanted.action + " needs " + what};
  }
  if (!who.only_in.empty() && (wanted.environments.empty() || !is_within(who.only_in, wanted.environments))) {
    return {false, "the token of " + who.subject + " is for " + list_of(who.only_in) + " alone, and " + wanted.action +
                       " needs " + what};
  }
  const AccessGrant* giving = nullptr;
  std::string elsewhere;
  for (const AccessGrant* each : grants_of(who)) {
    const std::string number = std::to_string(each - grants_.data() + 1);
    const bool there = reaches(*each, wanted);
    if (there && any_fits(each->deny, wanted.action)) {
      return {false, "grant " + number + " denies " + who.subject + " " + wanted.action};
    }
    if (!gives(*each, wanted)) continue;
    if (there && giving == nullptr) giving = each;
    if (!there && elsewhere.empty()) elsewhere = "; grant " + number + " gives " + words_of(*each);
  }
  if (giving == nullptr) return {false, "no grant gives " + who.subject + " " + what + elsewhere};
  return {true,
          "grant " + std::to_string(giving - grants_.data() + 1) + " gives " + who.subject + " " + words_of(*giving)};
}

bool AccessPolicy::has_admin() const {
  return std::ranges::any_of(
      grants_, [](const AccessGrant& each) { return each.role == AccessRole::admin && each.is_global(); });
}

bool AccessPolicy::is_admin(const std::string& subject) const {
  return std::ranges::any_of(grants_of({.subject = subject}), [](const AccessGrant* each) {
    return each->role == AccessRole::admin && each->is_global();
  });
}

// Whether one grant of theirs gives all that this one gives, wherever it gives it.
bool AccessPolicy::holds(const Identity& who, const AccessGrant& grant) const {
  auto mine = grants_of(who);
  auto denied = [](const AccessGrant* each) { return !each->deny.empty(); };
  if (who.at_most || !who.only_in.empty() || std::ranges::any_of(mine, denied)) return false;
  return std::ranges::any_of(mine, [&](const AccessGrant* each) {
    const bool everywhere = !each->environments;
    auto covered = [&](const std::string& pattern) {
      const bool plain = pattern.find_first_of("*?") == std::string::npos;
      return std::ranges::find(*each->environments, pattern) != each->environments->end() ||
             (plain && any_fits(*each->environments, pattern));
    };
    if (!everywhere && (!grant.environments || !std::ranges::all_of(*grant.environments, covered))) return false;
    auto has_label = [&](const std::string& label) {
      return std::ranges::find(grant.labels, label) != grant.labels.end();
    };
    if (!std::ranges::all_of(each->labels, has_label)) return false;
    if (grant.role && (!each->role || *each->role < *grant.role)) return false;
    return each->role == AccessRole::admin || std::ranges::all_of(grant.allow, [&](const std::string& action) {
             return std::ranges::find(each->allow, action) != each->allow.end();
           });
  });
}

std::string AccessPolicy::exceeds(const Identity& who, const AccessPolicy& next) const {
  const AccessGrant all{.role = AccessRole::admin};
  for (const AccessGrant& each : next.grants_) {
    if (std::ranges::find(grants_, each) != grants_.end() || holds(who, each)) continue;
    return who.subject + " does not hold " + words_of(each) + ", and cannot grant it";
  }
  for (const AccessGrant& each : grants_) {
    if (each.deny.empty() || std::ranges::find(next.grants_, each) != next.grants_.end() || holds(who, all)) continue;
    return who.subject + " is not admin everywhere, and cannot lift what is denied";
  }
  const bool kept = keeps(approvals_, next.approvals_) && keeps(preconditions_, next.preconditions_) &&
                    keeps(reasons_, next.reasons_);
  if (!kept && !holds(who, all)) {
    return who.subject + " is not admin everywhere, and cannot lift what approvals, preconditions and reasons demand";
  }
  const TrustedIssuer* people = next.issuer_of_people();
  const TrustedIssuer* before = issuer_of_people();
  if (people != nullptr && (before == nullptr || *before != *people) && !holds(who, all)) {
    return who.subject + " is not admin everywhere, and cannot say with whom people log in";
  }
  return "";
}

std::string AccessPolicy::exceeds(const Identity& who, const std::string& subject) const {
  if (who.subject == subject && !who.at_most && who.only_in.empty()) return "";
  for (const AccessGrant* each : grants_of({.subject = subject})) {
    if (!holds(who, *each)) return who.subject + " does not hold " + words_of(*each) + ", which " + subject + " does";
  }
  return "";
}

}  // namespace sluice::deploy
