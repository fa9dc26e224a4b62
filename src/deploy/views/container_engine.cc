// The value was checked when it was set (host_config.h).
#include "deploy/views/container_engine.h"

#include "config.gen.h"
#include "deploy/host_config.h"
#include "deploy/packs.h"
#include "deploy/views/states.h"
#include "env.gen.h"

namespace sluice::deploy::views {

std::string container_engine(const lang::Snapshot& snapshot, const std::string& environment) {
  for (const auto& each : States(snapshot).config().values(config::ConfigId(environment)).values()) {
    if (each.key == kContainerEngine) return each.value;
  }
  return "";
}

bool runs_containers_alone(const lang::Snapshot& snapshot, const std::string& environment) {
  for (const env::EnvPack& each : States(snapshot).env().packs(env::EnvId(environment)).values()) {
    if (each.slot != "deployer") continue;
    auto pack = parse_descriptor(each.kind);
    return pack && pack->path == kContainerDeployer;
  }
  return false;
}

}  // namespace sluice::deploy::views
