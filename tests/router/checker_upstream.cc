// The upstream of the load checker: one thread and epoll.
#include "checker_upstream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "checker_wire.h"

namespace sluice::checker {
namespace {

class Upstream {
 public:
  Upstream(int listener, std::string name) : listener_(listener), name_(std::move(name)), poll_(::epoll_create1(0)) {
    watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events{};
    while (true) {
      int count = ::epoll_wait(poll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        auto& event = events[static_cast<size_t>(i)];
        if (event.data.fd == listener_) {
          accept_all();
        } else if (!go_on(event.data.fd, event.events)) {
          ::close(event.data.fd);
          peers_.erase(event.data.fd);
        }
      }
    }
  }

 private:
  struct Peer {
    std::string in, out;
    bool waits_to_write = false;
    bool in_body = false;
    bool socket = false;  // a WebSocket by now
    bool last = false;
    Head head;
    BodyReader body;
  };

  void watch(int fd, uint32_t what, int how) {
    epoll_event event{.events = what, .data = {.fd = fd}};
    ::epoll_ctl(poll_, how, fd, &event);
  }

  void accept_all() {
    for (int fd = 0; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
      int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      peers_[fd];
      watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    }
  }

  bool go_on(int fd, uint32_t events) {
    Peer& peer = peers_[fd];
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
      std::array<char, 65536> piece{};
      ssize_t got = ::read(fd, piece.data(), piece.size());
      if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
      if (got > 0) peer.in.append(piece.data(), static_cast<size_t>(got));
    }
    while (peer.socket ? echo(peer) : answer(peer)) {
    }
    return flush(fd, peer);
  }

  bool flush(int fd, Peer& peer) {
    size_t sent = 0;
    while (sent < peer.out.size()) {
      ssize_t put = ::send(fd, peer.out.data() + sent, peer.out.size() - sent, MSG_NOSIGNAL);
      if (put < 0 && errno != EAGAIN) return false;
      if (put < 0) break;
      sent += static_cast<size_t>(put);
    }
    peer.out.erase(0, sent);
    if (peer.out.empty() == peer.waits_to_write) {
      peer.waits_to_write = !peer.out.empty();
      // What is not taken is not read for: the other end slows down instead of filling this one's memory.
      watch(fd, peer.waits_to_write ? EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    }
    return !(peer.last && peer.out.empty());
  }

  // Answers one request if it is whole.
  bool answer(Peer& peer) {
    if (!peer.in_body) {
      auto head = take_head(peer.in);
      if (!head) return false;
      peer.head = *std::move(head);
      if (peer.head.has_word("Transfer-Encoding", "chunked")) {
        peer.body.begin_chunked(seed_of(peer.head) + 1);
      } else {
        peer.body.begin_length(
            std::strtoull(std::string(peer.head.field("Content-Length").value_or("0")).c_str(), nullptr, 10),
            seed_of(peer.head) + 1);
      }
      if (peer.head.has_word("Expect", "100-continue")) peer.out += "HTTP/1.1 100 Continue\r\n\r\n";
      peer.in_body = true;
    }
    peer.in.erase(0, peer.body.take(peer.in));
    if (peer.body.broken() == nullptr && !peer.body.done()) return false;
    peer.in_body = false;
    respond(peer);
    return true;
  }

  static uint64_t seed_of(const Head& head) {
    std::string line(head.first_line());
    size_t at = line.find("/b/");
    if (at == std::string::npos) at = line.find("/c/");
    return at == std::string::npos ? 0 : std::strtoull(line.c_str() + at + 3, nullptr, 10);
  }

  void respond(Peer& peer) {
    std::string line(peer.head.first_line());
    char kind = 0;
    unsigned long long seed = 0, size = 0;
    size_t target = line.find(' ');
    bool is_ours =
        target != std::string::npos && std::sscanf(line.c_str() + target, " /%c/%llu/%llu", &kind, &seed, &size) == 3;
    std::string common = "X-Revision: " + name_ + "\r\n";
    peer.last = peer.head.has_word("Connection", "close");
    if (peer.body.broken() != nullptr) {
      peer.last = true;
      peer.out += "HTTP/1.1 422 Unprocessable Content\r\n" + common + "Connection: close\r\nContent-Length: 0\r\n\r\n";
    } else if (peer.head.has_word("Upgrade", "websocket")) {
      peer.socket = true;
      peer.out += "HTTP/1.1 101 Switching Protocols\r\n" + common +
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: unverified\r\n\r\n";
    } else if (!is_ours) {
      peer.out += "HTTP/1.1 200 OK\r\n" + common + "Content-Length: 2\r\n\r\nok";
    } else if (kind == 'c') {
      peer.out += "HTTP/1.1 200 OK\r\n" + common + "Transfer-Encoding: chunked\r\n\r\n";
      constexpr uint64_t kPiece = 1000;
      for (uint64_t at = 0; at < size; at += kPiece) {
        uint64_t count = std::min<uint64_t>(kPiece, size - at);
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%llx\r\n", static_cast<unsigned long long>(count));
        peer.out += text.data();
        append_bytes(peer.out, seed, at, count);
        peer.out += "\r\n";
      }
      peer.out += "0\r\n\r\n";
    } else {
      peer.out += "HTTP/1.1 200 OK\r\n" + common + "Content-Length: " + std::to_string(size) + "\r\n\r\n";
      append_bytes(peer.out, seed, 0, size);
    }
  }

  bool echo(Peer& peer) {
    auto frame = take_frame(peer.in);
    if (!frame) return false;
    append_frame(peer.out, frame->opcode == kPingFrame ? kPongFrame : frame->opcode, frame->payload, false);
    if (frame->opcode == kCloseFrame) peer.last = true;
    return true;
  }

  int listener_;
  std::string name_;
  int poll_;
  std::unordered_map<int, Peer> peers_;
};

}  // namespace

void serve(const std::string& endpoint, const std::string& name) {
  std::string bound;
  int listener = listen_at(endpoint, bound);
  std::printf("%s\n", bound.c_str());
  std::fflush(stdout);
  Upstream(listener, name).run();
}

}  // namespace sluice::checker
