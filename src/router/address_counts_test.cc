// Counts by address go with their connections.
#include "router/address_counts.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace address_counts_test {

TEST(AddressCounts, ForgetWhoHasNone) {
  AddressCounts counts;
  IpBytes one = ip_bytes(*parse_address("192.0.2.7:1")), other = ip_bytes(*parse_address("192.0.2.8:1"));
  EXPECT_TRUE(counts.enter(one, 2));
  EXPECT_TRUE(counts.enter(one, 2));
  EXPECT_FALSE(counts.enter(one, 2));
  EXPECT_TRUE(counts.enter(other, 2));
  EXPECT_EQ(counts.addresses(), 2U);
  counts.leave(one);
  EXPECT_TRUE(counts.enter(one, 2));
  for (int i = 0; i < 2; ++i) counts.leave(one);
  counts.leave(other);
  EXPECT_EQ(counts.addresses(), 0U);
}

}  // namespace address_counts_test
}  // namespace sluice::router
