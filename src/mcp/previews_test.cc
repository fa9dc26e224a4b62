// A plan id is good once, for its caller and its call, for ten minutes.
#include "mcp/previews.h"

#include <gtest/gtest.h>

namespace sluice::mcp {
namespace previews_test {

struct PreviewsTest : testing::Test {
  std::string keep() { return previews.keep({.caller = "user:ann", .digest = "d1", .expect = 7}); }
  std::string why(const std::string& id, const std::string& caller = "user:ann", const std::string& digest = "d1") {
    auto taken = previews.take(id, caller, digest);
    return taken ? "" : taken.error().message;
  }

  ManualClock clock;
  SeededRandom random{1};
  Previews previews{clock, random};
};

TEST_F(PreviewsTest, AnIdIsGoodOnce) {
  const std::string id = keep();
  auto taken = previews.take(id, "user:ann", "d1");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->expect, 7U);
  EXPECT_EQ(why(id), "the plan id does not hold: it is not known, or was used already; nothing was changed");
}

TEST_F(PreviewsTest, AnotherCallerCannotUseItAndDoesNotUseItUp) {
  const std::string id = keep();
  EXPECT_EQ(why(id, "user:dan"),
            "the plan id does not hold: it is not known, or was used already; nothing was changed");
  EXPECT_EQ(why(id), "");
}

TEST_F(PreviewsTest, AnotherCallAndAnOldOneAreRefused) {
  EXPECT_EQ(why(keep(), "user:ann", "d2"),
            "the plan id does not hold: it was made for another call; nothing was changed");
  const std::string id = keep();
  clock.advance_ms(kPreviewLife_ms);
  EXPECT_EQ(why(id), "the plan id does not hold: it is older than ten minutes; nothing was changed");
}

TEST_F(PreviewsTest, TheDigestDoesNotDependOnTheOrderOfArguments) {
  EXPECT_EQ(digest_of_call("A/b", {{"x", 1}, {"y", 2}}), digest_of_call("A/b", {{"y", 2}, {"x", 1}}));
  EXPECT_NE(digest_of_call("A/b", {{"x", 1}}), digest_of_call("A/c", {{"x", 1}}));
}

}  // namespace previews_test
}  // namespace sluice::mcp
