// One connection commits, one makes checkpoints, and a few that come and go serve snapshots.
#include "store/sqlite_store.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "store/batch_faults.h"
#include "store/sqlite_connection.h"
#include "store/sqlite_snapshot.h"

namespace sluice::store {
namespace {

constexpr size_t kIdleReaders = 8;                // kept for the next snapshots
constexpr uint64_t kCheckedWholeBytes = 2 << 20;  // 3 ms; a larger one is checked page by page, as it is read

// The writer's pages need not be read again after each checkpoint's worth of steps; the memory is taken as it is
// needed.
constexpr const char* kWriterCache = "PRAGMA cache_size = -65536";  // kB

constexpr const char* kPutJournal = "INSERT INTO journal (seq, flow, prev, record) VALUES (?, ?, ?, ?)";
constexpr const char* kPutState =
    "INSERT OR REPLACE INTO state (rel, key, generation, seq, value) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kEraseState = "DELETE FROM state WHERE rel = ? AND key = ?";
constexpr const char* kPutLookup = "INSERT OR IGNORE INTO lookup (rel, field, value, key) VALUES (?, ?, ?, ?)";
constexpr const char* kEraseLookup = "DELETE FROM lookup WHERE rel = ? AND field = ? AND value = ? AND key = ?";
constexpr const char* kPutFlow =
    "INSERT INTO flow (id, head, status, sync_set, settled_at_ms, summary) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET head = excluded.head, status = excluded.status, sync_set = excluded.sync_set, "
    "settled_at_ms = excluded.settled_at_ms, summary = excluded.summary";
constexpr const char* kPutHead = "UPDATE flow SET head = ? WHERE id = ?";
constexpr const char* kPutTimer = "INSERT OR REPLACE INTO timer (invocation, flow, due_ms) VALUES (?, ?, ?)";
constexpr const char* kEraseTimer = "DELETE FROM timer WHERE invocation = ?";
constexpr const char* kPutKey =
    "INSERT OR REPLACE INTO idempotency_key (caller, key, request_hash, flow, invocation, expires_ms) "
    "VALUES (?, ?, ?, ?, ?, ?)";
constexpr const char* kPutSyncSet = "INSERT OR REPLACE INTO sync_set (hash, content) VALUES (?, ?)";
constexpr const char* kPutMeta = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)";
constexpr const char* kPackRecord =
    "UPDATE journal SET record = NULL, packed_hash = ? WHERE seq = ? AND flow = ? RETURNING prev";
constexpr const char* kPackFlow = "UPDATE flow SET packed = 1 WHERE id = ?";
constexpr const char* kPutPacked = "INSERT INTO packed (flow, blob) VALUES (?, ?)";
constexpr const char* kForgetKeys = "DELETE FROM idempotency_key WHERE expires_ms < ?";
constexpr const char* kForgetSyncSet =
    "DELETE FROM sync_set WHERE hash = ? "
    "AND NOT EXISTS (SELECT 1 FROM flow WHERE status < 3 AND flow.sync_set = sync_set.hash)";

// Runs the statement once for each row, with what `bind` gives it of the row.
template <typename Row, typename Bind>
Result<void> run_each(Connection& connection, const char* sql, const std::vector<Row>& rows, Bind bind) {
  if (rows.empty()) return {};
  auto statement = connection.prepared(sql);
  if (!statement) return statement.error();
  for (const Row& row : rows) {
    bind(*statement, row);
    if (auto done = statement->run(); !done) return done;
  }
  return {};
}

Result<void> write_journal(Connection& connection, const Batch& batch) {
  return run_each(connection, kPutJournal, batch.journal, [](Statement& to, const JournalRow& row) {
    to.bind(row.seq).bind(row.flow).bind(row.prev).bind(row.record);
  });
}

Result<void> write_state(Connection& connection, const Batch& batch) {
  if (batch.state.empty()) return {};
  auto put = connection.prepared(kPutState);
  if (!put) return put.error();
  auto erase = connection.prepared(kEraseState);
  if (!erase) return erase.error();
  for (const StateChange& change : batch.state) {
    Statement& statement = change.value ? *put : *erase;
    statement.bind(change.rel).bind(change.key);
    if (change.value) statement.bind(change.generation).bind(change.seq).bind(*change.value);
    if (auto done = statement.run(); !done) return done;
  }
  return {};
}

Result<void> write_lookups(Connection& connection, const Batch& batch) {
  if (batch.lookups.empty()) return {};
  auto put = connection.prepared(kPutLookup);
  if (!put) return put.error();
  auto erase = connection.prepared(kEraseLookup);
  if (!erase) return erase.error();
  for (const LookupChange& change : batch.lookups) {
    Statement& statement = change.present ? *put : *erase;
    statement.bind(change.rel).bind(change.field).bind(change.value).bind(change.key);
    if (auto done = statement.run(); !done) return done;
  }
  return {};
}

Result<void> write_flows(Connection& connection, const Batch& batch) {
  return run_each(connection, kPutFlow, batch.flows, [](Statement& to, const FlowRow& flow) {
    to.bind(flow.id).bind(flow.head).bind(static_cast<int64_t>(flow.status));
    to.bind(flow.sync_set).bind(flow.settled_at_ms).bind(flow.summary);
  });
}

Result<void> write_heads(Connection& connection, const Batch& batch) {
  return run_each(connection, kPutHead, batch.heads,
                  [](Statement& to, const FlowHead& flow) { to.bind(flow.head).bind(flow.id); });
}

Result<void> write_timers(Connection& connection, const Batch& batch) {
  auto set = run_each(connection, kPutTimer, batch.timers, [](Statement& to, const TimerRow& timer) {
    to.bind(timer.invocation).bind(timer.flow).bind(timer.due_ms);
  });
  if (!set) return set;
  return run_each(connection, kEraseTimer, batch.timers_done,
                  [](Statement& to, const Ulid& invocation) { to.bind(invocation); });
}

Result<void> write_keys(Connection& connection, const Batch& batch) {
  return run_each(connection, kPutKey, batch.keys, [](Statement& to, const KeyRow& key) {
    to.bind(key.caller).bind(key.key).bind(key.request_hash);
    to.bind(key.flow).bind(key.invocation).bind(key.expires_ms);
  });
}

Result<void> write_names(Connection& connection, const Batch& batch) {
  auto bind = [](Statement& to, const std::pair<std::string, std::string>& pair) {
    to.bind(pair.first).bind(pair.second);
  };
  if (auto done = run_each(connection, kPutSyncSet, batch.sync_sets, bind); !done) return done;
  return run_each(connection, kPutMeta, batch.meta, bind);
}

Result<void> write_packed(Connection& connection, const Batch& batch) {
  for (const JournalRow& row : batch.journal) {
    if (!row.record.empty() || row.packed_hash.empty()) continue;
    auto pack = connection.prepared(kPackRecord);
    if (!pack) return pack.error();
    if (auto done = pack->bind(row.packed_hash).bind(row.seq).bind(row.flow).step(); !done) return done.error();
  }
  auto marked = run_each(connection, kPackFlow, batch.packed,
                         [](Statement& to, const std::pair<Ulid, std::string>& packed) { to.bind(packed.first); });
  if (!marked) return marked;
  return run_each(connection, kPutPacked, batch.packed, [](Statement& to, const std::pair<Ulid, std::string>& packed) {
    to.bind(packed.first).bind(packed.second);
  });
}

Result<void> write_batch(Connection& connection, const Batch& batch) {
  for (auto* write : {write_journal, write_state, write_lookups, write_flows, write_heads, write_timers, write_keys,
                      write_names, write_packed}) {
    if (auto done = write(connection, batch); !done) return done;
  }
  return {};
}

// The prev of the record, which gives way to its hash.
Result<uint64_t> pack_record(Connection& connection, const PackedFlow& packed, uint64_t seq, HashCheck& hashes) {
  auto hash = hashes.take(seq);
  if (!hash) return hash.error();
  auto statement = connection.prepared(kPackRecord);
  if (!statement) return statement.error();
  auto row = statement->bind(*hash).bind(seq).bind(packed.flow).step();
  if (!row) return row.error();
  if (!*row) return hashes.not_its_own(seq);
  return statement->count(0);
}

Result<void> pack_flow(Connection& connection, const PackedFlow& packed) {
  auto flow = read_flow(connection, packed.flow);
  if (!flow) return flow.error();
  if (auto packable = check_packable(packed.flow, *flow); !packable) return packable;
  HashCheck hashes(packed);
  for (uint64_t seq = (*flow)->head; seq != 0;) {
    auto prev = pack_record(connection, packed, seq, hashes);
    if (!prev) return prev.error();
    seq = *prev;
  }
  if (auto all = hashes.finish(); !all) return all;
  auto mark = connection.prepared(kPackFlow);
  if (!mark) return mark.error();
  if (auto marked = mark->bind(packed.flow).run(); !marked) return marked;
  auto put = connection.prepared(kPutPacked);
  if (!put) return put.error();
  return put->bind(packed.flow).bind(packed.blob).run();
}

// Takes the lock that keeps other processes, and other stores of this one, out.
Result<std::unique_ptr<File>> lock_store(Disk& disk, const std::string& path) {
  auto file = disk.open(path + ".lock", {.write = true, .create = true});
  if (!file) return file.error();
  auto locked = (*file)->lock(FileLock::exclusive);
  if (!locked) return locked.error();
  if (!*locked) {
    return Error{.code = Code::conflict,
                 .message = "the store " + path + " is open in another process",
                 .next = "use that process, or stop it first"};
  }
  return file;
}

Result<void> check_whole(Disk& disk, Connection& connection) {
  auto stat = disk.stat(connection.path(), FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->size > kCheckedWholeBytes) return {};
  auto statement = connection.prepared("PRAGMA quick_check(1)");
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  std::string verdict = *row ? statement->bytes(0) : "no answer";
  if (verdict == "ok") return {};
  // "*** in database main ***", then what is wrong.
  if (verdict.starts_with("***")) verdict.erase(0, verdict.find('\n') + 1);
  std::ranges::replace(verdict, '\n', ' ');
  return Error{.code = Code::invalid,
               .message = connection.path() + " is damaged: " + verdict,
               .next = "keep the file as it is and restore the newest backup"};
}

}  // namespace

