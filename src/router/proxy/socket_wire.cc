// A socket is registered once, for everything, with edge triggering: no call is spent on what is waited for.
#include "router/proxy/socket_wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/disk.h"
#include "router/tls/upstream_tls.h"

namespace sluice::router {

SocketWire::SocketWire(int epoll) : epoll_(epoll), events_(std::make_unique<epoll_event[]>(kEventsAtOnce)) {}

SocketWire::~SocketWire() { ::close(epoll_); }

Result<std::unique_ptr<SocketWire>> SocketWire::open() {
  int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return error_from(errno, "make", "an epoll");
  return std::unique_ptr<SocketWire>(new SocketWire(epoll));
}

ssize_t SocketWire::read(int fd, char* into, size_t size) {
  if (TlsSession* tls = session(fd)) return tls->read(into, size);
  while (true) {
    ssize_t done = ::recv(fd, into, size, 0);
    if (done >= 0) return done;
    if (errno == EAGAIN) return kWouldBlock;
    if (errno != EINTR) return kBroken;
  }
}

ssize_t SocketWire::write(int fd, const iovec* parts, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  if (TlsSession* tls = session(fd)) {
    const ssize_t done = tls->write(parts, count);
    if (done != kBroken && (done < 0 || static_cast<size_t>(done) < size)) await_room(fd);
    return done;
  }
  while (true) {
    ssize_t done;
    if (count == 1) {
      done = ::send(fd, parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL);
    } else {
      msghdr message{};
      message.msg_iov = const_cast<iovec*>(parts);
      message.msg_iovlen = static_cast<size_t>(count);
      done = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    }
    bool full = done < 0 ? errno == EAGAIN : static_cast<size_t>(done) < size;
    if (full) await_room(fd);
    if (done >= 0) return done;
    if (full) return kWouldBlock;
    if (errno != EINTR) return kBroken;
  }
}

// There may be room again already: then this tells it at once.
void SocketWire::await_room(int fd) {
  auto at = static_cast<size_t>(fd);
  if (at >= quiet_.size() || quiet_[at] == nullptr) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = quiet_[at];
  quiet_[at] = nullptr;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

int SocketWire::connect(const Address& to, Endpoint& endpoint, bool& at_once) {
  int fd = ::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return kNoFile;
  if (to.family() != AF_UNIX) {
    int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  int result;
  do {
    result = ::connect(fd, to.raw(), to.size);
  } while (result != 0 && errno == EINTR);
  at_once = result == 0;
  if (result != 0 && errno != EINPROGRESS) {
    // No port, or no memory for it, is nothing that the other end could help.
    bool ours = errno == EADDRNOTAVAIL || errno == ENOBUFS || errno == ENOMEM;
    ::close(fd);
    return ours ? kNoFile : kNobody;
  }
  if (!watch(fd, endpoint, to.family() == AF_UNIX && at_once)) {
    ::close(fd);
    return kNoFile;
  }
  return fd;
}

Connected SocketWire::has_connected(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return Connected::no;
  TlsSession* tls = session(fd);
  return tls != nullptr ? tls->shake_hands() : Connected::yes;
}

void SocketWire::hand_over(int fd, Endpoint& to) {
  auto at = static_cast<size_t>(fd);
  const bool is_quiet = at < quiet_.size() && quiet_[at] != nullptr;
  if (is_quiet) quiet_[at] = &to;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
  if (!is_quiet) event.events |= EPOLLOUT;
  event.data.ptr = &to;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

Look SocketWire::look(int fd) {
  if (TlsSession* tls = session(fd)) return tls->look();
  char byte;
  ssize_t size = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (size > 0) return Look::speaks;
  return size < 0 && errno == EAGAIN ? Look::quiet : Look::ended;
}

void SocketWire::acknowledge(int fd) {
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

void SocketWire::shut_write(int fd) {
  if (TlsSession* tls = session(fd)) tls->end();
  ::shutdown(fd, SHUT_WR);
}

void SocketWire::close(int fd) {
  if (TlsSession* tls = session(fd)) {
    tls->end();
    sessions_[static_cast<size_t>(fd)] = nullptr;
  }
  ::close(fd);
}

void SocketWire::start_tls(int fd) { keep(fd, tls_->accept(fd)); }

void SocketWire::start_tls(int fd, const UpstreamTls& to) { keep(fd, to.connect(fd)); }

void SocketWire::keep(int fd, std::unique_ptr<TlsSession> session) {
  auto at = static_cast<size_t>(fd);
  if (at >= sessions_.size()) sessions_.resize(at + 64);
  sessions_[at] = std::move(session);
}

ssize_t SocketWire::peek(int fd, char* into, size_t size) {
  while (true) {
    ssize_t done = ::recv(fd, into, size, MSG_PEEK);
    if (done >= 0) return done;
    if (errno == EAGAIN) return kWouldBlock;
    if (errno != EINTR) return kBroken;
  }
}

void SocketWire::reset(int fd) {
  if (session(fd) != nullptr) sessions_[static_cast<size_t>(fd)] = nullptr;
  linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(fd);
}

bool SocketWire::watch(int fd, Endpoint& endpoint, bool is_unix) {
  auto at = static_cast<size_t>(fd);
  if (at >= quiet_.size()) quiet_.resize(at + 64);
  quiet_[at] = is_unix ? &endpoint : nullptr;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
  if (!is_unix) event.events |= EPOLLOUT;
  event.data.ptr = &endpoint;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool SocketWire::watch_level(int fd, Endpoint& endpoint) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &endpoint;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void SocketWire::forget(int fd) { ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

size_t SocketWire::wait(int timeout_ms) {
  int count = ::epoll_wait(epoll_, events_.get(), static_cast<int>(kEventsAtOnce), timeout_ms);
  return count > 0 ? static_cast<size_t>(count) : 0;
}

SocketWire::Event SocketWire::event(size_t i) const {
  const epoll_event& event = events_[i];
  auto* endpoint = static_cast<Endpoint*>(event.data.ptr);
  uint32_t reads = EPOLLIN | EPOLLRDHUP;
  if (const TlsSession* tls = endpoint->fd >= 0 ? session(endpoint->fd) : nullptr) {
    if (tls->reads_when_writable()) reads |= EPOLLOUT;
  }
  return {endpoint,
          {.readable = (event.events & reads) != 0,
           .ended = (event.events & (EPOLLRDHUP | EPOLLHUP)) != 0,
           .writable = (event.events & EPOLLOUT) != 0,
           .broken = (event.events & (EPOLLHUP | EPOLLERR)) != 0}};
}

}  // namespace sluice::router
