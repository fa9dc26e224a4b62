// SQLite itself on the vfs: what is stored, locked, shared, counted and refused.
#include "store/sqlite_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/atomic_file.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"

namespace sluice::store {
namespace sqlite_vfs_test {

// A connection that runs SQL and says the code.
class Sql {
 public:
  explicit Sql(const SqliteVfs& vfs, const char* path = "/d.db") {
    opened_ = sqlite3_open_v2(path, &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs.name().c_str());
    sqlite3_extended_result_codes(connection_, 1);
    run("PRAGMA temp_store = memory; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0");
  }
  ~Sql() { sqlite3_close(connection_); }
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  int opened() const { return opened_; }
  int run(const char* sql) { return sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr); }

  // The first column of the first row, or the error.
  std::string ask(const char* sql) {
    std::string answer;
    auto keep = [](void* out, int, char** columns, char**) {
      *static_cast<std::string*>(out) = columns[0] == nullptr ? "NULL" : columns[0];
      return 0;
    };
    int code = sqlite3_exec(connection_, sql, keep, &answer, nullptr);
    return code == SQLITE_OK ? answer : sqlite3_errstr(code);
  }

 private:
  sqlite3* connection_ = nullptr;
  int opened_ = 0;
};

TEST(SqliteVfs, KeepsADatabaseOnTheDisk) {
  VolatileDisk disk;
  {
    SqliteVfs vfs(disk);
    Sql sql(vfs);
    // With less, a power cut may bring back the rollback journal, and with it the moment before.
    ASSERT_EQ(sql.run("PRAGMA synchronous = extra"), SQLITE_OK);
    ASSERT_EQ(sql.run("CREATE TABLE t (x); INSERT INTO t VALUES (7)"), SQLITE_OK);
  }
  disk.crash();
  SqliteVfs vfs(disk);
  EXPECT_EQ(Sql(vfs).ask("SELECT x FROM t"), "7");
  auto header = read_file(disk, "/d.db", 1 << 20);
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->starts_with("SQLite format 3"));
}

TEST(SqliteVfs, ALogThatSurvivedACrashIsReplayed) {
  VolatileDisk disk;
  SqliteVfs vfs(disk);
  Sql sql(vfs);
  ASSERT_EQ(sql.ask("PRAGMA journal_mode = wal"), "wal");
  ASSERT_EQ(sql.run("CREATE TABLE t (x); INSERT INTO t VALUES (7)"), SQLITE_OK);
  disk.crash();
  SqliteVfs after(disk);
  EXPECT_EQ(Sql(after).ask("SELECT x FROM t"), "7");
}

TEST(SqliteVfs, ConnectionsShareTheLogAndKeepTheirSnapshots) {
  VolatileDisk disk;
  SqliteVfs vfs(disk);
  Sql writer(vfs);
  ASSERT_EQ(writer.ask("PRAGMA journal_mode = wal"), "wal");
  ASSERT_EQ(writer.run("CREATE TABLE t (x); INSERT INTO t VALUES (1)"), SQLITE_OK);
  Sql reader(vfs);
  Sql other(vfs);
  ASSERT_EQ(reader.run("BEGIN"), SQLITE_OK);
  EXPECT_EQ(reader.ask("SELECT max(x) FROM t"), "1");
  ASSERT_EQ(writer.run("INSERT INTO t VALUES (2)"), SQLITE_OK);
  EXPECT_EQ(reader.ask("SELECT max(x) FROM t"), "1");
  EXPECT_EQ(other.ask("SELECT max(x) FROM t"), "2");

  // A second writer is kept out while the first is at it.
  ASSERT_EQ(writer.run("BEGIN IMMEDIATE"), SQLITE_OK);
  EXPECT_EQ(other.run("BEGIN IMMEDIATE"), SQLITE_BUSY);
  ASSERT_EQ(writer.run("COMMIT"), SQLITE_OK);
  EXPECT_EQ(other.run("BEGIN IMMEDIATE; COMMIT"), SQLITE_OK);

  // A checkpoint goes no further than the oldest snapshot; the second column counts the log's pages, the third those
  // that were copied.
  EXPECT_EQ(other.ask("PRAGMA wal_checkpoint(restart)"), "1") << "busy: a snapshot is open";
  EXPECT_EQ(reader.ask("SELECT max(x) FROM t"), "1");
  ASSERT_EQ(reader.run("COMMIT"), SQLITE_OK);
  EXPECT_EQ(other.ask("PRAGMA wal_checkpoint(restart)"), "0");
  EXPECT_EQ(reader.ask("SELECT max(x) FROM t"), "2");
  EXPECT_FALSE(*disk.exists("/d.db-shm"));
}

TEST(SqliteVfs, ATransactionLargerThanTheCacheIsWhole) {
  VolatileDisk disk;
  SqliteVfs vfs(disk);
  Sql sql(vfs);
  ASSERT_EQ(sql.ask("PRAGMA journal_mode = wal"), "wal");
  ASSERT_EQ(sql.run("PRAGMA cache_size = 5; CREATE TABLE t (x INTEGER PRIMARY KEY, y)"), SQLITE_OK);
  // Pages leave the cache for the log, are read back from it, and are written there a second time.
  ASSERT_EQ(sql.run("BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
                    "INSERT INTO t SELECT i, zeroblob(500) FROM n; UPDATE t SET y = x; COMMIT"),
            SQLITE_OK);
  ASSERT_EQ(sql.run("BEGIN; UPDATE t SET y = zeroblob(900); ROLLBACK; UPDATE t SET y = y + 1 WHERE x = 7"), SQLITE_OK);
  Sql other(vfs);
  EXPECT_EQ(other.ask("SELECT sum(y) - sum(x) FROM t"), "1");
  EXPECT_EQ(other.ask("PRAGMA integrity_check"), "ok");
  disk.crash();
  SqliteVfs after(disk);
  Sql reopened(after);
  EXPECT_EQ(reopened.ask("SELECT sum(y) - sum(x) FROM t"), "1");
  EXPECT_EQ(reopened.ask("PRAGMA integrity_check"), "ok");
}

