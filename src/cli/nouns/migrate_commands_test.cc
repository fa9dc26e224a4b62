// sluice migrate on a home without databases; tests/migrate has real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace migrate_commands_test {

TEST(MigrateCommands, AnEnvironmentWithoutMigrationsSaysSo) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"migrate", "list", "local"}).out, "There are no migrations.\n");
}

TEST(MigrateCommands, ARevisionThatIsNotThereIsNotFound) {
  ObjectsHome home;
  for (const char* verb : {"plan", "expand", "run", "pause", "resume", "retry", "drift", "history", "status"}) {
    EXPECT_EQ(home.run({"migrate", verb, "local", "shop@7"}).exit, 5) << verb;
  }
  for (const char* verb : {"contract", "undo"}) {
    EXPECT_EQ(home.run({"migrate", verb, "local", "shop@7", "--yes"}).exit, 5) << verb;
  }
}

TEST(MigrateCommands, LintNamesWhatBreaksTheVersionBefore) {
  ObjectsHome home;
  TestingFolder folder;
  RealDisk disk;
  ASSERT_TRUE(
      write_atomically(disk, folder.path("0001_a.sql"), "CREATE TABLE t(a int);\nCREATE INDEX i ON other(a);", 0644));
  EXPECT_EQ(home.run({"migrate", "lint", folder.path()}).out,
            "Nothing in these migrations breaks the version before.\n");
  auto found = home.run({"migrate", "lint", folder.path(), "--database", "postgres"});
  EXPECT_EQ(found.exit, 1);
  EXPECT_EQ(found.out, "0001_a/expand.sql:2: locks: nobody writes while it is made; CREATE INDEX CONCURRENTLY\n");
  EXPECT_EQ(
      home.run({"migrate", "lint", folder.path(), "--database", "postgres", "--all"}).out,
      "0001_a/expand.sql:1  no lock  CREATE TABLE t(a int)\n0001_a/expand.sql:2  SHARE  CREATE INDEX i ON other(a)\n" +
          found.out);
}

}  // namespace migrate_commands_test
}  // namespace sluice::cli
