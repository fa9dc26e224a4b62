// Reads the logs of replicas from their beginning to what is being written, as one stream in the order of time.
//
//   LogMerge merge(disk, {{"web.0", folder0}, {"web.1", folder1}}, since);
//   while (auto line = merge.next()) … line->replica, line->line.text …      // nothing: for now there is no more
//
// A reader follows the file that it is in when that is turned over, so nothing is left out and nothing comes twice.
// What was dropped because the log was full before it was read is said in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "process/replica_log.h"

namespace sluice::process {

// One replica's log.
class LogReader {
 public:
  LogReader(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  // The next line, or nothing if there is none yet.
  Result<std::optional<LogLine>> next();
  // Whether the log is gone, with its replica; asked when there is nothing more.
  bool gone() const { return gone_; }

 private:
  struct Following {
    uint64_t inode = 0;
    std::string path;
    bool dropped = false;  // others that came before it are gone
  };
  Result<std::optional<Following>> following();
  Result<bool> open(const Following& next);
  Result<bool> fill();
  Result<std::vector<std::pair<uint64_t, std::string>>> files() const;

  Disk& disk_;
  std::string folder_;
  std::unique_ptr<File> file_;
  uint64_t inode_ = 0;
  uint64_t at_ = 0;      // how far the file was read
  std::string pending_;  // what was read and not given out yet
  size_t begin_ = 0;     // of it
  bool gone_ = false;
};

struct ReplicaLine {
  std::string replica;
  LogLine line;
};

class LogMerge {
 public:
  struct Source {
    std::string replica;
    std::string folder;
  };

  // Lines before the time `since` ("2026-03-01T09:30:00.125Z") are left out; "" for all.
  LogMerge(Disk& disk, const std::vector<Source>& sources, std::string since = "");

  // One that came later. It is read from its beginning.
  void add(const Source& source);
  Result<std::optional<ReplicaLine>> next();
  // Whether all logs are gone.
  bool gone() const;

 private:
  struct Head {
    std::string replica;
    LogReader reader;
    std::optional<LogLine> line;
  };

  Disk& disk_;
  std::vector<Head> heads_;
  std::string since_;
};

}  // namespace sluice::process
