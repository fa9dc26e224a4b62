// TZif as RFC 8536 has it: the list of changes, and the rule for what comes after them.
#include "base/time_zone.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/ascii.h"

namespace sluice {
namespace {

constexpr size_t kMaxFile = 1 << 20;
constexpr size_t kHeader = 44;

Error damaged() { return {.code = Code::invalid, .message = "this is no time zone file (TZif, version 2 or later)"}; }

int64_t big_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char each : bytes) value = value << 8 | static_cast<unsigned char>(each);
  if (bytes.size() == 4) return static_cast<int32_t>(static_cast<uint32_t>(value));
  return static_cast<int64_t>(value);
}

struct Counts {
  size_t utc_marks, standard_marks, leaps, changes, types, letters;

  size_t bytes(size_t time) const {
    return changes * (time + 1) + types * 6 + letters + leaps * (time + 4) + standard_marks + utc_marks;
  }
};

bool read_counts(std::string_view header, Counts& counts) {
  if (header.size() < kHeader || header.substr(0, 4) != "TZif" || header[4] < '2') return false;
  size_t* const fields[] = {&counts.utc_marks, &counts.standard_marks, &counts.leaps,
                            &counts.changes,   &counts.types,          &counts.letters};
  for (size_t index = 0; index < 6; ++index) {
    const auto count = big_endian(header.substr(20 + index * 4, 4));
    if (count < 0 || count > static_cast<int64_t>(kMaxFile)) return false;
    *fields[index] = static_cast<size_t>(count);
  }
  return true;
}

bool take_number(std::string_view& text, int& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return true;
}

// "5", "-3:30", "+5:45:00": hours that may have a sign, minutes, seconds.
bool take_time(std::string_view& text, int32_t& seconds) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int32_t total = 0;
  int part = 0;
  for (const int32_t unit : {3600, 60, 1}) {
    if (!take_number(text, part) || part < 0 || part > 167) return false;
    total += part * unit;
    if (!text.starts_with(':')) break;
    text.remove_prefix(1);
  }
  seconds = negative ? -total : total;
  return true;
}

bool take_name(std::string_view& text) {
  if (text.starts_with('<')) {
    const auto end = text.find('>');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
    return true;
  }
  const auto letters = std::find_if_not(text.begin(), text.end(), is_letter) - text.begin();
  text.remove_prefix(static_cast<size_t>(letters));
  return letters >= 3;
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view bytes) {
  Counts old{}, counts{};
  if (!read_counts(bytes, old) || bytes.size() < kHeader + old.bytes(4)) return damaged();
  bytes.remove_prefix(kHeader + old.bytes(4));
  if (!read_counts(bytes, counts) || bytes.size() < kHeader + counts.bytes(8) || counts.types == 0) return damaged();
  bytes.remove_prefix(kHeader);

  const auto times = bytes.substr(0, counts.changes * 8);
  const auto kinds = bytes.substr(times.size(), counts.changes);
  const auto types = bytes.substr(times.size() + kinds.size(), counts.types * 6);
  const auto offset_of = [&](size_t type) { return static_cast<int32_t>(big_endian(types.substr(type * 6, 4))); };

  TimeZone zone;
  zone.offsets_.push_back(offset_of(0));
  for (size_t index = 0; index < counts.changes; ++index) {
    const auto type = static_cast<unsigned char>(kinds[index]);
    if (type >= counts.types) return damaged();
    zone.changes_.push_back(big_endian(times.substr(index * 8, 8)));
    zone.offsets_.push_back(offset_of(type));
  }
  if (!std::is_sorted(zone.changes_.begin(), zone.changes_.end())) return damaged();

  bytes.remove_prefix(counts.bytes(8));
  if (bytes.size() > 2 && bytes.front() == '\n' && bytes.back() == '\n') {
    auto rule = parse_rule(bytes.substr(1, bytes.size() - 2));
    if (!rule) return rule.error();
    zone.rule_ = *rule;
    zone.has_rule_ = true;
  }
  return zone;
}