TEST(SqliteVfs, LocksKeepConnectionsApartInRollbackModeToo) {
  VolatileDisk disk;
  SqliteVfs vfs(disk);
  Sql one(vfs);
  Sql two(vfs);
  ASSERT_EQ(one.run("CREATE TABLE t (x); INSERT INTO t VALUES (1)"), SQLITE_OK);
  ASSERT_EQ(one.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)"), SQLITE_OK);
  EXPECT_EQ(two.run("BEGIN IMMEDIATE"), SQLITE_BUSY);
  EXPECT_EQ(two.ask("SELECT max(x) FROM t"), "1");
  ASSERT_EQ(two.run("BEGIN"), SQLITE_OK);
  ASSERT_EQ(two.ask("SELECT max(x) FROM t"), "1");
  EXPECT_EQ(one.run("COMMIT"), SQLITE_BUSY) << "a reader is in";
  ASSERT_EQ(two.run("COMMIT"), SQLITE_OK);
  EXPECT_EQ(two.ask("SELECT max(x) FROM t"), "database is locked") << "the writer waits, so no reader comes in";
  EXPECT_EQ(one.run("COMMIT"), SQLITE_OK);
  EXPECT_EQ(two.ask("SELECT max(x) FROM t"), "2");
}

TEST(SqliteVfs, TwoAtOnceHaveNamesOfTheirOwn) {
  VolatileDisk first_disk;
  VolatileDisk second_disk;
  SqliteVfs first(first_disk);
  SqliteVfs second(second_disk);
  EXPECT_NE(first.name(), second.name());
  ASSERT_EQ(Sql(first).run("CREATE TABLE t (x)"), SQLITE_OK);
  EXPECT_TRUE(*first_disk.exists("/d.db"));
  EXPECT_FALSE(*second_disk.exists("/d.db"));
}

TEST(SqliteVfs, CountsWhatReachesTheDisk) {
  VolatileDisk under;
  FaultyDisk disk(under);
  SqliteVfs vfs(disk);
  Sql sql(vfs);
  ASSERT_EQ(sql.ask("PRAGMA journal_mode = wal"), "wal");
  ASSERT_EQ(sql.run("CREATE TABLE t (x)"), SQLITE_OK);
  VfsCounts before = vfs.counts();
  ASSERT_EQ(sql.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
  VfsCounts after = vfs.counts();
  EXPECT_EQ(after.syncs - before.syncs, 1u);
  EXPECT_EQ(after.writes - before.writes, 1u) << "a frame's header and its page, gathered";
  EXPECT_EQ(after.bytes_written - before.bytes_written, 24u + 4096u);
  EXPECT_EQ(after.syncs, disk.operations_by_kind()[DiskOperation::sync]);
  EXPECT_EQ(after.writes, disk.operations_by_kind()[DiskOperation::write]);
  EXPECT_EQ(after.reads, disk.operations_by_kind()[DiskOperation::read]);
  EXPECT_GT(after.bytes_read, 0u);
}

TEST(SqliteVfs, AFailedSyncBreaksItForGood) {
  VolatileDisk under;
  { ASSERT_EQ(Sql(SqliteVfs(under)).opened(), SQLITE_OK); }
  FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 1, .only = DiskOperation::sync});
  SqliteVfs vfs(disk);
  Sql sql(vfs);
  EXPECT_EQ(vfs.broken(), std::nullopt);
  EXPECT_EQ(sql.run("CREATE TABLE t (x)"), SQLITE_IOERR_FSYNC);
  ASSERT_TRUE(vfs.broken());
  EXPECT_TRUE(vfs.broken()->message.starts_with("cannot sync /d.db-journal: ")) << vfs.broken()->message;
  EXPECT_EQ(sql.run("CREATE TABLE t (x)") & 0xff, SQLITE_IOERR);
  EXPECT_EQ(Sql(vfs).opened(), SQLITE_CANTOPEN);
}

TEST(SqliteVfs, AFullDiskPasses) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 1, .only = DiskOperation::write, .code = Code::limit});
  SqliteVfs vfs(disk);
  Sql sql(vfs);
  EXPECT_EQ(sql.run("CREATE TABLE t (x)"), SQLITE_FULL);
  EXPECT_EQ(vfs.last_fault()->code, Code::limit);
  EXPECT_EQ(vfs.broken(), std::nullopt);
  EXPECT_EQ(sql.run("CREATE TABLE t (x)"), SQLITE_OK);
}

TEST(SqliteVfs, RefusesTemporaryFiles) {
  VolatileDisk disk;
  SqliteVfs vfs(disk);
  Sql sql(vfs);
  ASSERT_EQ(sql.run("PRAGMA temp_store = file; CREATE TEMP TABLE t (x); PRAGMA temp.cache_size = 2"), SQLITE_OK);
  EXPECT_EQ(sql.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                    "WHERE i < 10000) INSERT INTO t SELECT i FROM n") &
                0xff,
            SQLITE_CANTOPEN);
}

}  // namespace sqlite_vfs_test
}  // namespace sluice::store
