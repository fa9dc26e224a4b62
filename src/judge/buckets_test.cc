// Ends of buckets, and tails of histograms.
#include "judge/buckets.h"

#include <gtest/gtest.h>

namespace sluice::judge {
namespace buckets_test {

TEST(Buckets, TheJudgesOwnGoFromATenthOfAMillisecond) {
  Buckets buckets;
  EXPECT_EQ(buckets.size(), 64);
  EXPECT_EQ(buckets.ends_us().front(), 100);
  EXPECT_NEAR(buckets.ends_us()[30], 100'000, 1e-6);
  EXPECT_NEAR(buckets.step_at(30), 1.2589, 1e-4);
  EXPECT_EQ(buckets.step_at(62), 0);
}

TEST(Buckets, ALimitIsTheEndAtItOrTheNext) {
  Buckets buckets;
  EXPECT_EQ(buckets.end_at(100'000), 30);
  EXPECT_EQ(buckets.end_at(500'000), 37);
  EXPECT_EQ(buckets.end_at(1), 0);
  EXPECT_EQ(buckets.end_at(1e9), 63);
}

TEST(Buckets, EndsAscend) {
  EXPECT_EQ(Buckets::with_ends({50, 100}).value().size(), 3);
  EXPECT_EQ(Buckets::with_ends({}).error().message, "a histogram has 1 to 63 ends, not 0");
  EXPECT_EQ(Buckets::with_ends(std::vector<double>(64, 1)).error().message, "a histogram has 1 to 63 ends, not 64");
  for (const std::vector<double>& ends : {std::vector<double>{0}, {5, 5}, {5, 4}}) {
    EXPECT_EQ(Buckets::with_ends(ends).error().message, "the ends of a histogram's buckets must ascend from above 0");
  }
}

TEST(Tails, CountWhatLiesAboveAnEnd) {
  Tails tails({1, 2, 3}, 4);
  EXPECT_EQ(tails.all(), 6);
  EXPECT_EQ(tails.above(0), 5);
  EXPECT_EQ(tails.above(1), 3);
  EXPECT_EQ(tails.above(2), 0);
  EXPECT_EQ(tails.above(9), 0);
  EXPECT_EQ(tails.end_of_tail(0.5), 1);  // exactly half: ties agree
  EXPECT_EQ(tails.end_of_tail(0.49), 2);
  EXPECT_EQ(Tails({}, 4).all(), 0);
}

}  // namespace buckets_test
}  // namespace sluice::judge
