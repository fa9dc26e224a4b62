// The list is what ClusterPods and K8sWatch call, and the renewal of the token itself.
#include "deploy/cluster_rights.h"

#include "base/yaml_emit.h"

namespace sluice::deploy {
namespace {

namespace json = boost::json;

json::array texts(const std::vector<std::string>& all) {
  json::array made;
  for (const std::string& each : all) made.emplace_back(each);
  return made;
}

json::object object_of(const char* version, const char* kind, const std::string& name_space) {
  return {{"apiVersion", version},
          {"kind", kind},
          {"metadata",
           {{"name", kDeployerAccount},
            {"namespace", name_space},
            {"labels", {{"app.kubernetes.io/managed-by", "sluice"}}}}}};
}

std::string quoted(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "\"" : ", \"") + each + "\"";
  return "[" + text + "]";
}

}  // namespace

const std::vector<ClusterRight>& deployer_rights() {
  static const std::vector<ClusterRight> kRights = {
      {"", "configmaps", {"create", "patch", "list", "delete"}, {}},
      {"", "secrets", {"create", "patch", "list", "delete"}, {}},
      {"", "services", {"create", "patch", "list", "delete"}, {}},
      {"apps", "deployments", {"get", "create", "patch", "update", "list", "delete"}, {}},
      {"", "pods", {"list"}, {}},
      {"", "pods/log", {"get"}, {}},
      {"discovery.k8s.io", "endpointslices", {"list", "watch"}, {}},
      {"", "serviceaccounts/token", {"create"}, {kDeployerAccount}},
  };
  return kRights;
}

std::vector<json::value> deployer_rules(const std::string& name_space) {
  json::object role = object_of("rbac.authorization.k8s.io/v1", "Role", name_space);
  json::array& rules = (role["rules"] = json::array()).as_array();
  for (const ClusterRight& each : deployer_rights()) {
    json::object rule{{"apiGroups", json::array{each.group}},
                      {"resources", json::array{each.resource}},
                      {"verbs", texts(each.verbs)}};
    if (!each.names.empty()) rule["resourceNames"] = texts(each.names);
    rules.push_back(std::move(rule));
  }
  json::object binding = object_of("rbac.authorization.k8s.io/v1", "RoleBinding", name_space);
  binding["roleRef"] = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Role"}, {"name", kDeployerAccount}};
  binding["subjects"] =
      json::array{{{"kind", "ServiceAccount"}, {"name", kDeployerAccount}, {"namespace", name_space}}};
  return {object_of("v1", "ServiceAccount", name_space), std::move(role), std::move(binding)};
}

std::string deployer_rules_yaml(const std::string& name_space) {
  std::string text =
      "# What Sluice's deployer does in this namespace, and nothing else: kubectl apply -f sluice-deployer.yaml\n";
  for (const json::value& each : deployer_rules(name_space)) text += "---\n" + emit_yaml(each);
  return text;
}

std::string deployer_rules_terraform(const std::string& name_space) {
  const std::string metadata = "  metadata {\n    name      = \"" + std::string(kDeployerAccount) +
                               "\"\n    namespace = \"" + name_space + "\"\n  }\n";
  std::string text = "# What Sluice's deployer does in this namespace, and nothing else.\n";
  text += "resource \"kubernetes_service_account_v1\" \"sluice_deployer\" {\n" + metadata + "}\n\n";
  text += "resource \"kubernetes_role_v1\" \"sluice_deployer\" {\n" + metadata;
  for (const ClusterRight& each : deployer_rights()) {
    text += "  rule {\n    api_groups = " + quoted({each.group}) + "\n    resources  = " + quoted({each.resource}) +
            "\n    verbs      = " + quoted(each.verbs) + "\n";
    if (!each.names.empty()) text += "    resource_names = " + quoted(each.names) + "\n";
    text += "  }\n";
  }
  text += "}\n\nresource \"kubernetes_role_binding_v1\" \"sluice_deployer\" {\n" + metadata +
          "  role_ref {\n    api_group = \"rbac.authorization.k8s.io\"\n    kind      = \"Role\"\n"
          "    name      = kubernetes_role_v1.sluice_deployer.metadata[0].name\n  }\n"
          "  subject {\n    kind      = \"ServiceAccount\"\n"
          "    name      = kubernetes_service_account_v1.sluice_deployer.metadata[0].name\n    namespace = \"" +
          name_space + "\"\n  }\n}\n";
  return text;
}

}  // namespace sluice::deploy
