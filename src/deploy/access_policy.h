// The access policy, `sluice.access-policy.v1`: who may do what. It is one document of grants; what no grant gives is
// denied.
//
//   schema: sluice.access-policy.v1
//   grants:
//     - to: [user:alice, group:release]
//       role: deployer                  # viewer, deployer, operator or admin; each has what those before it have
//       environments: [staging, prod-*]  # left out: everywhere, and what belongs to no environment
//       labels: [team=shop]              # only deployments that have all of these
//     - to: [service:ci]
//       allow: [Revision/stage, Artifact/*]
//       deny: [Revision/archive]         # wins over every grant that gives it
//   preconditions:                       # changes that must say which generation they have seen (If-Match)
//     - {actions: [Traffic/*], environments: [prod-*]}
//   reasons:                             # changes that must say why
//     - {actions: [Traffic/*, Deployment/*], environments: [prod-*]}
//   certificates:                        # of clients: who calls with which
//     - {spiffe: spiffe://shop.example/ci, as: service:ci}
//     - {subject: CN=ann, as: user:ann}
//   issuers:                             # of OpenID tokens: what a pipeline shows instead of a secret
//     - issuer: https://ci.example
//       audience: sluice
//       services:
//         - {subject: "repo:shop/app:ref:refs/heads/*", as: service:ci}
//     - issuer: https://people.example   # with whom people log in: each is user:NAME, in the groups of the token
//       audience: sluice                 # the client that Sluice is there
//       people: {name: email, groups: groups, scopes: [openid, email, groups]}
//
// A grant gives its role's rights and what `allow` names. Nobody is bound by a policy who is the home's owner.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace sluice::deploy {

inline constexpr std::string_view kPolicySchema = "sluice.access-policy.v1";

enum class AccessRole { viewer, deployer, operator_, admin };
BOOST_DESCRIBE_ENUM(AccessRole, viewer, deployer, operator_, admin)
std::string_view role_name(AccessRole role);
std::optional<AccessRole> role_named(std::string_view name);
// Whether the role has one of the suite's rights: view, deploy, operate, administer; all have `self`.
bool covers(AccessRole role, std::string_view right);

struct AccessGrant {
  std::vector<std::string> to;  // user:NAME, service:NAME, group:NAME, or everyone
  std::optional<AccessRole> role;
  std::vector<std::string> allow, deny;                  // Concept/action; * and ? are wildcards
  std::optional<std::vector<std::string>> environments;  // patterns
  std::vector<std::string> labels;                       // key=value

  bool is_global() const { return !environments && labels.empty(); }
  bool operator==(const AccessGrant&) const = default;
  static constexpr std::string_view kDefaulted[] = {"allow", "deny", "labels"};
};
BOOST_DESCRIBE_STRUCT(AccessGrant, (), (to, role, allow, deny, environments, labels))

// What other people must agree to before it is done.
struct ApprovalRule {
  std::vector<std::string> actions;                      // Concept/action; * and ? are wildcards
  std::optional<std::vector<std::string>> environments;  // patterns; left out: everywhere
  int64_t needed = 1;                                    // how many people
  int64_t hours = 24;                                    // after which it is too late
  static constexpr std::string_view kDefaulted[] = {"needed", "hours"};

