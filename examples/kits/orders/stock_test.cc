// Stock through the harness: what fixtures cannot say. Its fixtures and invariants run beside this, generated.
#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "stock.gen.h"

namespace sluice::orders::stock {
namespace {

class StockTest : public testing::Test {
 protected:
  StockTest() { harness.invoke(Add{.item = tea, .count = 5}).as<Add::Ok>(); }

  const StockId tea{"tea"};
  lang::Harness harness{stock_binding()};
};

TEST_F(StockTest, TheLastOnesCanBeReservedAndNotOneMore) {
  EXPECT_TRUE(harness.invoke(Reserve{.item = tea, .count = 5}).is<Reserve::Ok>());
  EXPECT_EQ(harness.invoke(Reserve{.item = tea, .count = 1}).as<Reserve::Short>().onShelf, 0);
}

TEST_F(StockTest, NobodyReservesLessThanOne) {
  EXPECT_EQ(harness.invoke(Reserve{.item = tea, .count = -5}).as<Reserve::Short>().onShelf, 5);
}

TEST_F(StockTest, ReleasingAlwaysSucceeds) {
  EXPECT_EQ(harness.invoke(Release{.item = tea, .count = -3}).as<Release::Ok>().onShelf, 5);
  EXPECT_EQ(harness.invoke(Release{.item = tea, .count = INT64_MAX}).as<Release::Ok>().onShelf, 1'000'000);
  EXPECT_EQ(harness.invoke(Release{.item = StockId{"jam"}, .count = 2}).as<Release::Ok>().onShelf, 2);
}

}  // namespace
}  // namespace sluice::orders::stock
