// Migrations as they lie in an archive.
#include "deploy/migration_texts.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"

namespace sluice::deploy {
namespace migration_texts_test {

class MigrationTexts : public testing::Test {
 protected:
  MigrationTexts() {
    settings.folder.text = "migrations";
    settings.file.emplace().text = "data/app.db";
  }
  Result<migrate::Migrations> read(const std::string& path, const std::string& text) {
    EXPECT_TRUE(disk.make_folder(folder.path("in"), 0755));
    EXPECT_TRUE(disk.make_folder(folder.path("in/migrations"), 0755));
    EXPECT_TRUE(write_atomically(disk, folder.path("in/" + path), text, 0644));
    EXPECT_TRUE(bundle::pack(disk, folder.path("in"), {path}, folder.path("shop.bundle")));
    return migrations_in(disk, folder.path("shop.bundle"), settings);
  }
  RealDisk disk;
  TestingFolder folder;
  bundle::Migrations settings;
};

TEST_F(MigrationTexts, AreThoseBelowTheFolder) {
  auto read_them = read("migrations/0001_init.sql", "CREATE TABLE users(id INTEGER PRIMARY KEY);");
  ASSERT_TRUE(read_them) << read_them.error().message;
  ASSERT_EQ(read_them->size(), 1U);
  EXPECT_EQ(read_them->front().name, "0001_init");
  EXPECT_EQ(read_them->front().expand.size(), 1U);
}

TEST_F(MigrationTexts, AFolderWithoutAnyIsRefused) {
  auto read_them = read("0001_init.sql", "CREATE TABLE users(id INTEGER PRIMARY KEY);");
  ASSERT_FALSE(read_them);
  EXPECT_EQ(read_them.error().message, "the bundle has nothing in its folder migrations");
}

TEST_F(MigrationTexts, ATextThatIsTooLargeIsRefused) {
  auto read_them = read("migrations/0001_init.sql", std::string((4 << 20) + 1, ' '));
  ASSERT_FALSE(read_them);
  EXPECT_EQ(read_them.error().message, "migrations/0001_init.sql is too large for a migration");
}

TEST_F(MigrationTexts, NumbersHaveNoGaps) {
  auto read_them = read("migrations/0002_init.sql", "CREATE TABLE users(id INTEGER PRIMARY KEY);");
  ASSERT_FALSE(read_them);
  EXPECT_EQ(to_string(read_them.error()), "there is no migration 1, and one with the number 2");
}

}  // namespace migration_texts_test
}  // namespace sluice::deploy
