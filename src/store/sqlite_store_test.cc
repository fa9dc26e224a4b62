// The SQLite store under the tests of every store, and what is its own.
#include "store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"
#include "store/store_conformance.h"

namespace sluice::store {
namespace sqlite_store_test {

constexpr const char* kPath = "/store.db";

StoreUnderTest on_volatile_disk() {
  auto disk = std::make_shared<VolatileDisk>();
  auto store = SqliteStore::open(*disk, kPath);
  if (!store) ADD_FAILURE() << store.error().message;
  return {.ground = disk, .store = std::move(*store)};
}

struct RealGround {
  TestingFolder folder;
  RealDisk disk;
};

StoreUnderTest on_real_disk() {
  auto ground = std::make_shared<RealGround>();
  auto store = SqliteStore::open(ground->disk, ground->folder.path("store.db"), {.checkpoint_pages = 50});
  if (!store) ADD_FAILURE() << store.error().message;
  return {.ground = ground, .store = std::move(*store)};
}

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformance,
                         testing::Values(StoreMaker{"volatile", on_volatile_disk}, StoreMaker{"real", on_real_disk}));

const SqliteOptions kQuiet{.checkpoint_in_background = false};

Batch numbered(uint64_t n) {
  return {.journal = {{.seq = n, .flow = test_id(1), .prev = n - 1, .record = "record " + std::to_string(n)}},
          .state = {{.rel = "A", .key = std::to_string(n), .generation = 1, .seq = n, .value = "{}"}}};
}

std::unique_ptr<SqliteStore> opened(Disk& disk, const SqliteOptions& options = kQuiet) {
  auto store = SqliteStore::open(disk, kPath, options);
  EXPECT_TRUE(store) << store.error().message;
  return store ? std::move(*store) : nullptr;
}

uint64_t position_of(Store& store) {
  auto snapshot = store.read();
  EXPECT_TRUE(snapshot) << snapshot.error().message;
  return snapshot ? (*snapshot)->position() : 0;
}

// Every file on the disk with its bytes.
std::map<std::string, std::string> files_of(Disk& disk) {
  std::map<std::string, std::string> files;
  auto entries = disk.list("/");
  for (const FolderEntry& entry : *entries) files[entry.name] = *read_file(disk, "/" + entry.name, 1 << 26);
  return files;
}

TEST(SqliteStore, HoldsItsRowsWhenOpenedAgain) {
  VolatileDisk disk;
  {
    auto store = opened(disk);
    ASSERT_TRUE(store->commit(numbered(1)));
    ASSERT_TRUE(store->commit(numbered(2)));
  }
  auto store = opened(disk);
  EXPECT_EQ(position_of(*store), 2u);
  EXPECT_EQ((*(*store->read())->journal(2))->record, "record 2");
  EXPECT_EQ(store->commit(numbered(2)).error().code, Code::conflict);
  EXPECT_TRUE(store->commit(numbered(3)));
}

TEST(SqliteStore, IsOpenOnce) {
  VolatileDisk disk;
  auto store = opened(disk);
  auto second = SqliteStore::open(disk, kPath);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(second.error().message, "the store /store.db is open in another process");
  EXPECT_EQ(second.error().next, "use that process, or stop it first");
  store.reset();
  EXPECT_TRUE(SqliteStore::open(disk, kPath));
}

TEST(SqliteStore, ACommitIsOneSync) {
  VolatileDisk disk;
  auto store = opened(disk);
  ASSERT_TRUE(store->commit(numbered(1)));
  VfsCounts before = store->counts();
  for (uint64_t n = 2; n <= 11; ++n) ASSERT_TRUE(store->commit(numbered(n)));
  EXPECT_EQ(store->counts().syncs - before.syncs, 10u);
}

TEST(SqliteStore, RefusesAFileOfANewerSluiceAndLeavesItAsItIs) {
  VolatileDisk disk;
  Schema newer = current_schema();
  newer.migrations.emplace_back("CREATE TABLE later (x)");
  { ASSERT_TRUE(opened(disk, {.checkpoint_in_background = false, .schema = newer})->commit(numbered(1))); }
  auto before = files_of(disk);
  auto refused = SqliteStore::open(disk, kPath, kQuiet);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "/store.db has format 3; this Sluice knows 1 to 2");
  EXPECT_EQ(files_of(disk), before);
}