  bool operator==(const ApprovalRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(ApprovalRule, (), (actions, environments, needed, hours))

// Which calls must say something: which generation of their row they have seen, or why they are made.
struct DemandRule {
  std::vector<std::string> actions;                      // Concept/action; * and ? are wildcards
  std::optional<std::vector<std::string>> environments;  // patterns; left out: everywhere

  bool operator==(const DemandRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(DemandRule, (), (actions, environments))

// Whoever shows a certificate with this SPIFFE ID, or with this subject, is that subject of the policy.
struct KnownCertificate {
  std::optional<std::string> spiffe;
  std::optional<std::string> subject;  // "CN=ann", as RFC 2253 writes it
  std::string as;                      // user:NAME or service:NAME

  bool operator==(const KnownCertificate&) const = default;
};
BOOST_DESCRIBE_STRUCT(KnownCertificate, (), (spiffe, subject, as))

// Whoever shows a token of the issuer with such a subject is that service.
struct BoundService {
  std::string subject;  // * and ? are wildcards
  std::string as;       // service:NAME

  bool operator==(const BoundService&) const = default;
};
BOOST_DESCRIBE_STRUCT(BoundService, (), (subject, as))

// How people log in with an issuer: who they are, its tokens say in these claims.
struct PeopleOfIssuer {
  std::string name = "sub";       // user:NAME
  std::string groups = "groups";  // group:NAME each
  std::vector<std::string> scopes = {"openid"};
  static constexpr std::string_view kDefaulted[] = {"name", "groups", "scopes"};

  bool operator==(const PeopleOfIssuer&) const = default;
};
BOOST_DESCRIBE_STRUCT(PeopleOfIssuer, (), (name, groups, scopes))

struct TrustedIssuer {
  std::string issuer;    // "https://ci.example"
  std::string audience;  // that its tokens must be for
  std::vector<BoundService> services;
  std::optional<PeopleOfIssuer> people;
  static constexpr std::string_view kDefaulted[] = {"services"};

  bool operator==(const TrustedIssuer&) const = default;
};
BOOST_DESCRIBE_STRUCT(TrustedIssuer, (), (issuer, audience, services, people))

struct AccessDocument {
  std::string schema;
  std::vector<AccessGrant> grants;
  std::vector<ApprovalRule> approvals;
  std::vector<DemandRule> preconditions;
  std::vector<DemandRule> reasons;
  std::vector<KnownCertificate> certificates;
  std::vector<TrustedIssuer> issuers;
  static constexpr std::string_view kDefaulted[] = {"approvals", "preconditions", "reasons", "certificates", "issuers"};
};
BOOST_DESCRIBE_STRUCT(AccessDocument, (), (schema, grants, approvals, preconditions, reasons, certificates, issuers))

// Who calls, and by what their token is narrowed.
struct Identity {
  std::string subject;                     // "user:alice"
  std::vector<std::string> groups = {};    // "group:release"
  std::optional<AccessRole> at_most = {};  // of the token
  std::vector<std::string> only_in = {};   // environments of the token; none: not narrowed
};

// What they want to do.
struct Wanted {
  std::string action;  // "Traffic/set"
  std::string right;   // that the action needs
  // The environments that it is about; none: it belongs to no environment, or to one that cannot be told.
  std::vector<std::string> environments = {};
  std::optional<std::set<std::string>> labels = {};  // of the deployment that it is about
};

struct AccessVerdict {
  bool allowed = false;
  std::string why;  // a sentence
};

class AccessPolicy {
 public:
  // Nobody may do anything.
  AccessPolicy() = default;
  // YAML or JSON; an error names the place.
  static Result<AccessPolicy> parse(std::string_view text, std::string file = "policy");

  AccessVerdict judge(const Identity& who, const Wanted& wanted) const;
  const std::vector<AccessGrant>& grants() const { return grants_; }

  // The rule that wants most people to agree to this; null: nobody has to.
  const ApprovalRule* approval_for(const Wanted& wanted) const;
  // Whether it must say which generation it has seen, and whether it must say why.
  bool demands_precondition(const Wanted& wanted) const;
  bool demands_reason(const Wanted& wanted) const;

  // Who a certificate with this SPIFFE ID, or else this subject, stands for; empty: nobody.
  std::string certified(const std::string& name) const;
  const std::vector<KnownCertificate>& certificates() const { return certificates_; }
  // Null: its tokens are not believed.
  const TrustedIssuer* issuer_named(std::string_view issuer) const;
  // With whom people log in; null: with nobody.
  const TrustedIssuer* issuer_of_people() const;
  // The service that a token of the issuer with this subject stands for; empty: none.
  std::string service_of(std::string_view issuer, const std::string& subject) const;
  // All whom certificates and tokens of issuers stand for, in words that tell one binding from another.
  std::vector<std::pair<std::string, std::string>> bindings() const;

  // Whether somebody is admin everywhere.
  bool has_admin() const;
  bool is_admin(const std::string& subject) const;
  // What `who` would give away by putting `next` in the place of this one and does not hold; empty: nothing.
  std::string exceeds(const Identity& who, const AccessPolicy& next) const;
  // The same for acting as another subject.
  std::string exceeds(const Identity& who, const std::string& subject) const;

  // The grants that speak of them, in the order of the document.
  std::vector<const AccessGrant*> grants_of(const Identity& who) const;

 private:
  bool holds(const Identity& who, const AccessGrant& grant) const;

  std::vector<AccessGrant> grants_;
  std::vector<ApprovalRule> approvals_;
  std::vector<DemandRule> preconditions_, reasons_;
  std::vector<KnownCertificate> certificates_;
  std::vector<TrustedIssuer> issuers_;
  std::unordered_map<std::string, std::string> certified_;  // by SPIFFE ID or subject
  std::unordered_map<std::string, std::vector<size_t>> by_subject_;
};

// key=value, of letters, digits and . - _ /
bool is_label(std::string_view text);
// user:NAME or service:NAME, whom a token can be for.
Result<void> check_subject(std::string_view subject);

}  // namespace sluice::deploy
