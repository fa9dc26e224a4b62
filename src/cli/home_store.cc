// The lock is taken before the store is opened, so that whoever waits can be told for whom.
#include "cli/home_store.h"

#include <unistd.h>

#include <algorithm>

#include "cli/home.h"
#include "engine/audit.h"
#include "engine/denial.h"

namespace sluice::cli {
namespace {

constexpr int64_t kSilentWait_ms = 1000;

std::string name_of_user(uint32_t uid) { return "uid:" + std::to_string(uid); }

Result<LockFile> wait_for_lock(const Context& context, Disk& disk, Clock& clock, const std::string& path) {
  int64_t timeout_ms = context.given.number("lock-timeout").value_or(0);
  auto lock = LockFile::acquire(disk, clock, path, std::min(timeout_ms, kSilentWait_ms));
  if (lock || lock.error().code != Code::conflict || timeout_ms <= kSilentWait_ms) return lock;
  auto owner = read_lock_owner(disk, path);
  context.output.note(
      "waiting for " +
      (owner ? "pid " + std::to_string(owner->process.pid) + " on " + owner->host : std::string("another process")) +
      ", which has the store open");
  return LockFile::acquire(disk, clock, path, timeout_ms - kSilentWait_ms);
}

}  // namespace

Option lock_timeout_option() {
  return {.name = "lock-timeout",
          .value = "TIME",
          .help = "how long to wait for another process that has the store open",
          .kind = Kind::duration,
          .fallback = "10s"};
}

Result<std::unique_ptr<HomeStore>> open_home_store(const Context& context, Clock& clock, MakeStore make,
                                                   bool unwritable) {
  auto home = find_home(context.disk, context.variables);
  if (!home) return home.error();
  auto folder = make == MakeStore::yes ? home->folder("store") : home->check("store");
  if (!folder) return folder.error();
  auto keys = home->check("keys");
  if (!keys) return keys.error();
  auto opened = std::unique_ptr<HomeStore>(new HomeStore{.disk = context.disk});
  std::string path = (*folder / "store.db").string();
  opened->heads_path = (*folder / "audit.heads").string();
  opened->operator_key_path = (*keys / "operator.pem").string();
  auto exists = opened->disk.exists(path);
  if (!exists) return exists.error();
  if (!*exists) {
    // A store that is gone must not look like one that never was.
    auto heads = engine::read_heads(opened->disk, opened->heads_path);
    if (!heads) return heads.error();
    if (!heads->heads.empty()) {
      return Error{.code = Code::verification_failed,
                   .message = "the store " + path + " is gone, but its journal was signed up to record " +
                              std::to_string(heads->heads.back().head.seq),
                   .next = "put the store back from a copy, or move " + opened->heads_path + " away to begin anew"};
    }
    if (make == MakeStore::no) return std::unique_ptr<HomeStore>();
  }
  context.output.detail("store: " + path);
  auto run = home->folder("run");
  auto lock =
      run ? wait_for_lock(context, opened->disk, clock, (*run / "store.lock").string()) : Result<LockFile>(run.error());
  if (lock) {
    opened->lock.emplace(*std::move(lock));
  } else if (unwritable && (lock.error().code == Code::denied || lock.error().code == Code::limit)) {
    context.output.detail("the home cannot be written, so it is only read: " + lock.error().message);
    opened->overlay = std::make_unique<store::OverlayDisk>(opened->disk);
  } else {
    return lock.error();
  }
  Disk& disk = opened->overlay ? static_cast<Disk&>(*opened->overlay) : opened->disk;
  auto store = store::SqliteStore::open(disk, path);
  if (!store) return store.error();
  opened->store = *std::move(store);
  auto stat = opened->disk.stat(home->root().string(), FollowLinks::no);
  if (!stat) return stat.error();
  opened->owner = name_of_user(stat->owner);
  return opened;
}

std::string calling_user() { return name_of_user(::getuid()); }

Result<std::unique_ptr<HomeStore>> open_for_reading(const Context& context, Clock& clock) {
  auto opened = open_home_store(context, clock, MakeStore::no, true);
  if (!opened || !*opened || (*opened)->owner == calling_user()) return opened;
  std::string command = context.given.command->name;
  if (auto recorded = engine::record_denial(*(*opened)->store, calling_user(), command, clock.wall_ms()); !recorded) {
    context.output.detail("the denial could not be recorded: " + to_string(recorded.error()));
  }
  return Error{.code = Code::denied,
               .message = calling_user() + " may not run sluice " + command + " on this home",
               .next = "ask the owner of this home, who is its admin"};
}

Error nothing_has_run() {
  return {.code = Code::not_found, .message = "nothing has run here yet", .next = "sluice kit run FOLDER"};
}

}  // namespace sluice::cli
