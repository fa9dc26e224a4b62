// Times are the test's.
#include "deploy/silence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::deploy {
namespace silence_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Silence, IsToldAfterTenSecondsAndThenAfterAWhileThatDoubles) {
  Silence silence;
  EXPECT_THAT(silence.due({"i1"}, 0), IsEmpty());
  EXPECT_THAT(silence.due({"i1", "i2"}, 9'999), IsEmpty());
  EXPECT_THAT(silence.due({"i1", "i2"}, 10'000), ElementsAre("i1"));
  EXPECT_THAT(silence.due({"i1", "i2"}, 20'000), ElementsAre("i2"));
  EXPECT_THAT(silence.due({"i1", "i2"}, 29'999), IsEmpty());
  EXPECT_THAT(silence.due({"i1", "i2"}, 30'000), ElementsAre("i1"));
  EXPECT_THAT(silence.due({"i1"}, 69'999), ElementsAre("i2")) << "it answers again, and somebody was told";
  EXPECT_THAT(silence.due({"i1"}, 70'000), ElementsAre("i1"));
}

TEST(Silence, ShortOnesAreNotTold) {
  Silence silence;
  EXPECT_THAT(silence.due({"i1"}, 0), IsEmpty());
  EXPECT_THAT(silence.due({}, 5'000), IsEmpty());
  EXPECT_THAT(silence.due({"i1"}, 10'000), IsEmpty()) << "it begins anew";
}

}  // namespace silence_test
}  // namespace sluice::deploy
