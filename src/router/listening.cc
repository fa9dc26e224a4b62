// A port of 0 is chosen by the first socket; the others take the same.
#include "router/listening.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/disk.h"
#include "base/terminal.h"

namespace sluice::router {
namespace {

constexpr int kBacklog = 4'096;

Result<int> open_listener(Address& address, bool shared) {
  int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_from(errno, "listen at", to_string(address));
  int on = 1;
  if (address.family() != AF_UNIX) {
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (shared) ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  } else {
    // A socket that a killed router has left is in the way; who listens there still would be cut off by nobody but us.
    ::unlink(reinterpret_cast<const sockaddr_un&>(address.storage).sun_path);
  }
  mode_t before = ::umask(0177);
  int bound = ::bind(fd, address.raw(), address.size);
  int error = errno;
  ::umask(before);
  if (bound != 0 || ::listen(fd, kBacklog) != 0) {
    if (bound == 0) error = errno;
    Error failed = error_from(error, "listen at", to_string(address));
    if (error == EADDRINUSE) failed.next = "choose another address, or port 0";
    ::close(fd);
    return failed;
  }
  address.size = sizeof address.storage;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return fd;
}

}  // namespace

Result<ListenAt> parse_listen(std::string_view text) {
  ListenAt at;
  std::string_view rest = text;
  for (size_t comma; (comma = rest.rfind(',')) != std::string_view::npos; rest = rest.substr(0, comma)) {
    const std::string_view how = rest.substr(comma + 1);
    bool* said = how == "tls" ? &at.secure : how == "proxy" ? &at.proxied : nullptr;
    if (said == nullptr || *said) {
      return Error{
          .code = Code::invalid,
          .message = "'" + printable(std::string(text.substr(0, 200))) +
                     "' does not say how to listen; expected an address, and behind it nothing, ,tls or ,proxy"};
    }
    *said = true;
  }
  auto address = parse_address(rest);
  if (!address) return address.error();
  at.address = *address;
  return at;
}

std::string to_string(const ListenAt& at) {
  return to_string(at.address) + (at.secure ? ",tls" : "") + (at.proxied ? ",proxy" : "");
}

std::string to_string(const ListeningPlace& place) {
  return to_string(ListenAt{.address = place.address, .secure = place.secure, .proxied = place.proxied});
}

Result<ListeningPlace> listen_at(const Address& address, size_t sockets) {
  ListeningPlace place{.address = address};
  bool is_unix = address.family() == AF_UNIX;
  // Somebody else who listens here would get a share of the connections: the first socket alone must find the port
  // free.
  if (!is_unix && address.port() != 0) {
    Address probe = address;
    auto alone = open_listener(probe, false);
    if (!alone) return alone.error();
    ::close(*alone);
  }
  for (size_t i = 0; i < sockets; ++i) {
    Result<int> fd = is_unix && i > 0 ? Result<int>(::fcntl(place.fds.front(), F_DUPFD_CLOEXEC, 0))
                                      : open_listener(place.address, true);
    if (!fd) {
      close_place(place);
      return fd.error();
    }
    place.fds.push_back(*fd);
  }
  return place;
}

void close_place(ListeningPlace& place) {
  for (int fd : std::exchange(place.fds, {})) ::close(fd);
}

}  // namespace sluice::router
