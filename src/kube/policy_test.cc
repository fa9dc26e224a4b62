// The policy says no to everything that it does not name.
#include "kube/policy.h"

#include <gtest/gtest.h>

namespace sluice::kube {
namespace policy_test {

Policy policy(const std::string& text) {
  auto read = read_policy(text, "deployer.yml");
  EXPECT_TRUE(read) << to_string(read.error());
  return read ? *read : Policy();
}

std::string refusal(const std::string& text) {
  auto read = read_policy(text, "deployer.yml");
  return read ? "" : to_string(read.error());
}

json::value deployment(const std::string& pod, const std::string& name_space = "dev") {
  return json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":")" +
                     name_space + R"("},"spec":{"template":{"spec":)" + pod + "}}}");
}
const std::string kNginx = R"({"containers":[{"name":"web","image":"nginx:1.27"}]})";

TEST(DeployerPolicy, EveryFieldIsReadAndNoOther) {
  const Policy all = policy(
      "deployerId: d\nhostId: h\nclusterId: c\nallowedNamespaces: [a]\nallowedRepoHosts: [github.example]\n"
      "allowedRepoPrefixes: ['*']\nallowedImageRegistries: ['*']\nallowedActions: [render]\nallowedKinds: ['*']\n"
      "blockedKinds: []\nprune: {enabled: false, maxDeletePercent: 5, maxDeleteCount: 2, sensitiveKinds: [Secret], "
      "overrideRequired: false}\npodSecurity: privileged\nallowForce: true\ndevInsecure: true\n"
      "gitCredentials: [{host: github.example, tokenFile: /t}]\ncallers: [{caller: ci, hostIds: [h]}]\n");
  EXPECT_EQ(all.clusterId, "c");
  EXPECT_EQ(all.prune.maxDeleteCount, 2);
  EXPECT_TRUE(all.devInsecure);
  EXPECT_EQ(all.gitCredentials[0].host, "github.example");
  EXPECT_NE(refusal("allowedNamespace: [a]\n").find("did you mean"), std::string::npos);
  EXPECT_NE(refusal("podSecurity: none\n"), "");
  EXPECT_NE(refusal("prune: {maxDeletePercent: 101}\n"), "");
  EXPECT_NE(refusal("allowedActions: [destroy]\n"), "");
  EXPECT_EQ(policy("").deployerId, "local-light-deployer");
}

TEST(DeployerPolicy, AnEmptyListAllowsNothing) {
  const Policy none = policy("");
  EXPECT_EQ(none.denial_of_namespace("dev"), "namespace is not allowed: dev");
  EXPECT_EQ(none.denial_of_repository("https://github.example/a"),
            "repository is not allowed: https://github.example/a");
  EXPECT_EQ(none.denial_of_action("deploy"), "");
  EXPECT_EQ(policy("allowedActions: []\n").denial_of_action("deploy"), "action is not allowed: deploy");
  EXPECT_EQ(policy("allowedNamespaces: ['*']\n").denial_of_namespace("dev"), "");
  EXPECT_EQ(none.denial_of_host("ci", "h1"), "host is not allowed: h1");
  EXPECT_EQ(policy("hostId: h1\n").denial_of_host("ci", "h1"), "");
  EXPECT_NE(policy("hostId: h1\n").denial_of_host("ci", "h2"), "");
  EXPECT_EQ(policy("callers: [{caller: ci, hostIds: [h1]}]\n").denial_of_host("ci", "h1"), "");
  EXPECT_NE(policy("callers: [{caller: ci, hostIds: [h1]}]\n").denial_of_host("other", "h1"), "");
}

TEST(DeployerPolicy, RepositoriesAreComparedByWholeParts) {
  const Policy hosts = policy("allowedRepoHosts: [github.example]\n");
  EXPECT_EQ(hosts.denial_of_repository("https://github.example/x.git"), "");
  for (const char* url :
       {"https://gitlab.example/x", "https://github.example.evil/x", "http://github.example/x",
        "ssh://github.example/x", "file:///etc", "https://t@github.example/x", "git@github.example:x"}) {
    EXPECT_NE(hosts.denial_of_repository(url), "") << url;
  }
  const Policy prefixes = policy("allowedRepoPrefixes: ['https://github.example/acme']\n");
  EXPECT_EQ(prefixes.denial_of_repository("https://github.example/acme/shop.git"), "");
  for (const char* url : {"https://github.example/acmeevil/x", "https://github.example.evil/acme/x",
                          "https://github.example:444/acme/x", "https://github.example/other"}) {
    EXPECT_NE(prefixes.denial_of_repository(url), "") << url;
  }
}

