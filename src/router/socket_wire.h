// The wire of a worker's thread: sockets that never wait, and an epoll that tells each change once.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "router/connection.h"
#include "router/wire.h"

struct epoll_event;

namespace sluice::router {

class SocketWire final : public Wire {
 public:
  static Result<std::unique_ptr<SocketWire>> open();
  ~SocketWire() override;

  ssize_t read(int fd, char* into, size_t size) override;
  ssize_t write(int fd, const iovec* parts, int count) override;
  int connect(const Address& to, Endpoint& endpoint, bool& at_once) override;
  bool has_connected(int fd) override;
  bool is_quiet(int fd) override;
  void shut_write(int fd) override;
  void close(int fd) override;
  void reset(int fd) override;

  // What happens at the fd is told with the endpoint from now on.
  bool watch(int fd, Endpoint& endpoint);
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

  int epoll_;
  std::unique_ptr<epoll_event[]> events_;
};

}  // namespace sluice::router
