// What is wrong with an environment, from all that is known of it.
#pragma once

#include <string>
#include <vector>

#include "lang/handler.h"

namespace sluice::deploy::views {

struct Finding {
  enum class Level { yellow, red };  // red: nothing new can be warmed until it is mended
  Level level = Level::yellow;
  std::string what;
  std::string next;
};

std::vector<Finding> examine(const lang::Snapshot& snapshot, const std::string& environment);

}  // namespace sluice::deploy::views
