// Settings are kept as they are written; what they mean is said when a release is rendered.
#include "crypto/sha256.h"
#include "settings.gen.h"

namespace sluice::deploy::settings {
namespace {

SettingsId settings_id(const std::string& component, const std::string& environment) {
  return SettingsId(component + "/" + environment);
}

}  // namespace

Put::Result Settings::put(const Put& ask, State& state) {
  Put::Ok ok;
  for (const auto& each : ask.settings) {
    const SettingsId id = settings_id(each.component, each.environment);
    const std::string digest = crypto::to_string(crypto::sha256(each.document));
    const auto before = state.get(id);
    if (before && before->digest == digest) continue;
    state.put(id, {.component = each.component,
                   .environment = each.environment,
                   .document = each.document,
                   .digest = digest,
                   .since = state.now()});
    ok.changed.push_back({.component = each.component, .environment = each.environment});
  }
  return ok;
}

Remove::Result Settings::remove(const Remove& ask, State& state) {
  if (!state.erase(settings_id(ask.component, ask.environment))) {
    return Remove::NotFound{.component = ask.component,
                            .environment = ask.environment,
                            .message = ask.component + " has no settings in " + ask.environment};
  }
  return Remove::Ok{.component = ask.component, .environment = ask.environment};
}

}  // namespace sluice::deploy::settings
