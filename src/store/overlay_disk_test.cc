// A store is read as it stands, and nothing below changes.
#include "store/overlay_disk.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "store/sqlite_store.h"

namespace sluice::store {
namespace overlay_disk_test {

struct Overlay : testing::Test {
  std::string bytes(const std::string& name) { return read_file(disk, folder.path(name), size_t{64} << 20U).value(); }
  std::string read(OverlayDisk& overlay, const std::string& name) {
    auto file = overlay.open(folder.path(name), {});
    if (!file) return to_string(file.error());
    std::string all((*file)->size().value(), '\0');
    EXPECT_EQ((*file)->read_at(0, all).value(), all.size());
    return all;
  }

  RealDisk disk;
  TestingFolder folder;
};

TEST_F(Overlay, WhatIsWrittenIsSeenThroughItAlone) {
  std::string below(10'000, 'a');
  ASSERT_TRUE(write_atomically(disk, folder.path("f"), below, 0600));
  OverlayDisk overlay(disk);
  auto file = overlay.open(folder.path("f"), {.write = true});
  ASSERT_TRUE(file) << to_string(file.error());
  ASSERT_TRUE((*file)->write_at(4090, "0123456789"));
  ASSERT_TRUE((*file)->write_at(12'000, "end"));
  std::string expected = below;
  expected.replace(4090, 10, "0123456789");
  expected += std::string(2000, '\0') + "end";
  EXPECT_EQ(read(overlay, "f"), expected);
  ASSERT_TRUE((*file)->truncate(4095));
  ASSERT_TRUE((*file)->write_at(5000, "x"));
  EXPECT_EQ(read(overlay, "f"), expected.substr(0, 4095) + std::string(905, '\0') + "x");
  EXPECT_EQ(overlay.stat(folder.path("f"), FollowLinks::yes)->size, 5001U);
  EXPECT_EQ(bytes("f"), below);
}

TEST_F(Overlay, FilesComeAndGoInMemory) {
  OverlayDisk overlay(disk);
  EXPECT_EQ(overlay.open(folder.path("f"), {.write = true}).error().code, Code::not_found);
  ASSERT_TRUE(overlay.open(folder.path("f"), {.write = true, .create = true}));
  EXPECT_TRUE(*overlay.exists(folder.path("f")));
  EXPECT_FALSE(*disk.exists(folder.path("f")));
  ASSERT_TRUE(overlay.remove(folder.path("f")));
  EXPECT_FALSE(*overlay.exists(folder.path("f")));
  EXPECT_EQ(overlay.make_folder(folder.path("g"), 0700).error().code, Code::limit);
}

// The log of a store whose process was killed is taken in, in memory.
TEST_F(Overlay, AStoreIsReadWithTheLogThatWasLeftBehind) {
  {
    auto store = SqliteStore::open(disk, folder.path("live.db"), {.checkpoint_in_background = false});
    ASSERT_TRUE(store) << to_string(store.error());
    ASSERT_TRUE((*store)->commit({.journal = {{.seq = 1, .record = "one"}}, .meta = {{"kit", "orders"}}}));
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(folder.path(std::string("live.db") + suffix),
                                 folder.path(std::string("store.db") + suffix));
    }
  }
  std::string file = bytes("store.db");
  std::string log = bytes("store.db-wal");
  ASSERT_FALSE(log.empty());
  {
    OverlayDisk overlay(disk);
    auto store = SqliteStore::open(overlay, folder.path("store.db"));
    ASSERT_TRUE(store) << to_string(store.error());
    auto snapshot = (*store)->read();
    ASSERT_TRUE(snapshot);
    EXPECT_EQ((*snapshot)->position(), 1U);
    EXPECT_EQ((*snapshot)->meta("kit").value(), "orders");
  }
  EXPECT_EQ(bytes("store.db"), file);
  EXPECT_EQ(bytes("store.db-wal"), log);
  EXPECT_FALSE(*disk.exists(folder.path("store.db.lock")));
}

}  // namespace overlay_disk_test
}  // namespace sluice::store
