// Kubeconfigs merged and refused, the pod's own access, and tokens that change.
#include "kube/access.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"
#include "crypto/base64.h"

namespace sluice::kube {
namespace access_test {

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    for (const char* folder : {"/a", "/b", "/pod"}) EXPECT_TRUE(disk.make_folder(folder, 0700));
    put("/a/one.yaml", one);
  }
  void put(const std::string& path, const std::string& text) { ASSERT_TRUE(write_atomically(disk, path, text, 0600)); }
  Variables variables() {
    return [this](const std::string& name) -> std::optional<std::string> {
      auto found = set.find(name);
      return found == set.end() ? std::nullopt : std::optional(found->second);
    };
  }
  Result<Access> read(const std::string& context = "") { return kubeconfig_access(disk, variables(), context); }
  std::string refusal(const std::string& text) {
    put("/a/one.yaml", text);
    auto access = read();
    return access ? "" : to_string(access.error());
  }

  const std::string one =
      "current-context: dev\ncontexts:\n- name: dev\n  context: {cluster: here, user: me, namespace: shop}\n"
      "clusters:\n- name: here\n  cluster: {server: 'https://k.example:6443/', certificate-authority: ca.pem}\n"
      "users:\n- name: me\n  user: {tokenFile: token}\n";
  VolatileDisk disk;
  ManualClock clock{1'700'000'000'000};
  std::map<std::string, std::string> set{{"KUBECONFIG", "/a/one.yaml"}};
};

TEST_F(AccessTest, PathsAreBesideTheFileThatNamesThem) {
  put("/a/ca.pem", "the roots");
  put("/a/token", "t1\n");
  auto access = read();
  ASSERT_TRUE(access) << to_string(access.error());
  EXPECT_EQ(access->server, "https://k.example:6443");
  EXPECT_EQ(access->tls.roots_pem, "the roots");
  EXPECT_EQ(access->name_space, "shop");
  EXPECT_EQ(access->source, "the context dev of /a/one.yaml");
  KubeLogin login(*access, disk, clock, {});
  EXPECT_EQ(*login.authorization(), "Bearer t1");
  put("/a/token", "t2");
  EXPECT_EQ(*login.authorization(), "Bearer t2");
}

TEST_F(AccessTest, TheFirstFileThatSaysSomethingWins) {
  put("/b/two.yaml",
      "current-context: other\ncontexts:\n- name: other\n  context: {cluster: there, user: you}\n"
      "- name: dev\n  context: {cluster: there}\n"
      "clusters:\n- name: there\n  cluster: {server: 'http://127.0.0.1:8001', certificate-authority-data: eA==}\n"
      "users:\n- name: you\n  user: {username: u, password: p}\n");
  put("/a/ca.pem", "x");
  set["KUBECONFIG"] = "/a/gone.yaml:/a/one.yaml:/b/two.yaml";
  EXPECT_EQ(read()->server, "https://k.example:6443");
  auto other = read("other");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->server, "http://127.0.0.1:8001");
  EXPECT_EQ(other->tls.roots_pem, "x");
  EXPECT_EQ(*KubeLogin(*other, disk, clock, {}).authorization(), "Basic " + crypto::to_base64("u:p"));
}

