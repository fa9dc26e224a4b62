// A home and a store that are backed up, and an archive behind them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "store/backup/archive.h"
#include "store/backup/archiving_store.h"
#include "store/backup/backup.h"
#include "store/backup/restore.h"
#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/store_conformance.h"

namespace sluice::store {

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
    ASSERT_TRUE(eventually([&] { return archive.status().position >= position; })) << archive.status().trouble;
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

}  // namespace sluice::store
