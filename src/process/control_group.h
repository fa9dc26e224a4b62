// The control groups of a replica: one in each hierarchy that is mounted and writable, v1 or v2, below the group that
// Sluice itself is in, so that what limits Sluice limits its replicas too. They bound what the replica uses, and hold
// everything that it starts, whatever it does to get away.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/workload.h"

namespace sluice::process {

// The folders of the groups of that name, of which none may be there yet. From the texts of /proc/self/mountinfo and
// /proc/self/cgroup.
std::vector<std::string> plan_groups(std::string_view mountinfo, std::string_view cgroup, const std::string& name);
std::vector<std::string> plan_groups(const std::string& name);

struct MadeGroups {
  std::vector<std::string> folders;  // those of the planned ones that could be made
  std::vector<std::string> limits;   // what they bound, of cpu, memory and pids
};
MadeGroups make_groups(const std::vector<std::string>& planned, const Limits& limits);
// Those of the planned ones that are there, made by somebody else.
MadeGroups groups_there(const std::vector<std::string>& planned);
// "control groups (cpu, memory, pids)", or with what they do not bound: "control groups (memory) and rlimits"
std::string to_string(const MadeGroups& made);

// Puts this process into the groups. It must have one thread. Into one of the second version the kernel moves a process
// only after a pause of some 10 ms; a child can be born there at once (fork_into), and `born_in` is left out.
Result<void> join_groups(const std::vector<std::string>& folders, const std::string& born_in = "");
// The one among them that a child can be born in; "" if there is none.
std::string birth_group(const std::vector<std::string>& folders);
std::vector<pid_t> members_of(const std::vector<std::string>& folders);
// Ends everything in them, as one where the kernel can.
void kill_groups(const std::vector<std::string>& folders);
// Empty ones; others stay.
void remove_groups(const std::vector<std::string>& folders);
// How often the kernel ended something in them because the memory was used up.
uint64_t memory_kills(const std::vector<std::string>& folders);

}  // namespace sluice::process
