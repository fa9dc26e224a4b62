// Starts this very program once more, with other words, as a process that goes on by itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::process {

// In a session of its own, with this process's variables, without input; what it says is appended to the log. Its pid.
Result<pid_t> start_own_program(const std::vector<std::string>& words, const std::string& log);

// Waits until the child has ended, but not longer than so; says whether it has. A child that has ended is told once.
bool ends_within(pid_t child, int64_t at_most_ms);

}  // namespace sluice::process
