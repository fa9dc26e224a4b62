// Ports that are taken and free.
#include "process/port.h"

#include <gtest/gtest.h>

#include "process/testing_port.h"

namespace sluice::process {
namespace port_test {

TEST(Port, IsTakenWhileSomebodyListensOnIt) {
  uint16_t number = 0;
  {
    TakenPort taken;
    number = taken.number();
    ASSERT_NE(number, 0);
    EXPECT_TRUE(is_port_taken(number));
  }
  EXPECT_FALSE(is_port_taken(number));
}

TEST(Port, AFreeOneIsNotTaken) {
  auto port = free_port();
  ASSERT_TRUE(port);
  EXPECT_FALSE(is_port_taken(*port));
  EXPECT_GE(*port, 20'000);
  EXPECT_LT(*port, 32'768) << "outgoing connections take those above";
}

}  // namespace port_test
}  // namespace sluice::process
