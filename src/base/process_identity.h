// Which process: a pid alone is reused, so a process is named by its pid, when it started, and the boot in which it
// did. For lock records and for finding again the processes that Sluice started before it was restarted itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

struct ProcessIdentity {
  int pid = 0;
  uint64_t start_ticks = 0;  // clock ticks after boot, as in /proc/PID/stat
  std::string boot;          // the kernel's boot_id

  bool operator==(const ProcessIdentity&) const = default;
};

// Of a process that runs now; `not_found` if there is none or it has ended and only waits to be reaped.
Result<ProcessIdentity> identify_process(int pid);
Result<ProcessIdentity> identify_this_process();

// Whether that very process still runs on this machine.
Result<bool> is_running(const ProcessIdentity& process);

std::string host_name();

// What identify_process takes from the text of /proc/PID/stat.
struct ProcessStat {
  char state = 0;  // 'R', 'S', … 'Z' for a zombie
  uint64_t start_ticks = 0;
};
Result<ProcessStat> parse_process_stat(std::string_view text);

}  // namespace sluice
