// Where the ports of programs and containers of an environment are published: on 127.0.0.1 alone, or also at the
// address that an operator has named as `workload_address`, by which routers on other machines reach them.
#pragma once

#include <string>
#include <string_view>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

// The variable by which a program is told.
inline constexpr std::string_view kWorkloadAddressVariable = "SLUICE_WORKLOAD_ADDRESS";

// Empty if none is named.
std::string workload_address(const lang::Snapshot& snapshot, const std::string& environment);

}  // namespace sluice::deploy::views
