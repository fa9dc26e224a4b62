// What a replica says, in files that its supervisor turns over: replica.log is being written, replica.log.1 was before
// it, and so on. A line is
//
//   2026-03-01T09:30:00.125Z out listening on 8080
//
// with `out` or `err` for the program's own streams and `sluice` for what its supervisor did. `out+` and `err+` are the
// parts of a line that goes on in the next record; `out~` and `err~` are what a program says of a health check. When
// the disk takes no more, what is said then is lost and counted, and the program goes on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "process/system.h"
#include "process/workload.h"

namespace sluice::process {

inline constexpr std::string_view kLogName = "replica.log";

enum class Stream { out, err };

class ReplicaLog {
 public:
  ReplicaLog(std::string folder, LogLimits limits, const Clock& clock);

  void add(Stream stream, std::string_view bytes);
  // A stream has ended: what it said without an end of line is a line.
  void end_line(Stream stream);
  void note(std::string_view text);
  // A health check asks for this path. Lines that tell of such a request are marked: all of them, but of "/", which
  // visitors ask for as well, one for each stream and check.
  void expect_check(std::string_view path);

 private:
  bool is_of_check(Stream stream, std::string_view text);
  void record(std::string_view tag, std::string_view text);
  void write();
  bool turn_over();

  std::string folder_;
  LogLimits limits_;
  const Clock& clock_;
  Descriptor file_;
  uint64_t size_ = 0;
  std::array<std::string, 2> parts_;  // by stream: the beginning of a line
  std::string records_;               // not written yet
  uint64_t lost_ = 0;
  std::string check_path_;
  std::array<bool, 2> check_awaited_{};  // by stream
};

struct LogLine {
  std::string time;    // "2026-03-01T09:30:00.125Z"; lines sort by it
  std::string stream;  // "out", "err" or "sluice"
  std::string text;
  bool goes_on = false;
  bool of_check = false;  // it tells of a health check

  bool operator==(const LogLine&) const = default;
};
std::optional<LogLine> parse_log_line(std::string_view line);

// The last lines of a replica's log, from all of its files, at most so many bytes of them.
Result<std::vector<LogLine>> last_log_lines(Disk& disk, const std::string& folder, size_t most_lines,
                                            size_t most_bytes = 256 << 10);

}  // namespace sluice::process
