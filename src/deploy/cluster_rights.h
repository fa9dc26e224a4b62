// What the k8s deployer may ask of a cluster: the calls that it makes, as rights of a Role, and a seam for asking
// whether they are there. What it checks and what its rules pack installs come from the one list below.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "deploy/views/pod_place.h"
#include "kube/client.h"

namespace sluice::deploy {

struct ClusterRight {
  std::string group;     // empty: core
  std::string resource;  // "pods/log" with its subresource
  std::vector<std::string> verbs;
  std::vector<std::string> names;  // of the only objects that it is for; empty: all
};

inline constexpr char kDeployerAccount[] = "sluice-deployer";
inline constexpr int64_t kDeployerTokenSeconds = 3600;

const std::vector<ClusterRight>& deployer_rights();
// ServiceAccount, Role and RoleBinding of a namespace.
std::vector<boost::json::value> deployer_rules(const std::string& name_space);
// The same for kubectl and for Terraform.
std::string deployer_rules_yaml(const std::string& name_space);
std::string deployer_rules_terraform(const std::string& name_space);

struct MintedToken {
  std::string token;
  int64_t seconds = 0;  // that it lives, which may be fewer than were asked for
};

// `token` stands in place of what the kubeconfig says; empty: what it says.
struct ClusterRights {
  std::function<Result<std::string>(const views::PodPlace&)> name_space = {};
  std::function<Result<bool>(const views::PodPlace&, const std::string& token, const kube::Review&)> may = {};
  std::function<Result<void>(const views::PodPlace&, const std::string& token, const boost::json::value& object)>
      apply = {};
  std::function<Result<MintedToken>(const views::PodPlace&, const std::string& token, const std::string& account,
                                    int64_t seconds)>
      request_token = {};
  // Whether this machine, where the router runs, can connect to pods: it tries those that are ready until one answers.
  // `not_found`: none is ready.
  std::function<Result<void>(const views::PodPlace&, const std::string& token)> reach_a_pod = {};
};

}  // namespace sluice::deploy
