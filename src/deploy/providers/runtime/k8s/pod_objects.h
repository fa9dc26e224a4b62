// The objects of one deployment of an instance, made and not applied: a ConfigMap and a Secret with what the program
// gets, a Deployment of hardened pods, and a Service whose EndpointSlices say which of them are ready. What differs
// between two deployments of an instance is their serial, which is part of every name.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "bundle/manifest/manifest.h"
#include "process/secrets.h"

namespace sluice::deploy::k8s_runtime {

namespace json = boost::json;

inline constexpr std::string_view kManager = "sluice";
inline constexpr std::string_view kInstanceLabel = "sluice.dev/instance";
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";

struct PodPlan {
  std::string service;  // the id of K8sRuntime's row
  int64_t serial = 0;
  std::string name_space;
  std::string image;  // by digest
  int64_t replicas = 1;
  bundle::Manifest manifest;
  std::string config = "{}";                     // the text of the file that SLUICE_CONFIG names
  std::map<std::string, std::string> variables;  // over those of the manifest
  process::Secrets secrets;
};

// "sl-01j….-2": the name of every object of a deployment.
std::string name_of(const std::string& service, int64_t serial);
// In the order in which they are applied.
std::vector<json::value> objects_of(const PodPlan& plan);

}  // namespace sluice::deploy::k8s_runtime
