// What a config must keep beyond its form.
#include "deploy/providers/runtime/local/local_settings.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/run_settings.h"

namespace sluice::deploy::local_runtime {
namespace {

constexpr int64_t kMostPort = 65535;

}  // namespace

std::string LocalSettings::config_text() const { return config ? write(*config) : "{}"; }

Result<LocalSettings> parse_local_settings(const std::string& text) {
  auto document = parse_json(text.empty() ? "{}" : text, "config");
  if (!document) return document.error();
  auto settings = read<LocalSettings>(*document);
  if (!settings) return settings;
  if (settings->replicas < 1 || settings->replicas > kMostReplicas) {
    return Error{.code = Code::invalid, .message = "expected 1 to 1000 replicas", .path = "/replicas"};
  }
  if (settings->port && *settings->port == 0) {
    return Error{.code = Code::invalid, .message = "expected a port from 1 to 65535", .path = "/port"};
  }
  if (settings->port && *settings->port + 2 * int64_t{settings->replicas} - 1 > kMostPort) {
    return Error{.code = Code::invalid, .message = "there are not twice as many ports as replicas", .path = "/port"};
  }
  if (settings->config && !settings->config->is_object()) {
    return Error{.code = Code::invalid, .message = "expected an object", .path = "/config"};
  }
  if (auto sound = check_health(settings->health); !sound) return sound.error();
  return settings;
}

}  // namespace sluice::deploy::local_runtime
