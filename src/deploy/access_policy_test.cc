// What a policy gives, to whom and where; and what nobody can give away.
#include "deploy/access_policy.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace access_policy_test {

AccessPolicy policy_of(const std::string& grants) {
  auto policy = AccessPolicy::parse("schema: sluice.access-policy.v1\ngrants:\n" + grants, "p.yaml");
  if (!policy) throw std::runtime_error(to_string(policy.error()));
  return *std::move(policy);
}

std::string fault_of(const std::string& text) { return to_string(AccessPolicy::parse(text, "p.yaml").error()); }

std::string fault_in(const std::string& grant) {
  return fault_of("schema: sluice.access-policy.v1\ngrants:\n- " + grant + "\n");
}

const AccessPolicy kTeam = policy_of(
    "- {to: [user:ann], role: admin}\n"
    "- {to: [user:bob, service:ci], role: deployer, environments: [staging, 'team-*']}\n"
    "- {to: [group:eyes], role: viewer}\n"
    "- {to: [user:eve], role: operator, labels: [team=shop, tier=web]}\n"
    "- {to: [service:ci], allow: [Artifact/*], deny: [Revision/archive, 'Trust/*']}\n"
    "- {to: [everyone], allow: [Usage/show]}\n");

AccessVerdict judge(const Identity& who, const Wanted& wanted) { return kTeam.judge(who, wanted); }

TEST(AccessPolicy, ARoleHasTheRightsOfThoseBeforeIt) {
  const std::vector<std::string> rights = {"view", "deploy", "operate", "administer"};
  const std::vector<std::string> roles = {"viewer", "deployer", "operator", "admin"};
  for (size_t role = 0; role < roles.size(); ++role) {
    ASSERT_TRUE(role_named(roles[role]));
    EXPECT_EQ(role_name(*role_named(roles[role])), roles[role]);
    EXPECT_TRUE(covers(*role_named(roles[role]), "self"));
    for (size_t right = 0; right < rights.size(); ++right) {
      EXPECT_EQ(covers(*role_named(roles[role]), rights[right]), right <= role) << roles[role] << " " << rights[right];
    }
    EXPECT_FALSE(covers(*role_named(roles[role]), "fly"));
  }
  EXPECT_FALSE(role_named("root"));
}

TEST(AccessPolicy, GivesARoleInItsEnvironmentsAlone) {
  const Identity bob{.subject = "user:bob"};
  EXPECT_EQ(judge(bob, {"Traffic/set", "deploy", {"staging"}}).why,
            "grant 2 gives user:bob deployer in staging, team-*");
  EXPECT_TRUE(judge(bob, {"Traffic/set", "deploy", {"team-a"}}).allowed);
  EXPECT_TRUE(judge(bob, {"Traffic/set", "view", {"staging"}}).allowed);
  auto denied = judge(bob, {"Traffic/set", "deploy", {"prod"}});
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.why, "no grant gives user:bob the right deploy in prod; grant 2 gives deployer in staging, team-*");
  EXPECT_FALSE(judge(bob, {"Env/absorb", "deploy", {"staging", "prod"}}).allowed);
  EXPECT_EQ(judge(bob, {"Config/set", "operate", {"staging"}}).why,
            "no grant gives user:bob the right operate in staging");
  EXPECT_EQ(judge(bob, {"Artifact/hold", "deploy"}).why,
            "no grant gives user:bob the right deploy outside of any environment; grant 2 gives deployer in staging, "
            "team-*");
}

TEST(AccessPolicy, AGrantWithoutEnvironmentsHoldsEverywhere) {
  for (const char* right : {"view", "deploy", "operate", "administer"}) {
    EXPECT_TRUE(judge({.subject = "user:ann"}, {"A/b", right, {"prod"}}).allowed);
    EXPECT_TRUE(judge({.subject = "user:ann"}, {"A/b", right}).allowed);
  }
  const Identity dan{.subject = "user:dan", .groups = {"group:eyes"}};
  EXPECT_TRUE(judge(dan, {"Trust/list", "view"}).allowed);
  EXPECT_FALSE(judge(dan, {"Trust/add", "administer"}).allowed);
  EXPECT_FALSE(judge({.subject = "user:dan"}, {"Trust/list", "view"}).allowed);
}

