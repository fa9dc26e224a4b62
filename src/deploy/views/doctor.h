// What is wrong with an environment, from all that is known of it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "deploy/pack_health.h"
#include "lang/run/handler.h"

namespace sluice::deploy {
struct ClusterRights;
}

namespace sluice::deploy::views {

struct Finding {
  enum class Level { yellow, red };  // red: nothing new can be warmed until it is mended
  Level level = Level::yellow;
  std::string what;
  std::string next;
};

std::vector<Finding> examine(const lang::Snapshot& snapshot, const std::string& environment);

// All of it, also what is wrong with files. Only where there are files to look at is the disk asked for.
std::vector<Finding> examine_all(const lang::Snapshot& snapshot, const std::function<Disk&()>& disk,
                                 const std::string& environment);

// What is wrong with how long the deployer's credential is good for, at this time.
std::optional<Finding> examine_expiry(const lang::Snapshot& snapshot, const std::string& environment, int64_t now_ms);

// What is wrong with the backups of the control plane, if it has any, and with their drills.
std::vector<Finding> examine_backups(const lang::Snapshot& snapshot, int64_t now_ms);

// How an environment is, by the worst that was found.
enum class HealthNow { green, yellow, red };
BOOST_DESCRIBE_ENUM(HealthNow, green, yellow, red)
HealthNow health_of(const std::vector<Finding>& findings);
// What is wrong with the packs from outside that the environment has bound: tools that they need and that are missing
// or too old, processes that are not well.
std::vector<Finding> examine_outside(const lang::Snapshot& snapshot, const std::string& environment,
                                     const PackHealth& packs);

// Whether the router will reach pods, where the environment's deployer runs any: those that are ready are tried.
std::optional<Finding> examine_pods(const lang::Snapshot& snapshot, const std::string& environment,
                                    const ClusterRights& cluster);

// The file with the environment's revocation list, if it has one; and what is wrong with that.
std::optional<std::string> revocation_list(const lang::Snapshot& snapshot, const std::string& environment);
std::optional<Finding> examine_list(Disk& disk, const std::string& environment, const std::string& file);

}  // namespace sluice::deploy::views
