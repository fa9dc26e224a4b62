// All sockets are non-blocking: waiting is polling with a deadline.
#include "http/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>

namespace sluice::http {
namespace {

constexpr int kWaitingConnections = 4096;
constexpr int kConnect_ms = 5'000;
constexpr size_t kReadBytes = size_t{64} << 10U;

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() > kMaxUnixPath) {
    return Error{.code = Code::invalid,
                 .message = "the socket's path has " + std::to_string(path.size()) + " bytes, and the system takes " +
                            std::to_string(kMaxUnixPath) + ": " + path};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family = AF_INET;
};

Result<TcpAddress> tcp_address(const std::string& text, uint16_t port) {
  TcpAddress address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    address.size = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    address.size = sizeof(sockaddr_in6);
    address.family = AF_INET6;
  } else {
    return Error{.code = Code::invalid, .message = "'" + text + "' is no numeric address such as 127.0.0.1 or ::1"};
  }
  return address;
}

Result<Socket> new_socket(int family) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return error_from(errno, "make", "a socket");
  return socket;
}

bool nobody_listens(int error) { return error == ENOENT || error == ECONNREFUSED || error == ENOTDIR; }

Result<Socket> connected(Socket socket, const sockaddr* address, socklen_t size, const std::string& name) {
  int done = ::connect(socket.fd(), address, size);
  if (done != 0 && errno == EINPROGRESS) {
    pollfd ready{socket.fd(), POLLOUT, 0};
    if (::poll(&ready, 1, kConnect_ms) <= 0) {
      return Error{.code = Code::timeout, .message = name + " does not answer"};
    }
    socklen_t length = sizeof(errno);
    int failure = 0;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &failure, &length);
    errno = failure;
    done = failure == 0 ? 0 : -1;
  }
  if (done == 0) return socket;
  if (nobody_listens(errno)) return Error{.code = Code::not_found, .message = "nobody listens at " + name};
  if (errno == EAGAIN) {
    return Error{.code = Code::unavailable, .message = name + " has more connections waiting than it can take"};
  }
  return error_from(errno, "connect to", name);
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::pair<Socket, Socket>> socket_pair() {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return error_from(errno, "make", "a pair of sockets");
  }
  return std::pair(Socket(ends[0]), Socket(ends[1]));
}

