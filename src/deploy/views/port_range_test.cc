// Ranges of ports, as people write them.
#include "deploy/views/port_range.h"

#include <gtest/gtest.h>

namespace sluice::deploy::views {
namespace port_range_test {

TEST(PortRange, IsTwoPortsInOrder) {
  EXPECT_EQ(parse_port_range("20000-20999"), (PortRange{20000, 20999}));
  EXPECT_EQ(parse_port_range("8080-8080"), (PortRange{8080, 8080}));
  for (const char* bad : {"", "80", "90-80", "0-10", "1-70000", "1-2x", "a-b"}) {
    EXPECT_FALSE(parse_port_range(bad)) << bad;
  }
}

}  // namespace port_range_test
}  // namespace sluice::deploy::views
