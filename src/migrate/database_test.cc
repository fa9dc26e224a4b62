// A transaction that is not committed is taken back.
#include "migrate/database.h"

#include <gtest/gtest.h>

#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace database_test {

TEST(Database, TakesATransactionBackThatIsNotCommitted) {
  TestingDatabase testing;
  testing.run("CREATE TABLE t(a);");
  {
    auto transaction = Transaction::begin(testing.database());
    ASSERT_TRUE(transaction);
    testing.run("INSERT INTO t VALUES (1);");
  }
  EXPECT_EQ(testing.rows("SELECT count(*) FROM t"), "0\n");
  auto transaction = Transaction::begin(testing.database());
  ASSERT_TRUE(transaction);
  testing.run("INSERT INTO t VALUES (1);");
  ASSERT_TRUE(transaction->commit());
  EXPECT_EQ(testing.rows("SELECT count(*) FROM t"), "1\n");
}

}  // namespace database_test
}  // namespace sluice::migrate
