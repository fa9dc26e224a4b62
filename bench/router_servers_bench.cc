// The upstream and the forwarder: a thread and level-triggered epoll each, no more system calls than must be.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <thread>

#include "bench/folder.h"
#include "bench/router_servers.h"

namespace sluice::bench {
namespace {

struct Place {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Place place_of(const std::string& endpoint) {
  Place place;
  if (endpoint.starts_with("unix:")) {
    auto& local = reinterpret_cast<sockaddr_un&>(place.storage);
    local.sun_family = AF_UNIX;
    must(endpoint.size() - 5 < sizeof local.sun_path, "the socket's path is too long");
    std::memcpy(local.sun_path, endpoint.c_str() + 5, endpoint.size() - 4);
    place.size = sizeof local;
    return place;
  }
  auto& remote = reinterpret_cast<sockaddr_in&>(place.storage);
  remote.sin_family = AF_INET;
  remote.sin_port = htons(static_cast<uint16_t>(std::atoi(endpoint.c_str() + endpoint.rfind(':') + 1)));
  remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.size = sizeof remote;
  return place;
}

void poll_for_input(int poll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

void send_at_once(int fd) {
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

[[noreturn]] void answer(const std::vector<int>& listeners, bool in_two) {
  std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(kBodyBytes) + "\r\n\r\n";
  std::string answer = head + std::string(kBodyBytes, 'b');
  int poll = ::epoll_create1(0);
  std::set<int> doors(listeners.begin(), listeners.end());
  for (int fd : listeners) poll_for_input(poll, fd);
  std::array<epoll_event, 256> events{};
  std::array<char, 16384> piece{};
  while (true) {
    int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      int fd = events[static_cast<size_t>(i)].data.fd;
      if (doors.contains(fd)) {
        for (int one = 0; (one = ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
          if (!in_two) send_at_once(one);
          poll_for_input(poll, one);
        }
        continue;
      }
      // Every request is small and comes whole: what ends it is all that is looked at.
      ssize_t got = ::recv(fd, piece.data(), piece.size(), 0);
      if (got <= 0 && !(got < 0 && errno == EAGAIN)) ::close(fd);
      if (got >= 4 && std::memcmp(piece.data() + got - 4, "\r\n\r\n", 4) == 0) {
        size_t first = in_two ? head.size() : answer.size();
        ::send(fd, answer.data(), first, MSG_NOSIGNAL);
        if (in_two) ::send(fd, answer.data() + first, answer.size() - first, MSG_NOSIGNAL);
      }
    }
  }
}

}  // namespace

std::vector<int> listeners_at(const std::vector<std::string>& endpoints) {
  std::vector<int> listeners;
  for (const std::string& endpoint : endpoints) {
    Place place = place_of(endpoint);
    int fd = ::socket(place.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    must(::bind(fd, reinterpret_cast<sockaddr*>(&place.storage), place.size) == 0 && ::listen(fd, 4096) == 0,
         "cannot listen at " + endpoint + ": " + std::strerror(errno));
    listeners.push_back(fd);
  }
  return listeners;
}

void answer_for_ever(const std::vector<int>& listeners) { answer(listeners, false); }

void answer_in_two_writes(int listener) { answer({listener}, true); }

void answer_at_length(int listener, size_t bytes) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
  const std::string piece(size_t{1} << 20, 'b');
  ::fcntl(listener, F_SETFL, 0);
  while (true) {
    const int fd = ::accept(listener, nullptr, nullptr);
    if (fd < 0) continue;
    std::thread([&, fd] {
      send_at_once(fd);
      std::array<char, 4096> asked{};
      while (::recv(fd, asked.data(), asked.size(), 0) > 0) {
        ::send(fd, head.data(), head.size(), MSG_NOSIGNAL);
        for (size_t left = bytes; left > 0;) {
          const ssize_t sent = ::send(fd, piece.data(), std::min(left, piece.size()), MSG_NOSIGNAL);
          if (sent <= 0) break;
          left -= static_cast<size_t>(sent);
        }
      }
      ::close(fd);
    }).detach();
  }
}

void forward_for_ever(int listener, const std::string& upstream) {
  Place place = place_of(upstream);
  std::vector<int> other_end(65536, -1);  // by file
  int poll = ::epoll_create1(0);
  poll_for_input(poll, listener);
  std::array<epoll_event, 256> events{};
  std::array<char, 16384> piece{};
  while (true) {
    int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listener) {
        for (int client = 0; (client = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
          int behind = ::socket(place.storage.ss_family, SOCK_STREAM, 0);
          must(::connect(behind, reinterpret_cast<sockaddr*>(&place.storage), place.size) == 0, "no upstream");
          send_at_once(client);
          send_at_once(behind);
          other_end[static_cast<size_t>(client)] = behind;
          other_end[static_cast<size_t>(behind)] = client;
          poll_for_input(poll, client);
          poll_for_input(poll, behind);
        }
        continue;
      }
      int other = other_end[static_cast<size_t>(fd)];
      if (other < 0) continue;  // closed by an earlier event of this turn
      ssize_t got = ::recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EAGAIN) continue;
      if (got > 0 && ::send(other, piece.data(), static_cast<size_t>(got), MSG_NOSIGNAL) == got) continue;
      other_end[static_cast<size_t>(fd)] = other_end[static_cast<size_t>(other)] = -1;
      ::close(fd);
      ::close(other);
    }
  }
}

}  // namespace sluice::bench