TEST(AccessPolicy, LabelsNarrowAGrantToDeploymentsThatHaveAllOfThem) {
  const Identity eve{.subject = "user:eve"};
  EXPECT_TRUE(judge(eve, {"Traffic/set", "deploy", {"prod"}, {{"team=shop", "tier=web", "x=y"}}}).allowed);
  EXPECT_FALSE(judge(eve, {"Traffic/set", "deploy", {"prod"}, {{"team=shop"}}}).allowed);
  EXPECT_FALSE(judge(eve, {"Config/set", "operate", {"prod"}}).allowed);
}

TEST(AccessPolicy, ActionsAreAllowedAndDeniedByName) {
  const Identity ci{.subject = "service:ci"};
  EXPECT_TRUE(judge(ci, {"Artifact/gc", "operate"}).allowed);
  EXPECT_EQ(judge(ci, {"Revision/archive", "deploy", {"staging"}}).why, "grant 5 denies service:ci Revision/archive");
  EXPECT_TRUE(judge({.subject = "user:who"}, {"Usage/show", "view"}).allowed);
  EXPECT_TRUE(judge({.subject = "user:who"}, {"Access/whoami", "self"}).allowed);
  EXPECT_FALSE(AccessPolicy().judge({.subject = "user:ann"}, {"Trust/list", "view"}).allowed);
}

TEST(AccessPolicy, ATokenNarrowsItsSubject) {
  EXPECT_EQ(judge({.subject = "user:ann", .at_most = AccessRole::viewer}, {"Traffic/set", "deploy", {"prod"}}).why,
            "the token of user:ann has the role viewer at most, and Traffic/set needs the right deploy in prod");
  const Identity there{.subject = "user:ann", .only_in = {"dev-*"}};
  EXPECT_TRUE(judge(there, {"Traffic/set", "deploy", {"dev-1"}}).allowed);
  EXPECT_EQ(judge(there, {"Traffic/set", "deploy", {"prod"}}).why,
            "the token of user:ann is for dev-* alone, and Traffic/set needs the right deploy in prod");
  EXPECT_FALSE(judge(there, {"Trust/list", "view"}).allowed);
}

TEST(AccessPolicy, NamesWhatIsWrongWithADocument) {
  EXPECT_EQ(fault_of("schema: sluice.access-policy.v2\ngrants: []\n"),
            "/schema: the schema is 'sluice.access-policy.v2', not sluice.access-policy.v1");
  EXPECT_EQ(fault_in("{to: [], role: admin}"), "/grants/0/to: a grant says to whom");
  EXPECT_EQ(
      fault_in("{to: ['uid:0'], role: admin}"),
      "/grants/0/to: 'uid:0' is no user, service or group: write user:NAME, service:NAME, group:NAME or everyone");
  EXPECT_EQ(fault_in("{to: [user:ann]}"), "/grants/0/role: a grant has a role, or actions that it allows or denies");
  EXPECT_EQ(fault_in("{to: [user:ann], allow: [traffic]}"),
            "/grants/0/allow: 'traffic' is no action: write Concept/action");
  EXPECT_EQ(fault_in("{to: [user:ann], deny: ['a b/c']}"),
            "/grants/0/deny: 'a b/c' is no action: write Concept/action");
  EXPECT_EQ(fault_in("{to: [user:ann], role: admin, environments: []}"),
            "/grants/0/environments: a list without environments gives nothing; leave it out for everywhere");
  EXPECT_EQ(fault_in("{to: [user:ann], role: admin, environments: ['a/b']}"),
            "/grants/0/environments: 'a/b' is no environment");
  EXPECT_EQ(fault_in("{to: [user:ann], role: admin, labels: [shop]}"),
            "/grants/0/labels: 'shop' is no label: write key=value");
  EXPECT_EQ(fault_in("{to: [user:ann], role: root}"),
            "p.yaml:3:20: /grants/0/role: expected one of viewer, deployer, operator, admin, found \"root\"");
}

