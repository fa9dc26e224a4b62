// The ports that programs of an environment may listen on, as its deployer was set up: `port_range` among its answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;

  bool operator==(const PortRange&) const = default;
};

// "20000-20999"; nothing if it is none.
std::optional<PortRange> parse_port_range(std::string_view text);
std::optional<PortRange> port_range(const lang::Snapshot& snapshot, const std::string& environment);

}  // namespace sluice::deploy::views
