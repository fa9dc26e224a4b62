// Listening, connecting, and who is at the other end.
#include "http/socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::http {
namespace socket_test {

struct Sockets : testing::Test {
  Socket accepted(const Socket& listening) {
    int fd = -1;
    while (fd < 0) fd = ::accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return Socket(fd);
  }
  int64_t in_a_minute() const { return clock.monotonic_ns() + 60'000'000'000; }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
};

TEST_F(Sockets, UnixSocketsCarryBytesAndCredentials) {
  std::string path = folder.path("s.sock");
  auto listening = listen_unix(disk, path);
  ASSERT_TRUE(listening) << to_string(listening.error());
  EXPECT_EQ(disk.stat(path, FollowLinks::no)->mode, 0600U);
  auto connected = connect_unix(path);
  ASSERT_TRUE(connected) << to_string(connected.error());
  Wire here(*std::move(connected), clock);
  Wire there(accepted(*listening), clock);
  auto peer = credentials_of(there.socket());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->user, ::getuid());
  EXPECT_EQ(peer->pid, ::getpid());
  ASSERT_TRUE(here.write("hello", in_a_minute()));
  std::string got;
  EXPECT_EQ(there.read(got, in_a_minute(), -1), Wire::Read::some);
  EXPECT_EQ(got, "hello");
  EXPECT_EQ(there.read(got, clock.monotonic_ns(), -1), Wire::Read::late);
  EXPECT_FALSE(there.is_closed());
  { Wire gone = std::move(here); }
  EXPECT_TRUE(there.is_closed());
  EXPECT_EQ(there.read(got, in_a_minute(), -1), Wire::Read::ended);
}

TEST_F(Sockets, AReaderCanBeStopped) {
  auto listening = listen_unix(disk, folder.path("s.sock"));
  ASSERT_TRUE(listening);
  auto connected = connect_unix(folder.path("s.sock"));
  ASSERT_TRUE(connected);
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  Socket reading(ends[0]), writing(ends[1]);
  ASSERT_EQ(::write(writing.fd(), "x", 1), 1);
  Wire wire(*std::move(connected), clock);
  std::string got;
  EXPECT_EQ(wire.read(got, in_a_minute(), reading.fd()), Wire::Read::stopped);
}

TEST_F(Sockets, StaleSocketsAreReplacedAndOtherFilesAreNot) {
  std::string path = folder.path("s.sock");
  EXPECT_EQ(connect_unix(path).error(), (Error{.code = Code::not_found, .message = "nobody listens at " + path}));
  ASSERT_TRUE(listen_unix(disk, path));
  EXPECT_EQ(connect_unix(path).error().code, Code::not_found) << "its owner is gone, though the file is there";
  auto again = listen_unix(disk, path);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(connect_unix(path));
  ASSERT_TRUE(write_atomically(disk, folder.path("file"), "x", 0600));
  auto refused = listen_unix(disk, folder.path("file"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, folder.path("file") + " is there and is no socket");
}

TEST_F(Sockets, PathsThatAreTooLongAreRefused) {
  std::string path = folder.path(std::string(120, 'a'));
  auto refused = listen_unix(disk, path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().message,
            "the socket's path has " + std::to_string(path.size()) + " bytes, and the system takes 107: " + path);
  EXPECT_EQ(connect_unix(path).error().code, Code::invalid);
}

TEST_F(Sockets, TcpHasNoCredentials) {
  auto listening = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listening) << to_string(listening.error());
  uint16_t port = port_of(*listening);
  ASSERT_NE(port, 0);
  auto connected = connect_tcp("127.0.0.1", port);
  ASSERT_TRUE(connected) << to_string(connected.error());
  EXPECT_FALSE(credentials_of(accepted(*listening)));
  EXPECT_EQ(listen_tcp("127.0.0.1", port).error().message,
            "another program listens at 127.0.0.1 port " + std::to_string(port));
  EXPECT_EQ(listen_tcp("localhost", 0).error().message, "'localhost' is no numeric address such as 127.0.0.1 or ::1");
}

}  // namespace socket_test
}  // namespace sluice::http
