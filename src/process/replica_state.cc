// state.json, read and written.
#include "process/replica_state.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::process {

ProcessRecord record_of(const ProcessIdentity& identity) {
  return {.pid = identity.pid, .start_ticks = identity.start_ticks, .boot = identity.boot};
}

ProcessIdentity identity_of(const ProcessRecord& record) {
  return {.pid = record.pid, .start_ticks = record.start_ticks, .boot = record.boot};
}

bool is_over(Phase phase) { return phase == Phase::stopped || phase == Phase::failed || phase == Phase::lost; }

std::string print_state(const ReplicaState& state) { return write(to_json(state)) + "\n"; }

Result<ReplicaState> parse_state(std::string_view text) {
  auto document = parse_json(text, "state.json");
  if (!document) return document.error();
  return read<ReplicaState>(*document);
}

}  // namespace sluice::process
