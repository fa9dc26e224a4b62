// No message about an address has its password in it; servers are tried in tests/migrate.
#include <gtest/gtest.h>

#include "migrate/database.h"
#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace postgres_database_test {

TEST(PostgresDatabase, ShowsNoPassword) {
  for (const char* address : {"postgresql://app:hunter2@/app?host=/nowhere", "postgresql://app:hunter2@/app?hots=/x",
                              "host=/nowhere password='hunter2"}) {
    auto opened = open_postgres(address);
    ASSERT_FALSE(opened);
    EXPECT_EQ(to_string(opened.error()).find("hunter2"), std::string::npos) << opened.error().message;
  }
}

}  // namespace postgres_database_test
}  // namespace sluice::migrate
