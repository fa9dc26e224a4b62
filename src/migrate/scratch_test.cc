// A file that is needed for a while is gone afterwards, with what belongs to it.
#include "migrate/scratch.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::migrate {
namespace scratch_test {

TEST(Scratch, LeavesNothing) {
  TestingFolder folder;
  RealDisk disk;
  const std::string path = folder.path("plain");
  ASSERT_TRUE(write_atomically(disk, path, "of a process that was killed", 0600));
  {
    const Scratch scratch(disk, path);
    EXPECT_FALSE(*disk.exists(path));
    auto database = open_sqlite(scratch.path(), true);
    ASSERT_TRUE(database);
    for (const char* sql : {"PRAGMA journal_mode = wal", "CREATE TABLE t(a)"}) EXPECT_TRUE((*database)->run(sql));
    EXPECT_TRUE(*disk.exists(path + "-wal"));
  }
  for (const char* ending : {"", "-wal", "-shm"}) EXPECT_FALSE(*disk.exists(path + ending)) << ending;
}

}  // namespace scratch_test
}  // namespace sluice::migrate
