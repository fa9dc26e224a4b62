// Sockets: where a server listens, what a client connects to, and bytes over a connection with deadlines.
//
//   auto listening = listen_unix(disk, home + "/run/sluice.sock");
//   auto connected = connect_unix(home + "/run/sluice.sock");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"

namespace sluice::http {

// An open descriptor; closed when it goes.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// The longest path that the system takes for a Unix socket.
inline constexpr size_t kMaxUnixPath = 107;

// A socket that is at this path already is replaced: whoever calls knows that nobody listens there. Only its owner can
// connect.
Result<Socket> listen_unix(Disk& disk, const std::string& path);
// Fails with `not_found` if nobody listens there.
Result<Socket> connect_unix(const std::string& path);

// A numeric address, such as 127.0.0.1 or ::1; port 0 takes a free one.
Result<Socket> listen_tcp(const std::string& address, uint16_t port);
Result<Socket> connect_tcp(const std::string& address, uint16_t port);
uint16_t port_of(const Socket& listening);

// Who is at the other end of a Unix socket, as the kernel knows it; none over TCP.
struct Credentials {
  uint32_t user = 0;
  int pid = 0;
};
std::optional<Credentials> credentials_of(const Socket& socket);

// Bytes over a socket. A deadline is a time of the clock's monotonic_ns.
class Wire {
 public:
  Wire(Socket socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}

  enum class Read { some, ended, late, stopped };
  // Adds what there is to `into`, waiting for it if there is none; `stop` (a descriptor, or -1) ends the waiting when
  // it can be read. `ended`: there will be no more, as the other end has closed or broken the connection.
  Read read(std::string& into, int64_t deadline_ns, int stop);
  // False: the other end is gone, or takes nothing until the deadline.
  bool write(std::string_view bytes, int64_t deadline_ns);
  // Whether the other end has closed the connection.
  bool is_closed() const;

  const Socket& socket() const { return socket_; }

 private:
  Socket socket_;
  const Clock* clock_;
};

// A connection that has been switched to another protocol.
struct Switched {
  Wire& wire;
  std::string input;  // what has come of it already
  int stop = -1;      // can be read once the server stops
};

}  // namespace sluice::http
