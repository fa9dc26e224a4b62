// What an operator lets this machine start. The same signed bounds that bind a router (router/table/bounds.h) bind the
// supervisors of replicas here: each looks at the unpacked tree itself before it starts it, so that a control plane in
// the wrong hands starts no revision that the operator did not allow.
//
// They are in one folder, $SLUICE_BOUNDS or /etc/sluice/bounds, which belongs to the operator: ENVIRONMENT.pub is the
// key that counts, in PEM, and ENVIRONMENT.json the bounds that it signed. A folder without a key binds nothing; with
// one, everything that is started here must be of an environment that has bounds, and within them.
#pragma once

#include <cstdint>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "process/workload.h"

namespace sluice::deploy {

std::string start_bounds_folder(const Variables& variables);

// `denied`, and why. What was started before (`again`) goes on after the bounds have expired.
Result<void> check_start(Disk& disk, const process::Workload& workload, bool again, int64_t now_ms);

// The same, on this machine and now, for process::supervise.
Result<void> may_start(const process::Workload& workload, bool again);

}  // namespace sluice::deploy
