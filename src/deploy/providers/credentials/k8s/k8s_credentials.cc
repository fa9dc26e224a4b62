// Each call is asked about by an access review, with the credential that the deployer would use.
#include "deploy/cluster_rights.h"
#include "deploy/providers/credentials/k8s/k8s_credentials_work.h"

namespace sluice::deploy::k8s_credentials {
namespace {

using Status = K8sCredentialsStatus;

std::string opened(const std::optional<lang::Sealed>& sealed, Effect& effect) {
  return sealed ? effect.open(*sealed) : "";
}

std::string capability_of(const ClusterRight& right, const std::string& verb) {
  return "k8s.rbac.allow:" + (right.group.empty() ? "core" : right.group) + "/" + right.resource + ":" + verb;
}

// Whether the router will reach what is deployed there, as far as it can be seen before.
K8sCredentialsCheck reach(const ClusterRights& cluster, const views::PodPlace& place, const std::string& token,
                          const std::string& environment, bool answers) {
  K8sCredentialsCheck check{.capability = "k8s.pods.reachable",
                            .description = "this machine, where the router runs, can connect to pods",
                            .status = Status::skipped,
                            .reason = "the cluster was not asked"};
  if (!answers) return check;
  auto reached = cluster.reach_a_pod(place, token);
  check.reason = reached ? "" : reached.error().message;
  if (reached) {
    check.status = Status::pass;
  } else if (reached.error().code == Code::unavailable) {
    check.status = Status::fail;
    check.fix =
        "run the router of " + environment +
        " where the addresses of pods can be reached: on a node, in the cluster, or in a network that routes to it";
  }
  return check;
}

}  // namespace

Inspect::Begun K8sCredentials::begin_inspect(const Inspect& ask, State&) {
  return InspectWork{.environment = ask.environment, .credential = ask.credential};
}

Inspect::Performed K8sCredentials::perform_inspect(const InspectWork& work, Effect& effect) {
  const ClusterRights& cluster = effect.tool<ClusterRights>();
  const views::PodPlace place = views::pod_place(effect.read(), work.environment);
  const std::string token = opened(work.credential, effect);
  K8sCredentialsCheck reachable{.capability = "k8s.api.reachable",
                                .description = "the cluster answers, and knows who asks",
                                .status = Status::pass};
  std::vector<K8sCredentialsCheck> checks;
  auto where = cluster.name_space(place);
  Result<void> trouble = where ? Result<void>() : where.error();
  for (const ClusterRight& right : deployer_rights()) {
    for (const std::string& verb : right.verbs) {
      K8sCredentialsCheck check{.capability = capability_of(right, verb),
                                .description = verb + " " + right.resource,
                                .status = Status::skipped};
      if (trouble) {
        const size_t slash = right.resource.find('/');
        auto may = cluster.may(place, token,
                               {.verb = verb,
                                .group = right.group,
                                .resource = right.resource.substr(0, slash),
                                .subresource = slash == std::string::npos ? "" : right.resource.substr(slash + 1),
                                .name_space = *where,
                                .name = right.names.empty() ? "" : right.names.front()});
        if (!may) {
          trouble = may.error();
        } else {
          check.status = *may ? Status::pass : Status::fail;
          if (!*may) {
            check.reason = "the cluster does not allow it in namespace " + *where;
            check.fix =
                "let an administrator apply the rules pack, or call Credentials/bootstrap for " + work.environment;
          }
        }
      }
      if (!trouble) check.reason = "the cluster was not asked";
      checks.push_back(std::move(check));
    }
  }
  if (!trouble) {
    reachable.status = Status::fail;
    reachable.reason = to_string(trouble.error());
    reachable.fix = "look at the kubeconfig, or at the kubeconfig_context of " + work.environment + "'s deployer";
  }
  checks.insert(checks.begin(), std::move(reachable));
  checks.push_back(reach(cluster, place, token, work.environment, static_cast<bool>(trouble)));
  return Inspect::Ok{.checks = std::move(checks)};
}

Inspect::Outcome K8sCredentials::finish_inspect(const Inspect&, const Inspect::Outcome& outcome, State&) {
  return outcome;
}

Issue::Begun K8sCredentials::begin_issue(const Issue& ask, State&) {
  return IssueWork{.environment = ask.environment, .admin = ask.admin, .credential = ask.credential};
}

Issue::Performed K8sCredentials::perform_issue(const IssueWork& work, Effect& effect) {
  const ClusterRights& cluster = effect.tool<ClusterRights>();
  const views::PodPlace place = views::pod_place(effect.read(), work.environment);
  auto where = cluster.name_space(place);
  if (!where) return Issue::Failed{.message = to_string(where.error())};
  auto ended = [](const Error& error) -> Issue::Performed {
    if (error.code == Code::denied || error.code == Code::unauthenticated)
      return Issue::Refused{.message = error.message};
    return Issue::Failed{.message = to_string(error)};
  };
  const std::string token = opened(work.admin ? work.admin : work.credential, effect);
  if (work.admin) {
    for (const auto& object : deployer_rules(*where)) {
      if (auto applied = cluster.apply(place, token, object); !applied) return ended(applied.error());
    }
  }
  auto issued = cluster.request_token(place, token, kDeployerAccount, kDeployerTokenSeconds);
  // What has expired cannot renew itself; whoever set up the kubeconfig perhaps can.
  if (!issued && !work.admin && issued.error().code == Code::unauthenticated) {
    issued = cluster.request_token(place, "", kDeployerAccount, kDeployerTokenSeconds);
  }
  if (!issued) return ended(issued.error());
  return Issue::Ok{.issued = true,
                   .credential = effect.seal(issued->token),
                   .lifetimeSeconds = issued->seconds,
                   .rules = {{.path = "sluice-deployer.yaml", .text = deployer_rules_yaml(*where)},
                             {.path = "sluice-deployer.tf", .text = deployer_rules_terraform(*where)}}};
}

Issue::Outcome K8sCredentials::finish_issue(const Issue&, const Issue::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::k8s_credentials
