// A database belongs to one Sluice, and one migrator works on it at a time.
#include "migrate/ledger.h"

#include <gtest/gtest.h>

#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace ledger_test {

TEST(Ledger, BelongsToOneSluiceAndOneMigrator) {
  TestingDatabase database;
  Migrations migrations = split_names();
  database.expand(migrations, 1);
  RealClock clock;
  auto other = Ledger::claim(database.database(), {.sluice = "sluice-2"}, clock);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "the database belongs to another Sluice, sluice-1");
  {
    Runner running = database.runner(migrations);
    auto second = MigratorLock::take(*database.connection(), {.sluice = "sluice-2"}, clock);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::timeout);
  }
  EXPECT_TRUE(Ledger::claim(database.database(), {.sluice = "sluice-2"}, clock, true));
  EXPECT_EQ((*Ledger::owner(database.database()))->sluice, "sluice-2");
}

}  // namespace ledger_test
}  // namespace sluice::migrate
