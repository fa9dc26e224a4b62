// Pods run as nobody in particular, without rights, on a root that they cannot write, and pass the Restricted standard.
#include "deploy/providers/runtime/k8s/pod_objects.h"

#include <algorithm>

#include "base/ascii.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::deploy::k8s_runtime {
namespace {

constexpr char kConfigFolder[] = "/etc/sluice";
constexpr char kSecretFolder[] = "/run/sluice/secrets";

std::string variable_in(const PodPlan& plan, const std::string& name) {
  auto found = plan.variables.find(name);
  return found == plan.variables.end() ? "" : found->second;
}

// What may stand in a label of what somebody named otherwise.
std::string as_label(std::string text) {
  for (char& c : text) {
    if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_' && c != '.') c = '-';
  }
  text.resize(std::min<size_t>(text.size(), 63));
  const auto edge = [](char c) { return is_letter(c) || is_digit(c); };
  while (!text.empty() && !edge(text.back())) text.pop_back();
  return text.empty() || edge(text.front()) ? text : "x" + text.substr(1);
}

json::object labels_of(const PodPlan& plan) {
  json::object labels{{kManagedBy, kManager},
                      {kInstanceLabel, plan.service},
                      {"app.kubernetes.io/name", as_label(plan.manifest.name.text)},
                      {"sluice.dev/serial", std::to_string(plan.serial)}};
  for (const auto& [label, variable] : {std::pair{"sluice.dev/environment", "SLUICE_ENVIRONMENT"},
                                        {"sluice.dev/deployment", "SLUICE_DEPLOYMENT"},
                                        {"sluice.dev/revision", "SLUICE_REVISION"}}) {
    if (const std::string value = as_label(variable_in(plan, variable)); !value.empty()) labels[label] = value;
  }
  return labels;
}

json::object object_of(const PodPlan& plan, std::string_view version, std::string_view kind) {
  return {
      {"apiVersion", version},
      {"kind", kind},
      {"metadata",
       {{"name", name_of(plan.service, plan.serial)}, {"namespace", plan.name_space}, {"labels", labels_of(plan)}}}};
}

json::object selector_of(const PodPlan& plan) {
  return {{kInstanceLabel, plan.service}, {"sluice.dev/serial", std::to_string(plan.serial)}};
}

bool as_files(const PodPlan& plan) { return bundle::secrets_as_of(plan.manifest) == bundle::SecretsAs::file; }

int64_t seconds(const bundle::Duration& duration) {
  return std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(duration.length).count());
}

json::object probe_of(const bundle::Manifest& manifest, uint16_t port) {
  const bundle::Health& health = manifest.health;
  json::object probe{{"periodSeconds", seconds(health.interval)},
                     {"timeoutSeconds", seconds(health.timeout)},
                     {"successThreshold", health.healthy_after},
                     {"failureThreshold", health.unhealthy_after}};
  switch (health.by) {
    case bundle::HealthBy::http:
      probe["httpGet"] = {{"path", health.path.text}, {"port", port}, {"scheme", "HTTP"}};
      break;
    case bundle::HealthBy::tcp:
      probe["tcpSocket"] = {{"port", port}};
      break;
    case bundle::HealthBy::command:
      probe["exec"] = {{"command", json::value_from(health.command)}};
      break;
  }
  return probe;
}

// A change of what the pods are told makes new ones, also where only a value differs.
std::string told_hash(const PodPlan& plan) {
  std::string all = plan.config;
  for (const auto& [name, value] : plan.secrets) all += '\0' + name + '\0' + value;
  return crypto::to_hex(crypto::sha256(all)).substr(0, 32);
}