Result<Socket> listen_unix(Disk& disk, const std::string& path) {
  auto address = unix_address(path);
  if (!address) return address.error();
  if (auto there = disk.stat(path, FollowLinks::no); there && there->kind != FileKind::other) {
    return Error{.code = Code::conflict, .message = path + " is there and is no socket", .next = "move it away"};
  }
  if (auto removed = disk.remove(path); !removed && removed.error().code != Code::not_found) return removed.error();
  auto socket = new_socket(AF_UNIX);
  if (!socket) return socket;
  if (::bind(socket->fd(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
    return error_from(errno, "make the socket", path);
  }
  if (auto mine = disk.chmod(path, 0600); !mine) return mine.error();
  if (::listen(socket->fd(), kWaitingConnections) != 0) return error_from(errno, "listen at", path);
  return socket;
}

Result<Socket> connect_unix(const std::string& path) {
  auto address = unix_address(path);
  if (!address) return address.error();
  auto socket = new_socket(AF_UNIX);
  if (!socket) return socket;
  // While the queue of a busy server is full, only a blocking socket waits for a place in it.
  timeval patience{.tv_sec = kConnect_ms / 1000};
  ::setsockopt(socket->fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  int flags = ::fcntl(socket->fd(), F_GETFL);
  ::fcntl(socket->fd(), F_SETFL, flags & ~O_NONBLOCK);
  auto done = connected(*std::move(socket), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address), path);
  if (done) ::fcntl(done->fd(), F_SETFL, flags);
  return done;
}

Result<Socket> listen_tcp(const std::string& address, uint16_t port) {
  auto where = tcp_address(address, port);
  if (!where) return where.error();
  auto socket = new_socket(where->family);
  if (!socket) return socket;
  int yes = 1;
  ::setsockopt(socket->fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  std::string name = address + " port " + std::to_string(port);
  if (::bind(socket->fd(), reinterpret_cast<const sockaddr*>(&where->storage), where->size) != 0 ||
      ::listen(socket->fd(), kWaitingConnections) != 0) {
    int failure = errno;
    if (failure != EADDRINUSE) return error_from(failure, "listen at", name);
    return Error{.code = Code::conflict, .message = "another program listens at " + name};
  }
  return socket;
}

Result<Socket> connect_tcp(const std::string& address, uint16_t port) {
  auto where = tcp_address(address, port);
  if (!where) return where.error();
  auto socket = new_socket(where->family);
  if (!socket) return socket;
  int yes = 1;
  ::setsockopt(socket->fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return connected(*std::move(socket), reinterpret_cast<const sockaddr*>(&where->storage), where->size,
                   address + " port " + std::to_string(port));
}

Result<Socket> connect_host(const std::string& host, uint16_t port) {
  addrinfo wanted{.ai_flags = AI_ADDRCONFIG, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (failure != 0) {
    return Error{.code = Code::unavailable, .message = host + " has no address: " + ::gai_strerror(failure)};
  }
  Result<Socket> last = Error{.code = Code::unavailable, .message = host + " has no address"};
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
      continue;
    }
    last = connect_tcp(text.data(), port);
    if (last) break;
  }
  ::freeaddrinfo(found);
  return last;
}

uint16_t port_of(const Socket& listening) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getsockname(listening.fd(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  if (storage.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  return 0;
}

std::string address_of(const Socket& socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* where = nullptr;
  if (storage.ss_family == AF_INET) where = &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr;
  if (storage.ss_family == AF_INET6) where = &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr;
  if (where == nullptr || ::inet_ntop(storage.ss_family, where, text.data(), text.size()) == nullptr) return "";
  return text.data();
}

std::optional<Credentials> credentials_of(const Socket& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  bool known = ::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0;
  if (!known) return std::nullopt;
  return Credentials{.user = peer.uid, .pid = peer.pid};
}

Result<void> Wire::shake_hands(Result<std::unique_ptr<TlsTunnel>> tunnel, int64_t deadline_ns) {
  if (!tunnel) return tunnel.error();
  tunnel_ = *std::move(tunnel);
  return tunnel_->handshake([&](std::string& into) { return read_raw(into, deadline_ns, -1) == Read::some; },
                            [&](std::string_view bytes) { return write_raw(bytes, deadline_ns); });
}

Result<void> Wire::accept_tls(const ServerTls& shown, int64_t deadline_ns) {
  return shake_hands(TlsTunnel::accept(shown), deadline_ns);
}

Result<void> Wire::connect_tls(const ServerTrust& trust, int64_t deadline_ns) {
  return shake_hands(TlsTunnel::connect(trust), deadline_ns);
}

Wire::Read Wire::read(std::string& into, int64_t deadline_ns, int stop) {
  if (!tunnel_) return read_raw(into, deadline_ns, stop);
  Read last = Read::ended;
  const bool some = tunnel_->read(
      into,
      [&](std::string& bytes) {
        last = read_raw(bytes, deadline_ns, stop);
        return last == Read::some;
      },
      [&](std::string_view bytes) { return write_raw(bytes, deadline_ns); });
  if (some) return Read::some;
  return last == Read::some ? Read::ended : last;
}

bool Wire::write(std::string_view bytes, int64_t deadline_ns) {
  if (!tunnel_) return write_raw(bytes, deadline_ns);
  return tunnel_->write(bytes, [&](std::string_view piece) { return write_raw(piece, deadline_ns); });
}

Wire::Read Wire::read_raw(std::string& into, int64_t deadline_ns, int stop) {
  std::array<char, kReadBytes> part;
  while (true) {
    ssize_t got = ::recv(socket_.fd(), part.data(), part.size(), 0);
    if (got > 0) {
      into.append(part.data(), static_cast<size_t>(got));
      return Read::some;
    }
    if (got == 0) return Read::ended;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Read::ended;
    int64_t left_ns = deadline_ns - clock_->monotonic_ns();
    if (left_ns <= 0) return Read::late;
    std::array<pollfd, 2> ready = {{{socket_.fd(), POLLIN, 0}, {stop, POLLIN, 0}}};
    auto left_ms = static_cast<int>(std::min<int64_t>((left_ns + 999'999) / 1'000'000, 60'000));
    ::poll(ready.data(), stop < 0 ? 1 : 2, left_ms);
    if (ready[0].revents == 0 && ready[1].revents != 0) return Read::stopped;
  }
}

bool Wire::write_raw(std::string_view bytes, int64_t deadline_ns) {
  while (!bytes.empty()) {
    ssize_t put = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    int64_t left_ns = deadline_ns - clock_->monotonic_ns();
    if (left_ns <= 0) return false;
    pollfd ready{socket_.fd(), POLLOUT, 0};
    ::poll(&ready, 1, static_cast<int>(std::min<int64_t>((left_ns + 999'999) / 1'000'000, 60'000)));
  }
  return true;
}

void Wire::join(const Socket& other) {
  constexpr int64_t kTaken_ns = 60'000'000'000;
  Wire near(Socket(::fcntl(other.fd(), F_DUPFD_CLOEXEC, 0)), *clock_);
  std::string bytes;
  while (true) {
    std::array<pollfd, 2> ready = {{{socket_.fd(), POLLIN, 0}, {near.socket_.fd(), POLLIN, 0}}};
    if (!(tunnel_ && tunnel_->has_some())) ::poll(ready.data(), ready.size(), -1);
    for (auto [from, to, which] : {std::tuple(this, &near, 0), std::tuple(&near, this, 1)}) {
      const bool held = which == 0 && tunnel_ && tunnel_->has_some();
      if (ready[static_cast<size_t>(which)].revents == 0 && !held) continue;
      bytes.clear();
      const Read read = from->read(bytes, clock_->monotonic_ns(), -1);
      if (read == Read::ended || !to->write(bytes, clock_->monotonic_ns() + kTaken_ns)) return;
    }
  }
}

bool Wire::is_closed() const {
  pollfd ready{socket_.fd(), POLLRDHUP, 0};
  return ::poll(&ready, 1, 0) > 0 && (ready.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace sluice::http
