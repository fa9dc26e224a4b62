// Each verdict as people read it.
#include "judge/sentence.h"

#include <gtest/gtest.h>

#include "judge/testing_windows.h"

namespace sluice::judge {
namespace sentence_test {

std::string sentence(const Vector& vector) {
  Judge judge(vector.settings, Buckets());
  for (const Counts& counts : vector.history) judge.learn(counts);
  for (const Window& window : vector.windows) judge.add(window);
  return judge.verdict("v1", "v2").sentence;
}

TEST(Sentence, SaysEachVectorPlainly) {
  std::vector<std::string> sentences;
  for (const Vector& vector : vectors()) sentences.push_back(sentence(vector));
  EXPECT_EQ(
      sentences[0],
      "Too early: 1,273 more requests to v2 (4m14s at 5.0 a second) if it is as good as v1; so far a version that "
      "fails 10 % of requests would have shown.");
  EXPECT_EQ(sentences[1],
            "v2 fails 6.0 % of requests, v1 0.11 % (200 and 3,800 requests in 40s); the odds that this is chance are "
            "below 1 in 1,000.");
  EXPECT_EQ(sentences[2],
            "v2 is within the margin (errors 1.25 × v1 + 0.5 points, latency ×1.26): 0 of 700 failed, v1 14 of 13,300; "
            "a version beyond it passes in at most 5 of 100.");
  EXPECT_EQ(sentences[3],
            "v2 answers 8.0 % of requests slower than 63 ms, v1 1.1 % (200 and 3,796 requests in 40s); the odds that "
            "this is chance are below 1 in 1,000.");
  EXPECT_EQ(
      sentences[5],
      "Too early: 1,880 more requests to v2 (5h13m at 6.0 a minute) if it is as good as v1; so far only a version "
      "that fails every request would have shown.");
}

TEST(Sentence, SaysWhatIsMissing) {
  Vector vector{.settings = without_warm_up()};
  EXPECT_EQ(sentence(vector), "Too early: v2 has had no requests yet.");
  vector.history = {old_version()};
  vector.windows = {{.canary_weight_bps = 500}};
  EXPECT_EQ(sentence(vector),
            "Too early: 1,345 more requests to v2 if it is as good as v1; so far not even a version that fails every "
            "request would have shown.");
  vector = {.settings = without_warm_up(), .windows = {{.baseline = counts_of(5, ""), .canary = counts_of(0, "20:5")}}};
  EXPECT_EQ(sentence(vector), "Too early: too little is known of v1 to compare with.");
}

TEST(Sentence, SaysThatALimitIsOutOfReach) {
  Vector vector{.settings = without_warm_up()};
  vector.settings.max_error_rate = 0.01;
  vector.windows.assign(20, {.baseline = counts_of(1, "20:99"), .canary = counts_of(0, "20:5")});
  EXPECT_EQ(sentence(vector),
            "Undecided, and more requests will not help: v1 itself is too near to max_error_rate (1.0 %).");
}

TEST(Sentence, SaysThatALimitWasPassed) {
  Vector vector{.settings = without_warm_up()};
  vector.settings.max_error_rate = 0.05;
  vector.windows.assign(50, {.baseline = counts_of(10, "20:90"), .canary = counts_of(10, "20:90")});
  EXPECT_EQ(sentence(vector),
            "v2 fails 10 % of requests, more than the 5.0 % of max_error_rate (600 requests in 1m); the odds that this "
            "is chance are below 1 in 1,000.");
  vector.settings = without_warm_up();
  vector.settings.max_latency_p99_ms = 500;
  vector.windows.assign(50, {.baseline = counts_of(0, "20:90 38:10"), .canary = counts_of(0, "20:90 38:10")});
  EXPECT_EQ(sentence(vector),
            "v2 answers 10 % of requests slower than 501 ms, more than the 1.0 % of max_latency_p99 (400 requests in "
            "40s); the odds that this is chance are below 1 in 1,000.");
}

TEST(Sentence, SaysThatItIsInDoubt) {
  Vector vector{.settings = without_warm_up(), .history = std::vector<Counts>(10, old_version())};
  vector.windows.assign(3, {.baseline = old_version(), .canary = new_version(3)});
  EXPECT_EQ(sentence(vector),
            "Undecided: v2 fails 5.7 % of requests, v1 0.11 % (159 and 2,850 requests in 30s); that speaks against it, "
            "but it may still be chance.");
}

TEST(Sentence, SaysThatACanaryAloneKeepsItsLimits) {
  Vector vector{.settings = without_warm_up()};
  vector.settings.alone = true;
  vector.settings.max_error_rate = 0.05;
  vector.windows.assign(1, {.canary = counts_of(0, "20:10")});
  EXPECT_EQ(sentence(vector),
            "Too early: 88 more requests to v2 (1m27s at 1.0 a second) if none of them is bad; so far only a version "
            "that fails every request would have shown.");
  vector.windows.assign(50, {.canary = counts_of(0, "20:50")});
  EXPECT_EQ(sentence(vector),
            "v2 is within its limits: 0 of 2,500 failed; a version beyond them passes in at most 5 of 100.");
}

TEST(Sentence, SaysThatThereIsNothingToJudgeBy) {
  Settings settings = without_warm_up();
  settings.alone = true;
  Judge judge(settings, Buckets());
  judge.add({.canary = counts_of(50, "20:50")});
  EXPECT_EQ(judge.verdict("v1", "v2").sentence,
            "Undecided, and more requests will not help: no limit was set, and v1 had fewer than 100 requests in its "
            "last hour to take limits from.");
  EXPECT_EQ(judge.verdict("", "v2").sentence,
            "Undecided, and more requests will not help: no limit was set, and there is nothing to compare with.");
}

TEST(Sentence, WritesNumbersForPeople) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'000), "1,000");
  EXPECT_EQ(count_text(12'345'678), "12,345,678");
  EXPECT_EQ(share_text(0), "0 %");
  EXPECT_EQ(share_text(0.0011), "0.11 %");
  EXPECT_EQ(share_text(0.000998), "0.10 %");
  EXPECT_EQ(share_text(1e-9), "below 0.0001 %");
  EXPECT_EQ(share_text(0.06), "6.0 %");
  EXPECT_EQ(share_text(0.1), "10 %");
  EXPECT_EQ(share_text(1), "100 %");
  EXPECT_EQ(latency_text(0.5), "0.5 ms");
  EXPECT_EQ(latency_text(63.1), "63 ms");
  EXPECT_EQ(latency_text(1'585), "1.6 s");
  EXPECT_EQ(latency_text(15'850), "16 s");
}

}  // namespace sentence_test
}  // namespace sluice::judge
