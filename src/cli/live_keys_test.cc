// Without a terminal there are no keys; with one it is tested end to end.
#include "cli/live_keys.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace live_keys_test {

TEST(LiveKeys, AreOffWhereNobodyWantsThem) {
  const LiveKeys keys(false);
  EXPECT_FALSE(keys.on());
  const host::StopSignal stop;
  EXPECT_EQ(key_within(stop, keys.on(), 0), 0);
}

}  // namespace live_keys_test
}  // namespace sluice::cli