TEST(SqliteStore, RefusesADamagedFileAndLeavesItAsItIs) {
  VolatileDisk disk;
  {
    auto store = opened(disk);
    for (uint64_t n = 1; n <= 300; ++n) ASSERT_TRUE(store->commit(numbered(n)));
  }
  auto bytes = read_file(disk, kPath, 1 << 26);
  ASSERT_GT(bytes->size(), 40'000u);
  bytes->replace(20'000, 12'000, std::string(12'000, '\x5a'));
  ASSERT_TRUE(write_atomically(disk, kPath, *bytes, 0600));
  auto before = files_of(disk);
  auto refused = SqliteStore::open(disk, kPath, kQuiet);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_THAT(refused.error().message, testing::StartsWith("/store.db is damaged: "));
  EXPECT_THAT(refused.error().message,
              testing::Not(testing::AnyOf(testing::HasSubstr("\n"), testing::HasSubstr("***"))));
  EXPECT_EQ(refused.error().next, "keep the file as it is and restore the newest backup");
  EXPECT_EQ(files_of(disk), before);
}

// The format before the newest step, as an earlier Sluice made it.
SqliteOptions next_format() {
  Schema newer = current_schema();
  newer.migrations.emplace_back(
      "CREATE TABLE later (x); INSERT INTO meta VALUES (CAST('moved' AS BLOB), CAST('yes' AS BLOB))");
  return {.checkpoint_in_background = false, .schema = newer};
}

TEST(SqliteStore, RefusesAnOlderFileUntilItIsUpgraded) {
  VolatileDisk disk;
  { ASSERT_TRUE(opened(disk)->commit(numbered(1))); }
  SqliteOptions options = next_format();
  auto before = files_of(disk);
  auto refused = SqliteStore::open(disk, kPath, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().message, "/store.db has format 2, and this Sluice works on format 3; nothing was changed");
  EXPECT_EQ(refused.error().next, "sluice store upgrade");
  EXPECT_EQ(files_of(disk), before);
  options.older = OlderFormat::kept;
  {
    auto store = opened(disk, options);
    EXPECT_EQ(store->format(), 2);
    EXPECT_EQ(store->newest_format(), 3);
    EXPECT_EQ(position_of(*store), 1u);
    ASSERT_TRUE(store->upgrade({.at_ms = 7, .backup = "/backups/one"}));
    EXPECT_EQ(store->format(), 3);
  }
  options.older = OlderFormat::refused;
  auto store = opened(disk, options);
  EXPECT_EQ(position_of(*store), 1u);
  EXPECT_EQ(*(*store->read())->meta("moved"), "yes");
  auto note = store->last_upgrade();
  ASSERT_TRUE(note && *note);
  EXPECT_EQ((*note)->at_ms, 7);
  EXPECT_EQ((*note)->backup, "/backups/one");
}

// Stopped anywhere, the upgrade is done whole or not at all.
TEST(SqliteStore, AStoppedUpgradeLosesNothing) {
  SqliteOptions options = next_format();
  options.older = OlderFormat::kept;
  uint64_t n = 1;
  bool was_old = false;
  bool was_new = false;
  for (;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    { ASSERT_TRUE(opened(under)->commit(numbered(1))); }
    FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
    if (auto store = SqliteStore::open(disk, kPath, options)) (void)(*store)->upgrade({.at_ms = 7, .backup = "/b"});
    if (!disk.struck()) break;
    under.crash();
    auto old = SqliteStore::open(under, kPath, kQuiet);
    if (old) {
      was_old = true;
      EXPECT_EQ(*(**(*old)->read()).meta("moved"), std::nullopt);
      old->reset();
    } else {
      was_new = true;
      EXPECT_EQ(old.error().message, "/store.db has format 3; this Sluice knows 1 to 2");
    }
    auto store = opened(under, options);
    ASSERT_NE(store, nullptr);
    if (store->format() == 2) {
      ASSERT_TRUE(store->upgrade({.at_ms = 8, .backup = "/b"}));
    }
    EXPECT_EQ(position_of(*store), 1u);
    EXPECT_EQ(*(*store->read())->meta("moved"), "yes");
  }
  EXPECT_TRUE(was_old);
  EXPECT_TRUE(was_new);
}

TEST(SqliteStore, ABackupIsAStoreOfThatMoment) {
  VolatileDisk disk;
  auto store = opened(disk);
  ASSERT_TRUE(store->commit(numbered(1)));
  ASSERT_TRUE(store->commit(numbered(2)));
  ASSERT_TRUE(store->back_up("/copy.db"));
  ASSERT_TRUE(store->commit(numbered(3)));
  disk.crash();
  auto copy = SqliteStore::open(disk, "/copy.db", kQuiet);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(position_of(**copy), 2u);
  EXPECT_EQ((**(*copy)->read()).get("A", "2")->value().value, "{}");
}

TEST(SqliteStore, ABackupWhileCommitsGoOnIsConsistent) {
  VolatileDisk disk;
  auto store = opened(disk, {.checkpoint_pages = 20});
  std::atomic<bool> done = false;
  std::atomic<uint64_t> committed = 0;
  std::thread writer([&] {
    for (uint64_t n = 1; !done; ++n) {
      if (!store->commit(numbered(n))) break;
      committed = n;
    }
  });
  for (int i = 0; i < 5; ++i) {
    uint64_t least = committed;
    std::string path = "/copy" + std::to_string(i);
    auto made = store->back_up(path);
    EXPECT_TRUE(made) << made.error().message;
    uint64_t most = committed + 1;
    auto copy = SqliteStore::open(disk, path, kQuiet);
    EXPECT_TRUE(copy);
    if (!copy) break;
    auto snapshot = (*copy)->read();
    uint64_t position = (*snapshot)->position();
    EXPECT_GE(position, least);
    EXPECT_LE(position, most);
    EXPECT_EQ(all_of<StateRow>([&](auto& visit) { return (*snapshot)->scan("A", "", visit); }).size(), position);
  }
  done = true;
  writer.join();
}

TEST(SqliteStore, ABackupGoesToANewFile) {
  VolatileDisk disk;
  auto store = opened(disk);
  ASSERT_TRUE(write_atomically(disk, "/copy.db", "mine", 0600));
  auto refused = store->back_up("/copy.db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(refused.error().message, "/copy.db is there already; a backup goes to a new file");
  EXPECT_EQ(*read_file(disk, "/copy.db", 100), "mine");
}

TEST(SqliteStore, AFailedBackupLeavesNothingAndTheStoreWorking) {
  uint64_t failed = 0;
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    uint64_t before = 0;
    {
      FaultyDisk counting(under);
      auto store = opened(counting);
      ASSERT_TRUE(store->commit(numbered(1)));
      ASSERT_TRUE(store->read());
      before = counting.operations();
    }
    VolatileDisk again;
    FaultyDisk disk(again, {.kind = FaultKind::fail, .at = before + n});
    auto store = opened(disk);
    ASSERT_TRUE(store->commit(numbered(1)));
    ASSERT_TRUE(store->read());
    auto done = store->back_up("/copy.db");
    if (!disk.struck()) break;
    EXPECT_EQ(store->broken(), std::nullopt);
    if (!done) {
      ++failed;
      EXPECT_FALSE(*again.exists("/copy.db.new"));
    }
    EXPECT_TRUE(store->commit(numbered(2)));
  }
  EXPECT_GT(failed, 10u);
}

TEST(SqliteStore, ACheckpointLetsTheLogBeUsedAnew) {
  VolatileDisk disk;
  auto store = opened(disk);
  uint64_t n = 0;
  auto commit_some = [&] {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(store->commit(numbered(++n)));
  };
  auto log_bytes = [&] { return disk.stat("/store.db-wal", FollowLinks::no)->size; };
  commit_some();
  uint64_t once = log_bytes();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store->checkpoint());
    commit_some();
  }
  EXPECT_LT(log_bytes(), 2 * once);

  auto held = store->read();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store->checkpoint());
    commit_some();
  }
  EXPECT_GT(log_bytes(), 2 * once) << "a held snapshot keeps the log";
  EXPECT_EQ((*held)->position(), 120u);
  EXPECT_EQ(*(*held)->journal(121), std::nullopt);
}

TEST(SqliteStore, ALongLogIsCheckpointedInTheBackground) {
  VolatileDisk disk;
  auto store = opened(disk, {.checkpoint_pages = 10});
  uint64_t before = disk.stat(kPath, FollowLinks::no)->size;
  uint64_t n = 0;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (disk.stat(kPath, FollowLinks::no)->size == before && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(store->commit(numbered(++n)));
  }
  EXPECT_GT(disk.stat(kPath, FollowLinks::no)->size, before);
  EXPECT_EQ(position_of(*store), n);
}

TEST(SqliteStore, ManySnapshotsMayBeHeld) {
  VolatileDisk disk;
  auto store = opened(disk);
  std::vector<std::unique_ptr<Snapshot>> held;
  for (uint64_t n = 1; n <= 50; ++n) {
    held.push_back(std::move(*store->read()));
    ASSERT_TRUE(store->commit(numbered(n)));
  }
  for (uint64_t n = 0; n < 50; ++n) {
    EXPECT_EQ(held[n]->position(), n);
    EXPECT_EQ(all_of<StateRow>([&](auto& visit) { return held[n]->scan("A", "", visit); }).size(), n);
  }
}

}  // namespace sqlite_store_test
}  // namespace sluice::store
