// Real sockets: what happens at them is told once.
#include "router/proxy/socket_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace sluice::router {
namespace socket_wire_test {

TEST(SocketWire, TellsWhatHappensAndReadsUpToTheEnd) {
  auto wire = *SocketWire::open();
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  Endpoint endpoint;
  ASSERT_TRUE(wire->watch(pair[0], endpoint, false));
  ASSERT_EQ(wire->wait(1'000), 1U);
  EXPECT_TRUE(wire->event(0).what.writable);
  EXPECT_FALSE(wire->event(0).what.readable);
  char bytes[10];
  EXPECT_EQ(wire->read(pair[0], bytes, sizeof bytes), kWouldBlock);
  ASSERT_EQ(::send(pair[1], "abc", 3, 0), 3);
  ::close(pair[1]);
  ASSERT_EQ(wire->wait(1'000), 1U);
  EXPECT_EQ(wire->event(0).endpoint, &endpoint);
  EXPECT_TRUE(wire->event(0).what.readable && wire->event(0).what.ended);
  EXPECT_EQ(wire->read(pair[0], bytes, sizeof bytes), 3);
  EXPECT_EQ(wire->read(pair[0], bytes, sizeof bytes), 0);
  iovec parts[2] = {{bytes, 1}, {bytes, 1}};
  EXPECT_EQ(wire->write(pair[0], parts, 2), kBroken);
  wire->close(pair[0]);
}

TEST(SocketWire, TellsOfRoomInAUnixSocketOnlyToThoseWhoFoundNone) {
  auto wire = *SocketWire::open();
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  Endpoint endpoint;
  ASSERT_TRUE(wire->watch(pair[0], endpoint, true));
  EXPECT_EQ(wire->wait(0), 0U);
  std::string bytes(10'000'000, 'x');
  iovec part{bytes.data(), bytes.size()};
  ASSERT_GT(wire->write(pair[0], &part, 1), 0);
  ASSERT_EQ(wire->write(pair[0], &part, 1), kWouldBlock);
  EXPECT_EQ(wire->wait(0), 0U);
  while (::recv(pair[1], bytes.data(), bytes.size(), 0) > 0) {
  }
  ASSERT_EQ(wire->wait(1'000), 1U);
  EXPECT_TRUE(wire->event(0).what.writable);
  wire->close(pair[0]);
  ::close(pair[1]);
}

TEST(SocketWire, SaysWhenAKeptConnectionIsQuiet) {
  auto wire = *SocketWire::open();
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  EXPECT_EQ(wire->look(pair[0]), Look::quiet);
  ASSERT_EQ(::send(pair[1], "x", 1, 0), 1);
  EXPECT_EQ(wire->look(pair[0]), Look::speaks);
  char byte = 0;
  EXPECT_EQ(wire->read(pair[0], &byte, 1), 1) << "looking takes nothing";
  ::close(pair[1]);
  EXPECT_EQ(wire->look(pair[0]), Look::ended);
  wire->reset(pair[0]);
}

TEST(SocketWire, CannotConnectWhereNobodyIs) {
  auto wire = *SocketWire::open();
  Endpoint endpoint;
  bool at_once = false;
  EXPECT_EQ(wire->connect(*parse_address("unix:/nonexistent/socket"), endpoint, at_once), -1);
}

}  // namespace socket_wire_test
}  // namespace sluice::router
