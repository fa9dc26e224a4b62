// What cannot work is found on a copy; the database stays as it was.
#include "migrate/rehearsal.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace rehearsal_test {

const std::string kSchema = "SELECT name, sql FROM sqlite_schema ORDER BY name";

TEST(Rehearsal, ChangesNothing) {
  TestingDatabase database;
  RealClock clock;
  RealDisk disk;
  RealRandom random;
  const RehearsalTools tools{disk, random, {}, "", ""};
  const Migrations migrations = split_names();
  EXPECT_TRUE(rehearse(database.database(), migrations, clock, tools));
  EXPECT_EQ(database.rows(kSchema), "");
  database.expand(migrations, 1);
  database.run("INSERT INTO users VALUES (1, 'Mary Ann', 'Lee');");
  database.migrate(migrations, 1);
  database.expand(migrations, 2);
  const std::string schema = database.rows(kSchema);
  auto rehearsed = rehearse(database.database(), migrations, clock, tools);
  EXPECT_TRUE(rehearsed) << rehearsed.error().message;
  EXPECT_EQ(database.rows(kSchema), schema);
  EXPECT_EQ(database.rows("SELECT * FROM users"), "1|Mary Ann|Lee|NULL\n");
}

TEST(Rehearsal, FindsWhatCannotWork) {
  TestingDatabase database;
  RealClock clock;
  RealDisk disk;
  RealRandom random;
  const RehearsalTools tools{disk, random, {}, "", ""};
  const Migrations migrations =
      split_names("ALTER TABLE users DROP COLUMN first;\nALTER TABLE users DROP COLUMN lost;");
  auto refused = rehearse(database.database(), migrations, clock, tools);
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()), "0002_full_name/contract.sql:2:1: no such column: \"lost\"");
}

TEST(Rehearsal, KnowsVirtualTablesViewsAndTriggers) {
  TestingDatabase database;
  RealClock clock;
  RealDisk disk;
  RealRandom random;
  const RehearsalTools tools{disk, random, {}, "", ""};
  const Migrations migrations = split_names();
  database.expand(migrations, 1);
  database.migrate(migrations, 1);
  database.run(
      "CREATE VIRTUAL TABLE found USING fts5(words); CREATE VIEW names AS SELECT first FROM users; CREATE TABLE "
      "seen(id);"
      "CREATE TRIGGER see AFTER INSERT ON users BEGIN INSERT INTO seen VALUES (NEW.id); END;");
  auto refused = rehearse(database.database(), migrations, clock, tools);
  ASSERT_FALSE(refused);  // the view reads what the contraction drops
  EXPECT_NE(to_string(refused.error()).find("0002_full_name/contract.sql:1:1: error in view names"), std::string::npos)
      << to_string(refused.error());
  database.run("DROP VIEW names;");
  refused = rehearse(database.database(), migrations, clock, tools);
  EXPECT_TRUE(refused) << to_string(refused.error());
}

TEST(Rehearsal, NeedsACopyOfTheSchema) {
  TestingDatabase database;
  RealClock clock;
  RealDisk disk;
  RealRandom random;
  const RehearsalTools tools{disk, random, {}, "", ""};
  database.run(
      "PRAGMA writable_schema = 1; CREATE TABLE odd(a); UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE odd USING "
      "elsewhere' WHERE name = 'odd';");
  auto refused = rehearse(database.database(), split_names(), clock, tools);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied);
  EXPECT_EQ(refused.error().message, "its schema cannot be copied: no such module: elsewhere");
}

TEST(Rehearsal, LeavesTheOldSideIfNobodyAsksForMore) {
  TestingDatabase database;
  RealClock clock;
  RealDisk disk;
  RealRandom random;
  const RehearsalTools tools{disk, random, {}, "", ""};
  const Migrations migrations = split_names("ALTER TABLE users DROP COLUMN lost;");
  EXPECT_FALSE(rehearse(database.database(), migrations, clock, tools));
  EXPECT_TRUE(rehearse(database.database(), migrations, clock, tools, false));
}

}  // namespace rehearsal_test
}  // namespace sluice::migrate
