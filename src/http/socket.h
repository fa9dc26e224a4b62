// Sockets: where a server listens, what a client connects to, and bytes over a connection with deadlines.
//
//   auto listening = listen_unix(disk, home + "/run/sluice.sock");
//   auto connected = connect_unix(home + "/run/sluice.sock");
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "http/tls.h"

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
  // For somebody else to close.
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Two ends that are connected with each other.
Result<std::pair<Socket, Socket>> socket_pair();

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
// The same to a name or an address.
Result<Socket> connect_host(const std::string& host, uint16_t port);
uint16_t port_of(const Socket& listening);

// The numeric address of the other end; empty over a Unix socket.
std::string address_of(const Socket& socket);

// Who is at the other end of a Unix socket, as the kernel knows it; none over TCP.
struct Credentials {
  uint32_t user = 0;
  int pid = 0;
};
std::optional<Credentials> credentials_of(const Socket& socket);

// Bytes over a socket, in the clear or through TLS. A deadline is a time of the clock's monotonic_ns.
class Wire {
 public:
  Wire(Socket socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}

  // From now on through TLS. After an error nothing can be read or written.
  Result<void> accept_tls(const ServerTls& shown, int64_t deadline_ns);
  Result<void> connect_tls(const ServerTrust& trust, int64_t deadline_ns);
  // What the other end has shown; empty: nothing.
  std::string peer_chain() const { return tunnel_ ? tunnel_->peer_chain() : ""; }

  enum class Read { some, ended, late, stopped };
  // Adds what there is to `into`, waiting for it if there is none; `stop` (a descriptor, or -1) ends the waiting when
  // it can be read. `ended`: there will be no more, as the other end has closed or broken the connection.
  Read read(std::string& into, int64_t deadline_ns, int stop);
  // False: the other end is gone, or takes nothing until the deadline.
  bool write(std::string_view bytes, int64_t deadline_ns);
  // Whether the other end has closed the connection.
  bool is_closed() const;

  const Socket& socket() const { return socket_; }
  bool is_tls() const { return tunnel_ != nullptr; }
  // Passes bytes on, in both directions, between the other end and another socket, until one of them has ended.
  void join(const Socket& other);

 private:
  Read read_raw(std::string& into, int64_t deadline_ns, int stop);
  bool write_raw(std::string_view bytes, int64_t deadline_ns);
  Result<void> shake_hands(Result<std::unique_ptr<TlsTunnel>> tunnel, int64_t deadline_ns);

  Socket socket_;
  const Clock* clock_;
  std::unique_ptr<TlsTunnel> tunnel_;  // null: in the clear
};

// A connection that has been switched to another protocol. Its bytes are those of the other end, also through TLS.
struct Switched {
  int connection = -1;
  std::string input;  // what has come of it already
  int stop = -1;      // can be read once the server stops
};

}  // namespace sluice::http
