// What fails for a lock is tried again, and nothing else is.
#include "migrate/patience.h"

#include <gtest/gtest.h>

#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace patience_test {

TEST(Patience, TriesTwentyTimesWithGrowingPauses) {
  ManualClock clock;
  int tries = 0;
  auto body = [&]() -> Result<void> {
    ++tries;
    return Error{.code = Code::conflict, .message = "locked"};
  };
  auto done = patiently(clock, body);
  ASSERT_FALSE(done);
  EXPECT_EQ(tries, 20);
  EXPECT_EQ(done.error().message, "others held a lock in all of 20 tries: locked");
  EXPECT_GT(clock.wall_ms(), 20'000);  // by the clock that was moved
  EXPECT_LT(clock.wall_ms(), 60'000);
}

TEST(Patience, LeavesOtherErrorsAlone) {
  ManualClock clock;
  int tries = 0;
  auto body = [&]() -> Result<void> {
    if (++tries == 1) return Error{.code = Code::conflict};
    return Error{.code = Code::failed, .message = "no"};
  };
  EXPECT_EQ(patiently(clock, body).error().message, "no");
  EXPECT_EQ(tries, 2);
}

}  // namespace patience_test
}  // namespace sluice::migrate
