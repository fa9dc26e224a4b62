// The supervisor of one replica: a process of its own, `sluice` started again with another task, which starts the
// program, keeps its log, asks whether it is healthy, starts it again when it ends, and ends it with all that it
// started. It is what lets a replica outlive the controller; why it is done so is in docs/internals/runtime.md.
//
// It finds in the replica's folder launch.json, which says what to run, and writes state.json and log/replica.log. It
// inherits the folder's lock at descriptor 3, and keeps it for as long as it lives, so there is never a second one; and
// the secrets in a sealed file in memory at 4. SIGTERM tells it to stop the program and end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "process/workload.h"

namespace sluice::process {

// The word after which a program finds the folder of the replica that it is to supervise.
inline constexpr std::string_view kSuperviseWord = "supervise-replica";

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

// For main(), before anything else is made: if the command line is that of a supervisor, becomes one, and says with
// which code to exit when that is over.
std::optional<int> supervise(int count, char** words);

}  // namespace sluice::process