TEST(DeployerPolicy, NoPathOfARepositoryLeadsElsewhere) {
  const Policy prefixes = policy("allowedRepoPrefixes: ['https://github.example/acme']\n");
  for (const char* path : {"/acme/../evil/x", "/acme/%2e%2E/evil/x", "/acme/.%2e/evil", "/acme/./x", "/acme//evil/x",
                           "/acme%2f..%2fevil", "/acme/..\\evil", "/acme/x%5C..", "/acme/.."}) {
    EXPECT_NE(prefixes.denial_of_repository(std::string("https://github.example") + path), "") << path;
  }
  EXPECT_EQ(prefixes.denial_of_repository("https://github.example/acme/..shop/a.b/"), "");
}

TEST(DeployerPolicy, AHostMayBeOfOnePort) {
  const Policy one = policy("allowedRepoHosts: ['git.example:8443']\n");
  EXPECT_EQ(one.denial_of_repository("https://git.example:8443/x"), "");
  EXPECT_NE(one.denial_of_repository("https://git.example/x"), "");
  EXPECT_TRUE(one.names_host_of("https://git.example:8443/x"));
  const Policy any = policy("allowedRepoHosts: ['*']\n");
  EXPECT_EQ(any.denial_of_repository("https://git.example/x"), "");
  EXPECT_FALSE(any.names_host_of("https://git.example/x"));
  EXPECT_TRUE(policy("allowedRepoPrefixes: ['https://git.example/a']\n").names_host_of("https://git.example/a/b"));
}

TEST(DeployerPolicy, TheOnlyHostIsNamedOnlyWhereThereIsOne) {
  EXPECT_EQ(policy("").only_repository_host(), "");
  EXPECT_EQ(policy("allowedRepoHosts: [git.example]\n").only_repository_host(), "git.example");
  EXPECT_EQ(policy("allowedRepoHosts: [git.example, other.example]\n").only_repository_host(), "");
  EXPECT_EQ(policy("allowedRepoHosts: ['*']\n").only_repository_host(), "");
  EXPECT_EQ(policy("allowedRepoHosts: [git.example, '*']\n").only_repository_host(), "");
  EXPECT_EQ(policy("allowedRepoPrefixes: ['https://git.example:8443/a', 'https://git.example:8443/b']\n")
                .only_repository_host(),
            "git.example:8443");
  EXPECT_EQ(policy("allowedRepoPrefixes: ['https://git.example/a', '*']\n").only_repository_host(), "");
  EXPECT_EQ(policy("allowedRepoHosts: [a.example, b.example]\nallowedRepoPrefixes: ['https://b.example/x', "
                   "'https://c.example/']\n")
                .only_repository_host(),
            "b.example");
}

TEST(DeployerPolicy, NothingHidesDeepInside) {
  const Policy all = policy("allowedNamespaces: [dev]\nallowedKinds: ['*']\n");
  json::value pod = json::parse(kNginx);
  for (int i = 0; i < 120; ++i) pod = json::object{{"a", pod}};
  json::value widget = json::parse(R"({"apiVersion":"acme.example/v1","kind":"Widget","metadata":{"name":"w"}})");
  widget.as_object()["spec"] = pod;
  EXPECT_EQ(all.denial_of(widget), "Widget/w is nested deeper than 100 levels");
}

TEST(DeployerPolicy, KindsAreOfAGroup) {
  const Policy base = policy("allowedNamespaces: [dev]\nallowedImageRegistries: ['*']\n");
  EXPECT_EQ(base.denial_of(deployment(kNginx)), "");
  EXPECT_EQ(base.denial_of(json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x"}})")),
            "resource kind is blocked: Namespace");
  EXPECT_EQ(base.denial_of(json::parse(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"x"}})")),
            "resource kind is not allowed: apps/StatefulSet");
  EXPECT_EQ(
      base.denial_of(json::parse(R"({"apiVersion":"acme.example/v1","kind":"Deployment","metadata":{"name":"x"}})")),
      "resource kind is not allowed: acme.example/Deployment");
  EXPECT_EQ(policy("allowedKinds: [acme.example/Widget]\n")
                .denial_of(json::parse(R"({"apiVersion":"acme.example/v1","kind":"Widget","metadata":{"name":"x"}})")),
            "");
  EXPECT_EQ(base.denial_of(deployment(kNginx, "kube-system")), "namespace is not allowed: kube-system");
}

