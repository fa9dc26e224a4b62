// The value was checked when it was set (host_config.h).
#include "deploy/views/workload_address.h"

#include "config.gen.h"
#include "deploy/host_config.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {

std::string workload_address(const lang::Snapshot& snapshot, const std::string& environment) {
  for (const auto& each : States(snapshot).config().values(config::ConfigId(environment)).values()) {
    if (each.key == kWorkloadAddress) return each.value;
  }
  return "";
}

}  // namespace sluice::deploy::views
