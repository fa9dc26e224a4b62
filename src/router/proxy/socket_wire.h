// The wire of a worker's thread: sockets that never wait, and an epoll that tells each change once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "router/proxy/connection.h"
#include "router/proxy/wire.h"
#include "router/tls/tls_server.h"

struct epoll_event;

namespace sluice::router {

class SocketWire final : public Wire {
 public:
  static Result<std::unique_ptr<SocketWire>> open();
  ~SocketWire() override;

  ssize_t read(int fd, char* into, size_t size) override;
  ssize_t write(int fd, const iovec* parts, int count) override;
  int connect(const Address& to, Endpoint& endpoint, bool& at_once) override;
  Connected has_connected(int fd) override;
  void hand_over(int fd, Endpoint& to) override;
  Look look(int fd) override;
  ssize_t peek(int fd, char* into, size_t size) override;
  void start_tls(int fd) override;
  void start_tls(int fd, const UpstreamTls& to) override;
  const Secured* secured(int fd) const override { return session(fd); }
  void acknowledge(int fd) override;
  void shut_write(int fd) override;
  void close(int fd) override;
  void reset(int fd) override;

  // What happens at the fd is told with the endpoint from now on. Of a Unix socket, that it is writable is only told
  // after a write that it did not take: it would be told with everything that the other end reads.
  bool watch(int fd, Endpoint& endpoint, bool is_unix);
  // Who speaks TLS here; it must stay.
  void use(TlsServer* tls) { tls_ = tls; }
  // For listeners and wake-ups, which are told as long as there is something.
  bool watch_level(int fd, Endpoint& endpoint);
  void forget(int fd);

  struct Event {
    Endpoint* endpoint;
    Happened what;
  };
  static constexpr size_t kEventsAtOnce = 256;
  // Waits for at most so long; says how many there are.
  size_t wait(int timeout_ms);
  Event event(size_t i) const;

 private:
  explicit SocketWire(int epoll);

  void await_room(int fd);
  void keep(int fd, std::unique_ptr<TlsSession> session);
  TlsSession* session(int fd) const {
    auto at = static_cast<size_t>(fd);
    return at < sessions_.size() ? sessions_[at].get() : nullptr;
  }

  int epoll_;
  TlsServer* tls_ = nullptr;
  std::vector<Endpoint*> quiet_;                       // by fd: those of whom it is not told that they are writable
  std::vector<std::unique_ptr<TlsSession>> sessions_;  // by fd; in the clear: nothing
  std::unique_ptr<epoll_event[]> events_;
};

}  // namespace sluice::router
