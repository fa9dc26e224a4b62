// The record is one line of JSON: {"pid":812,"start_ticks":90210,"boot":"…","host":"mill","since_ms":…,"since":"…"}.
#include "base/lock_file.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/atomic_file.h"

namespace sluice {
namespace {

namespace json = boost::json;

constexpr size_t kMaxRecordBytes = 4096;
constexpr int64_t kPollMs = 10;

std::string record_of(const LockOwner& owner) {
  json::object record{{"pid", owner.process.pid},   {"start_ticks", owner.process.start_ticks},
                      {"boot", owner.process.boot}, {"host", owner.host},
                      {"since_ms", owner.since_ms}, {"since", utc_text(owner.since_ms)}};
  return json::serialize(record) + "\n";
}

std::optional<LockOwner> parse_record(const std::string& text) {
  boost::system::error_code failure;
  json::value record = json::parse(text, failure);
  const json::object* fields = failure ? nullptr : record.if_object();
  if (fields == nullptr) return std::nullopt;
  auto number = [&](std::string_view name) -> std::optional<int64_t> {
    const json::value* value = fields->if_contains(name);
    if (value == nullptr || !value->is_int64()) return std::nullopt;
    return value->get_int64();
  };
  auto string = [&](std::string_view name) -> std::optional<std::string> {
    const json::value* value = fields->if_contains(name);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return std::string(value->get_string());
  };
  auto pid = number("pid");
  auto start_ticks = number("start_ticks");
  auto boot = string("boot");
  auto host = string("host");
  auto since_ms = number("since_ms");
  if (!pid || *pid <= 0 || *pid > INT32_MAX || !start_ticks || !boot || !host || !since_ms) return std::nullopt;
  return LockOwner{
      .process = {.pid = static_cast<int>(*pid), .start_ticks = static_cast<uint64_t>(*start_ticks), .boot = *boot},
      .host = *host,
      .since_ms = *since_ms};
}

std::string age_text(int64_t age_ms) {
  age_ms = std::max<int64_t>(age_ms, 0);  // the clock was set back meanwhile
  if (age_ms < 1'000) return std::to_string(age_ms) + " ms";
  if (age_ms < 120'000) return std::to_string(age_ms / 1'000) + " s";
  if (age_ms < 7'200'000) return std::to_string(age_ms / 60'000) + " min";
  return std::to_string(age_ms / 3'600'000) + " h";
}

Error held_error(const std::string& path, const std::optional<LockOwner>& owner, int64_t now_ms) {
  if (!owner) {
    return {.code = Code::conflict,
            .message = path + " is locked by another process, which has not said which",
            .next = "find it with: fuser " + path};
  }
  const std::string pid = std::to_string(owner->process.pid);
  std::string who = "pid " + pid + " on " + owner->host;
  Error error{.code = Code::conflict,
              .message = path + " is locked by " + who + " since " + utc_text(owner->since_ms) + " (" +
                         age_text(now_ms - owner->since_ms) + ")",
              .next = "wait until " + who + " ends, or stop it, then run the command again"};
  if (owner->host != host_name()) return error;
  if (auto running = is_running(owner->process); running && !*running) {
    error.message += "; that process is gone, but one that it left behind still holds the lock";
    error.next = "find it with: fuser " + path;
  }
  return error;
}

Result<void> write_record(File& file, const LockOwner& owner) {
  if (auto emptied = file.truncate(0); !emptied) return emptied;
  return file.write_at(0, record_of(owner));
}

// Whether the name still leads to the file that was locked: somebody may have removed it meanwhile.
Result<bool> still_named(Disk& disk, File& file, const std::string& path) {
  auto locked = file.stat();
  if (!locked) return locked.error();
  auto named = disk.stat(path, FollowLinks::no);
  if (named) return named->inode == locked->inode;
  if (named.error().code == Code::not_found) return false;
  return named.error();
}

}  // namespace

std::optional<LockOwner> read_lock_owner(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, kMaxRecordBytes);
  return text ? parse_record(*text) : std::nullopt;
}

Result<LockFile> LockFile::acquire(Disk& disk, Clock& clock, const std::string& path, int64_t wait_ms) {
  auto self = identify_this_process();
  if (!self) return self.error();
  const int64_t begin_ns = clock.monotonic_ns();
  for (;;) {
    auto file = disk.open(path, {.write = true, .create = true, .follow = false, .mode = 0600});
    if (!file) return file.error();
    auto locked = (*file)->lock(FileLock::exclusive);
    if (!locked) return locked.error();
    if (*locked) {
      auto named = still_named(disk, **file, path);
      if (!named) return named.error();
      if (!*named) continue;
      auto before = read_lock_owner(disk, path);
      LockOwner owner{.process = *self, .host = host_name(), .since_ms = clock.wall_ms()};
      if (auto written = write_record(**file, owner); !written) return written.error();
      return LockFile(*std::move(file), std::move(before));
    }
    const int64_t left_ms = wait_ms - (clock.monotonic_ns() - begin_ns) / 1'000'000;
    if (left_ms <= 0) return held_error(path, read_lock_owner(disk, path), clock.wall_ms());
    clock.sleep_ms(std::min(left_ms, kPollMs));
  }
}

LockFile::LockFile(std::unique_ptr<File> file, std::optional<LockOwner> taken_over_from)
    : file_(std::move(file)), pid_(::getpid()), taken_over_from_(std::move(taken_over_from)) {}

// A forked child that inherited the lock must not give it back for its parent; closing its copy is enough.
LockFile::~LockFile() {
  if (!file_ || ::getpid() != pid_) return;
  (void)file_->truncate(0);
  (void)file_->lock(FileLock::none);
}

}  // namespace sluice