TEST(AccessPolicy, NobodyGrantsWhatTheyDoNotHold) {
  const AccessPolicy before = policy_of(
      "- {to: [user:ann], role: admin}\n"
      "- {to: [user:bob], role: deployer, environments: [staging, 'team-*'], allow: [Access/apply]}\n"
      "- {to: [user:eve], role: viewer, deny: [Trust/list]}\n");
  auto by = [&](const std::string& who, const std::string& added) {
    std::string kept =
        "- {to: [user:ann], role: admin}\n"
        "- {to: [user:bob], role: deployer, environments: [staging, 'team-*'], allow: [Access/apply]}\n"
        "- {to: [user:eve], role: viewer, deny: [Trust/list]}\n";
    return before.exceeds({.subject = who}, policy_of(kept + added));
  };
  EXPECT_EQ(by("user:ann", "- {to: [user:dan], role: admin}\n"), "");
  EXPECT_EQ(by("user:bob", "- {to: [user:dan], role: viewer, environments: [staging, team-b]}\n"), "");
  EXPECT_EQ(by("user:bob", "- {to: [user:dan], role: deployer, environments: ['team-*']}\n"), "");
  EXPECT_EQ(by("user:bob", "- {to: [user:bob], role: operator, environments: [staging]}\n"),
            "user:bob does not hold operator in staging, and cannot grant it");
  EXPECT_EQ(by("user:bob", "- {to: [user:dan], role: viewer, environments: [prod]}\n"),
            "user:bob does not hold viewer in prod, and cannot grant it");
  EXPECT_EQ(by("user:bob", "- {to: [user:dan], role: viewer}\n"),
            "user:bob does not hold viewer everywhere, and cannot grant it");
  EXPECT_EQ(by("user:bob", "- {to: [user:dan], allow: [Env/destroy], environments: [staging]}\n"),
            "user:bob does not hold Env/destroy in staging, and cannot grant it");
  EXPECT_EQ(
      before.exceeds({.subject = "user:ann", .only_in = {"staging"}}, policy_of("- {to: [user:d], role: admin}\n")),
      "user:ann does not hold admin everywhere, and cannot grant it");
  EXPECT_EQ(before.exceeds({.subject = "user:bob"}, policy_of("- {to: [user:ann], role: admin}\n")),
            "user:bob is not admin everywhere, and cannot lift what is denied");
}

TEST(AccessPolicy, NobodyActsAsSomebodyWhoMayMore) {
  EXPECT_EQ(kTeam.exceeds({.subject = "user:ann"}, "user:bob"), "");
  EXPECT_EQ(kTeam.exceeds({.subject = "user:bob"}, "user:bob"), "");
  EXPECT_EQ(kTeam.exceeds({.subject = "user:bob"}, "user:ann"),
            "user:bob does not hold admin everywhere, which user:ann does");
}

TEST(AccessPolicy, KnowsWhetherSomebodyIsAdminEverywhere) {
  EXPECT_TRUE(kTeam.has_admin());
  EXPECT_TRUE(kTeam.is_admin("user:ann"));
  EXPECT_FALSE(kTeam.is_admin("user:bob"));
  EXPECT_FALSE(policy_of("- {to: [user:ann], role: admin, environments: [staging]}\n").has_admin());
  EXPECT_FALSE(policy_of("- {to: [user:ann], role: operator}\n").has_admin());
}

TEST(AccessPolicy, TokensAreForPeopleAndServices) {
  EXPECT_TRUE(check_subject("user:ann@shop.example"));
  EXPECT_TRUE(check_subject("service:ci"));
  for (const char* each : {"", "ann", "user:", "group:eyes", "uid:0", "user:a b", "everyone"}) {
    EXPECT_FALSE(check_subject(each)) << each;
  }
}

