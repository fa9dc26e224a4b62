// What the k8s deployer needs, with the cluster's answers taken away one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/cluster_rights.h"
#include "deploy/providers/credentials/k8s/k8s_credentials_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::k8s_credentials {
namespace {

// A cluster that allows everything.
ClusterRights allowing() {
  ClusterRights rights;
  rights.name_space = [](const views::PodPlace&) -> Result<std::string> { return std::string("shop"); };
  rights.may = [](const views::PodPlace&, const std::string&, const kube::Review&) -> Result<bool> { return true; };
  rights.apply = [](const views::PodPlace&, const std::string&, const boost::json::value&) -> Result<void> {
    return {};
  };
  rights.request_token = [](const views::PodPlace&, const std::string&, const std::string&,
                            int64_t seconds) -> Result<MintedToken> {
    return MintedToken{"minted", seconds};
  };
  rights.reach_a_pod = [](const views::PodPlace&, const std::string&) -> Result<void> { return {}; };
  return rights;
}

ClusterRights& shared() {
  static ClusterRights rights = allowing();
  return rights;
}

}  // namespace

void prepare(lang::Harness& harness) { harness.tools().add(shared()); }

namespace k8s_credentials_test {

using testing::HasSubstr;

std::vector<K8sCredentialsCheck> inspect(ClusterRights rights) {
  lang::Harness harness(k8s_credentials_binding());
  harness.tools().add(rights);
  return harness.invoke(Inspect{.environment = "prod"}).as<Inspect::Ok>().checks;
}

const K8sCredentialsCheck& named(const std::vector<K8sCredentialsCheck>& checks, const std::string& capability) {
  static const K8sCredentialsCheck kNone;
  auto found = std::ranges::find(checks, capability, &K8sCredentialsCheck::capability);
  EXPECT_NE(found, checks.end()) << capability;
  return found == checks.end() ? kNone : *found;
}

TEST(K8sCredentials, EveryCallIsAskedAbout) {
  std::vector<std::string> asked;
  ClusterRights rights = allowing();
  rights.may = [&](const views::PodPlace&, const std::string&, const kube::Review& review) -> Result<bool> {
    asked.push_back(review.group + "/" + review.resource + "/" + review.subresource + ":" + review.verb + " " +
                    review.name_space + " " + review.name);
    return true;
  };
  auto checks = inspect(rights);
  size_t verbs = 0;
  for (const ClusterRight& each : deployer_rights()) verbs += each.verbs.size();
  EXPECT_EQ(checks.size(), verbs + 2);
  for (const auto& each : checks) EXPECT_EQ(each.status, K8sCredentialsStatus::pass) << each.capability;
  EXPECT_THAT(asked, testing::Contains("/pods/log:get shop "));
  EXPECT_THAT(asked, testing::Contains("/serviceaccounts/token:create shop sluice-deployer"));
}

TEST(K8sCredentials, WhatIsNotAllowedIsNamed) {
  ClusterRights rights = allowing();
  rights.may = [&](const views::PodPlace&, const std::string&, const kube::Review& review) -> Result<bool> {
    return review.resource != "secrets" || review.verb != "patch";
  };
  auto checks = inspect(rights);
  EXPECT_EQ(named(checks, "k8s.rbac.allow:core/secrets:patch").status, K8sCredentialsStatus::fail);
  EXPECT_THAT(named(checks, "k8s.rbac.allow:core/secrets:patch").fix, HasSubstr("Credentials/bootstrap for prod"));
  EXPECT_EQ(named(checks, "k8s.rbac.allow:core/secrets:create").status, K8sCredentialsStatus::pass);
}

TEST(K8sCredentials, AClusterThatDoesNotAnswerFailsOnceAndTheRestIsSkipped) {
  ClusterRights rights = allowing();
  rights.may = [](const views::PodPlace&, const std::string&, const kube::Review&) -> Result<bool> {
    return Error{.code = Code::unavailable, .message = "nobody is there"};
  };
  auto checks = inspect(rights);
  EXPECT_EQ(checks.front().capability, "k8s.api.reachable");
  EXPECT_EQ(checks.front().status, K8sCredentialsStatus::fail);
  EXPECT_EQ(checks.back().status, K8sCredentialsStatus::skipped);
}

TEST(K8sCredentials, PodsThatCannotBeReachedAreFoundBeforeAnythingIsDeployed) {
  ClusterRights rights = allowing();
  rights.reach_a_pod = [](const views::PodPlace&, const std::string&) -> Result<void> {
    return Error{.code = Code::unavailable, .message = "the router cannot connect to pods: 10.1.0.7 does not answer"};
  };
  auto check = named(inspect(rights), "k8s.pods.reachable");
  EXPECT_EQ(check.status, K8sCredentialsStatus::fail);
  EXPECT_THAT(check.reason, HasSubstr("10.1.0.7 does not answer"));
  rights.reach_a_pod = [](const views::PodPlace&, const std::string&) -> Result<void> {
    return Error{.code = Code::not_found, .message = "no pod is ready in namespace shop"};
  };
  check = named(inspect(rights), "k8s.pods.reachable");
  EXPECT_EQ(check.status, K8sCredentialsStatus::skipped);
  EXPECT_EQ(check.reason, "no pod is ready in namespace shop");
}

TEST(K8sCredentials, ATokenMayLiveShorterThanWasAskedFor) {
  ClusterRights rights = allowing();
  rights.request_token = [](const views::PodPlace&, const std::string&, const std::string&,
                            int64_t) -> Result<MintedToken> {
    return MintedToken{"minted", 600};
  };
  lang::Harness harness(k8s_credentials_binding());
  harness.tools().add(rights);
  auto ok = harness.invoke(Issue{.environment = "prod", .credential = harness.seal("old")}).as<Issue::Ok>();
  EXPECT_EQ(ok.lifetimeSeconds, 600);
}

TEST(K8sCredentials, WhatHasExpiredIsRenewedAsTheKubeconfigSays) {
  std::vector<std::string> asked;
  ClusterRights rights = allowing();
  Code refusal = Code::unauthenticated;
  rights.request_token = [&](const views::PodPlace&, const std::string& token, const std::string&,
                             int64_t) -> Result<MintedToken> {
    asked.push_back(token);
    if (!token.empty()) return Error{.code = refusal, .message = "no"};
    return MintedToken{"minted", 3600};
  };
  lang::Harness harness(k8s_credentials_binding());
  harness.tools().add(rights);
  harness.invoke(Issue{.environment = "prod", .credential = harness.seal("old")}).as<Issue::Ok>();
  EXPECT_THAT(asked, testing::ElementsAre("old", ""));
  refusal = Code::denied;
  harness.invoke(Issue{.environment = "prod", .credential = harness.seal("old")}).as<Issue::Refused>();
  refusal = Code::unauthenticated;
  harness.invoke(Issue{.environment = "prod", .admin = harness.seal("nobody")}).as<Issue::Refused>();
}

TEST(K8sCredentials, AnAdministratorMakesWhatTheRulesSay) {
  std::vector<std::string> applied;
  ClusterRights rights = allowing();
  rights.apply = [&](const views::PodPlace&, const std::string& token,
                     const boost::json::value& object) -> Result<void> {
    applied.push_back(token + " " + std::string(object.at("kind").as_string()));
    return {};
  };
  lang::Harness harness(k8s_credentials_binding());
  harness.tools().add(rights);
  auto ok = harness.invoke(Issue{.environment = "prod", .admin = harness.seal("root")}).as<Issue::Ok>();
  EXPECT_TRUE(ok.issued);
  EXPECT_EQ(ok.lifetimeSeconds, 3600);
  EXPECT_EQ(harness.opened(*ok.credential), "minted");
  EXPECT_THAT(applied, testing::ElementsAre("root ServiceAccount", "root Role", "root RoleBinding"));
  ASSERT_EQ(ok.rules.size(), 2U);
  EXPECT_THAT(ok.rules[0].text, HasSubstr("kind: Role"));
  EXPECT_THAT(ok.rules[1].text, HasSubstr("kubernetes_role_v1"));
}

TEST(K8sCredentials, IssueIsRefusedWhereTheAdministratorMayNot) {
  ClusterRights rights = allowing();
  rights.apply = [&](const views::PodPlace&, const std::string&, const boost::json::value&) -> Result<void> {
    return Error{.code = Code::denied, .message = "roles is forbidden"};
  };
  lang::Harness harness(k8s_credentials_binding());
  harness.tools().add(rights);
  EXPECT_EQ(harness.invoke(Issue{.environment = "prod", .admin = harness.seal("x")}).as<Issue::Refused>().message,
            "roles is forbidden");
}

TEST(K8sCredentials, IssueFailsWhereTheClusterIsAway) {
  ClusterRights rights = allowing();
  rights.request_token = [](const views::PodPlace&, const std::string&, const std::string&,
                            int64_t) -> Result<MintedToken> {
    return Error{.code = Code::unavailable, .message = "nobody is there"};
  };
  lang::Harness harness(k8s_credentials_binding());
  harness.tools().add(rights);
  EXPECT_THAT(
      harness.invoke(Issue{.environment = "prod", .credential = harness.seal("old")}).as<Issue::Failed>().message,
      HasSubstr("nobody is there"));
}

}  // namespace k8s_credentials_test
}  // namespace sluice::deploy::k8s_credentials
