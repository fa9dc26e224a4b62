// The address of a host, found without waiting: a name is looked up by a thread of its own, which may outlive whoever
// asked; a literal address is there at once.
#pragma once

#include <cstdint>
#include <future>
#include <string>

#include "base/result.h"
#include "router/address.h"

namespace sluice::router {

// IPv6 without brackets. What comes of it is never waited for by destroying the future.
std::future<Result<Address>> look_up_name(const std::string& host, uint16_t port);

}  // namespace sluice::router
