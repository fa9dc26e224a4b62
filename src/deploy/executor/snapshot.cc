// One JSON document, with the texts that must not be shown.
#include "deploy/executor/snapshot.h"

#include "base/json.h"

namespace sluice::deploy::executor {

Result<void> write_snapshot(ClusterMeans& means, const lang::Snapshot& committed, const std::string& environment,
                            const std::string& name, const Snapshot& snapshot, const std::string& by) {
  json::array objects, secrets;
  for (const json::value& each : snapshot.objects) objects.push_back(each);
  for (const std::string& each : snapshot.taint.texts()) secrets.emplace_back(each);
  json::object references;
  for (const auto& [reference, value] : snapshot.secrets) references.emplace(reference, value);
  const json::object whole{{"references", std::move(references)},
                           {"objects", std::move(objects)},
                           {"manifestHash", snapshot.manifest_hash},
                           {"valuesHash", snapshot.values_hash},
                           {"runtimeValuesHash", snapshot.runtime_values_hash},
                           {"commit", snapshot.commit},
                           {"secrets", std::move(secrets)}};
  return means.safe().put(committed, environment, name, write(whole), by);
}

Result<Snapshot> read_snapshot(ClusterMeans& means, const std::string& environment, const std::string& name) {
  auto text = means.safe().get(environment, name);
  if (!text) return text.error();
  auto whole = parse_json_value(*text);
  if (!whole) return whole.error();
  Snapshot snapshot{.manifest_hash = kube::text_at(*whole, {"manifestHash"}),
                    .values_hash = kube::text_at(*whole, {"valuesHash"}),
                    .runtime_values_hash = kube::text_at(*whole, {"runtimeValuesHash"}),
                    .commit = kube::text_at(*whole, {"commit"})};
  for (const json::value& each : kube::list_at(*whole, {"objects"})) snapshot.objects.push_back(each);
  for (const auto& each : kube::map_at(*whole, {"references"})) {
    if (each.value().is_string()) snapshot.secrets.emplace(each.key(), each.value().get_string());
  }
  for (const json::value& each : kube::list_at(*whole, {"secrets"})) {
    if (each.is_string()) snapshot.taint.add(each.get_string());
  }
  return snapshot;
}

void label(std::vector<json::value>& objects, const rendering::Labels& labels) {
  for (json::value& each : objects) {
    rendering::place(each, "", true, labels);  // their namespaces are set
  }
}

}  // namespace sluice::deploy::executor
