// What a config must keep beyond its form.
#include "deploy/providers/runtime/k8s/k8s_settings.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/run_settings.h"

namespace sluice::deploy::k8s_runtime {

Result<K8sSettings> parse_k8s_settings(const std::string& text) {
  auto document = parse_json(text.empty() ? "{}" : text, "config");
  if (!document) return document.error();
  auto settings = read<K8sSettings>(*document);
  if (!settings) return settings;
  if (settings->replicas < 1 || settings->replicas > kMostReplicas) {
    return Error{.code = Code::invalid, .message = "expected 1 to 1000 replicas", .path = "/replicas"};
  }
  if (settings->config && !settings->config->is_object()) {
    return Error{.code = Code::invalid, .message = "expected an object", .path = "/config"};
  }
  if (auto sound = check_health(settings->health); !sound) return sound.error();
  return settings;
}

}  // namespace sluice::deploy::k8s_runtime
