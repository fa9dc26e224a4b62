// What a crash takes and what it leaves.
#include <gtest/gtest.h>

#include <set>

#include "base/testing_volatile_disk.h"

namespace sluice {
namespace volatile_disk_test {

struct VolatileDiskTest : testing::Test {
  VolatileDisk disk;

  std::unique_ptr<File> create(const std::string& path) {
    auto file = disk.open(path, {.write = true, .create = true});
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }
  // A file with durable contents and a durable name.
  void settle(const std::string& path, std::string_view bytes) {
    auto file = create(path);
    EXPECT_TRUE(file->write_at(0, bytes));
    EXPECT_TRUE(file->sync(SyncWhat::all));
    EXPECT_TRUE(disk.sync_folder(folder_of(path)));
  }
  std::string get(const std::string& path) {
    auto file = disk.open(path, {});
    if (!file) return std::string(code_name(file.error().code));
    std::string bytes(100, '\0');
    bytes.resize(*(*file)->read_at(0, bytes));
    return bytes;
  }
};

TEST_F(VolatileDiskTest, DropsBytesThatWereNotSynced) {
  settle("/f", "synced");
  auto file = create("/f");
  EXPECT_TRUE(file->write_at(0, "SYNC"));
  EXPECT_TRUE(file->truncate(5));
  EXPECT_EQ(get("/f"), "SYNCe");
  disk.crash();
  EXPECT_EQ(get("/f"), "synced");
}

TEST_F(VolatileDiskTest, DropsANameWhoseFolderWasNotSynced) {
  auto file = create("/f");
  EXPECT_TRUE(file->write_at(0, "bytes"));
  EXPECT_TRUE(file->sync(SyncWhat::all));
  disk.crash();
  EXPECT_EQ(get("/f"), "not_found");
}

TEST_F(VolatileDiskTest, KeepsANameWithoutTheBytesThatWereNotSynced) {
  auto file = create("/f");
  EXPECT_TRUE(file->write_at(0, "bytes"));
  EXPECT_TRUE(disk.sync_folder("/"));
  disk.crash();
  EXPECT_EQ(get("/f"), "");
}

TEST_F(VolatileDiskTest, UndoesARenameAndARemovalThatWereNotSynced) {
  settle("/a", "A");
  settle("/b", "B");
  settle("/c", "C");
  EXPECT_TRUE(disk.rename("/a", "/b"));
  EXPECT_TRUE(disk.remove("/c"));
  EXPECT_EQ(get("/b"), "A");
  disk.crash();
  EXPECT_EQ(get("/a"), "A");
  EXPECT_EQ(get("/b"), "B");
  EXPECT_EQ(get("/c"), "C");
  EXPECT_EQ(disk.stat("/b", FollowLinks::no)->links, 1u);
}

TEST_F(VolatileDiskTest, KeepsARenameThatWasSynced) {
  settle("/a", "A");
  settle("/b", "B");
  EXPECT_TRUE(disk.rename("/a", "/b"));
  EXPECT_TRUE(disk.sync_folder("/"));
  disk.crash();
  EXPECT_EQ(get("/a"), "not_found");
  EXPECT_EQ(get("/b"), "A");
}

TEST_F(VolatileDiskTest, DropsAFolderWhoseParentWasNotSynced) {
  EXPECT_TRUE(disk.make_folder("/d", 0700));
  settle("/d/f", "bytes");
  disk.crash();
  EXPECT_EQ(get("/d/f"), "not_found");
  EXPECT_EQ(disk.list("/")->size(), 0u);
}

TEST_F(VolatileDiskTest, KeepsAModeOnlyWhenAllWasSynced) {
  settle("/f", "bytes");
  auto file = create("/f");
  EXPECT_TRUE(file->chmod(0644));
  EXPECT_TRUE(file->sync(SyncWhat::contents));
  disk.crash();
  EXPECT_EQ(disk.stat("/f", FollowLinks::no)->mode, 0600u);
}

TEST_F(VolatileDiskTest, FilesOpenBeforeACrashFailAndHoldNoLock) {
  settle("/f", "bytes");
  auto file = create("/f");
  EXPECT_TRUE(*file->lock(FileLock::exclusive));
  disk.crash();
  auto written = file->write_at(0, "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write /f: Input/output error");
  EXPECT_TRUE(*create("/f")->lock(FileLock::exclusive));
}

TEST_F(VolatileDiskTest, KeepingSomeLeavesOldNewAndTornContents) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    settle("/f", "....");
    EXPECT_TRUE(create("/f")->write_at(0, "ABCD"));
    SeededRandom random(seed);
    disk.crash_keeping_some(random);
    seen.insert(get("/f"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"....", "A...", "AB..", "ABC.", "ABCD"}));
}

TEST_F(VolatileDiskTest, KeepingSomeKeepsTheOldestChangesOfAFolder) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    VolatileDisk fresh;
    for (std::string path : {"/a", "/b", "/c"}) EXPECT_TRUE(fresh.open(path, {.write = true, .create = true}));
    SeededRandom random(seed);
    fresh.crash_keeping_some(random);
    std::string names;
    const auto entries = *fresh.list("/");
    for (const auto& entry : entries) names += entry.name;
    seen.insert(names);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"", "a", "ab", "abc"}));
}

TEST_F(VolatileDiskTest, KeepingSomeIsTheSameForTheSameSeed) {
  auto run = [](uint64_t seed) {
    VolatileDisk fresh;
    auto file = fresh.open("/f", {.write = true, .create = true});
    EXPECT_TRUE(fresh.sync_folder("/"));
    for (uint64_t i = 0; i < 20; ++i) EXPECT_TRUE((*file)->write_at(i * 3, "xyz"));
    SeededRandom random(seed);
    fresh.crash_keeping_some(random);
    auto after = fresh.open("/f", {});
    std::string bytes(100, '\0');
    bytes.resize(*(*after)->read_at(0, bytes));
    return bytes;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST_F(VolatileDiskTest, RefusesFilesThatWouldFillTheMemory) {
  auto file = create("/f");
  auto written = file->write_at(uint64_t{1} << 60, "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write /f: File too large");
  EXPECT_EQ(file->truncate(uint64_t{1} << 40).error().code, Code::limit);
}

}  // namespace volatile_disk_test
}  // namespace sluice
