// Starts this very program once more, with other words, as a process that goes on by itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::process {

// In a session of its own, with this process's variables, without input; what it says is appended to the log. Its pid.
Result<pid_t> start_own_program(const std::vector<std::string>& words, const std::string& log);

// Whether the child has ended. Whoever asks has waited for it then.
bool has_ended(pid_t child);

}  // namespace sluice::process
