// A server that is away. What needs one is in tests/store.
#include "store/postgres_store.h"

#include <gtest/gtest.h>

namespace sluice::store::postgres {
namespace postgres_store_test {

TEST(PostgresStoreWithoutAServer, IsUnavailable) {
  RealClock clock;
  auto store = PostgresStore::open(clock, "postgresql://nobody@/none?host=/nowhere");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::unavailable);
}

}  // namespace postgres_store_test
}  // namespace sluice::store::postgres
