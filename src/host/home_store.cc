// The lock is taken before the store is opened, so that whoever waits can be told for whom.
#include "host/home_store.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "engine/denial.h"
#include "engine/journal/audit.h"
#include "engine/rules/kept_set.h"
#include "host/caller.h"
#include "host/postgres_home.h"
#include "host/remote_door.h"
#include "http/socket.h"
#include "store/sqlite_store.h"
#include "store/store_copy.h"

namespace sluice::host {
namespace {

constexpr int64_t kSilentWait_ms = 1000;
constexpr int64_t kTryLock_ms = 100;
constexpr uint64_t kMostCopiedBytes = uint64_t{256} << 20;

bool is_unwritable(const Error& error) { return error.code == Code::denied || error.code == Code::limit; }

std::string name_of_holder(Disk& disk, const std::string& lock_path) {
  auto owner = read_lock_owner(disk, lock_path);
  return owner ? "pid " + std::to_string(owner->process.pid) + " on " + owner->host : std::string("another process");
}

Error serve_runs(Disk& disk, const std::string& lock_path) {
  auto owner = read_lock_owner(disk, lock_path);
  return {.code = Code::conflict,
          .message = "sluice serve runs already: " + name_of_holder(disk, lock_path) +
                     (owner ? ", since " + utc_text(owner->since_ms) : ""),
          .next = "sluice stop"};
}

// The lock. A `sluice serve` may begin or end while this one waits.
Result<LockFile> take_hold(const Opening& opening, Disk& disk, Clock& clock, const std::string& lock_path,
                           const std::string& socket, int64_t timeout_ms) {
  const int64_t begin_ns = clock.monotonic_ns();
  bool told = false;
  while (true) {
    if (http::connect_unix(socket)) return serve_runs(disk, lock_path);
    int64_t waited_ms = (clock.monotonic_ns() - begin_ns) / 1'000'000;
    int64_t left_ms = timeout_ms - waited_ms;
    auto lock = LockFile::acquire(disk, clock, lock_path, std::clamp<int64_t>(left_ms, 0, kTryLock_ms));
    if (lock) return lock;
    if (lock.error().code != Code::conflict || left_ms <= kTryLock_ms) return lock.error();
    if (told || waited_ms + kTryLock_ms < kSilentWait_ms) continue;
    told = true;
    opening.narrator.note("waiting for " + name_of_holder(disk, lock_path) + ", which has the store open");
  }
}

void record_denied(const Opening& opening, const Clock& clock, HomeStore& home) {
  auto done = engine::record_denial(*home.store, calling_user(), opening.purpose, clock, engine::this_boot(home.disk));
  if (!done) {
    opening.narrator.detail("the denial could not be recorded: " + to_string(done.error()));
  }
}

// Acts as a home's owner while it lives, so that what is written there is theirs. Only root can.
class ActingAs {
 public:
  explicit ActingAs(uid_t user) : done_(::seteuid(user) == 0) {}
  ~ActingAs() {
    if (::seteuid(before_) != 0) std::abort();
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

  bool done() const { return done_; }

 private:
  const uid_t before_ = ::geteuid();
  const bool done_;
};

// Somebody else's home that can be reached all the same, which only root can: the journal there says so. None if it is
// the caller's own, or nothing can be written down.
std::optional<Error> refuse_stranger(const Opening& opening, Clock& clock, const Home& home) {
  auto stat = opening.disk.stat(home.root().string(), FollowLinks::no);
  bool reaches = ::geteuid() == 0 && stat && stat->kind == FileKind::folder && stat->owner != 0;
  if (!reaches) return std::nullopt;
  std::string socket = socket_of(home);
  if (http::connect_unix(socket)) {
    auto door = RemoteDoor::open(socket, clock, {.purpose = opening.purpose});
    if (door) (void)(*door)->view("flows");  // is denied there, and recorded
    return may_not_run(opening);
  }
  ActingAs owner(stat->owner);
  if (!owner.done()) return std::nullopt;
  auto opened = open_home_store(opening, clock, {.only_read = true});
  if (!opened || !*opened) return std::nullopt;
  record_denied(opening, clock, **opened);
  return may_not_run(opening);
}

}  // namespace

std::string socket_of(const Home& home) { return (home.root() / "run" / "sluice.sock").string(); }

Result<std::unique_ptr<HomeStore>> open_home_store(const Opening& opening, Clock& clock, const StoreAccess& access) {
  if (opening.server) {
    return Error{.code = Code::usage,
                 .message = "sluice " + opening.purpose + " works on this machine's home alone, and commands go to " +
                            opening.server->url + " now; nothing was done",
                 .next = "sluice context use local"};
  }
  const Home* home = &opening.home;
  if (auto refused = refuse_stranger(opening, clock, *home)) return *refused;
  auto folder = access.make == MakeStore::yes ? home->folder("store") : home->check("store");
  if (!folder) return folder.error();
  auto keys = home->check("keys");
  if (!keys) return keys.error();
  auto opened = std::unique_ptr<HomeStore>(new HomeStore{.disk = opening.disk});
  if (opening.store) {
    auto trusted = home->ensure();
    if (!trusted) return trusted.error();
  } else if (auto elsewhere = read_postgres_home(opening.disk, *home); !elsewhere || *elsewhere) {
    return elsewhere ? store_is_elsewhere() : elsewhere.error();
  }
  std::string path = (*folder / "store.db").string();
  opened->heads_path = (*folder / "audit.heads").string();
  opened->operator_key_path = (*keys / "operator.pem").string();
  auto exists = opened->disk.exists(path);
  if (!exists) return exists.error();
  if (*exists && opening.store) return has_a_store_of_its_own(path);
  if (!*exists && !opening.store) {
    // A store that is gone must not look like one that never was.
    auto heads = engine::read_heads(opened->disk, opened->heads_path);
    if (!heads) return heads.error();
    if (!heads->heads.empty()) {
      return Error{.code = Code::verification_failed,
                   .message = "the store " + path + " is gone, but its journal was signed up to record " +
                              std::to_string(heads->heads.back().head.seq),
                   .next = "put the store back from a copy, or move " + opened->heads_path + " away to start over"};
    }
    if (access.make == MakeStore::no) return std::unique_ptr<HomeStore>();
  }
  opening.narrator.detail("store: " + (opening.store ? std::string("in PostgreSQL") : path));
  std::string socket = socket_of(*home);
  auto run = home->folder("run");
  auto hold_within = [&](int64_t timeout_ms) -> Result<LockFile> {
    if (!run) return run.error();
    return take_hold(opening, opened->disk, clock, (*run / "store.lock").string(), socket, timeout_ms);
  };
  auto stat = opened->disk.stat(home->root().string(), FollowLinks::no);
  if (!stat) return stat.error();
  opened->owner = name_of_user(stat->owner);
  // Who is denied leaves a record, for which the store itself is needed.
  const bool as_copy = access.only_read && access.as_copy && opened->owner == calling_user();
  const int64_t patience_ms = opening.lock_timeout_ms;
  auto take = [&]() -> Result<LockFile> {
    if (!as_copy) return hold_within(patience_ms);
    auto hold = hold_within(0);
    if (hold || hold.error().code != Code::conflict || http::connect_unix(socket)) return hold;
    auto copy = store::copy_store(opened->disk, path, kMostCopiedBytes);
    if (!copy) return hold_within(patience_ms);
    opening.narrator.detail("a copy of the store is read: " + hold.error().message);
    opened->overlay = *std::move(copy);
    return hold;
  };
  auto hold = take();
  if (!hold && !opened->overlay) {
    if (!is_unwritable(hold.error())) return hold.error();
    if (!access.only_read) {
      Error error = hold.error();
      error.message += "; nothing was changed";
      return error;
    }
    opening.narrator.detail("the home cannot be written, so it is only read: " + hold.error().message);
    opened->overlay = std::make_unique<store::OverlayDisk>(opened->disk);
  }
  if (hold) opened->lock.emplace(*std::move(hold));
  if (opening.store) {
    if (auto done = open_postgres_home(opening, clock, *opened, access.older); !done) return done.error();
    return opened;
  }
  Disk& disk = opened->overlay ? static_cast<Disk&>(*opened->overlay) : opened->disk;
  store::SqliteOptions options;
  options.older = access.older;
  auto store = store::SqliteStore::open(disk, path, options);
  if (!store && access.only_read && !opened->overlay && is_unwritable(store.error())) {
    // What was left to be moved from the log into the tables finds no room there.
    opening.narrator.detail("the store cannot be written, so it is only read: " + store.error().message);
    opened->overlay = std::make_unique<store::OverlayDisk>(opened->disk);
    store = store::SqliteStore::open(*opened->overlay, path, options);
  }
  if (!store) return store.error();
  opened->format = store->get();
  opened->store = *std::move(store);
  return opened;
}

std::string calling_user() { return name_of_user(::getuid()); }

Result<std::unique_ptr<HomeStore>> open_for_reading(const Opening& opening, Clock& clock, bool as_copy) {
  auto opened = open_home_store(opening, clock, {.only_read = true, .as_copy = as_copy});
  if (!opened || !*opened || (*opened)->owner == calling_user()) return opened;
  record_denied(opening, clock, **opened);
  return may_not_run(opening);
}

Result<std::string> kit_of_flow(store::Snapshot& snapshot, const std::string& sync_set) {
  auto kit = engine::kit_of_set(snapshot, sync_set);
  if (!kit || !kit->empty()) return kit;
  auto last = snapshot.meta(kKitMeta);
  if (!last) return last.error();
  return last->value_or("");
}

Error may_not_run(const Opening& opening) {
  return {.code = Code::denied,
          .message = calling_user() + " may not run sluice " + opening.purpose + " on this home",
          .next = "ask the owner of this home, who is its admin"};
}

Error nothing_has_run() {
  return {.code = Code::not_found, .message = "nothing has run here yet", .next = "sluice kit run FOLDER"};
}

}  // namespace sluice::host
