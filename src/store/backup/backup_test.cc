// Backups of a store with a home, whole and damaged; and what is archived behind them.
#include "store/backup/backup.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "store/backup/archive.h"
#include "store/backup/archiving_store.h"
#include "store/backup/restore.h"
#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/store_conformance.h"

namespace sluice::store {
namespace backup_test {

class BackupTest : public testing::Test {
 protected:
  BackupTest() {
    for (const char* each : {"home", "home/keys", "home/store", "home/run", "home/blobs", "home/tls", "home/tls/.kept",
                             "backups", "again"}) {
      EXPECT_TRUE(disk.make_folder(folder.path(each), 0700));
    }
    put("keys/operator.pem", "a private key");
    put("keys/cluster.key", "of the cluster alone");
    put("blobs/large", std::string((1 << 20) + 17, 'x'));
    put("store/audit.heads", "a head\n");
    put("run/sluice.sock", "of this machine");
    EXPECT_TRUE(disk.symlink(".kept/one", folder.path("home/tls/shop")));
    for (uint64_t seq = 1; seq <= 3; ++seq) step(memory, seq);
  }

  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_atomically(disk, folder.path("home/" + name), text, 0600));
  }
  std::string got(const std::string& name) {
    auto text = read_file(disk, folder.path("again/" + name), 4 << 20);
    return text ? *text : "none: " + text.error().message;
  }
  static void step(Store& store, uint64_t seq) {
    const std::string text = std::to_string(seq);
    ASSERT_TRUE(
        store.commit({.journal = {{.seq = seq, .flow = test_id(1), .prev = seq - 1, .record = "record " + text}},
                      .state = {{.rel = "A", .key = "a", .generation = seq, .seq = seq, .value = text}},
                      .flows = {{.id = test_id(1), .head = seq, .status = FlowStatus::running, .sync_set = "s"}},
                      .meta = {{"clock", text}}}));
  }
  BackupMaker maker() { return {disk, random, folder.path("home"), signer, pair.recipient()}; }
  std::string signed_by() { return signer.public_key().key_id(); }
  BackupManifest make(Store& store, const std::string& name, int64_t at_ms = 1'000) {
    auto snapshot = store.read();
    auto made = write_backup(maker(), **snapshot, folder.path("backups/" + name), {.id = name, .at_ms = at_ms});
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }
  Result<Restored> bring_back(const RestoreMoment& moment, Store& to) {
    auto chosen = choose_backup(disk, folder.path("backups"), signed_by(), moment);
    if (!chosen) return chosen.error();
    return restore({disk, folder.path("backups"), signed_by(), pair, folder.path("again")}, *chosen, moment, to,
                   [&](const JournalRow& row) { later.push_back(row.record); });
  }
  void damage(const std::string& path, size_t at) {
    auto text = read_file(disk, path, 4 << 20);
    ASSERT_TRUE(text);
    (*text)[at % text->size()] ^= 1;
    ASSERT_TRUE(write_atomically(disk, path, *text, 0600));
  }

  TestingFolder folder;
  RealDisk disk;
  RealRandom random;
  RealClock clock;
  MemoryStore memory;
  crypto::PrivateKey signer = crypto::PrivateKey::generate();
  crypto::RecipientKey pair = crypto::RecipientKey::generate();
  std::vector<std::string> later;
};

