// Percentages, basis points and the rest.
#include "cli/traffic_split.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace traffic_split_test {

Result<std::vector<WeightWord>> read_words(const std::vector<std::string>& words) { return read_weights(words); }

TEST(TrafficSplit, ReadsPercentagesBasisPointsAndTheRest) {
  EXPECT_EQ(read_words({"shop@2=1%", "shop@1=rest"}).value(),
            (std::vector<WeightWord>{{"shop@2", 100}, {"shop@1", 9900}}));
  EXPECT_EQ(read_words({"a=0.05%", "b=25bps", "c=rest", "d=0%"}).value(),
            (std::vector<WeightWord>{{"a", 5}, {"b", 25}, {"c", 9970}, {"d", 0}}));
  EXPECT_EQ(read_words({"a=100%", "b=rest"}).value()[1].weight_bps, 0);
}

TEST(TrafficSplit, SaysWhatIsNoWeight) {
  EXPECT_EQ(read_words({"shop@2"}).error().message, "expected REVISION=WEIGHT, found 'shop@2'");
  EXPECT_EQ(read_words({"=1%"}).error().message, "expected REVISION=WEIGHT, found '=1%'");
  EXPECT_EQ(read_words({"a=rest", "b=rest"}).error().message, "only one revision gets the rest");
  EXPECT_EQ(read_words({"a=60%", "b=50%", "c=rest"}).error().message,
            "the others have more than 100% already, so there is no rest");
  for (const char* weight : {"a=-1%", "a=10001bps", "a=100.001%", "a=18446744073709551617bps", "a=", "a=1"}) {
    EXPECT_FALSE(read_words({weight})) << weight;
  }
}

TEST(TrafficSplit, LeavesTheSumToTraffic) {
  EXPECT_EQ(read_words({"a=50%", "b=50.01%"}).value()[1].weight_bps, 5001);
  EXPECT_TRUE(read_words({}).value().empty());
}

}  // namespace traffic_split_test
}  // namespace sluice::cli