TEST(AccessPolicyApprovals, TheStrictestRuleThatFitsHolds) {
  auto policy = AccessPolicy::parse(
      "schema: sluice.access-policy.v1\ngrants: []\napprovals:\n"
      "- {actions: [Traffic/*], environments: [prod-*]}\n"
      "- {actions: [Traffic/set], environments: [prod-eu], needed: 2, hours: 1}\n"
      "- {actions: [Trust/revoke], needed: 3}\n");
  ASSERT_TRUE(policy) << to_string(policy.error());
  auto needed = [&](const std::string& action, std::vector<std::string> places) {
    const ApprovalRule* rule = policy->approval_for({.action = action, .environments = std::move(places)});
    return rule == nullptr ? 0 : rule->needed;
  };
  EXPECT_EQ(needed("Traffic/set", {"prod-eu"}), 2);
  EXPECT_EQ(needed("Traffic/set", {"prod-us"}), 1);
  EXPECT_EQ(needed("Traffic/set", {"staging"}), 0);
  EXPECT_EQ(needed("Traffic/set", {}), 0);
  EXPECT_EQ(needed("Trust/revoke", {}), 3);
}

TEST(AccessPolicyApprovals, ARuleThatCannotHoldIsRefused) {
  auto fault = [](const std::string& rule) {
    return to_string(
        AccessPolicy::parse("schema: sluice.access-policy.v1\ngrants: []\napprovals: [" + rule + "]\n").error());
  };
  EXPECT_EQ(fault("{actions: []}"), "/approvals/0/actions: a rule names the actions that it is about");
  EXPECT_EQ(fault("{actions: [x]}"), "/approvals/0/actions: 'x' is no action: write Concept/action");
  EXPECT_EQ(fault("{actions: [A/b], needed: 0}"), "/approvals/0/needed: 1 to 20 people can be needed");
  EXPECT_EQ(fault("{actions: [A/b], hours: 1000}"), "/approvals/0/hours: an approval waits for 1 to 720 hours");
}

TEST(AccessPolicy, SomeCallsMustSayWhatTheyHaveSeenOrWhy) {
  const AccessPolicy policy = policy_of(
      "- {to: [user:ann], role: admin}\n"
      "preconditions:\n- {actions: [Env/update]}\n"
      "reasons:\n- {actions: [Traffic/*, Deployment/up], environments: [prod-*]}\n- {actions: [Trust/*]}\n");
  auto reason = [&](const std::string& action, std::vector<std::string> places) {
    return policy.demands_reason({.action = action, .environments = std::move(places)});
  };
  EXPECT_TRUE(reason("Traffic/set", {"staging", "prod-eu"}));
  EXPECT_FALSE(reason("Traffic/set", {"staging"}));
  EXPECT_FALSE(reason("Traffic/set", {}));
  EXPECT_FALSE(reason("Deployment/down", {"prod-eu"}));
  EXPECT_TRUE(reason("Trust/add", {}));
  EXPECT_FALSE(reason("Env/update", {"prod-eu"}));
  EXPECT_TRUE(policy.demands_precondition({.action = "Env/update", .environments = {"prod-eu"}}));
  EXPECT_FALSE(policy.demands_precondition({.action = "Traffic/set", .environments = {"prod-eu"}}));
  auto fault = [](const std::string& rules) {
    return to_string(AccessPolicy::parse("schema: sluice.access-policy.v1\ngrants: []\n" + rules).error());
  };
  EXPECT_EQ(fault("reasons: [{actions: []}]\n"), "/reasons/0/actions: a rule names the actions that it is about");
  EXPECT_EQ(fault("preconditions: [{actions: [A/b]}, {actions: [x]}]\n"),
            "/preconditions/1/actions: 'x' is no action: write Concept/action");
}

