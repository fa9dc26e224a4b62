// Bounds on disk: newer ones are taken, older and damaged ones are not, and expired ones let nothing new pass.
#include "router/table/bounds_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::router {
namespace bounds_keeper_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

struct RouterBoundsKeeper : testing::Test {
  VolatileDisk disk;
  ManualClock clock{kNow};
  crypto::PrivateKey key = crypto::PrivateKey::generate();

  RouterBoundsKeeper() { EXPECT_TRUE(disk.make_folder("/r", 0700)); }

  void put(int64_t version, const std::string& environment = "test", std::optional<std::string> expires = {}) {
    BoundsDocument document{.environment = environment, .version = version, .expires_at = std::move(expires)};
    ASSERT_TRUE(write_atomically(disk, "/bounds", sign_bounds(document, key).value(), 0644));
  }
  BoundsKeeper keeper() { return {disk, clock, "/bounds", {key.public_key()}, "/r"}; }
};

TEST_F(RouterBoundsKeeper, TakesNewerOnes) {
  put(1);
  auto bounds = keeper();
  ASSERT_TRUE(bounds.begin());
  EXPECT_EQ(bounds.for_order().value()->bounds.document().version, 1);
  put(2);
  EXPECT_EQ(bounds.for_order().value()->bounds.document().version, 2);
}

TEST_F(RouterBoundsKeeper, RefusesOlderOnesAlsoAfterAStart) {
  put(2);
  ASSERT_TRUE(keeper().begin());
  put(1);
  auto bounds = keeper();
  ASSERT_TRUE(bounds.begin());
  EXPECT_EQ(bounds.current().bounds.document().version, 2) << "those of before hold";
  EXPECT_THAT(bounds.for_order().error().message, HasSubstr("have version 1, and version 2 was obeyed before"));
  EXPECT_THAT(bounds.for_order().error().message, HasSubstr("have version 1")) << "asked again, the same";
  put(2, "other");
  EXPECT_THAT(bounds.for_order().error().message, HasSubstr("version 2 of the bounds has two contents"));
  put(3);
  EXPECT_TRUE(bounds.for_order());
  EXPECT_EQ(bounds.trouble(), "");
}

TEST_F(RouterBoundsKeeper, ADamagedFileCostsNewOrdersOnly) {
  put(1);
  ASSERT_TRUE(keeper().begin());
  ASSERT_TRUE(write_atomically(disk, "/bounds", "{}", 0644));
  auto bounds = keeper();
  ASSERT_TRUE(bounds.begin());
  EXPECT_EQ(bounds.current().bounds.document().version, 1);
  EXPECT_FALSE(bounds.for_order());
  EXPECT_NE(bounds.trouble(), "");
  ASSERT_TRUE(disk.remove("/bounds"));
  EXPECT_EQ(bounds.for_order().error().code, Code::not_found);
}

TEST_F(RouterBoundsKeeper, WithoutAnyItDoesNotBegin) {
  EXPECT_EQ(keeper().begin().error().code, Code::not_found);
  put(1);
  BoundsKeeper other(disk, clock, "/bounds", {crypto::PrivateKey::generate().public_key()}, "/r");
  EXPECT_EQ(other.begin().error().code, Code::verification_failed);
}

TEST_F(RouterBoundsKeeper, ExpiredOnesLetNothingNewPass) {
  put(1, "test", utc_text(kNow + 1000));
  auto bounds = keeper();
  ASSERT_TRUE(bounds.begin());
  EXPECT_TRUE(bounds.for_order());
  clock.advance_ms(1000);
  EXPECT_THAT(bounds.for_order().error().message, HasSubstr("expired at"));
  EXPECT_EQ(bounds.current().bounds.document().version, 1);
  clock.set_wall_ms(kNow);
  EXPECT_TRUE(bounds.for_order()) << "a clock that was set back";
}

TEST_F(RouterBoundsKeeper, AMarkThatCannotBeKeptStopsThem) {
  put(1);
  auto bounds = keeper();
  ASSERT_TRUE(bounds.begin());
  put(2);
  ASSERT_TRUE(disk.remove("/r/bounds.json"));
  ASSERT_TRUE(disk.remove_folder("/r"));
  EXPECT_FALSE(bounds.for_order());
}

}  // namespace bounds_keeper_test
}  // namespace sluice::router
