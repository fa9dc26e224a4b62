// A deploy manifest as it is in one environment: of the last plan that was executed there, of a plan that is named, or
// of a text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deploy/views/states.h"
#include "lang/run/handler.h"
#include "plan/app_manifest.h"

namespace sluice::deploy::views {

struct ManifestAsk {
  std::string environment;
  std::string manifest;  // a text, whose variables stay as they are; empty: that of a plan
  std::string file;
  std::string plan;  // empty: the last one that was executed in the environment
};

struct ResolvedManifest {
  std::optional<plan::Resolved> resolved;  // or one of these, which say why not
  std::string not_there;
  std::string missing_base;
  std::vector<std::string> conflicts, faults;
};

ResolvedManifest resolve_manifest(const lang::Snapshot& snapshot, const ManifestAsk& ask);

}  // namespace sluice::deploy::views
