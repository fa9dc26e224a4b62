// Ports that are taken and free.
#include "process/port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/testing_wait.h"
#include "process/system.h"
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

TEST(Port, ConnectionsToItAreCounted) {
  TakenPort taken;
  EXPECT_EQ(connections_to(taken.number()), 0U);
  {
    Descriptor one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(taken.number());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(one.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(connections_to(taken.number()), 1U);
  }
  EXPECT_TRUE(eventually([&] { return connections_to(taken.number()) == 0; }));
  EXPECT_EQ(connections_to("/no/such/socket"), 0U);
}

}  // namespace port_test
}  // namespace sluice::process