struct SqliteStore::State {
  State(Disk& on, std::string at, SqliteOptions with)
      : disk(on), path(std::move(at)), options(std::move(with)), vfs(disk) {}

  Disk& disk;
  std::string path;
  SqliteOptions options;
  std::unique_ptr<File> lock;
  SqliteVfs vfs;

  std::mutex writing;  // of the writer and its position
  std::unique_ptr<Connection> writer;
  uint64_t position = 0;
  std::atomic<int> format = 0;

  std::mutex checkpointing;
  std::unique_ptr<Connection> checkpointer;

  std::mutex pooling;
  std::vector<std::unique_ptr<Connection>> idle_readers;

  std::mutex waking;  // of what tells the thread what to do
  std::condition_variable wake;
  uint64_t log_pages = 0;
  uint64_t tried_pages = 0;  // how long the log was at the last checkpoint; it need not have begun anew since
  bool ending = false;
  std::thread thread;

  Result<void> open() {
    auto version = stored_version(disk, path, options.schema);
    if (!version) return version.error();
    if (!*version) {
      if (auto made = create_database(disk, path, options.schema); !made) return made;
    }
    if (auto connected = connect(writer); !connected) return connected;
    if (auto set = writer->execute(kWriterCache); !set) return set;
    if (auto recovered = check_format(); !recovered) return recovered;
    if (auto connected = connect(checkpointer); !connected) return connected;
    // What the log holds may be in the system's memory alone if a sync failed before the last stop. Written to the
    // file anew and synced, it is on the disk before anything builds on it.
    if (auto copied = checkpoint(SQLITE_CHECKPOINT_TRUNCATE); !copied) return copied;
    auto found = read_position(*writer);
    if (!found) return found.error();
    position = *found;
    sqlite3_wal_hook(writer->raw(), log_grew, this);
    if (options.checkpoint_in_background) thread = std::thread([this] { run(); });
    return {};
  }

