// Packets, so that a text is whole.
#include "router/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/disk.h"
#include "router/adoption.h"

namespace sluice::router {

Result<std::pair<int, int>> make_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return error_from(errno, "make", "a socket pair");
  }
  return std::pair{ends[0], ends[1]};
}

bool tell(int channel, std::string_view text, int passed) {
  if (channel < 0) return false;
  const ssize_t sent = passed >= 0 ? send_with_descriptors(channel, std::string(text), {passed})
                                   : ::send(channel, text.data(), text.size(), MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(text.size());
}

std::optional<Heard> hear(int channel) {
  std::array<char, 256> bytes{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) return std::nullopt;
  Heard heard;
  if (size <= 0) return heard;
  heard.text.assign(bytes.data(), static_cast<size_t>(size));
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS) {
      std::memcpy(&heard.passed, CMSG_DATA(each), sizeof heard.passed);
    }
  }
  return heard;
}

}  // namespace sluice::router
