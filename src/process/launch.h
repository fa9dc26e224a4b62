// Starts a program inside its bounds: its own session, user, limits and control groups, its own view of the file
// system, and no descriptor, variable or signal mask but those it is given.
//
// Where Sluice is root the program gets a mount namespace in which its bundle is read-only and `hidden`, a folder such
// as Sluice's home, holds nothing but what is its own, as does a folder on the way that its user may not enter. Where
// the system does not let it have one, file permissions alone protect it, and Launched says so. It ends with the
// process that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/system.h"
#include "process/workload.h"

namespace sluice::process {

struct LaunchRequest {
  std::vector<std::string> argv;
  std::string root;                                // where it runs
  std::map<std::string, std::string> environment;  // nothing else is in it
  std::vector<std::string> groups;
  std::vector<std::string> grouped;  // the limits that the groups keep; rlimits keep the others
  Limits limits;
  uint32_t user = 0;
  int ids = -1;  // of make_ids, above those that are handed over; without them others of that user can look into it
  std::string hidden;
  std::vector<std::string> read_only;  // folders that it sees besides root
  std::vector<std::string> writable;
  std::vector<int> descriptors;  // it finds them at 3, 4 and so on
  pid_t inside = 0;  // of a container's process, in whose place it runs: then nothing else here counts but argv
};

// How a command is run in the place of a container: in the namespaces and control groups of its first process, as its
// user, with its variables and without capabilities.
LaunchRequest request_inside(pid_t program, const std::vector<std::string>& argv);

struct Launched {
  pid_t pid = -1;
  Descriptor out;  // what it says; reading does not wait
  Descriptor err;
  bool own_view = false;  // of the file system
};

// `not_found`, `denied` or `invalid` when the program itself is at fault: the message says what is wrong with it.
// Only for a process with one thread.
Result<Launched> launch(const LaunchRequest& request);

// This process becomes the program, within the same bounds, but with its own input, output and session. Comes back only
// with what went wrong; the process is not what it was then, and should end.
Error launch_here(const LaunchRequest& request);

}  // namespace sluice::process
