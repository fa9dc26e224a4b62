// Every check here gives its own variant.
#include "deploy/executor/rendered.h"

#include <algorithm>
#include <set>

#include "base/terminal.h"
#include "kube/order.h"

namespace sluice::deploy::executor {
namespace {

using kube::text_at;

Refusal why(std::string_view variant, std::string message) { return {std::string(variant), std::move(message)}; }

// Values with those of the runtime over them.
json::value together(const json::value& values, const json::value& more) {
  if (!values.is_object() || !more.is_object()) return more.is_null() ? values : more;
  json::object made = values.get_object();
  for (const auto& each : more.get_object()) {
    const json::value* under = made.if_contains(each.key());
    made[each.key()] = under != nullptr ? together(*under, each.value()) : each.value();
  }
  return made;
}

std::optional<Refusal> wrong_hash(const std::string& what, const std::string& wanted, const std::string& found) {
  if (wanted.empty() || wanted == found) return std::nullopt;
  return why("invalid", "the " + what + " have the hash " + found + ", not " + wanted + "; nothing was changed");
}

Tried<Fetched> fetched(ClusterMeans& means, const kube::Policy& policy, const Request& request, const Sent& sent) {
  if (!sent.files.empty()) return Fetched{.files = sent.files};
  auto files = means.templates(policy, request.repository, request.ref, request.path);
  if (files) return *std::move(files);
  return refusal_of(files.error().code == Code::denied ? "policyDenied" : "templateFetchFailed", files.error());
}

}  // namespace

Tried<kube::Policy> admitted(ClusterMeans& means, const Request& request) {
  auto policy = means.policy();
  if (!policy) return refusal_of("policyDenied", policy.error());
  if (!request.cluster.empty() && request.cluster != policy->clusterId) {
    return why("wrongCluster", "this deployer serves the cluster " + policy->clusterId + ", not " + request.cluster +
                                   "; nothing was changed");
  }
  const std::pair<const char*, const std::string*> ids[] = {
      {"requestId", &request.id}, {"hostId", &request.host}, {"instanceId", &request.instance}};
  for (const auto& [name, id] : ids) {
    if (std::string fault = rendering::label_fault(*id); !fault.empty()) {
      return why("invalid", std::string("the ") + name + " '" + printable(*id) + "' cannot be a label: " + fault);
    }
  }
  if (request.name_space.empty()) return why("invalid", "the namespace is empty");
  for (std::string denial : {policy->denial_of_action(request.action), policy->denial_of_namespace(request.name_space),
                             policy->denial_of_host(request.caller, request.host)}) {
    if (!denial.empty()) return why("policyDenied", denial + "; nothing was changed");
  }
  return *std::move(policy);
}

Kinds cluster_kinds_of(const std::vector<json::value>& objects) {
  Kinds kinds;
  for (const json::value& each : objects) {
    if (text_at(each, {"kind"}) == "CustomResourceDefinition" && text_at(each, {"spec", "scope"}) == "Cluster")
      kinds.emplace(text_at(each, {"spec", "group"}), text_at(each, {"spec", "names", "kind"}));
  }
  return kinds;
}

bool is_cluster_scoped(const kube::ObjectRef& ref, const Kinds& defined) {
  static const std::set<std::string, std::less<>> kKnown = {"Namespace",
                                                            "CustomResourceDefinition",
                                                            "ClusterRole",
                                                            "ClusterRoleBinding",
                                                            "PersistentVolume",
                                                            "StorageClass",
                                                            "PriorityClass",
                                                            "IngressClass",
                                                            "RuntimeClass",
                                                            "APIService",
                                                            "MutatingWebhookConfiguration",
                                                            "ValidatingWebhookConfiguration"};
  const std::string group = ref.group();
  const bool own = group.empty() || group == "apps" || group.ends_with(".k8s.io");
  if (own && kKnown.contains(ref.kind)) return true;
  return defined.contains({group, ref.kind});
}

std::optional<Refusal> denial_of_objects(const kube::Policy& policy, const std::vector<json::value>& objects) {
  for (const json::value& each : objects) {
    if (std::string denial = policy.denial_of(each); !denial.empty()) {
      return why("policyDenied", denial + "; nothing was changed");
    }
  }
  return std::nullopt;
}

Tried<Rendered> rendered(ClusterMeans& means, const kube::Policy& policy, const Request& request, const Sent& sent) {
  auto values = hash_of(sent.values);
  if (!values) return refusal_of("invalid", values.error());
  std::string runtime_values;
  if (!sent.runtime_values.is_null()) {
    auto hash = hash_of(sent.runtime_values);
    if (!hash) return refusal_of("invalid", hash.error());
    runtime_values = *std::move(hash);
  }
  if (auto wrong = wrong_hash("values", request.values_hash, *values)) return *wrong;
  if (auto wrong = wrong_hash("runtime values", request.runtime_values_hash, runtime_values)) return *wrong;
  auto references = secrets_wanted(sent, request.environment);
  if (!references) return refusal_of("invalid", references.error());
  auto files = fetched(means, policy, request, sent);
  if (!files) return files.refusal();
  auto hmac = means.hmac();
  if (!hmac) return refusal_of("templateFetchFailed", hmac.error());
  const json::value all_values =
      sent.runtime_values.is_null() ? sent.values : together(sent.values, sent.runtime_values);
  auto made = rendering::make_objects(files->files, with_secrets(all_values, sent.secrets), *hmac);
  if (!made) return refusal_of("renderFailed", made.error());
  Rendered all{.manifest_hash = made->hash,
               .values_hash = *values,
               .runtime_values_hash = runtime_values,
               .commit = files->commit,
               .taint = made->taint,
               .secrets = sent.secrets};
  for (rendering::Manifest& each : made->objects) all.objects.push_back(std::move(each.object));
  if (all.objects.empty()) {
    return why("renderFailed", "the templates make no objects; what is there is removed by undeploy alone");
  }
  std::set<kube::ObjectRef> seen;
  const Kinds defined = cluster_kinds_of(all.objects);
  for (json::value& each : all.objects) {
    rendering::place(each, request.name_space, is_cluster_scoped(kube::ref_of(each), defined), request.labels());
    const kube::ObjectRef ref = kube::ref_of(each);
    if (!seen.insert(ref).second) return why("renderFailed", to_string(ref) + " stands in the templates twice");
  }
  if (auto denied = denial_of_objects(policy, all.objects)) {
    return Refusal{denied->why, all.taint.redacted(denied->message)};
  }
  return all;
}

Tried<std::vector<Piece>> pieces_of(const std::vector<json::value>& objects) {
  std::vector<Piece> pieces;
  for (const json::value& each : objects) {
    auto wave = kube::wave_of(each);
    if (!wave) return refusal_of("renderFailed", wave.error());
    Piece piece = piece_of(kube::ref_of(each));
    piece.wave = *wave;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace sluice::deploy::executor
