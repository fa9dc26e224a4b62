// ReplicaState is what a supervisor says of its replica, in the file state.json. The file is replaced whole and not
// synced: after a power cut nothing runs, and the boot in it shows that it is of no use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/process_identity.h"
#include "base/result.h"

namespace sluice::process {

enum class Phase {
  starting,     // the program runs and was not healthy yet
  running,      // it was; `healthy` says whether it is
  backing_off,  // it ended, and is started again soon
  stopping,
  stopped,
  failed,  // given up; nothing runs
  lost,    // the supervisor ended, by a signal or with the machine, and the program with it
};
BOOST_DESCRIBE_ENUM(Phase, starting, running, backing_off, stopping, stopped, failed, lost)

// Why a replica failed, or ended last.
enum class Reason { none, cannot_start, port_in_use, crash_loop, health_timeout, out_of_memory, no_engine };
BOOST_DESCRIBE_ENUM(Reason, none, cannot_start, port_in_use, crash_loop, health_timeout, out_of_memory, no_engine)

struct ProcessRecord {
  int pid = 0;
  uint64_t start_ticks = 0;
  std::string boot;

  bool operator==(const ProcessRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessRecord, (), (pid, start_ticks, boot))

ProcessRecord record_of(const ProcessIdentity& identity);
ProcessIdentity identity_of(const ProcessRecord& record);

struct ReplicaState {
  std::string start;  // which start of the replica this is about: the `start` of launch.json
  Phase phase = Phase::starting;
  Reason reason = Reason::none;
  std::string message;  // for people: what happened last
  bool healthy = false;
  uint32_t restarts = 0;
  int64_t since_ms = 0;    // when the phase began
  int64_t latency_us = 0;  // of the last good health check
  ProcessRecord supervisor;
  std::optional<ProcessRecord> program;
  std::string limited_by;  // "cgroup v1 (memory, cpu, pids)", or what is there instead

  bool operator==(const ReplicaState&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReplicaState, (),
                      (start, phase, reason, message, healthy, restarts, since_ms, latency_us, supervisor, program,
                       limited_by))

// Whether nothing follows any more by itself.
bool is_over(Phase phase);

std::string print_state(const ReplicaState& state);
Result<ReplicaState> parse_state(std::string_view text);

}  // namespace sluice::process
