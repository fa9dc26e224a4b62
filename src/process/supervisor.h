// The supervisor of one replica: a process of its own, `sluice` started again with another task, which starts the
// program, keeps its log, asks whether it is healthy, starts it again when it ends, and ends it with all that it
// started. It is what lets a replica outlive the controller; why it is done so is in docs/internals/runtime.md.
//
// It finds in the replica's folder launch.json, which says what to run, and writes state.json and log/replica.log. It
// inherits the folder's lock at descriptor 3, and keeps it for as long as it lives, so there is never a second one; and
// the secrets in a sealed file in memory at 4. SIGTERM tells it to stop the program and end.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "process/workload.h"

namespace sluice::process {

// The word after which a program finds the folder of the replica that it is to supervise.
inline constexpr std::string_view kSuperviseWord = "supervise-replica";

// Where it holds the secrets that it was handed, a sealed file in memory, for as long as it lives.
inline constexpr int kSecretsDescriptor = 4;

// Where it holds the user namespace of the replica (make_ids in process/system.h), if it has one:
// above all that it hands over.
inline constexpr int kIdsDescriptor = 1000;

// Whether the workload may be started now, by rules that are not this folder's. `again`: it was started before, as
// before a crash of the program or of this machine.
using MayStart = Result<void> (*)(const Workload& workload, bool again);

// For main(), before anything else is made: if the command line is that of a supervisor, becomes one, and says with
// which code to exit when that is over.
std::optional<int> supervise(int count, char** words, MayStart may_start = nullptr);

}  // namespace sluice::process
