// What counts as a store, how one is made, brought up to date and copied.
#include "store/sqlite_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::store {
namespace sqlite_schema_test {

constexpr const char* kPath = "/store.db";

std::vector<std::string> names_in_root(Disk& disk) {
  std::vector<std::string> names;
  auto entries = disk.list("/");
  for (const FolderEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

TEST(SqliteSchema, ANewStoreIsOneFileOfTheCurrentVersion) {
  VolatileDisk disk;
  EXPECT_EQ(*stored_version(disk, kPath, current_schema()), std::nullopt);
  ASSERT_TRUE(create_database(disk, kPath, current_schema()));
  EXPECT_THAT(names_in_root(disk), testing::ElementsAre("store.db"));
  disk.crash();
  EXPECT_EQ(*stored_version(disk, kPath, current_schema()), 2);
}

TEST(SqliteSchema, WhatAnEarlierAttemptLeftIsRemoved) {
  VolatileDisk disk;
  for (const char* name : {"/store.db.new", "/store.db.new-journal", "/store.db.new-wal"}) {
    ASSERT_TRUE(write_atomically(disk, name, "left", 0600));
  }
  ASSERT_TRUE(create_database(disk, kPath, current_schema()));
  EXPECT_THAT(names_in_root(disk), testing::ElementsAre("store.db"));
}

TEST(SqliteSchema, OtherFilesAreNotStores) {
  VolatileDisk disk;
  auto refused = [&] {
    auto version = stored_version(disk, kPath, current_schema());
    EXPECT_FALSE(version);
    if (version) return;
    EXPECT_EQ(version.error().code, Code::invalid);
    EXPECT_EQ(version.error().message, "/store.db is not a Sluice store");
    EXPECT_EQ(version.error().next,
              "check the path; if the store was damaged, keep the file and restore the newest backup");
  };
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(200, '\0')}) {
    ASSERT_TRUE(write_atomically(disk, kPath, bytes, 0600));
    refused();
  }
  ASSERT_TRUE(disk.remove(kPath));
  SqliteVfs vfs(disk);
  auto other = Connection::open(vfs, kPath, Connection::Access::create);
  ASSERT_TRUE((*other)->execute("CREATE TABLE t (x); PRAGMA user_version = 1"));
  refused();
}

TEST(SqliteSchema, ANewerStoreIsRefused) {
  VolatileDisk disk;
  Schema newer = current_schema();
  newer.migrations.emplace_back("");
  ASSERT_TRUE(create_database(disk, kPath, newer));
  EXPECT_EQ(*stored_version(disk, kPath, newer), 3);
  auto version = stored_version(disk, kPath, current_schema());
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, Code::invalid);
  EXPECT_EQ(version.error().message, "/store.db has format 3; this Sluice knows 1 to 2");
  EXPECT_EQ(version.error().next,
            "use the newer Sluice that wrote it, or restore a backup made before it was upgraded");
}

TEST(SqliteSchema, ALogWithoutItsFileIsNotTakenForTheNewOnes) {
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/store.db-wal", "log", 0600));
  auto version = stored_version(disk, kPath, current_schema());
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().message, "/store.db is gone, but its log /store.db-wal is still there");
}

TEST(SqliteSchema, AFailedMigrationChangesNothing) {
  VolatileDisk disk;
  ASSERT_TRUE(create_database(disk, kPath, current_schema()));
  SqliteVfs vfs(disk);
  auto connection = Connection::open(vfs, kPath, Connection::Access::read_write);
  ASSERT_TRUE(connection);
  Schema next = current_schema();
  next.migrations.emplace_back("CREATE TABLE added (x)");
  next.migrations.emplace_back("INSERT INTO nowhere VALUES (1)");
  auto failed = migrate(**connection, 2, next, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "/store.db: no such table: nowhere");
  EXPECT_EQ(*(*connection)->query_integer("PRAGMA user_version"), 2);
  EXPECT_FALSE((*connection)->query_integer("SELECT count(*) FROM added"));

  next.migrations.back() = "INSERT INTO added VALUES (1)";
  ASSERT_TRUE(migrate(**connection, 2, next, {.at_ms = 5, .backup = "a'b"}));
  EXPECT_EQ(*(*connection)->query_integer("PRAGMA user_version"), 4);
  EXPECT_EQ((*last_migration(**connection))->backup, "a'b");
  EXPECT_EQ(*(*connection)->query_integer("SELECT count(*) FROM added"), 1);
}

TEST(SqliteSchema, ACopyIsOneDurableFile) {
  VolatileDisk disk;
  ASSERT_TRUE(create_database(disk, kPath, current_schema()));
  SqliteVfs vfs(disk);
  auto connection = Connection::open(vfs, kPath, Connection::Access::read_write);
  ASSERT_TRUE(connection);
  ASSERT_TRUE((*connection)->execute("INSERT INTO meta VALUES (x'61', x'62')"));
  ASSERT_TRUE(copy_database(disk, **connection, "/copy.db"));
  connection->reset();
  disk.crash();
  EXPECT_THAT(names_in_root(disk), testing::ElementsAre("copy.db", "store.db", "store.db-wal"));
  EXPECT_EQ(*stored_version(disk, "/copy.db", current_schema()), 2);
  SqliteVfs copy_vfs(disk);
  auto copy = Connection::open(copy_vfs, "/copy.db", Connection::Access::read_write);
  EXPECT_EQ(*(*copy)->query_integer("SELECT count(*) FROM meta WHERE name = x'61' AND value = x'62'"), 1);
}

}  // namespace sqlite_schema_test
}  // namespace sluice::store
