// The times in which a pipeline promotes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time_zone.h"
#include "render/promote/kinds.h"

namespace sluice::promote {

// Whether its times can be read. The error has the path of the field.
Result<void> check_freeze(const Freeze& freeze);

// The first freeze that holds in an environment at a moment, in seconds since 1970: "holidays, until 2027-01-04T08:00
// (Europe/Zurich)". A zone that this machine does not know is an error: then nobody can say whether it holds.
Result<std::optional<std::string>> frozen_at(const std::vector<Freeze>& freezes, const std::string& environment,
                                             int64_t seconds, const TimeZones& zones);

}  // namespace sluice::promote
