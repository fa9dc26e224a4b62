// The time zones of this machine (tzdata, in TZif): how far a zone is from UTC at a moment.
//
//   TimeZones zones(disk);
//   auto zone = zones.find("Europe/Zurich");
//   int offset_s = (*zone)->offset_at(seconds);   // 3600 in winter
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace sluice {

class TimeZone {
 public:
  // `bytes` is a TZif file of version 2 or later.
  static Result<TimeZone> parse(std::string_view bytes);

  // Seconds east of UTC at a moment, in seconds since 1970.
  int32_t offset_at(int64_t seconds) const;

 private:
  // A day of the year on which the clocks change: "M3.2.0/2" is the second Sunday of March at two o'clock.
  struct Change {
    int month = 0, week = 0, weekday = 0;
    int32_t time_s = 7200;
  };
  // What holds after the last change that the file lists.
  struct Rule {
    int32_t standard_s = 0;
    int32_t summer_s = 0;
    bool has_summer = false;
    Change to_summer, to_standard;
  };

  static bool parse_change(std::string_view& text, Change& change);
  static Result<Rule> parse_rule(std::string_view text);
  static int64_t moment_of(const Change& change, int64_t year, int32_t offset_s);
  int32_t offset_by_rule(int64_t seconds) const;

  std::vector<int64_t> changes_;  // in seconds since 1970, rising
  std::vector<int32_t> offsets_;  // one more than changes: before the first, and from each on
  Rule rule_;
  bool has_rule_ = false;
};

// Reads each zone once. May be used from many threads.
class TimeZones {
 public:
  explicit TimeZones(Disk& disk, std::string folder = "/usr/share/zoneinfo")
      : disk_(disk), folder_(std::move(folder)) {}

  // `not_found` for a name that no zone has; `unavailable` if this machine has no zones at all.
  Result<const TimeZone*> find(std::string_view name) const;

 private:
  Disk& disk_;
  std::string folder_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<TimeZone>, std::less<>> read_;
};

}  // namespace sluice