bool TimeZone::parse_change(std::string_view& text, Change& change) {
  if (!text.starts_with(",M")) return false;
  text.remove_prefix(2);
  if (!take_number(text, change.month) || !text.starts_with('.')) return false;
  text.remove_prefix(1);
  if (!take_number(text, change.week) || !text.starts_with('.')) return false;
  text.remove_prefix(1);
  if (!take_number(text, change.weekday)) return false;
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    if (!take_time(text, change.time_s)) return false;
  }
  return change.month >= 1 && change.month <= 12 && change.week >= 1 && change.week <= 5 && change.weekday >= 0 &&
         change.weekday <= 6;
}

// "CET-1CEST,M3.5.0,M10.5.0/3": hours west of UTC, and when summer time begins and ends.
Result<TimeZone::Rule> TimeZone::parse_rule(std::string_view text) {
  Rule rule;
  if (!take_name(text) || !take_time(text, rule.standard_s)) return damaged();
  rule.standard_s = -rule.standard_s;
  if (text.empty()) return rule;
  rule.has_summer = true;
  rule.summer_s = rule.standard_s + 3600;
  if (!take_name(text)) return damaged();
  if (!text.starts_with(',')) {
    if (!take_time(text, rule.summer_s)) return damaged();
    rule.summer_s = -rule.summer_s;
  }
  if (!parse_change(text, rule.to_summer) || !parse_change(text, rule.to_standard) || !text.empty()) return damaged();
  return rule;
}

int64_t TimeZone::moment_of(const Change& change, int64_t year, int32_t offset_s) {
  using namespace std::chrono;
  const auto month_of_year = std::chrono::year(static_cast<int>(year)) / month(static_cast<unsigned>(change.month));
  const weekday wanted(static_cast<unsigned>(change.weekday));
  const auto day = change.week == 5 ? sys_days(month_of_year / wanted[last])
                                    : sys_days(month_of_year / wanted[static_cast<unsigned>(change.week)]);
  return duration_cast<seconds>(day.time_since_epoch()).count() + change.time_s - offset_s;
}

int32_t TimeZone::offset_by_rule(int64_t seconds) const {
  if (!rule_.has_summer) return rule_.standard_s;
  using namespace std::chrono;
  const sys_days day{floor<days>(std::chrono::seconds(seconds + rule_.standard_s))};
  const auto year = static_cast<int>(year_month_day(day).year());
  const auto begins = moment_of(rule_.to_summer, year, rule_.standard_s);
  const auto ends = moment_of(rule_.to_standard, year, rule_.summer_s);
  const bool summer = begins < ends ? seconds >= begins && seconds < ends : seconds >= begins || seconds < ends;
  return summer ? rule_.summer_s : rule_.standard_s;
}

int32_t TimeZone::offset_at(int64_t seconds) const {
  if (has_rule_ && (changes_.empty() || seconds >= changes_.back())) return offset_by_rule(seconds);
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), seconds) - changes_.begin();
  return offsets_[static_cast<size_t>(after)];
}

Result<const TimeZone*> TimeZones::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (const auto known = read_.find(name); known != read_.end()) return known->second.get();
  // Zones lead to each other by symlinks, so what keeps a name inside the folder is what it may consist of.
  const bool plain = !name.empty() && name.front() != '/' && std::all_of(name.begin(), name.end(), [](char each) {
    return is_letter(each) || is_digit(each) || each == '_' || each == '-' || each == '+' || each == '/';
  });
  const Error unknown{.code = Code::not_found, .message = "there is no time zone '" + std::string(name) + "'"};
  if (!plain) return unknown;
  auto file = disk_.open(folder_ + "/" + std::string(name), {});
  if (!file) {
    if (disk_.stat(folder_, FollowLinks::yes)) return unknown;
    return Error{.code = Code::unavailable,
                 .message = "this machine has no time zones",
                 .next = "install the package tzdata, or give the zone as +01:00"};
  }
  std::string bytes(kMaxFile, '\0');
  auto size = (*file)->read_at(0, bytes);
  if (!size) return size.error();
  auto zone = TimeZone::parse(std::string_view(bytes).substr(0, *size));
  if (!zone) return zone.error();
  return read_.emplace(name, std::make_unique<TimeZone>(std::move(*zone))).first->second.get();
}

}  // namespace sluice
