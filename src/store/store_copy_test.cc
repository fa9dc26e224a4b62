// Stores that are read while another has them open.
#include "store/store_copy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "store/sqlite_store.h"

namespace sluice::store {
namespace store_copy_test {

constexpr uint64_t kMost = 64 << 20;

struct StoreCopy : testing::Test {
  void commit(SqliteStore& store, uint64_t seq) {
    ASSERT_TRUE(store.commit({.journal = {{.seq = seq, .record = std::string(2000, static_cast<char>('a' + seq % 26))}},
                              .meta = {{"seq", std::to_string(seq)}}}));
  }
  // The last record, and what the state says of it.
  std::string seen(Disk& copy) {
    auto store = SqliteStore::open(copy, path);
    if (!store) return to_string(store.error());
    auto snapshot = (*store)->read();
    if (!snapshot) return to_string(snapshot.error());
    auto seq = (*snapshot)->meta("seq");
    if (!seq) return to_string(seq.error());
    return std::to_string((*snapshot)->position()) + " " + seq->value_or("?");
  }

  TestingFolder folder;
  RealDisk disk;
  std::string path = folder.path("store.db");
};

TEST_F(StoreCopy, IsTheStoreAtOneMoment) {
  auto store = SqliteStore::open(disk, path);
  ASSERT_TRUE(store) << to_string(store.error());
  for (uint64_t seq = 1; seq <= 40; ++seq) commit(**store, seq);
  auto copy = copy_store(disk, path, kMost);
  ASSERT_TRUE(copy) << to_string(copy.error());
  // What comes later, and a checkpoint of it, changes nothing of the copy.
  for (uint64_t seq = 41; seq <= 80; ++seq) commit(**store, seq);
  store->reset();
  EXPECT_EQ(seen(**copy), "40 40");
  auto later = copy_store(disk, path, kMost);
  ASSERT_TRUE(later) << to_string(later.error());
  EXPECT_EQ(seen(**later), "80 80");
}

// Whatever is committed and copied into the file meanwhile: a copy is one moment, or there is none.
TEST_F(StoreCopy, IsOneMomentHoweverBusyTheStoreIs) {
  auto store = SqliteStore::open(disk, path, {.checkpoint_pages = 4});
  ASSERT_TRUE(store) << to_string(store.error());
  commit(**store, 1);
  constexpr uint64_t kMostCommits = 5'000;  // a slow reader must not meet a store that is too large
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (uint64_t seq = 2; !stop && seq < kMostCommits; ++seq) commit(**store, seq);
  });
  int copies = 0;
  for (int attempt = 0; attempt < 200 && copies < 20; ++attempt) {
    auto copy = copy_store(disk, path, kMost);
    if (!copy) {
      EXPECT_EQ(copy.error().code, Code::conflict) << to_string(copy.error());
      continue;
    }
    ++copies;
    std::string both = seen(**copy);
    size_t blank = both.find(' ');
    EXPECT_EQ(both.substr(0, blank), both.substr(blank + 1));
  }
  stop = true;
  writer.join();
}

TEST_F(StoreCopy, WhatIsTooLargeIsNotCopied) {
  ASSERT_TRUE(SqliteStore::open(disk, path));
  auto copy = copy_store(disk, path, 100);
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, Code::limit);
  EXPECT_EQ(copy.error().message, path + " has more than 100 bytes");
}

}  // namespace store_copy_test
}  // namespace sluice::store
