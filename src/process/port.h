// TCP ports of this machine: which are taken, and one that is not.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace sluice::process {

// Whether somebody listens on it, on any address.
bool is_port_taken(uint16_t port);

// One that nobody listens on now; somebody may the next moment.
Result<uint16_t> free_port();

}  // namespace sluice::process
