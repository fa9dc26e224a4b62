// The lock is taken before the store is opened, so that whoever waits can be told for whom.
#include "cli/home_store.h"

#include <algorithm>

#include "cli/home.h"
#include "engine/audit.h"

namespace sluice::cli {
namespace {

constexpr int64_t kSilentWait_ms = 1000;

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

Result<std::unique_ptr<HomeStore>> open_home_store(const Context& context, Clock& clock, MakeStore make) {
  auto home = find_home(context.variables);
  if (!home) return home.error();
  auto folder = make == MakeStore::yes ? home->folder("store") : home->check("store");
  if (!folder) return folder.error();
  auto keys = home->check("keys");
  if (!keys) return keys.error();
  auto opened = std::make_unique<HomeStore>();
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
  if (!run) return run.error();
  auto lock = wait_for_lock(context, opened->disk, clock, (*run / "store.lock").string());
  if (!lock) return lock.error();
  opened->lock.emplace(*std::move(lock));
  auto store = store::SqliteStore::open(opened->disk, path);
  if (!store) return store.error();
  opened->store = *std::move(store);
  return opened;
}

Error nothing_has_run() {
  return {.code = Code::not_found, .message = "nothing has run here yet", .next = "sluice kit run FOLDER"};
}

}  // namespace sluice::cli