  Result<void> connect(std::unique_ptr<Connection>& to) {
    auto opened = Connection::open(vfs, path, Connection::Access::read_write);
    if (!opened) return opened.error();
    to = std::move(*opened);
    return {};
  }

  // The log may hold a newer version than the file's header.
  Result<void> check_format() {
    auto version = writer->query_integer("PRAGMA user_version");
    if (!version) return version.error();
    if (auto known = check_version(path, *version, options.schema); !known) return known;
    if (auto whole = check_whole(disk, *writer); !whole) return whole;
    format = static_cast<int>(*version);
    if (format == options.schema.version() || options.older == OlderFormat::kept) return {};
    return older_format(path, format, options.schema.version(), "sluice store upgrade");
  }

  static int log_grew(void* state, sqlite3*, const char*, int pages) {
    auto& self = *static_cast<State*>(state);
    std::lock_guard guard(self.waking);
    self.log_pages = static_cast<uint64_t>(pages);
    if (self.log_pages < self.tried_pages) self.tried_pages = 0;
    if (self.checkpoint_due()) self.wake.notify_one();
    return SQLITE_OK;
  }

  bool checkpoint_due() const { return log_pages >= tried_pages + options.checkpoint_pages; }

  void run() {
    while (true) {
      std::unique_lock guard(waking);
      wake.wait(guard, [&] { return ending || checkpoint_due(); });
      if (ending) return;
      tried_pages = log_pages;
      guard.unlock();
      // A checkpoint that fails is tried again when the log has grown further; commits say what is wrong if it concerns
      // them.
      (void)checkpoint(SQLITE_CHECKPOINT_PASSIVE);
      // While commits never pause, that one is never quite done. They wait while it copies the rest: then the log
      // begins anew over its old pages, which are quicker to write than new ones.
      std::lock_guard no_commits(writing);
      (void)checkpoint(SQLITE_CHECKPOINT_PASSIVE);
    }
  }