TEST_F(AccessTest, WhatCannotBeUsedSaysWhy) {
  auto with = [&](const std::string& cluster, const std::string& user) {
    return "current-context: dev\ncontexts: [{name: dev, context: {cluster: c, user: u}}]\nclusters: [{name: c, "
           "cluster: " +
           cluster + "}]\nusers: [{name: u, user: " + user + "}]\n";
  };
  EXPECT_NE(
      refusal(with("{server: 'https://k.example', insecure-skip-tls-verify: true}", "{}")).find("always verified"),
      std::string::npos);
  EXPECT_NE(refusal(with("{server: 'http://k.example'}", "{}")).find("not reached by https"), std::string::npos);
  EXPECT_NE(refusal(with("{server: 'https://k.example'}", "{auth-provider: {name: gcp}}")).find("auth-provider"),
            std::string::npos);
  for (const char* user : {"{token: t, as: reader}", "{token: t, as-groups: [readers]}", "{token: t, as-uid: '1'}"}) {
    EXPECT_NE(refusal(with("{server: 'https://k.example'}", user)).find("acts as somebody else"), std::string::npos);
  }
  EXPECT_NE(refusal(with("{server: 'https://k.example'}", "{exec: {command: x, apiVersion: other}}")).find("version"),
            std::string::npos);
  EXPECT_NE(refusal("contexts: []\n").find("no current-context"), std::string::npos);
  EXPECT_NE(refusal("current-context: x\n").find("no context 'x'"), std::string::npos);
  EXPECT_NE(refusal("a: [\n"), "");
  set["KUBECONFIG"] = "/a/gone.yaml";
  EXPECT_EQ(read().error().code, Code::not_found);
}

TEST_F(AccessTest, APodsOwn) {
  put("/pod/ca.crt", "roots");
  put("/pod/token", "pod token");
  put("/pod/namespace", "apps");
  EXPECT_EQ(in_cluster_access(disk, variables(), "/pod").error().code, Code::not_found);
  set = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  auto access = in_cluster_access(disk, variables(), "/pod");
  ASSERT_TRUE(access);
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->name_space, "apps");
  EXPECT_EQ(*KubeLogin(*access, disk, clock, {}).authorization(), "Bearer pod token");
}

TEST_F(AccessTest, APluginsTokenIsKeptUntilItExpiresOrIsRefused) {
  put("/a/one.yaml",
      "current-context: dev\ncontexts: [{name: dev, context: {cluster: c, user: u}}]\n"
      "clusters: [{name: c, cluster: {server: 'https://k.example'}}]\n"
      "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [a], "
      "env: [{name: X, value: y}], installHint: get it, provideClusterInfo: true}}}]\n");
  auto access = read();
  ASSERT_TRUE(access);
  EXPECT_EQ(access->exec->command, (std::vector<std::string>{"/a/./login", "a"}));
  int runs = 0;
  std::string says = R"({"status":{"token":"one","expirationTimestamp":"2023-11-14T23:13:20Z"}})";
  KubeLogin login(*access, disk, clock, [&](const ExecPlugin& plugin) -> Result<std::string> {
    ++runs;
    EXPECT_EQ(plugin.environment.at("X"), "y");
    EXPECT_EQ(plugin.environment.at("KUBERNETES_EXEC_INFO"),
              R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,)"
              R"("cluster":{"server":"https://k.example"}}})");
    return says;
  });
  EXPECT_EQ(*login.authorization(), "Bearer one");
  EXPECT_EQ(*login.authorization(), "Bearer one");
  EXPECT_EQ(runs, 1);
  says =
      "a warning of {something}\n"
      R"({"kind":"ExecCredential","status":{"token":"two"}})"
      "\nand {another}\n";
  EXPECT_EQ(*login.authorization(true), "Bearer two");
  EXPECT_EQ(login.certificate(), ClientCertificate{});
  says = R"({"status":{"clientCertificateData":"chain","clientKeyData":"key"}})";
  EXPECT_EQ(*login.authorization(true), "");
  EXPECT_EQ(login.certificate(), (ClientCertificate{"chain", "key"}));
  EXPECT_EQ(*login.authorization(), "") << "it is kept";
  EXPECT_EQ(runs, 3);
  says = R"({"status":{"token":"three","clientCertificateData":"chain"}})";
  EXPECT_NE(login.authorization(true).error().message.find("nor a certificate with its key"), std::string::npos);
  says = "nonsense";
  auto none = login.authorization(true);
  EXPECT_EQ(none.error().code, Code::unauthenticated);
  EXPECT_EQ(none.error().next, "get it");
  EXPECT_FALSE(KubeLogin(*access, disk, clock, {}).authorization());
}

}  // namespace access_test
}  // namespace sluice::kube
