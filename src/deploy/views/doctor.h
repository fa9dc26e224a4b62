// What is wrong with an environment, from all that is known of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct Finding {
  enum class Level { yellow, red };  // red: nothing new can be warmed until it is mended
  Level level = Level::yellow;
  std::string what;
  std::string next;
};

std::vector<Finding> examine(const lang::Snapshot& snapshot, const std::string& environment);

// The file with the environment's revocation list, if it has one; and what is wrong with that.
std::optional<std::string> revocation_list(const lang::Snapshot& snapshot, const std::string& environment);
std::optional<Finding> examine_list(Disk& disk, const std::string& environment, const std::string& file);

}  // namespace sluice::deploy::views