TEST_F(BackupTest, HasTheRowsAndTheFilesButThoseOfTheMachine) {
  const BackupManifest made = make(memory, "one");
  EXPECT_EQ(made.position, 3U);
  auto read = read_backup(disk, folder.path("backups/one"), signed_by());
  ASSERT_TRUE(read);
  auto whole = check_backup(disk, folder.path("backups/one"), *read, &pair);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->records, 3U);
  EXPECT_EQ(whole->rows, 1U);
  EXPECT_EQ(whole->files, 4U);
  auto store = SqliteStore::open(disk, folder.path("again/store.db"));
  ASSERT_TRUE(store);
  auto restored = bring_back({}, **store);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->position, 3U);
  EXPECT_EQ(got("keys/operator.pem"), "a private key");
  EXPECT_EQ(got("blobs/large").size(), (1U << 20) + 17);
  EXPECT_EQ(got("store/audit.heads"), "a head\n");
  EXPECT_EQ(*disk.read_link(folder.path("again/tls/shop")), ".kept/one");
  EXPECT_FALSE(*disk.exists(folder.path("again/keys/cluster.key")));
  EXPECT_FALSE(*disk.exists(folder.path("again/run/sluice.sock")));
  // A backup of what was restored has the same rows, to the byte, from another kind of store.
  EXPECT_EQ(make(**store, "two", 2'000).rows.contents, made.rows.contents);
}

TEST_F(BackupTest, KeysAreReadByTheRecipientAlone) {
  make(memory, "one");
  auto files = FrameReader::open(disk, folder.path("backups/one/files"));
  ASSERT_TRUE(files);
  while (true) {
    auto frame = (*files)->next();
    ASSERT_TRUE(frame);
    if (!*frame) break;
    EXPECT_EQ((*frame)->find("a private key"), std::string::npos);
  }
  auto other = crypto::RecipientKey::generate();
  auto manifest = read_backup(disk, folder.path("backups/one"), signed_by());
  EXPECT_EQ(check_backup(disk, folder.path("backups/one"), *manifest, &other).error().code, Code::verification_failed);
  EXPECT_TRUE(check_backup(disk, folder.path("backups/one"), *manifest, nullptr)) << "it is whole all the same";
}

TEST_F(BackupTest, WhatWasChangedIsNoticedWhereverItIs) {
  make(memory, "one");
  const auto manifest = read_backup(disk, folder.path("backups/one"), signed_by());
  for (const char* name : {"rows", "files"}) {
    const std::string path = folder.path(std::string("backups/one/") + name);
    const auto before = read_file(disk, path, 4 << 20);
    for (size_t at = 0; at < before->size(); at += 1 + before->size() / 40) {
      damage(path, at);
      auto checked = check_backup(disk, folder.path("backups/one"), *manifest, &pair);
      ASSERT_FALSE(checked) << name << " at " << at;
      EXPECT_EQ(checked.error().message, path + " is damaged");
      ASSERT_TRUE(write_atomically(disk, path, *before, 0600));
    }
  }
  const std::string path = folder.path("backups/one/manifest.json");
  auto text = read_file(disk, path, 1 << 20);
  damage(path, text->find("\"payload\"") + 40);
  EXPECT_EQ(read_backup(disk, folder.path("backups/one"), signed_by()).error().code, Code::verification_failed);
}

TEST_F(BackupTest, IsTrustedOnlyIfTheOperatorSignedIt) {
  make(memory, "one");
  auto refused = read_backup(disk, folder.path("backups/one"), std::string(32, 'a'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            folder.path("backups/one/manifest.json") + " is not signed by the key " + std::string(32, 'a'));
  EXPECT_EQ(*signer_of(disk, folder.path("backups/one")), signed_by());
  MemoryStore empty;
  auto restored =
      restore({disk, folder.path("backups"), std::string(32, 'a'), pair, folder.path("again")},
              *choose_backup(disk, folder.path("backups"), signed_by(), {}), {}, empty, [](const JournalRow&) {});
  EXPECT_TRUE(restored) << "there are no segments, and the backup itself was chosen under the right key";
  EXPECT_EQ(choose_backup(disk, folder.path("backups"), std::string(32, 'a'), {}).error().code,
            Code::verification_failed);
}

TEST_F(BackupTest, AFolderThatHasOneIsLeftAlone) {
  make(memory, "one");
  auto snapshot = memory.read();
  auto again = write_backup(maker(), **snapshot, folder.path("backups/one"), {.id = "one"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
  EXPECT_TRUE(check_backup(disk, folder.path("backups/one"),
                           *read_backup(disk, folder.path("backups/one"), signed_by()), &pair));
}

// An archive on a store of its own.
class ArchiveTest : public BackupTest {
 protected:
  ArchiveTest() {
    auto below = std::make_unique<MemoryStore>();
    for (uint64_t seq = 1; seq <= 3; ++seq) step(*below, seq);
    store = std::make_unique<ArchivingStore>(std::move(below), clock);
  }
  std::unique_ptr<Archive> start() {
    return std::make_unique<Archive>(ArchiveParts{.store = *store,
                                                  .disk = disk,
                                                  .clock = clock,
                                                  .random = random,
                                                  .home = folder.path("home"),
                                                  .signer = signer,
                                                  .token = 0},
                                     ArchiveOrder{.folder = folder.path("backups"), .recipient = pair.recipient()});
  }
  void wait_for(Archive& archive, uint64_t position) {
    const int64_t until = clock.monotonic_ns() + int64_t{60} * 1'000'000'000;
    while (archive.status().position < position) {
      ASSERT_LT(clock.monotonic_ns(), until) << archive.status().trouble;
      clock.sleep_ms(5);
    }
  }
  std::string value_at(const RestoreMoment& moment) {
    MemoryStore empty;
    auto restored = bring_back(moment, empty);
    if (!restored) return restored.error().message;
    auto snapshot = empty.read();
    EXPECT_EQ((*snapshot)->position(), restored->position);
    return (*(*snapshot)->get("A", "a"))->value;
  }
  std::unique_ptr<ArchivingStore> store;
};

TEST_F(ArchiveTest, AnyMomentSinceTheBackupCanBeHad) {
  auto archive = start();
  wait_for(*archive, 3);
  for (uint64_t seq = 4; seq <= 9; ++seq) step(*store, seq);
  put("keys/new.key", "made later");
  step(*store, 10);
  wait_for(*archive, 10);
  EXPECT_EQ(value_at({.position = 3}), "3");
  EXPECT_EQ(value_at({.position = 7}), "7");
  later.clear();
  EXPECT_EQ(value_at({.position = 8}), "8");
  EXPECT_EQ(later, (std::vector<std::string>{"record 9", "record 10"})) << "what came later is told";
  EXPECT_EQ(value_at({}), "10");
  EXPECT_EQ(got("keys/new.key"), "made later");
  EXPECT_EQ(value_at({.position = 2}), "no backup there is as old as that");
}

TEST_F(ArchiveTest, NothingIsLostBetweenTheCommitAndTheArchive) {
  auto archive = start();
  wait_for(*archive, 3);
  archive.reset();
  for (uint64_t seq = 4; seq <= 6; ++seq) step(*store, seq);  // they are in the ring alone
  archive = start();
  wait_for(*archive, 6);
  EXPECT_EQ(value_at({.position = 5}), "5");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 1U);
}

TEST_F(ArchiveTest, AnotherProcessKeepsWhatItCommitsBeforeItArchives) {
  auto file = SqliteStore::open(disk, folder.path("archived.db"));
  ASSERT_TRUE(file);
  store = std::make_unique<ArchivingStore>(*std::move(file), clock);
  step(*store, 1);
  auto archive = start();
  wait_for(*archive, 1);
  archive.reset();
  store.reset();
  file = SqliteStore::open(disk, folder.path("archived.db"));
  ASSERT_TRUE(file);
  store = std::make_unique<ArchivingStore>(*std::move(file), clock);
  ASSERT_TRUE(store->resume());
  step(*store, 2);
  archive = start();
  wait_for(*archive, 2);
  EXPECT_EQ(value_at({}), "2");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 1U);
  // Whoever ends it and begins again needs another backup: nobody has kept what was between.
  archive.reset();
  ASSERT_TRUE(store->end());
  step(*store, 3);
  archive = start();
  wait_for(*archive, 3);
  EXPECT_EQ(value_at({}), "3");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 2U);
}

TEST_F(ArchiveTest, WhatIsMoreThanTheRingHoldsNeedsAnotherBackup) {
  auto archive = start();
  wait_for(*archive, 3);
  archive.reset();
  for (uint64_t seq = 4; seq <= 1'100; ++seq) step(*store, seq);
  archive = start();
  wait_for(*archive, 1'100);
  EXPECT_EQ(value_at({}), "1100");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 2U);
}

TEST_F(ArchiveTest, ADamagedSegmentIsNamedAndNothingIsRestored) {
  auto archive = start();
  wait_for(*archive, 3);
  step(*store, 4);
  wait_for(*archive, 4);
  archive.reset();
  const std::string lines = folder.path("backups/segments");
  const std::string place = lines + "/" + disk.list(lines)->front().name;
  const std::string path = place + "/" + disk.list(place)->front().name;
  damage(path, 30);
  MemoryStore empty;
  auto restored = bring_back({}, empty);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().message, "the segment " + path + ".json is damaged");
  EXPECT_EQ(restored.error().next, "restore a moment before it: --at 3");
  EXPECT_EQ((*empty.read())->position(), 0U);
}

}  // namespace backup_test
}  // namespace sluice::store
