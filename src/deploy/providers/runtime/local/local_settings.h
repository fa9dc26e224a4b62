// LocalSettings is the config of an instance of the local runtime: a JSON object, read strictly.
//
//   {"replicas": 2, "port": 8080, "config": {"color": "blue"}, "storage": "shop", "variables": {"SLUICE_REVISION":
//   "01J…"}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest_values.h"

namespace sluice::deploy::local_runtime {

inline constexpr int64_t kMostReplicas = 1000;

struct LocalSettings {
  uint32_t replicas = 1;
  std::optional<uint16_t> port;         // the first of twice as many as there are replicas; any free ones without it
  std::optional<json::value> config;    // an object, for the file SLUICE_CONFIG
  std::optional<bundle::Name> storage;  // the instances of this name share what they store
  std::map<std::string, std::string> variables;  // for the programs, over the bundle's own
  std::optional<json::value> health;             // fields of the bundle's `health` that are otherwise
  static constexpr std::string_view kDefaulted[] = {"replicas", "variables"};

  // The text of its `config`.
  std::string config_text() const;
};
BOOST_DESCRIBE_STRUCT(LocalSettings, (), (replicas, port, config, storage, variables, health))

// Of an empty text all is as by default. Errors name the field.
Result<LocalSettings> parse_local_settings(const std::string& text);

}  // namespace sluice::deploy::local_runtime
