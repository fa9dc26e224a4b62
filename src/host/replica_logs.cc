// The files are read as they are written; nobody is asked for what stands in them.
#include "host/replica_logs.h"

#include <boost/json.hpp>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/json_reader.h"
#include "deploy/views/instances.h"
#include "process/log_reader.h"

namespace sluice::host {
namespace {

using deploy::views::ReplicaView;

constexpr int64_t kMoreSaid_ms = 100;
constexpr int64_t kFindAgain_ns = 1'000'000'000;

// All that is meant by the names. Of several the first that means nothing is an error; whoever follows them hears only
// of all.
Result<std::vector<ReplicaView>> replicas_named(Door& door, const LogAsk& ask, bool following, const MayRead& may) {
  std::vector<ReplicaView> replicas;
  std::optional<Error> denied;
  for (const std::string& name : ask.names) {
    auto answer = door.view("replicas", {{"name", name}, {"customer", ask.customer}});
    if (!answer && following && answer.error().code == Code::not_found) continue;
    auto found =
        answer ? read<std::vector<ReplicaView>>(answer->document) : Result<std::vector<ReplicaView>>(answer.error());
    if (!found) return found.error();
    for (ReplicaView& each : *found) {
      auto allowed = may ? may(each.instance) : Result<void>();
      if (allowed) replicas.push_back(std::move(each));
      if (!allowed) denied = allowed.error();
    }
  }
  if (replicas.empty() && denied && !following) return *denied;
  return replicas;
}

}  // namespace

Result<void> read_logs_here(Door& door, Disk& disk, const LogAsk& ask, const VisitLine& visit,
                            const std::function<bool()>& stop, const MayRead& may) {
  RealClock clock;
  process::LogMerge merge(disk, {}, ask.since);
  std::map<std::string, std::string> labels;
  auto take_up = [&](const std::vector<ReplicaView>& replicas) {
    for (const ReplicaView& each : replicas) {
      if (labels.emplace(each.replica, each.label).second) merge.add({.replica = each.replica, .folder = each.log});
    }
  };
  auto replicas = replicas_named(door, ask, false, may);
  if (!replicas) return replicas.error();
  take_up(*replicas);
  int64_t found_ns = clock.monotonic_ns();
  while (true) {
    auto line = merge.next();
    if (!line) return line.error();
    if (*line) {
      const process::LogLine& said = (*line)->line;
      if (said.of_check && !ask.all) continue;
      if (!visit({said.time, (*line)->replica, labels[(*line)->replica], said.stream, said.text})) return {};
      continue;
    }
    if (!ask.follow || stop()) return {};
    const bool gone = merge.gone();
    if (gone || clock.monotonic_ns() - found_ns >= kFindAgain_ns) {
      // Where nobody can be asked now, the next second will do.
      if (auto again = replicas_named(door, ask, true, may)) {
        if (again->empty() && gone) return {};
        take_up(*again);
      }
      found_ns = clock.monotonic_ns();
    }
    clock.sleep_ms(kMoreSaid_ms);
  }
}

}  // namespace sluice::host
