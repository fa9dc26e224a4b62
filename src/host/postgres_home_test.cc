// What a home keeps of a store that is elsewhere. tests/store has the store itself, on a real server.
#include "host/postgres_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "host/testing_opening.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace postgres_home_test {

struct Elsewhere : testing::Test {
  TestingOpening home{orders::concepts()};
  RealClock clock;
};

TEST_F(Elsewhere, TheHomeRemembersItsStore) {
  EXPECT_FALSE(read_postgres_home(home.disk, home.home)->has_value());
  ASSERT_TRUE(home.home.folder("store"));
  ASSERT_TRUE(write_postgres_home(home.disk, home.home, {.store = "ab", .instance = "cd", .seen = 7}));
  auto read = *read_postgres_home(home.disk, home.home);
  EXPECT_EQ(read->store, "ab");
  EXPECT_EQ(read->instance, "cd");
  EXPECT_EQ(read->seen, 7U);
  auto opened = open_home_store(home.opening, clock, MakeStore::yes);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            "the store of this home is in PostgreSQL, and no sluice serve of this home answers");
}

TEST_F(Elsewhere, TheKeyIsPrivateAndADamagedOneIsRefused) {
  EXPECT_TRUE(cluster_key(home.disk, home.home)->empty());
  const auto key = crypto::SecretBuffer::copy_of(std::string(32, 'k'));
  ASSERT_TRUE(store_cluster_key(home.disk, home.home, key));
  EXPECT_EQ(cluster_key(home.disk, home.home)->reveal(), key.reveal());
  const std::string path = (home.home.root() / "keys" / "cluster.key").string();
  EXPECT_EQ(home.disk.stat(path, FollowLinks::no)->mode, 0600U);
  ASSERT_TRUE(write_atomically(home.disk, path, "abcd\n", 0600));
  EXPECT_THAT(cluster_key(home.disk, home.home).error().message, testing::HasSubstr("is not the key of a cluster"));
}

TEST_F(Elsewhere, AServerThatDoesNotAnswerIsToldWithoutItsPassword) {
  home.opening.store = StoreElsewhere{.address = "postgresql://me:pq-s3cret-word@/none?host=/nowhere"};
  auto opened = open_postgres(home.opening, clock, false);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::unavailable);
  EXPECT_THAT(opened.error().message, testing::Not(testing::HasSubstr("pq-s3cret-word")));
}

}  // namespace postgres_home_test
}  // namespace sluice::host
