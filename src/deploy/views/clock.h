// What the engine knows of the system's clock: whether it was set, so that recorded time differs from it.
#pragma once

#include <optional>
#include <string>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct ClockTrouble {
  std::string what;
  std::string next;
};

// None while recorded time and the clock agree.
std::optional<ClockTrouble> clock_trouble(const lang::Snapshot& snapshot);

}  // namespace sluice::deploy::views
