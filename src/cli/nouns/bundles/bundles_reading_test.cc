// Signals, as those who stop a command send them.
#include "cli/nouns/bundles/bundles_reading.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace sluice::cli {
namespace bundles_reading_test {

TEST(Interruption, IsToldInsteadOfEndingTheProcess) {
  for (int each : {SIGINT, SIGTERM, SIGHUP}) {
    Interruption interruption;
    EXPECT_FALSE(interruption.stopped()) << each;
    ASSERT_EQ(raise(each), 0);
    EXPECT_TRUE(interruption.stopped()) << each;
  }
}

}  // namespace bundles_reading_test
}  // namespace sluice::cli
