// sluice migrate on a home without databases; tests/migrate has real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace migrate_commands_test
}  // namespace sluice::cli
