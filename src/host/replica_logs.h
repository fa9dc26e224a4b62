// What replicas say, as one stream in the order of time: the verb of Door that reads logs, on this machine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "deploy/views/instances.h"
#include "host/door.h"
#include "process/log_reader.h"

namespace sluice::host {

// Whether the caller may read what replicas of an instance say; empty: all.
using MayRead = std::function<Result<void>(const std::string& instance)>;

// One reading of logs, which holds no thread between two lines. Names are resolved by the door's view `replicas`, and
// again every second for whoever follows: what comes later is read from its beginning, and what the caller may no
// longer read ends it. The door and the disk must outlive it.
class LogReading {
 public:
  // `not_found` and `denied` if there is nothing to read.
  static Result<std::unique_ptr<LogReading>> open(Door& door, Disk& disk, LogAsk ask, MayRead may = {});

  // The next line, or nothing if there is none for now.
  Result<std::optional<SaidLine>> next();
  // Asked when there is none for now: whether none will follow.
  bool is_over();

 private:
  LogReading(Door& door, Disk& disk, LogAsk ask, MayRead may)
      : door_(door), ask_(std::move(ask)), may_(std::move(may)), merge_(disk, {}, ask_.since) {}
  Result<size_t> find(bool again);

  Door& door_;
  LogAsk ask_;
  MayRead may_;
  RealClock clock_;
  process::LogMerge merge_;
  std::map<std::string, std::string> labels_;  // of those that are read, by replica
  int64_t found_ns_ = 0;
};

// Reads until there is no more, `visit` is false or `stop` is true.
Result<void> read_logs_here(Door& door, Disk& disk, const LogAsk& ask, const VisitLine& visit,
                            const std::function<bool()>& stop, const MayRead& may = {});
Result<void> read_on(LogReading& reading, const VisitLine& visit, const std::function<bool()>& stop);

}  // namespace sluice::host
