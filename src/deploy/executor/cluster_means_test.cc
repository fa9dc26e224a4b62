// The policy outlives a bad file; the mode follows from the environment.
#include "deploy/executor/cluster_means.h"

#include <gtest/gtest.h>

#include "deploy/executor/testing_cluster.h"

namespace sluice::deploy::executor {
namespace cluster_means_test {

TEST(ClusterMeans, KeepsTheLastGoodPolicy) {
  TestingCluster cluster;
  EXPECT_EQ(cluster.means.policy()->hostId, "h");
  EXPECT_EQ(cluster.means.policy_trouble(), "");
  cluster.policy("unknown: 1\n");
  EXPECT_EQ(cluster.means.policy()->hostId, "h");
  EXPECT_NE(cluster.means.policy_trouble().find("unknown"), std::string::npos);
  TestingCluster other;
  other.variables["LIGHT_DEPLOYER_CONFIG"] = "/none/deployer.yml";
  EXPECT_EQ(other.means.policy().error().code, Code::not_found);
}

TEST(ClusterMeans, IsNoopWithoutAClusterOrByRequest) {
  TestingCluster cluster;
  EXPECT_FALSE(cluster.means.is_noop());
  cluster.variables["LIGHT_DEPLOYER_KUBE_MODE"] = "noop";
  EXPECT_TRUE(cluster.means.is_noop());
  cluster.variables.clear();
  EXPECT_TRUE(cluster.means.is_noop());
  cluster.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  EXPECT_FALSE(cluster.means.is_noop());
}

TEST(ClusterMeans, TemplatesComeFromTheirFolderAlone) {
  TestingCluster cluster;
  const auto fetch = [&](const std::string& repository, const std::string& path) {
    return cluster.means.templates(*cluster.means.policy(), repository, "main", path);
  };
  EXPECT_EQ(fetch("local", "k8s").error().code, Code::failed);
  cluster.variables["LIGHT_DEPLOYER_TEMPLATE_BASE_DIR"] = cluster.folder.path();
  EXPECT_EQ(fetch("local", "../etc").error().code, Code::denied);
  EXPECT_EQ(fetch("https://git.example/x.git", "k8s").error().code, Code::denied);
  EXPECT_EQ(fetch("local", ".").error().code, Code::denied);
  EXPECT_EQ(fetch("Local", "none").error().code, Code::not_found) << "the name has no case";
  ASSERT_TRUE(cluster.disk.make_folder(cluster.folder.path("k8s"), 0755));
  ASSERT_TRUE(write_atomically(cluster.disk, cluster.folder.path("k8s/a.yaml"), "a: 1\n", 0644));
  EXPECT_EQ(fetch("local", "k8s")->files.at(0).path, "a.yaml");
}

// What is fetched is in tests/kube/test_templates_from_git.py.
TEST(ClusterMeans, ARepositoryIsAskedOnlyIfThePolicyAllowsIt) {
  TestingCluster cluster;
  cluster.policy("allowedRepoHosts: [git.invalid]\ngitCredentials: [{host: git.invalid, tokenFile: /none/token}]\n");
  const auto fetch = [&](const std::string& repository, const std::string& path) {
    return cluster.means.templates(*cluster.means.policy(), repository, "main", path).error();
  };
  EXPECT_EQ(fetch("https://other.invalid/x.git", "k8s").message,
            "repository is not allowed: https://other.invalid/x.git");
  EXPECT_EQ(fetch("https://git.invalid/x.git", "../etc").code, Code::denied);
  EXPECT_EQ(fetch("https://git.invalid/x.git", "k8s").code, Code::not_found) << "its token's file is not there";
  EXPECT_FALSE(*cluster.disk.exists(cluster.folder.path("repositories")));
}

}  // namespace cluster_means_test
}  // namespace sluice::deploy::executor