TEST(DeployerPolicy, EveryImageOfEveryPodSpec) {
  const Policy base =
      policy("allowedNamespaces: [dev]\nallowedImageRegistries: [registry.example/acme]\nallowedKinds: ['*']\n");
  auto with = [](const std::string& image) {
    return R"({"initContainers":[{"name":"i","image":")" + image + R"("}]})";
  };
  EXPECT_EQ(base.denial_of(deployment(with("registry.example/acme/x:1"))), "");
  EXPECT_EQ(base.denial_of(deployment(with("registry.example/acme@sha256:00"))), "");
  EXPECT_EQ(base.denial_of(deployment(with("other.example/x"))),
            "image registry is not allowed: other.example/x of container i in Deployment/web");
  EXPECT_NE(base.denial_of(deployment(with("registry.example/acme-evil/x"))), "");
  EXPECT_NE(base.denial_of(deployment(with("nginx"))), "");
  EXPECT_EQ(base.denial_of(deployment(
                R"({"containers":[{"name":"a","image":"registry.example/acme/x"}],"volumes":[{"name":"v","image":
      {"reference":"other.example/data"}}]})")),
            "image registry is not allowed: other.example/data of volume v in Deployment/web");
  EXPECT_EQ(
      policy("allowedNamespaces: [dev]\nallowedImageRegistries: [docker.io/library]\n").denial_of(deployment(kNginx)),
      "");
  EXPECT_NE(
      base.denial_of(json::parse(R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"c","namespace":"dev"},
      "spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"x"}]}}}}}})")),
      "");
}

TEST(DeployerPolicy, WhatReachesTheHostNeedsPrivilege) {
  const std::string text = "allowedNamespaces: [dev]\nallowedImageRegistries: ['*']\n";
  const Policy base = policy(text), privileged = policy(text + "podSecurity: privileged\n");
  for (const char* pod :
       {R"({"containers":[{"name":"a","image":"x","securityContext":{"privileged":true}}]})",
        R"({"hostNetwork":true,"containers":[{"name":"a","image":"x"}]})",
        R"({"hostPID":true,"containers":[{"name":"a","image":"x"}]})",
        R"({"containers":[{"name":"a","image":"x","securityContext":{"windowsOptions":{"hostProcess":true}}}]})",
        R"({"containers":[{"name":"a","image":"x","securityContext":{"capabilities":{"add":["CHOWN","SYS_ADMIN"]}}}]})",
        R"({"volumes":[{"name":"v","hostPath":{"path":"/"}}],"containers":[{"name":"a","image":"x"}]})"}) {
    EXPECT_NE(base.denial_of(deployment(pod)).find("needs podSecurity: privileged"), std::string::npos) << pod;
    EXPECT_EQ(privileged.denial_of(deployment(pod)), "") << pod;
  }
  EXPECT_EQ(base.denial_of(deployment(R"({"containers":[{"name":"a","image":"x","securityContext":{"capabilities":)"
                                      R"({"drop":["ALL"],"add":["NET_BIND_SERVICE"]}}}]})")),
            "");
}

TEST(DeployerPolicy, HowMuchMayBePruned) {
  const PrunePolicy prune;
  auto of = [](size_t removed, size_t tracked, std::vector<std::string> kinds = {}) {
    return Pruned{removed, tracked, std::move(kinds)};
  };
  EXPECT_EQ(override_needed(prune, of(3, 10)), "");
  EXPECT_EQ(override_needed(prune, of(4, 10)), "prune would delete 4 of 10 tracked resources (40%)");
  EXPECT_EQ(override_needed(prune, of(1, 3)), "prune would delete 1 of 3 tracked resources (33%)");
  EXPECT_NE(override_needed(prune, of(1, 100, {"PersistentVolumeClaim"})), "");
  EXPECT_EQ(override_needed(prune, of(0, 0)), "");
  PrunePolicy count;
  count.maxDeleteCount = 2;
  EXPECT_NE(override_needed(count, of(3, 100)), "");
  PrunePolicy open;
  open.overrideRequired = false;
  EXPECT_EQ(override_needed(open, of(10, 10)), "");
  EXPECT_EQ(override_needed_for_all(prune, of(10, 10, {"ConfigMap"})), "");
  EXPECT_NE(override_needed_for_all(prune, of(10, 10, {"PersistentVolumeClaim"})), "");
}

}  // namespace policy_test
}  // namespace sluice::kube
