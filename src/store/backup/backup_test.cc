// Backups of a store with a home, whole and damaged.
#include "store/backup/backup.h"

#include "store/backup/testing_backups.h"

namespace sluice::store {
namespace backup_test {

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

}  // namespace backup_test
}  // namespace sluice::store