TEST(AccessPolicy, OnlyAnAdminLiftsWhatRulesDemand) {
  const std::string grants =
      "- {to: [user:ann], role: admin}\n- {to: [user:bob], role: operator, allow: [Access/apply]}\n";
  const std::string rules =
      "approvals: [{actions: [Traffic/*], needed: 2}]\npreconditions: [{actions: [Env/*]}]\n"
      "reasons: [{actions: [Secret/*]}]\n";
  const AccessPolicy before = policy_of(grants + rules);
  auto by = [&](const std::string& who, const std::string& next) {
    return before.exceeds({.subject = who}, policy_of(grants + next));
  };
  const std::string why =
      "user:bob is not admin everywhere, and cannot lift what approvals, preconditions and reasons demand";
  EXPECT_EQ(by("user:bob", rules), "");
  EXPECT_EQ(by("user:ann", ""), "");
  EXPECT_EQ(by("user:bob", ""), why);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"needed: 2", "needed: 1"}, {"[Env/*]", "[Env/update]"}, {"[Secret/*]", "[Secret/put]"}}) {
    std::string changed = rules;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_EQ(by("user:bob", changed), why) << to;
  }
  EXPECT_EQ(
      before.exceeds({.subject = "user:bob"},
                     policy_of(grants + "approvals: [{actions: [Traffic/*], needed: 2}, {actions: [Env/*]}]\n"
                                        "preconditions: [{actions: [Env/*]}]\nreasons: [{actions: [Secret/*]}]\n")),
      "");
}

TEST(AccessPolicy, BindsServicesToIssuers) {
  const std::string head = "schema: sluice.access-policy.v1\ngrants: []\nissuers:\n";
  const std::string one = "- {issuer: 'https://ci.example', audience: sluice, services: ";
  auto policy = AccessPolicy::parse(head + one + "[{subject: 'repo:shop/*:main', as: 'service:ci'}]}\n");
  ASSERT_TRUE(policy) << to_string(policy.error());
  EXPECT_EQ(policy->issuer_named("https://ci.example")->audience, "sluice");
  EXPECT_EQ(policy->issuer_named("https://ci.example/"), nullptr);
  EXPECT_EQ(policy->service_of("https://ci.example", "repo:shop/app:main"), "service:ci");
  EXPECT_EQ(policy->service_of("https://ci.example", "repo:shop/app:other"), "");
  EXPECT_EQ(policy->service_of("https://ci.example", "xrepo:shop/app:main"), "");
  EXPECT_EQ(policy->service_of("https://other.example", "repo:shop/app:main"), "");
  EXPECT_EQ(policy->bindings().size(), 1U);
  for (const std::string& bad : {std::string("- {issuer: 'http://ci.example', audience: a, services: []}\n"),
                                 std::string("- {issuer: 'https://ci.example', audience: '', services: []}\n"),
                                 one + "[{subject: '*', as: 'service:ci'}]}\n",
                                 one + "[{subject: 'repo', as: 'user:ann'}]}\n", one + "[]}\n" + one + "[]}\n"}) {
    EXPECT_FALSE(AccessPolicy::parse(head + bad)) << bad;
  }
}

TEST(AccessPolicy, KnowsCertificates) {
  const std::string head = "schema: sluice.access-policy.v1\ngrants: []\ncertificates:\n";
  auto policy = AccessPolicy::parse(head +
                                    "- {spiffe: 'spiffe://shop.example/ci', as: 'service:ci'}\n"
                                    "- {subject: CN=ann, as: 'user:ann'}\n");
  ASSERT_TRUE(policy) << to_string(policy.error());
  EXPECT_EQ(policy->certified("spiffe://shop.example/ci"), "service:ci");
  EXPECT_EQ(policy->certified("CN=ann"), "user:ann");
  EXPECT_EQ(policy->certified("CN=bob"), "");
  for (const char* bad :
       {"- {as: 'user:ann'}\n", "- {spiffe: 'https://a', as: 'user:ann'}\n", "- {subject: ann, as: 'user:ann'}\n",
        "- {subject: CN=ann, as: 'uid:0'}\n", "- {subject: CN=a, as: 'user:a'}\n- {subject: CN=a, as: 'user:b'}\n",
        "- {subject: CN=a, spiffe: 'spiffe://a/b', as: 'user:a'}\n"}) {
    EXPECT_FALSE(AccessPolicy::parse(head + bad)) << bad;
  }
}

}  // namespace access_policy_test
}  // namespace sluice::deploy
