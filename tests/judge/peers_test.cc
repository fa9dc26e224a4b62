// The judges that ours is compared with see what they are known to see.
#include "peers.h"

#include <gtest/gtest.h>

namespace sluice::judge::simulation {
namespace peers_test {

const Buckets kOwn;

Counts counts(double failed, size_t bucket, double count) {
  Counts made{.requests = failed + count, .failed = failed};
  made.latencies.resize(64);
  made.latencies[bucket] = count;
  return made;
}

TEST(FixedJudge, HasALimitForEach) {
  FixedJudge judge(kOwn);
  EXPECT_FALSE(judge.is_worse({.canary = counts(1, 20, 99)}));
  EXPECT_TRUE(judge.is_worse({.canary = counts(2, 20, 98)}));
  EXPECT_TRUE(judge.is_worse({.canary = counts(0, 38, 100)}));
  EXPECT_FALSE(judge.is_worse({}));
}

TEST(MannWhitneyJudge, SeesAShiftOfEveryMinute) {
  MannWhitneyJudge judge(kOwn);
  bool worse = false;
  for (int i = 0; i < 9; ++i) worse |= judge.is_worse({.baseline = counts(1, 20, 99), .canary = counts(5, 20, 95)});
  EXPECT_FALSE(worse);
  EXPECT_TRUE(judge.is_worse({.baseline = counts(1, 20, 99), .canary = counts(5, 20, 95)}));
}

TEST(MannWhitneyJudge, DoesNotSeeASpikeOfAFifthOfThem) {
  MannWhitneyJudge judge(kOwn);
  for (int i = 0; i < 60; ++i) {
    size_t bucket = i % 5 == 0 ? 40 : 20 + static_cast<size_t>(i % 3);
    EXPECT_FALSE(judge.is_worse(
        {.baseline = counts(0, 20 + static_cast<size_t>((i + 1) % 3), 100), .canary = counts(0, bucket, 100)}));
  }
}

TEST(Minutes, GatherWindows) {
  Minutes minutes;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(minutes.add({.seconds = 10, .canary = counts(0, 20, 1)}));
  EXPECT_TRUE(minutes.add({.seconds = 10, .canary = counts(0, 20, 1)}));
  EXPECT_EQ(minutes.minute.canary.requests, 6);
  EXPECT_FALSE(minutes.add({.seconds = 10}));
}

TEST(Latencies, AreReadFromTheirHistogram) {
  EXPECT_NEAR(mean_ms(counts(0, 30, 10), kOwn), 89, 1);  // of 79 to 100 ms
  EXPECT_NEAR(quantile_ms(counts(0, 30, 10), kOwn, 0.5), 90, 1);
}

}  // namespace peers_test
}  // namespace sluice::judge::simulation
