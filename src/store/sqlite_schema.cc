// All columns that hold bytes, text among them, are BLOBs: they compare byte by byte and keep NULs. Tables are WITHOUT
// ROWID where the key is not an integer, so that a row costs one tree and not two.
#include "store/sqlite_schema.h"

#include <sqlite3.h>

namespace sluice::store {
namespace {

constexpr const char* kCreate = R"sql(
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY, flow BLOB NOT NULL, prev INTEGER NOT NULL, record BLOB, packed_hash BLOB) STRICT;
CREATE TABLE state (
  rel BLOB NOT NULL, key BLOB NOT NULL, generation INTEGER NOT NULL, seq INTEGER NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (rel, key)) STRICT, WITHOUT ROWID;
CREATE TABLE lookup (
  rel BLOB NOT NULL, field BLOB NOT NULL, value BLOB NOT NULL, key BLOB NOT NULL,
  PRIMARY KEY (rel, field, value, key)) STRICT, WITHOUT ROWID;
CREATE TABLE flow (
  id BLOB PRIMARY KEY NOT NULL, head INTEGER NOT NULL, status INTEGER NOT NULL, sync_set BLOB NOT NULL,
  settled_at_ms INTEGER NOT NULL, summary BLOB NOT NULL, packed INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX flow_open ON flow (id) WHERE status < 3;
CREATE TABLE packed (flow BLOB PRIMARY KEY NOT NULL, blob BLOB NOT NULL) STRICT;
CREATE TABLE timer (
  invocation BLOB PRIMARY KEY NOT NULL, flow BLOB NOT NULL, due_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX timer_due ON timer (due_ms, invocation);
CREATE TABLE idempotency_key (
  caller BLOB NOT NULL, key BLOB NOT NULL, request_hash BLOB NOT NULL, flow BLOB NOT NULL, invocation BLOB NOT NULL,
  expires_ms INTEGER NOT NULL, PRIMARY KEY (caller, key)) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_expires ON idempotency_key (expires_ms);
CREATE TABLE sync_set (hash BLOB PRIMARY KEY NOT NULL, content BLOB NOT NULL) STRICT;
CREATE TABLE meta (name BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
)sql";

// What belongs to this store alone, and is in no backup: when it was upgraded, and from which backup there is a way
// back.
constexpr const char* kVersion2 =
    "CREATE TABLE upgrade (format INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, backup BLOB NOT NULL) STRICT";

// Places in SQLite's file header (https://sqlite.org/fileformat.html).
constexpr size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kUserVersionAt = 60;
constexpr size_t kApplicationIdAt = 68;

uint32_t big_endian_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Removes the file and what SQLite puts beside it.
Result<void> remove_database(Disk& disk, const std::string& path) {
  for (const char* suffix : {"", "-journal", "-wal"}) {
    auto removed = disk.remove(path + suffix);
    if (!removed && removed.error().code != Code::not_found) return removed;
  }
  return {};
}

// Makes a database that is complete in `made` the one at path.
Result<void> put_in_place(Disk& disk, const std::string& made, const std::string& path) {
  auto file = disk.open(made, {.write = true});
  if (!file) return file.error();
  if (auto synced = (*file)->sync(SyncWhat::all); !synced) return synced;
  if (auto renamed = disk.rename(made, path); !renamed) return renamed;
  return disk.sync_folder(folder_of(path));
}

// The statements that lead from this version to the newest.
std::string steps_from(int version, const Schema& schema) {
  std::string sql;
  for (auto at = static_cast<size_t>(version) - 1; at < schema.migrations.size(); ++at)
    sql += schema.migrations[at] + ";";
  return sql + "PRAGMA user_version = " + std::to_string(schema.version()) + ";";
}

std::string blob_literal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "x'";
  for (const char each : bytes) {
    text += kDigits[static_cast<uint8_t>(each) >> 4];
    text += kDigits[static_cast<uint8_t>(each) & 0xf];
  }
  return text + "'";
}

Result<void> build(Disk& disk, const std::string& path, const Schema& schema) {
  SqliteVfs vfs(disk);
  auto connection = Connection::open(vfs, path, Connection::Access::create);
  if (!connection) return connection.error();
  auto made = (*connection)
                  ->execute("BEGIN IMMEDIATE; PRAGMA application_id = " + std::to_string(kApplicationId) + ";" +
                            schema.create + steps_from(1, schema) + "COMMIT; PRAGMA journal_mode = wal");
  if (!made) return made;
  // The copy that is renamed must not need a log beside it.
  int code = sqlite3_wal_checkpoint_v2((*connection)->raw(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) return (*connection)->error(code);
  return {};
}

}  // namespace

const Schema& current_schema() {
  static const Schema kSchema{.create = kCreate, .migrations = {kVersion2}};
  return kSchema;
}

Result<void> check_version(const std::string& path, int64_t version, const Schema& schema) {
  if (version >= 1 && version <= schema.version()) return {};
  return Error{.code = Code::invalid,
               .message = path + " has format " + std::to_string(version) + "; this Sluice knows 1 to " +
                          std::to_string(schema.version()),
               .next = "use the newer Sluice that wrote it, or restore a backup made before it was upgraded"};
}

Result<std::optional<int>> stored_version(Disk& disk, const std::string& path, const Schema& schema) {
  auto exists = disk.exists(path);
  if (!exists) return exists.error();
  if (!*exists) {
    // A log without its file would be taken for the log of the new one.
    auto log = disk.exists(path + "-wal");
    if (!log) return log.error();
    if (*log) {
      return Error{.code = Code::invalid,
                   .message = path + " is gone, but its log " + path + "-wal is still there",
                   .next = "put the file back or restore a backup; to begin anew, move the log away"};
    }
    return std::optional<int>();
  }
  auto file = disk.open(path, {});
  if (!file) return file.error();
  std::string header(kHeaderBytes, '\0');
  auto got = (*file)->read_at(0, header);
  if (!got) return got.error();
  if (*got < kHeaderBytes || !header.starts_with(kMagic) || big_endian_at(header, kApplicationIdAt) != kApplicationId) {
    return Error{.code = Code::invalid,
                 .message = path + " is not a Sluice store",
                 .next = "check the path; if the store was damaged, keep the file and restore the newest backup"};
  }
  auto version = static_cast<int>(big_endian_at(header, kUserVersionAt));
  if (auto known = check_version(path, version, schema); !known) return known.error();
  return std::optional(version);
}

Result<void> create_database(Disk& disk, const std::string& path, const Schema& schema) {
  std::string made = path + ".new";
  if (auto removed = remove_database(disk, made); !removed) return removed;
  auto done = build(disk, made, schema);
  if (done) done = put_in_place(disk, made, path);
  if (auto removed = remove_database(disk, made); done && !removed) return removed;
  return done;
}

Result<void> migrate(Connection& connection, int from, const Schema& schema, const UpgradeNote& note) {
  auto done = connection.execute("BEGIN IMMEDIATE;" + steps_from(from, schema) + "INSERT INTO upgrade VALUES (" +
                                 std::to_string(schema.version()) + ", " + std::to_string(note.at_ms) + ", " +
                                 blob_literal(note.backup) + "); COMMIT");
  if (!done) (void)connection.execute("ROLLBACK");
  return done;
}

Result<std::optional<UpgradeNote>> last_migration(Connection& connection) {
  auto statement = connection.prepared("SELECT at_ms, backup FROM upgrade ORDER BY format DESC LIMIT 1");
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  if (!*row) return std::optional<UpgradeNote>();
  return std::optional<UpgradeNote>({.at_ms = statement->integer(0), .backup = statement->bytes(1)});
}

Result<void> copy_database(Disk& disk, Connection& from, const std::string& path) {
  std::string made = path + ".new";
  if (auto removed = remove_database(disk, made); !removed) return removed;
  auto copy = [&]() -> Result<void> {
    // A vfs of its own: a failed sync of the copy leaves the store as it is.
    SqliteVfs vfs(disk);
    auto to = Connection::open(vfs, made, Connection::Access::create);
    if (!to) return to.error();
    if (auto set = (*to)->execute("PRAGMA synchronous = off"); !set) return set;
    sqlite3_backup* backup = sqlite3_backup_init((*to)->raw(), "main", from.raw(), "main");
    if (backup == nullptr) return (*to)->error(sqlite3_errcode((*to)->raw()));
    sqlite3_backup_step(backup, -1);
    int code = sqlite3_backup_finish(backup);
    // Which of the two disks' files failed is not known; the one whose vfs has something to say.
    if (code != SQLITE_OK) return vfs.last_fault() ? (*to)->error(code) : from.error(code);
    return {};
  };
  auto done = copy();
  if (done) done = put_in_place(disk, made, path);
  if (!done) (void)remove_database(disk, made);
  return done;
}

}  // namespace sluice::store
