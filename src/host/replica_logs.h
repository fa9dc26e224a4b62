// What replicas say, as one stream in the order of time: the verb of Door that reads logs, on this machine.
#pragma once

#include <functional>

#include "base/disk.h"
#include "host/door.h"

namespace sluice::host {

// Names are resolved by the door's view `replicas`, and again every second for whoever follows: what comes later is
// read from its beginning. `may` says whether the caller may read what replicas of an instance say; empty: all.
using MayRead = std::function<Result<void>(const std::string& instance)>;
Result<void> read_logs_here(Door& door, Disk& disk, const LogAsk& ask, const VisitLine& visit,
                            const std::function<bool()>& stop, const MayRead& may = {});

}  // namespace sluice::host
