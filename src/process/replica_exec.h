// Runs a command in a replica's place: with the variables, secrets, folders, user, limits and control groups that its
// program has, and with the input and output of whoever asks. It counts as one of the replica's processes: when the
// replica ends, it ends.
//
// The asker starts the program that supervises again, in its own place, with kExecWord, the replica's folder and the
// command; that one, which has a single thread and nothing to lose, becomes the command. Replicas::exec does so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "process/replica_state.h"
#include "process/secrets.h"

namespace sluice::process {

// The word after which a program finds the folder of a replica and the command to run in its place.
inline constexpr std::string_view kExecWord = "exec-in-replica";

// For main(), as supervise() is: if the command line asks for it, becomes the command, or says why not and with which
// code to exit.
std::optional<int> exec_in_replica(int count, char** words);

// The secrets that the supervisor of a replica holds, as they were handed to it: `not_found` when it has ended,
// `denied` for whoever may not look into its process.
Result<std::string> secrets_held_by(const ProcessRecord& supervisor);

}  // namespace sluice::process
