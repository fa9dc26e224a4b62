// Of an HTTP answer only the status line is read; it decides.
#include "process/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/ascii.h"
#include "base/clock.h"

namespace sluice::process {
namespace {

constexpr size_t kStatusBytes = 13;  // "HTTP/1.1 200 "
constexpr size_t kAskedAtOnce = 64;
constexpr int kFirstHealthy = 200, kLastHealthy = 399;

int connect_to(int fd, std::optional<uint16_t> port, const std::string& socket) {
  if (port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(*port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(static_cast<char*>(address.sun_path), socket.data(), socket.size());
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

std::string refusal(int number) {
  if (number == ECONNREFUSED) return "refuses connections";
  if (number == ENOENT) return "has no socket yet";
  std::array<char, 128> text{};
  return std::string("cannot be reached: ") + ::strerror_r(number, text.data(), text.size());
}

}  // namespace

Probe::Probe(HealthCheck check, std::optional<uint16_t> port, std::string socket)
    : check_(std::move(check)), port_(port), socket_(std::move(socket)) {}

void Probe::begin(int64_t now_ns) {
  cancel();
  open_ = true;
  begun_ns_ = now_ns;
  deadline_ns_ = now_ns + check_.timeout_ms * 1'000'000;
  if (check_.by == HealthBy::none) return end(true, "", now_ns);
  if (check_.by == HealthBy::command) return;
  connection_ = Descriptor(::socket(port_ ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection_) return end(false, refusal(errno), now_ns);
  if (connect_to(connection_.fd(), port_, socket_) == 0) return connected(now_ns);
  // EAGAIN: the queue of a Unix socket is full; it is asked again the next time.
  if (errno != EINPROGRESS) end(false, refusal(errno), now_ns);
}

short Probe::events() const { return asked_ ? POLLIN : POLLOUT; }

void Probe::look(int64_t now_ns) {
  if (!open_) return;
  if (now_ns >= deadline_ns_) {
    return end(false, "did not answer within " + std::to_string(check_.timeout_ms) + " ms", now_ns);
  }
  if (!connection_) return;
  if (asked_) return read_status(now_ns);
  pollfd ready{.fd = connection_.fd(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) <= 0) return;
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(connection_.fd(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0) return end(false, refusal(failure), now_ns);
  connected(now_ns);
}

void Probe::connected(int64_t now_ns) {
  if (check_.by == HealthBy::tcp) return end(true, "", now_ns);
  const std::string request =
      "GET " + check_.path + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: sluice-health\r\nConnection: close\r\n\r\n";
  // A new connection takes so little whole, or there is something wrong with it.
  ssize_t put = ::send(connection_.fd(), request.data(), request.size(), MSG_NOSIGNAL);
  if (put != static_cast<ssize_t>(request.size())) return end(false, "does not take the request", now_ns);
  asked_ = true;
}

void Probe::read_status(int64_t now_ns) {
  std::array<char, 256> chunk{};
  ssize_t got = ::recv(connection_.fd(), chunk.data(), chunk.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(false, "closed the connection without an answer", now_ns);
  heard_.append(chunk.data(), static_cast<size_t>(got));
  if (heard_.size() < kStatusBytes) return;
  bool plain = heard_.starts_with("HTTP/1.") && heard_[8] == ' ' && is_digit(heard_[9]) && is_digit(heard_[10]) &&
               is_digit(heard_[11]);
  if (!plain) return end(false, "does not answer in HTTP", now_ns);
  int status = (heard_[9] - '0') * 100 + (heard_[10] - '0') * 10 + (heard_[11] - '0');
  bool healthy = status >= kFirstHealthy && status <= kLastHealthy;
  end(healthy, healthy ? "" : "answered " + std::to_string(status) + " to " + check_.path, now_ns);
}

void Probe::command_ended(bool healthy, const std::string& message, int64_t now_ns) {
  if (open_) end(healthy, message, now_ns);
}

void Probe::end(bool healthy, std::string message, int64_t now_ns) {
  answer_ = Answer{.healthy = healthy, .message = std::move(message), .latency_us = (now_ns - begun_ns_) / 1000};
  open_ = asked_ = false;
  connection_.reset();
  heard_.clear();
}

std::optional<Answer> Probe::answer() { return std::exchange(answer_, std::nullopt); }

std::vector<Answer> ask_all(std::span<Probe> probes) {
  RealClock clock;
  std::vector<Answer> answers;
  // So few at once that a process may have so many connections.
  for (size_t first = 0; first < probes.size(); first += kAskedAtOnce) {
    auto some = probes.subspan(first, std::min(kAskedAtOnce, probes.size() - first));
    for (Probe& each : some) each.begin(clock.monotonic_ns());
    for (;;) {
      std::vector<pollfd> wait;
      int64_t deadline_ns = INT64_MAX;
      for (const Probe& each : some) {
        if (!each.open()) continue;
        wait.push_back({.fd = each.fd(), .events = each.events(), .revents = 0});
        deadline_ns = std::min(deadline_ns, each.deadline_ns());
      }
      if (wait.empty()) break;
      const int64_t wait_ms = std::max<int64_t>(deadline_ns - clock.monotonic_ns(), 0) / 1'000'000 + 1;
      ::poll(wait.data(), wait.size(), static_cast<int>(std::min<int64_t>(wait_ms, INT_MAX)));
      for (Probe& each : some) each.look(clock.monotonic_ns());
    }
    for (Probe& each : some) answers.push_back(each.answer().value_or(Answer{.message = "was not asked"}));
  }
  return answers;
}

void Probe::cancel() {
  open_ = asked_ = false;
  connection_.reset();
  heard_.clear();
  answer_.reset();
}

}  // namespace sluice::process
