// What is in a replica's folder: its files, and launch.json, which says what its supervisor is to run. Whoever runs
// something in the replica's place (its supervisor, `sluice exec`) asks here for the bounds in which it runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "process/control_group.h"
#include "process/launch.h"
#include "process/secrets.h"
#include "process/workload.h"

namespace sluice::process {

constexpr size_t kMostLaunchBytes = 1 << 20;

struct Launch {
  std::string start;                // this start of the replica, unlike any other
  std::string mark;                 // kMarkVariable of everything that it starts
  std::vector<std::string> groups;  // control groups that may be made for it
  Workload workload;

  bool operator==(const Launch&) const = default;
};
BOOST_DESCRIBE_STRUCT(Launch, (), (start, mark, groups, workload))

std::string print_launch(const Launch& launch);
Result<Launch> parse_launch(std::string_view text);

// The files of a replica's folder.
struct ReplicaFiles {
  explicit ReplicaFiles(const std::string& folder);
  std::string lock, launch, state;
  std::string log;     // a folder
  std::string config;  // a folder, with the file that SLUICE_CONFIG names
  std::string config_file;
  std::string run;  // a folder of the program's own, with its socket
  std::string socket;
  std::string messages;  // of a supervisor that could not begin
};

// How these words are run as the replica's program is: with its variables, user, limits, folders and secrets.
LaunchRequest request_in(const ReplicaFiles& files, const Launch& launch, const MadeGroups& groups,
                         const HandedSecrets& secrets, const std::vector<std::string>& argv);

}  // namespace sluice::process
