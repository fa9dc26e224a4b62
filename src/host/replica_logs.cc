// The files are read as they are written; nobody is asked for what stands in them.
#include "host/replica_logs.h"

#include <boost/json.hpp>

#include "base/json_reader.h"

namespace sluice::host {
namespace {

using deploy::views::ReplicaView;

constexpr int64_t kMoreSaid_ms = 100;
constexpr int64_t kFindAgain_ns = 1'000'000'000;

}  // namespace

Result<std::unique_ptr<LogReading>> LogReading::open(Door& door, Disk& disk, LogAsk ask, MayRead may) {
  std::unique_ptr<LogReading> reading(new LogReading(door, disk, std::move(ask), std::move(may)));
  if (auto found = reading->find(false); !found) return found.error();
  return reading;
}

// Takes up all that is meant by the names. Of several the first that means nothing is an error; whoever follows them
// hears only of all.
Result<size_t> LogReading::find(bool again) {
  size_t allowed = 0;
  std::optional<Error> denied;
  found_ns_ = clock_.monotonic_ns();
  for (const std::string& name : ask_.names) {
    auto answer = door_.view("replicas", {{"name", name}, {"customer", ask_.customer}});
    if (!answer && again && answer.error().code == Code::not_found) continue;
    auto found =
        answer ? read<std::vector<ReplicaView>>(answer->document) : Result<std::vector<ReplicaView>>(answer.error());
    if (!found) return found.error();
    for (const ReplicaView& each : *found) {
      if (auto may = may_ ? may_(each.instance) : Result<void>(); !may) {
        if (labels_.contains(each.replica)) return may.error();
        denied = may.error();
        continue;
      }
      ++allowed;
      if (labels_.emplace(each.replica, each.label).second) merge_.add({.replica = each.replica, .folder = each.log});
    }
  }
  if (allowed == 0 && denied && !again) return *denied;
  return allowed;
}

Result<std::optional<SaidLine>> LogReading::next() {
  if (ask_.follow && clock_.monotonic_ns() - found_ns_ >= kFindAgain_ns) {
    // Where nobody can be asked now, the next second will do.
    if (auto found = find(true); !found && found.error().code == Code::denied) return found.error();
  }
  while (true) {
    auto line = merge_.next();
    if (!line) return line.error();
    if (!*line) return std::optional<SaidLine>();
    const process::LogLine& said = (*line)->line;
    if (said.of_check && !ask_.all) continue;
    return std::optional(SaidLine{said.time, (*line)->replica, labels_[(*line)->replica], said.stream, said.text});
  }
}

bool LogReading::is_over() {
  if (!ask_.follow) return true;
  if (!merge_.gone()) return false;
  auto found = find(true);
  return found && *found == 0;
}

Result<void> read_on(LogReading& reading, const VisitLine& visit, const std::function<bool()>& stop) {
  while (true) {
    auto line = reading.next();
    if (!line) return line.error();
    if (*line) {
      if (!visit(**line)) return {};
      continue;
    }
    if (stop() || reading.is_over()) return {};
    RealClock().sleep_ms(kMoreSaid_ms);
  }
}

Result<void> read_logs_here(Door& door, Disk& disk, const LogAsk& ask, const VisitLine& visit,
                            const std::function<bool()>& stop, const MayRead& may) {
  auto reading = LogReading::open(door, disk, ask, may);
  return reading ? read_on(**reading, visit, stop) : Result<void>(reading.error());
}

}  // namespace sluice::host