json::object pod_of(const PodPlan& plan) {
  const bundle::Manifest& manifest = plan.manifest;
  const bundle::Container how = manifest.container.value_or(bundle::Container{});
  const int64_t user = manifest.user.value_or(bundle::kDefaultUser);
  const std::string name = name_of(plan.service, plan.serial);
  std::map<std::string, std::string> variables = manifest.env;
  for (const auto& [key, value] : plan.variables) variables[key] = value;
  variables["PORT"] = std::to_string(how.port);
  variables["SLUICE_CONFIG"] = std::string(kConfigFolder) + "/config.json";
  variables.emplace("HOME", "/tmp");
  json::array env;
  json::array mounts{{{"name", "config"}, {"mountPath", kConfigFolder}, {"readOnly", true}},
                     {{"name", "tmp"}, {"mountPath", "/tmp"}}};
  json::array volumes{
      {{"name", "config"}, {"configMap", {{"name", name}}}},
      {{"name", "tmp"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", std::to_string(how.tmp.bytes)}}}}};
  for (const auto& [key, value] : plan.secrets) {
    if (as_files(plan)) {
      variables[key] = std::string(kSecretFolder) + "/" + key;
    } else {
      env.push_back({{"name", key}, {"valueFrom", {{"secretKeyRef", {{"name", name}, {"key", key}}}}}});
    }
  }
  for (const auto& [key, value] : variables) env.push_back({{"name", key}, {"value", value}});
  if (!plan.secrets.empty() && as_files(plan)) {
    mounts.push_back({{"name", "secrets"}, {"mountPath", kSecretFolder}, {"readOnly", true}});
    volumes.push_back({{"name", "secrets"}, {"secret", {{"secretName", name}, {"defaultMode", 0440}}}});
  }
  const std::string cpu = std::to_string(static_cast<int64_t>(manifest.resources.cpu * 1000)) + "m";
  const std::string memory = std::to_string(manifest.resources.memory.bytes);
  json::object container{
      {"name", "app"},
      {"image", plan.image},
      {"imagePullPolicy", "IfNotPresent"},
      {"ports", {{{"name", "http"}, {"containerPort", how.port}, {"protocol", "TCP"}}}},
      {"env", env},
      {"volumeMounts", mounts},
      {"readinessProbe", probe_of(manifest, how.port)},
      {"resources",
       {{"requests",
         {{"cpu", std::to_string(static_cast<int64_t>(manifest.resources.cpu * 250)) + "m"}, {"memory", memory}}},
        {"limits", {{"cpu", cpu}, {"memory", memory}}}}},
      {"securityContext",
       {{"allowPrivilegeEscalation", false},
        {"readOnlyRootFilesystem", !how.writable},
        {"capabilities", {{"drop", json::array{"ALL"}}}}}}};
  if (!how.command.empty()) container["command"] = json::value_from(how.command);
  return {{"automountServiceAccountToken", false},
          {"enableServiceLinks", false},
          {"terminationGracePeriodSeconds", seconds(manifest.drain)},
          {"securityContext",
           {{"runAsNonRoot", true},
            {"runAsUser", user},
            {"runAsGroup", user},
            {"fsGroup", user},
            {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
          {"containers", json::array{container}},
          {"volumes", volumes}};
}

}  // namespace

std::string name_of(const std::string& service, int64_t serial) {
  std::string name = "sl-" + service + "-" + std::to_string(serial);
  std::ranges::transform(name, name.begin(), [](char c) { return to_lower(c); });
  return name;
}

std::vector<json::value> objects_of(const PodPlan& plan) {
  std::vector<json::value> objects;
  json::object config = object_of(plan, "v1", "ConfigMap");
  config["data"] = {{"config.json", plan.config}};
  objects.push_back(config);
  if (!plan.secrets.empty()) {
    json::object secret = object_of(plan, "v1", "Secret");
    json::object& values = (secret["stringData"] = json::object()).as_object();
    for (const auto& [name, value] : plan.secrets) values[name] = value;
    objects.push_back(secret);
  }
  json::object deployment = object_of(plan, "apps/v1", "Deployment");
  json::object labels = labels_of(plan);
  deployment["spec"] = {{"replicas", plan.replicas},
                        {"revisionHistoryLimit", 0},
                        {"selector", {{"matchLabels", selector_of(plan)}}},
                        {"template",
                         {{"metadata", {{"labels", labels}, {"annotations", {{"sluice.dev/told", told_hash(plan)}}}}},
                          {"spec", pod_of(plan)}}}};
  objects.push_back(deployment);
  json::object service = object_of(plan, "v1", "Service");
  const bundle::Container how = plan.manifest.container.value_or(bundle::Container{});
  service["spec"] = {
      {"selector", selector_of(plan)},
      {"ports", json::array{{{"name", "http"}, {"port", 80}, {"targetPort", how.port}, {"protocol", "TCP"}}}}};
  objects.push_back(service);
  return objects;
}

}  // namespace sluice::deploy::k8s_runtime