  Result<void> checkpoint(int mode) {
    std::lock_guard guard(checkpointing);
    if (auto broken = vfs.broken()) return *broken;
    int code = sqlite3_wal_checkpoint_v2(checkpointer->raw(), nullptr, mode, nullptr, nullptr);
    // Busy: somebody reads or writes what it would have copied. The next one will.
    if (code != SQLITE_OK && code != SQLITE_BUSY) return checkpointer->error(code);
    return {};
  }

  void end() {
    if (thread.joinable()) {
      {
        std::lock_guard guard(waking);
        ending = true;
      }
      wake.notify_one();
      thread.join();
    }
    if (checkpointer && writer) (void)checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  }

  // Does `work` in one transaction on the writer.
  template <typename Work>
  Result<void> transact(Work work) {
    if (auto broken = vfs.broken()) return *broken;
    auto done = run_once("BEGIN IMMEDIATE");
    if (!done) return done;
    done = work(*writer);
    if (done) done = run_once("COMMIT");
    // SQLite has rolled back by itself after some failures; then there is nothing left to do, and that is no failure.
    if (!done && sqlite3_get_autocommit(writer->raw()) == 0) (void)writer->execute("ROLLBACK");
    return done;
  }

  Result<void> run_once(const char* sql) {
    auto statement = writer->prepared(sql);
    if (!statement) return statement.error();
    return statement->run();
  }

