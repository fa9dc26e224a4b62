// A socket in the place of systemd's.
#include "cli/service_notice.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>

#include "base/testing_folder.h"

namespace sluice::cli {
namespace service_notice_test {

TEST(ServiceNotice, ReachesWhoeverSupervises) {
  TestingFolder folder;
  const std::string path = folder.path("notify");
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  auto told = [&](const std::string& socket) {
    tell_service([&](const std::string&) { return std::optional(socket); }, "READY=1");
    std::array<char, 64> bytes;
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
    return got < 0 ? "nothing" : std::string(bytes.data(), static_cast<size_t>(got));
  };
  EXPECT_EQ(told(path), "READY=1");
  EXPECT_EQ(told(""), "nothing");
  EXPECT_EQ(told(folder.path("nobody")), "nothing");
  EXPECT_EQ(told("/" + std::string(200, 'x')), "nothing");
  ::close(fd);
}

}  // namespace service_notice_test
}  // namespace sluice::cli
