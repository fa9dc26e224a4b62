// TCP ports of this machine: which are taken, and one that is not.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace sluice::process {

// Whether somebody listens on it, on any address.
bool is_port_taken(uint16_t port);

// One that nobody listens on now; somebody may the next moment.
Result<uint16_t> free_port();
// The same among these.
Result<uint16_t> free_port(uint16_t first, uint16_t last);

// How many connections there are to who listens on this port, or on this Unix socket; 0 if the system does not say.
size_t connections_to(uint16_t port);
size_t connections_to(const std::string& socket_path);

}  // namespace sluice::process
