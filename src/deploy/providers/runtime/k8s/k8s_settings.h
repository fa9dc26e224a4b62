// K8sSettings is the config of an instance in a cluster: a JSON object, read strictly.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::deploy::k8s_runtime {

inline constexpr int64_t kMostReplicas = 1000;

struct K8sSettings {
  uint32_t replicas = 1;
  std::optional<json::value> config;             // an object, for the file SLUICE_CONFIG
  std::optional<std::string> storage;            // pods have none; a bundle that wants one is refused
  std::map<std::string, std::string> variables;  // for the programs, over the bundle's own
  std::optional<json::value> health;             // fields of the bundle's `health` that are otherwise
  static constexpr std::string_view kDefaulted[] = {"replicas", "variables"};
};
BOOST_DESCRIBE_STRUCT(K8sSettings, (), (replicas, config, storage, variables, health))

// Of an empty text all is as by default. Errors name the field.
Result<K8sSettings> parse_k8s_settings(const std::string& text);

}  // namespace sluice::deploy::k8s_runtime
