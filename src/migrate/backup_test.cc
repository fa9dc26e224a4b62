// A backup has what the database had, in a file that says nothing, and a damaged one is none.
#include "migrate/backup.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::migrate {
namespace backup_test {

struct Backups {
  TestingFolder folder;
  RealDisk disk;
  RealRandom random;
  crypto::Aead key = crypto::Aead::with_new_key(random);
  BackupTools tools{disk, random, key, {}};
  std::unique_ptr<Database> database = *open_sqlite(folder.path("app.db"), true);
  std::string file = folder.path("one.backup");
};

TEST(Backup, HasEveryRowAndSaysNothing) {
  Backups at;
  // Rows of every kind, and more than one piece of the file.
  for (const char* sql : {"CREATE TABLE t(a, b BLOB)", "CREATE TABLE \"odd name\"(k TEXT PRIMARY KEY) WITHOUT ROWID",
                          "CREATE TABLE empty(a)", "INSERT INTO t VALUES (NULL, x'00ff'), (1, 'plaintext')",
                          "INSERT INTO \"odd name\" VALUES ('k')", "INSERT INTO t SELECT 7, randomblob(3000000)"}) {
    ASSERT_TRUE(at.database->run(sql)) << sql;
  }
  auto sums = back_up(*at.database, "", at.tools, at.file);
  ASSERT_TRUE(sums) << sums.error().message;
  ASSERT_EQ(sums->size(), 3U);
  EXPECT_EQ((*sums)[0].table, "\"empty\"");
  EXPECT_EQ((*sums)[1].table, "\"odd name\"");
  EXPECT_EQ((*sums)[2].rows, 3);
  EXPECT_EQ(read_file(at.disk, at.file, 8 << 20)->find("plaintext"), std::string::npos);
  ASSERT_TRUE(restore_sqlite(at.tools, at.file, at.folder.path("restored.db")));
  auto restored = open_sqlite(at.folder.path("restored.db"));
  ASSERT_TRUE(restored);
  EXPECT_EQ(*sums_of(**restored), *sums);
  // Only the database, the backup and what was restored are left.
  size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(at.folder.path()))
    files += each.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 3U);
}

TEST(Backup, IsNeverRestoredOverADatabase) {
  Backups at;
  ASSERT_TRUE(back_up(*at.database, "", at.tools, at.file));
  auto refused = restore_sqlite(at.tools, at.file, at.folder.path("app.db"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
}

TEST(Backup, ADamagedOneIsNone) {
  Backups at;
  ASSERT_TRUE(at.database->run("CREATE TABLE t(a)"));
  ASSERT_TRUE(at.database->run("INSERT INTO t SELECT randomblob(2500000)"));
  ASSERT_TRUE(back_up(*at.database, "", at.tools, at.file));
  const std::string whole = *read_file(at.disk, at.file, 8 << 20);
  const std::string into = at.folder.path("restored.db");
  auto refused = [&](std::string bytes) {
    EXPECT_TRUE(write_atomically(at.disk, at.file, bytes, 0600));
    auto restored = restore_sqlite(at.tools, at.file, into);
    EXPECT_EQ(*at.disk.exists(into), static_cast<bool>(restored));
    return restored ? Code::ok : restored.error().code;
  };
  std::string changed = whole;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  EXPECT_EQ(refused(changed), Code::verification_failed);
  EXPECT_EQ(refused(whole.substr(0, whole.size() - 1)), Code::verification_failed);
  EXPECT_EQ(refused(whole.substr(0, 17 + 4 + (1 << 20) + 28)), Code::verification_failed);  // its first piece alone
  EXPECT_EQ(refused("something else"), Code::verification_failed);
  const crypto::Aead wrong = crypto::Aead::with_new_key(at.random);
  const BackupTools other{at.disk, at.random, wrong, {}};
  EXPECT_TRUE(write_atomically(at.disk, at.file, whole, 0600));
  EXPECT_FALSE(restore_sqlite(other, at.file, into));
  EXPECT_EQ(refused(whole), Code::ok);
}

}  // namespace backup_test
}  // namespace sluice::migrate
