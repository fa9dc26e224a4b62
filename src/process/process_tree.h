// Who was started by whom, as /proc shows it: to end everything that a replica has started.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::process {

// The variable by which a replica's processes are known when nothing else tells.
inline constexpr std::string_view kMarkVariable = "SLUICE_REPLICA";

// Of a process, itself left out. What is started while it looks may be missing.
std::vector<pid_t> descendants_of(pid_t pid);
// The processes that were started with this mark in their environment, as far as this process may see it.
std::vector<pid_t> processes_marked(const std::string& mark);

// Sends a signal to a process group, and to all descendants of this process that have left it. The group's leader must
// not have been waited for yet; none is meant by -1.
void tell_descendants(pid_t group, int signal);

// Ends what a replica left behind whose supervisor ended without doing so, and waits until it is gone. Says how many
// processes that were.
size_t end_leftovers(const std::vector<std::string>& groups, const std::string& mark);

}  // namespace sluice::process
