// What keeps a replica from following. tests/store has replicas that do, on a real server.
#include "host/following.h"

#include <gtest/gtest.h>

#include "host/testing_opening.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace following_test {

TEST(Following, WithoutAServerThereIsNobodyToFollow) {
  TestingOpening home(orders::concepts());
  home.opening.store = StoreElsewhere{.address = "postgresql://me@/none?host=/nowhere", .replica = "west"};
  auto following = Following::start(home.opening, {.listen = "", .certificates = {}, .version = "0.1.0"});
  ASSERT_FALSE(following);
  EXPECT_EQ(following.error().code, Code::unavailable);
}

TEST(Following, AHomeWithAStoreOfItsOwnFollowsNobody) {
  TestingOpening home(orders::concepts());
  RealClock clock;
  ASSERT_TRUE(open_home_store(home.opening, clock, MakeStore::yes));
  home.opening.store = StoreElsewhere{.address = "postgresql://me@/none?host=/nowhere", .replica = "west"};
  auto following = Following::start(home.opening, {.listen = "", .certificates = {}, .version = "0.1.0"});
  ASSERT_FALSE(following);
  EXPECT_EQ(following.error().code, Code::conflict);
}

}  // namespace following_test
}  // namespace sluice::host
