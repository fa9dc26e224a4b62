// Ids in the database sort as they do here. Snapshots themselves are tested in tests/store, on a server.
#include "store/postgres_snapshot.h"

#include <gtest/gtest.h>

#include "store/store_conformance.h"

namespace sluice::store::postgres {
namespace postgres_snapshot_test {

TEST(PostgresIds, TheirBytesHaveTheirOrder) {
  EXPECT_EQ(bytes_of(test_id(1)), std::string("\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0", 16));
  EXPECT_LT(bytes_of(test_id(1)), bytes_of(test_id(256)));
}

}  // namespace postgres_snapshot_test
}  // namespace sluice::store::postgres
