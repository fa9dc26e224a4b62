// The policy of a deployer, `deployer.yml`: what it may do in its cluster, whoever asks. It fails closed: a key that is
// not known is an error, an empty list allows nothing, and only "*" allows anything.
//
//   auto policy = read_policy(text, "deployer.yml");
//   if (auto why = policy->denial_of(object, "shop"); !why.empty()) …
//
// It is checked on what was rendered, not on what was asked for: the namespace, the group and kind of each object, and
// every container of every pod spec.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/object.h"

namespace sluice::kube {

struct PrunePolicy {
  bool enabled = true;
  int64_t maxDeletePercent = 30;
  std::optional<int64_t> maxDeleteCount;
  std::vector<std::string> sensitiveKinds = {"PersistentVolumeClaim"};
  bool overrideRequired = true;
};

// A token for the repositories of one host.
struct GitCredentials {
  std::string host;
  std::string username;
  std::string tokenFile;
};

// Which hostIds a caller may name.
struct CallerHosts {
  std::string caller;
  std::vector<std::string> hostIds;
};

struct Policy {
  std::string deployerId = "local-light-deployer";
  std::string hostId;
  std::string clusterId = "local";
  std::vector<std::string> allowedNamespaces;
  std::optional<std::vector<std::string>> allowedRepoHosts;
  std::optional<std::vector<std::string>> allowedRepoPrefixes;
  std::vector<std::string> allowedImageRegistries;
  std::vector<std::string> allowedActions = {"render", "dryRun", "diff", "deploy", "undeploy", "status", "rollback"};
  std::vector<std::string> allowedKinds = {"Deployment", "Service", "Ingress", "ConfigMap", "Secret"};
  std::vector<std::string> blockedKinds = {"Namespace",
                                           "ClusterRole",
                                           "ClusterRoleBinding",
                                           "CustomResourceDefinition",
                                           "MutatingWebhookConfiguration",
                                           "ValidatingWebhookConfiguration"};
  PrunePolicy prune;
  std::string podSecurity = "baseline";  // or "privileged"
  bool allowForce = false;
  std::vector<GitCredentials> gitCredentials;
  std::vector<CallerHosts> callers;
  bool devInsecure = false;

  // Each says why not; empty: it may.
  std::string denial_of_action(std::string_view action) const;
  std::string denial_of_namespace(std::string_view name_space) const;
  std::string denial_of_repository(std::string_view url) const;
  // Whether the host of this URL is allowed by its name, and not by "*" alone.
  bool names_host_of(std::string_view url) const;
  // The one host that repositories may come from, with its port if that is not 443; empty: there are several, or any.
  std::string only_repository_host() const;
  std::string denial_of_host(std::string_view caller, std::string_view host_id) const;
  // Of an object that was rendered for a namespace.
  std::string denial_of(const json::value& object) const;
};

// "git.example", or "git.example:8443", of a repository's URL; empty: it is none.
std::string repository_host(std::string_view url);

Result<Policy> read_policy(std::string_view text, const std::string& file);

// How much of what is there may go.
struct Pruned {
  size_t removed = 0;
  size_t tracked = 0;
  std::vector<std::string> kinds;  // of what is removed
};
// Why an override is needed; empty: it is not.
std::string override_needed(const PrunePolicy& policy, const Pruned& pruned);
// The same for removing everything: only sensitive kinds count.
std::string override_needed_for_all(const PrunePolicy& policy, const Pruned& pruned);

}  // namespace sluice::kube
