// Who calls and what they may do, on the kit deploy. What each role may do is written here by hand.
#include "host/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "crypto/x509.h"
#include "host/testing_authority.h"
#include "host/testing_issuer.h"

namespace sluice::host {
namespace authority_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ------------------------------------------------------------------------------------------------------ what roles may

// Written by hand: the least role that may call each action.
const std::map<std::string, std::string> kLeast = {
    {"Access/apply", "admin"},
    {"Access/issue", "admin"},
    {"Access/list", "admin"},
    {"Access/revoke", "admin"},
    {"Access/show", "admin"},
    {"Artifact/build", "admin"},
    {"Artifact/gc", "operator"},
    {"Artifact/hold", "deployer"},
    {"Artifact/list", "viewer"},
    {"Artifact/release", "deployer"},
    {"Artifact/resolve", "viewer"},
    {"Config/set", "operator"},
    {"Config/show", "viewer"},
    {"Deployment/add", "deployer"},
    {"Deployment/archive", "operator"},
    {"Deployment/deleteData", "operator"},
    {"Deployment/down", "operator"},
    {"Deployment/label", "admin"},
    {"Deployment/listData", "viewer"},
    {"Deployment/pause", "deployer"},
    {"Deployment/policies", "viewer"},
    {"Deployment/remove", "operator"},
    {"Deployment/resume", "deployer"},
    {"Deployment/rollBack", "deployer"},
    {"Deployment/up", "deployer"},
    {"Deployment/update", "deployer"},
    {"Env/absorb", "operator"},
    {"Env/alias", "operator"},
    {"Env/apply", "operator"},
    {"Env/bind", "operator"},
    {"Env/create", "operator"},
    {"Env/destroy", "operator"},
    {"Env/doctor", "deployer"},
    {"Env/list", "viewer"},
    {"Env/open", "operator"},
    {"Env/rebind", "operator"},
    {"Env/rollback", "operator"},
    {"Env/unbind", "operator"},
    {"Env/update", "operator"},
    {"LocalRuntime/repair", "operator"},
    {"LocalRuntime/show", "viewer"},
    {"Revision/archive", "operator"},
    {"Revision/drain", "operator"},
    {"Revision/live", "viewer"},
    {"Revision/retry", "deployer"},
    {"Revision/showConfig", "viewer"},
    {"Revision/stage", "deployer"},
    {"Revision/warm", "deployer"},
    {"Router/acknowledge", "operator"},
    {"Router/publish", "operator"},
    {"Router/register", "operator"},
    {"Router/retire", "operator"},
    {"Router/show", "viewer"},
    {"Runtime/deploy", "operator"},
    {"Runtime/destroy", "operator"},
    {"Runtime/healthCheck", "viewer"},
    {"Runtime/list", "viewer"},
    {"Runtime/provision", "operator"},
    {"Runtime/rollback", "operator"},
    {"Runtime/scale", "operator"},
    {"Runtime/setTrafficWeight", "deployer"},
    {"Runtime/show", "viewer"},
    {"Traffic/clear", "deployer"},
    {"Traffic/forward", "deployer"},
    {"Traffic/rollback", "deployer"},
    {"Traffic/set", "deployer"},
    {"Traffic/shift", "deployer"},
    {"Session/end", "admin"},
    {"Session/list", "admin"},
    {"Trust/add", "admin"},
    {"Trust/bootstrap", "admin"},
    {"Trust/export", "viewer"},
    {"Trust/list", "viewer"},
    {"Trust/open", "admin"},
    {"Trust/remove", "admin"},
    {"Trust/revoke", "admin"},
    {"Trust/setThreshold", "admin"},
    {"Trust/verify", "viewer"},
    {"Usage/collect", "operator"},
    {"Usage/show", "viewer"},
    {"Webhook/create", "admin"},
    {"Webhook/list", "admin"},
    {"Webhook/remove", "admin"},
    {"Webhook/rotate", "admin"},
    {"Webhook/sendTest", "admin"},
};
// And which of them belong to an environment, by what argument.
std::string about_of(const std::string& concept_, const std::vector<lang::FieldSymbol>& params) {
  auto has = [&](const char* name) { return lang::find_field(params, name).has_value(); };
  if (concept_ == "Env" || concept_ == "Config" || concept_ == "Router") return has("environment") ? "environment" : "";
  if (concept_ == "Deployment") return has("deployment") ? "deployment" : has("environment") ? "environment" : "";
  if (concept_ == "Revision") return has("revision") ? "revision" : has("deployment") ? "deployment" : "";
  if (concept_ == "Traffic") return "deployment";
  if (concept_ == "Runtime") return has("instance") ? "instance" : "";
  return "";
}

TEST_F(AuthorityTest, EveryActionIsForItsRoleInItsEnvironment) {
  const std::vector<std::string> roles = {"viewer", "deployer", "operator", "admin"};
  size_t tried = 0;
  for (const lang::ConceptSymbol& concept_ : deploy_kit()->symbols().concepts) {
    if (concept_.built_in) continue;
    for (const lang::ActionSymbol& action : concept_.actions) {
      const std::string name = concept_.name + "/" + action.name;
      auto found = kLeast.find(name);
      if (found == kLeast.end()) continue;
      const std::string about = about_of(concept_.name, action.params);
      auto input = [&](const std::string& environment) -> json::object {
        if (about.empty()) return {};
        return {{about, about == "environment" ? environment : about.substr(0, 1) + "-" + environment}};
      };
      for (size_t role = 0; role < roles.size(); ++role) {
        const bool enough = std::ranges::find(roles, found->second) <= roles.begin() + static_cast<ptrdiff_t>(role);
        EXPECT_EQ(may("user:" + roles[role], name, input("staging")), enough && !about.empty()) << roles[role] << name;
        EXPECT_FALSE(may("user:" + roles[role], name, input("prod"))) << roles[role] << name;
        EXPECT_FALSE(may("user:" + roles[role], name, {})) << roles[role] << name;
        for (const json::object& each : {input("staging"), input("prod"), json::object()}) {
          EXPECT_EQ(may("user:all-" + roles[role], name, each), enough) << roles[role] << name;
        }
        ++tried;
      }
      EXPECT_FALSE(may("user:nobody", name, input("staging"))) << name;
      EXPECT_TRUE(may("uid:1000", name, {})) << name;
    }
  }
  EXPECT_EQ(tried, kLeast.size() * roles.size());
}

TEST_F(AuthorityTest, AnActionOnTwoEnvironmentsNeedsBoth) {
  EXPECT_FALSE(may("user:operator", "Env/absorb", {{"environment", "staging"}, {"other", "prod"}}));
  EXPECT_TRUE(may("user:all-operator", "Env/absorb", {{"environment", "staging"}, {"other", "prod"}}));
}

TEST_F(AuthorityTest, WhatACallerSaysOfTheEnvironmentCountsLessThanTheDeployment) {
  EXPECT_FALSE(may("user:deployer", "Revision/stage", {{"deployment", "d-prod"}, {"environment", "staging"}}));
  EXPECT_TRUE(may("user:deployer", "Revision/stage", {{"deployment", "d-staging"}, {"environment", "prod"}}));
  EXPECT_FALSE(may("user:deployer", "Traffic/set", {{"deployment", "d-none"}}));
}

TEST_F(AuthorityTest, LabelsOfADeploymentCount) {
  EXPECT_TRUE(may("user:shop", "Traffic/set", {{"deployment", "d-prod"}}));
  EXPECT_TRUE(may("user:shop", "Revision/warm", {{"revision", "r-prod"}}));
  EXPECT_FALSE(may("user:shop", "Traffic/set", {{"deployment", "d-staging"}}));
  auto logs = [&](const std::string& who, const std::string& instance) {
    return authority.judge_right({.name = who}, "deploy", "logs", "Runtime/show", {{"instance", instance}}).allowed;
  };
  EXPECT_TRUE(logs("user:shop", "i-prod"));
  EXPECT_FALSE(logs("user:shop", "i-staging"));
  EXPECT_TRUE(logs("user:deployer", "i-staging"));
  EXPECT_FALSE(logs("user:viewer", "i-staging"));
  EXPECT_FALSE(logs("user:deployer", "i-of-nothing"));
}

TEST_F(AuthorityTest, HealthIsOfADeploymentOrOfARevision) {
  EXPECT_TRUE(may("user:viewer", "Health/checkKit", {{"kit", "d-staging"}, {"environment", "prod"}}));
  EXPECT_FALSE(may("user:viewer", "Health/checkKit", {{"kit", "d-prod"}, {"environment", "staging"}}));
  EXPECT_TRUE(may("user:viewer", "Health/checkSync", {{"sync", "d-staging"}}));
  EXPECT_TRUE(may("user:viewer", "Health/checkConcept", {{"concept", "r-staging"}}));
  EXPECT_FALSE(may("user:viewer", "Health/checkConcept", {{"concept", "r-prod"}}));
  EXPECT_FALSE(may("user:viewer", "Health/checkInvariant", {{"concept", "r-staging"}, {"invariant", ""}}));
}

TEST_F(AuthorityTest, SaysWhyNot) {
  auto denied = authority.may({.name = "user:viewer"}, "Traffic/set", {{"deployment", "d-staging"}});
  EXPECT_EQ(denied.error().code, Code::denied);
  EXPECT_EQ(denied.error().message,
            "user:viewer may not call Traffic/set: no grant gives user:viewer the right deploy in staging");
}

TEST_F(AuthorityTest, OtherUsersOfThisMachineMayNothing) {
  auto denied = authority.may({.name = "uid:4711"}, "Trust/list", {});
  EXPECT_EQ(denied.error().message, "uid:4711 may not call Trust/list");
  EXPECT_EQ(denied.error().next, "ask the owner of this home, who is its admin");
}

TEST_F(AuthorityTest, ANewPolicyHoldsFromTheNextCallOn) {
  EXPECT_FALSE(may("user:late", "Trust/list", {}));
  put("Access[]", "whole",
      {{"policy", "schema: sluice.access-policy.v1\ngrants: [{to: [user:late], role: viewer}]\n"},
       {"version", 2},
       {"appliedBy", "uid:1"}});
  EXPECT_TRUE(may("user:late", "Trust/list", {}));
  EXPECT_FALSE(may("user:all-admin", "Trust/list", {}));
}

// ------------------------------------------------------------------------------------------------------------- tokens

TEST_F(AuthorityTest, ATokenSaysWhoCalls) {
  const std::string text =
      token("t1", {{"subject", "user:all-admin"}, {"digest", secret_digest("se_cr_et")}}, "se_cr_et");
  auto caller = authority.authenticate(text);
  ASSERT_TRUE(caller) << to_string(caller.error());
  EXPECT_EQ(*caller, (engine::Caller{"user:all-admin", "", "t1"}));
  EXPECT_TRUE(authority.may(*caller, "Trust/add", {}));
  EXPECT_THAT(authority.take_used(), ElementsAre("t1"));
  EXPECT_THAT(authority.take_used(), IsEmpty());
}

TEST_F(AuthorityTest, WhatIsWrongWithATokenIsNotTold) {
  const std::string good = token("t1", {{"subject", "user:admin"}});
  token("t2", {{"subject", "user:admin"}, {"revoked", {{"at", "2026-01-01T00:00:00.000Z"}, {"by", "uid:1"}}}});
  token("t3", {{"subject", "user:admin"}, {"expires", "2026-01-01T00:00:00.000Z"}});
  for (const std::string& each :
       {std::string(), std::string("slt_"), std::string("x"), good + "x", good.substr(1), token_text("t9", "secret"),
        token_text("t2", "secret"), token_text("t3", "secret"), token_text("", "secret"), std::string(1000, '_')}) {
    auto caller = authority.authenticate(each);
    ASSERT_FALSE(caller) << each;
    EXPECT_EQ(caller.error().code, Code::unauthenticated);
    EXPECT_EQ(caller.error().message, "the token does not hold: it is unknown, expired or revoked");
  }
}

TEST_F(AuthorityTest, ATokenNarrowsAndEnds) {
  auto caller = authority.authenticate(token("t1", {{"subject", "user:all-admin"}, {"role", "viewer"}})).value();
  EXPECT_TRUE(authority.may(caller, "Trust/list", {}));
  EXPECT_FALSE(authority.may(caller, "Trust/add", {}));
  token("t1", {{"subject", "user:all-admin"}, {"revoked", {{"at", "2026-01-01T00:00:00.000Z"}, {"by", "uid:1"}}}});
  EXPECT_FALSE(authority.may(caller, "Trust/list", {}));
  EXPECT_FALSE(authority.holds(caller));
}

TEST_F(AuthorityTest, ACertificateStandsForWhomThePolicySays) {
  auto shown = [&](const std::string& name, const std::string& uri) {
    return crypto::make_certificate({.name = name, .until_ms = clock.wall_ms() + 1'000'000, .uri = uri}, nullptr,
                                    clock.wall_ms())
        .value()
        .chain_pem;
  };
  const std::string ci = shown("other", "spiffe://shop.example/ci"), ann = shown("ann", "");
  EXPECT_EQ(authority.authenticate_certificate(ann).error().message,
            "the access policy knows nobody by the certificate of CN=ann");
  put("Access[]", "whole",
      {{"policy", std::string(kTeamPolicy) + "certificates:\n- {subject: CN=ann, as: 'user:all-admin'}\n"
                                             "- {spiffe: 'spiffe://shop.example/ci', as: 'user:viewer'}\n"},
       {"version", 2},
       {"appliedBy", "uid:1"}});
  auto who = authority.authenticate_certificate(ann);
  ASSERT_TRUE(who) << to_string(who.error());
  EXPECT_EQ(who->name, "user:all-admin");
  EXPECT_TRUE(authority.may(*who, "Trust/add", {}));
  EXPECT_EQ(authority.authenticate_certificate(ci)->name, "user:viewer");
  EXPECT_FALSE(authority.holds({.name = "user:all-admin", .token = "x509:CN=bob"}));
  EXPECT_FALSE(authority.authenticate_certificate("none"));
  put("Access[]", "whole", {{"policy", kTeamPolicy}, {"version", 3}, {"appliedBy", "uid:1"}});
  EXPECT_FALSE(authority.holds(*who)) << "it ends with its place in the policy";
}

TEST_F(AuthorityTest, ATokenOfAnIssuerStandsForAService) {
  IssuerServer issuer;
  const std::string good = issuer.token("repo:shop/app:main");
  EXPECT_FALSE(authority.authenticate(good)) << "the policy does not know the issuer";
  auto apply = [&](const std::string& subject) {
    put("Access[]", "whole",
        {{"policy", std::string(kTeamPolicy) + "- {to: ['service:ci'], role: deployer}\nissuers:\n- {issuer: '" +
                        issuer.url + "', audience: sluice, services: [{subject: '" + subject +
                        "', as: 'service:ci'}]}\n"},
         {"version", 2},
         {"appliedBy", "uid:1"}});
  };
  apply("repo:shop/*:main");
  auto who = authority.authenticate(good);
  ASSERT_TRUE(who) << to_string(who.error());
  EXPECT_EQ(who->name, "service:ci");
  EXPECT_TRUE(authority.may(*who, "Traffic/set", {{"deployment", "d-prod"}}));
  EXPECT_FALSE(authority.may(*who, "Access/list", {}));
  const int64_t now_s = clock.wall_ms() / 1000;
  const json::object none_head{{"alg", "none"}, {"kid", "k1"}};
  for (const std::string& bad :
       {issuer.token("repo:other/app:main"), issuer.token("repo:shop/app:main", {{"aud", "other"}}),
        issuer.token("repo:shop/app:main", {{"exp", now_s - 100}}),
        issuer.token("repo:shop/app:main", {{"iat", now_s + 1000}}), good.substr(0, good.size() - 2),
        crypto::TestingIssuer("ES256").sign(
            {{"iss", issuer.url}, {"aud", "sluice"}, {"sub", "repo:shop/app:main"}, {"exp", now_s + 100}}),
        crypto::jwt_text(none_head,
                         {{"iss", issuer.url}, {"aud", "sluice"}, {"sub", "repo:shop/app:main"}, {"exp", now_s + 100}},
                         "")}) {
    auto refused = authority.authenticate(bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unauthenticated);
  }
  EXPECT_FALSE(authority.holds({.name = "service:ci", .token = "oidc:1 " + issuer.url + " repo:shop/app:main"}));
  apply("repo:shop/*:release");
  EXPECT_FALSE(authority.holds(*who)) << "it ends with its place in the policy";
}

TEST_F(AuthorityTest, ASessionHoldsAsLongAsItsToken) {
  token("t1", {{"subject", "user:all-admin"}});
  auto session = [&](const std::string& id, json::object fields) {
    json::object row{{"subject", "user:all-admin"},
                     {"token", "t1"},
                     {"digest", secret_digest("secret")},
                     {"address", "127.0.0.1"},
                     {"openedAt", "2026-01-01T00:00:00.000Z"},
                     {"expires", "2999-01-01T00:00:00.000Z"}};
    for (const auto& [name, value] : fields) row[name] = value;
    if (row.at("token").is_null()) row.erase("token");
    put("Session", id, row);
    return session_text(id, "secret");
  };
  const std::string good = session("s1", {});
  auto who = authority.authenticate_session(good);
  ASSERT_TRUE(who) << to_string(who.error());
  EXPECT_EQ(who->caller, (engine::Caller{"user:all-admin", "", "t1"}));
  EXPECT_EQ(who->session, "s1");
  EXPECT_THAT(authority.take_used_sessions(), ElementsAre("s1"));
  EXPECT_TRUE(authority.holds_session("s1"));
  const json::object ended{{"at", "2026-01-01T00:00:00.000Z"}, {"by", "uid:1"}};
  for (const std::string& each :
       {std::string(), std::string("sls_"), good + "x", session_text("s9", "secret"), token_text("t1", "secret"),
        session("s2", {{"ended", ended}}), session("s3", {{"expires", "2026-01-01T00:00:00.000Z"}}),
        session("s4", {{"token", "t9"}}), session("s5", {{"subject", "user:other"}}),
        session("s6", {{"token", nullptr}}), std::string(1000, '_')}) {
    auto refused = authority.authenticate_session(each);
    ASSERT_FALSE(refused) << each;
    EXPECT_EQ(refused.error().message, "the session is over: log in again");
  }
  token("t1", {{"subject", "user:all-admin"}, {"revoked", ended}});
  EXPECT_FALSE(authority.authenticate_session(good));
  EXPECT_FALSE(authority.holds_session("s1"));
}

TEST_F(AuthorityTest, ASessionOfTheOwnerEndsWithTheRunThatItBelongsTo) {
  authority.trust_owner_token("slo_abc");
  json::object row{{"subject", "uid:1000"},
                   {"digest", secret_digest("secret")},
                   {"address", "127.0.0.1"},
                   {"openedAt", "2026-01-01T00:00:00.000Z"},
                   {"expires", "2999-01-01T00:00:00.000Z"}};
  put("Session", "s1", row);
  row["run"] = authority.run_of("slo_abc");
  put("Session", "s2", row);
  row["run"] = "another";
  put("Session", "s3", row);
  for (const char* id : {"s1", "s2"}) {
    auto who = authority.authenticate_session(session_text(id, "secret"));
    ASSERT_TRUE(who);
    EXPECT_TRUE(authority.is_unbound(who->caller));
  }
  EXPECT_FALSE(authority.authenticate_session(session_text("s3", "secret")));
  EXPECT_EQ(authority.run_of("slo_other"), "");
}

TEST_F(AuthorityTest, WhoMayDeploySomewhereMayPutBytes) {
  for (const char* who : {"user:deployer", "user:admin", "user:all-operator", "user:shop"}) {
    EXPECT_TRUE(may(who, "put", {})) << who;
  }
  for (const char* who : {"user:viewer", "user:all-viewer", "user:nobody"}) EXPECT_FALSE(may(who, "put", {})) << who;
  auto narrowed = authority.authenticate(token("t1", {{"subject", "user:all-admin"}, {"role", "viewer"}})).value();
  EXPECT_FALSE(authority.may(narrowed, "put", {}));
}

TEST_F(AuthorityTest, ACallAndHowItEndedAreAboutAnEnvironment) {
  const std::vector<std::string> prod = {"prod"};
  EXPECT_EQ(authority.environments_of("Traffic/set", {{"deployment", "d-prod"}}), prod);
  EXPECT_TRUE(authority.environments_of("Traffic/set", {{"deployment", "gone"}}).empty());
  put("Rollout", "o-prod", {{"deployment", "d-prod"}});
  EXPECT_EQ(authority.environments_of("Rollout/begin", {{"rollout", "o-prod"}}), prod) << "it names what it has made";
  EXPECT_TRUE(authority.environments_of("Rollout/begin", {{"rollout", "gone"}}).empty());
  EXPECT_TRUE(authority.environments_of("Access/issue", {{"token", "t1"}}).empty());
}

TEST_F(AuthorityTest, TheOwnersTokenOfThisProcessIsTheOwner) {
  EXPECT_FALSE(authority.authenticate("slo_abc"));
  authority.trust_owner_token("slo_abc");
  auto caller = authority.authenticate("slo_abc");
  ASSERT_TRUE(caller);
  EXPECT_TRUE(authority.is_unbound(*caller));
}

}  // namespace authority_test
}  // namespace sluice::host