  Result<std::unique_ptr<Connection>> reader() {
    if (auto broken = vfs.broken()) return *broken;
    {
      std::lock_guard guard(pooling);
      if (!idle_readers.empty()) {
        auto taken = std::move(idle_readers.back());
        idle_readers.pop_back();
        return taken;
      }
    }
    return Connection::open(vfs, path, Connection::Access::read_write);
  }

  void give_back(std::unique_ptr<Connection> connection, bool reusable) {
    if (!reusable) return;
    std::lock_guard guard(pooling);
    if (idle_readers.size() < kIdleReaders) idle_readers.push_back(std::move(connection));
  }
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(Disk& disk, const std::string& path, SqliteOptions options) {
  auto state = std::make_unique<State>(disk, path, std::move(options));
  auto lock = lock_store(disk, path);
  if (!lock) return lock.error();
  state->lock = std::move(*lock);
  if (auto opened = state->open(); !opened) return opened.error();
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(state)));
}

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteStore::~SqliteStore() { state_->end(); }

Result<void> SqliteStore::commit(const Batch& batch) {
  std::lock_guard guard(state_->writing);
  if (auto follows = check_follows(batch.journal, state_->position); !follows) return follows;
  auto done = state_->transact([&](Connection& connection) { return write_batch(connection, batch); });
  if (done) state_->position += batch.journal.size();
  return done;
}

Result<std::unique_ptr<Snapshot>> SqliteStore::read() {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  return open_snapshot(std::move(*connection), [state = state_.get()](std::unique_ptr<Connection> used, bool reusable) {
    state->give_back(std::move(used), reusable);
  });
}

Result<void> SqliteStore::pack(const std::vector<PackedFlow>& flows) {
  std::lock_guard guard(state_->writing);
  return state_->transact([&](Connection& connection) -> Result<void> {
    for (const PackedFlow& flow : flows) {
      if (auto packed = pack_flow(connection, flow); !packed) return packed;
    }
    return {};
  });
}

Result<void> SqliteStore::forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) {
  std::lock_guard guard(state_->writing);
  return state_->transact([&](Connection& connection) -> Result<void> {
    auto keys = connection.prepared(kForgetKeys);
    if (!keys) return keys.error();
    if (auto gone = keys->bind(keys_before_ms).run(); !gone) return gone;
    return run_each(connection, kForgetSyncSet, sync_sets,
                    [](Statement& to, const std::string& hash) { to.bind(hash); });
  });
}

Result<void> SqliteStore::back_up(const std::string& path) {
  auto exists = state_->disk.exists(path);
  if (!exists) return exists.error();
  if (*exists) {
    return Error{.code = Code::conflict,
                 .message = path + " is there already; a backup goes to a new file",
                 .next = "choose another path"};
  }
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto copied = copy_database(state_->disk, **connection, path);
  state_->give_back(std::move(*connection), copied.has_value());
  return copied;
}

std::optional<Error> SqliteStore::broken() const { return state_->vfs.broken(); }

int SqliteStore::format() const { return state_->format; }
int SqliteStore::newest_format() const { return state_->options.schema.version(); }

Result<void> SqliteStore::upgrade(const UpgradeNote& note) {
  std::lock_guard guard(state_->writing);
  if (auto broken = state_->vfs.broken()) return *broken;
  auto done = migrate(*state_->writer, state_->format, state_->options.schema, note);
  if (done) state_->format = newest_format();
  return done;
}

Result<std::optional<UpgradeNote>> SqliteStore::last_upgrade() {
  std::lock_guard guard(state_->writing);
  return last_migration(*state_->writer);
}

Result<void> SqliteStore::checkpoint() { return state_->checkpoint(SQLITE_CHECKPOINT_PASSIVE); }

VfsCounts SqliteStore::counts() const { return state_->vfs.counts(); }

}  // namespace sluice::store
