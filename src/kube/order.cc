// Kinds by name: what is not listed is a workload.
#include "kube/order.h"

#include <charconv>
#include <map>
#include <set>
#include <string>

namespace sluice::kube {

Result<int> wave_of(const json::value& object) {
  static const std::set<std::string, std::less<>> kFirst = {"Namespace", "CustomResourceDefinition"};
  static const std::set<std::string, std::less<>> kNeeded = {"ConfigMap",
                                                             "Secret",
                                                             "ServiceAccount",
                                                             "Role",
                                                             "RoleBinding",
                                                             "ClusterRole",
                                                             "ClusterRoleBinding",
                                                             "PersistentVolumeClaim",
                                                             "PersistentVolume",
                                                             "StorageClass",
                                                             "ResourceQuota",
                                                             "LimitRange",
                                                             "NetworkPolicy",
                                                             "PriorityClass",
                                                             "Service"};
  static const std::set<std::string, std::less<>> kRoutes = {"Ingress",
                                                             "IngressClass",
                                                             "Gateway",
                                                             "HTTPRoute",
                                                             "GRPCRoute",
                                                             "TLSRoute",
                                                             "TCPRoute",
                                                             "HorizontalPodAutoscaler",
                                                             "APIService",
                                                             "MutatingWebhookConfiguration",
                                                             "ValidatingWebhookConfiguration"};
  const ObjectRef ref = ref_of(object);
  if (const json::value& said = at(object, {"metadata", "annotations", kWaveAnnotation}); !said.is_null()) {
    const std::string text = text_at(object, {"metadata", "annotations", kWaveAnnotation});
    int wave = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), wave);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() && wave >= 0 && wave <= 99) return wave;
    return Error{.code = Code::invalid,
                 .message = "the annotation sluice.dev/wave of " + to_string(ref) + " is no number from 0 to 99"};
  }
  if (kFirst.contains(ref.kind)) return 0;
  if (kNeeded.contains(ref.kind)) return 1;
  return kRoutes.contains(ref.kind) ? 3 : 2;
}

Result<std::vector<std::vector<size_t>>> waves_of(const std::vector<json::value>& objects) {
  std::map<int, std::vector<size_t>> by_number;
  for (size_t i = 0; i < objects.size(); ++i) {
    auto wave = wave_of(objects[i]);
    if (!wave) return wave.error();
    by_number[*wave].push_back(i);
  }
  std::vector<std::vector<size_t>> waves;
  for (auto& [number, places] : by_number) waves.push_back(std::move(places));
  return waves;
}

}  // namespace sluice::kube
