// A cluster with a deployer's means for it: a policy, a kubeconfig and a safe in memory.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/testing_api_server.h"

namespace sluice::deploy::executor {

inline constexpr const char* kMaps = "/api/v1/namespaces/shop/configmaps";

// Nobody has committed anything.
class NoSnapshot final : public lang::Snapshot {
 public:
  const lang::Rows& rows_of(std::string_view) const override { throw std::logic_error("nothing is read"); }
};

struct TestingCluster {
  TestingCluster() {
    EXPECT_TRUE(write_atomically(
        disk, folder.path("kubeconfig"),
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: '" + server.url +
            "'}}]\nusers: [{name: a, user: {token: t}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n",
        0600));
    policy("");
  }
  void policy(const std::string& more) {
    EXPECT_TRUE(write_atomically(
        disk, folder.path("deployer.yml"),
        "hostId: h\nclusterId: local\nallowedNamespaces: [shop]\nallowedImageRegistries: ['*']\n" + more, 0600));
  }
  kube::Client& client() { return **means.client(); }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random{7};
  process::RealRunner runner{clock};
  TestingApiServer server;
  std::map<std::string, std::string> kept;
  std::map<std::string, std::string> variables{{"KUBECONFIG", folder.path("kubeconfig")},
                                               {"LIGHT_DEPLOYER_CONFIG", folder.path("deployer.yml")}};
  ClusterMeans means{{.disk = disk,
                      .clock = clock,
                      .random = random,
                      .runner = runner,
                      .variables = [this](const std::string& name) -> std::optional<std::string> {
                        auto found = variables.find(name);
                        return found == variables.end() ? std::nullopt : std::optional(found->second);
                      },
                      .home = folder.path(),
                      .safe = {.put = [this](const lang::Snapshot&, const std::string&, const std::string& name,
                                             const std::string& text, const std::string&) -> Result<void> {
                                 kept[name] = text;
                                 return {};
                               },
                               .get = [this](const std::string&, const std::string& name) -> Result<std::string> {
                                 auto found = kept.find(name);
                                 if (found != kept.end()) return found->second;
                                 return Error{.code = Code::not_found, .message = "there is no " + name};
                               },
                               .remove = [this](const std::string&, const std::string& name) -> Result<void> {
                                 kept.erase(name);
                                 return {};
                               }}}};
};

}  // namespace sluice::deploy::executor
