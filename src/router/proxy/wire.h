// The seam between the router's machine and the network: sockets in the worker, a script in tests and fuzzers.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "router/address.h"

namespace sluice::router {

struct Endpoint;
class UpstreamTls;

// What read and write say instead of a count.
inline constexpr ssize_t kWouldBlock = -1;
inline constexpr ssize_t kBroken = -2;
// What connect says instead of a file: nobody is there, or this process may open no more.
inline constexpr int kNobody = -1;
inline constexpr int kNoFile = -2;

// What has happened at an endpoint; each is told once, when it becomes so.
struct Happened {
  bool readable = false;  // also: its other end has closed
  bool ended = false;     // its other end has closed; what it sent before may still be there
  bool writable = false;
  bool broken = false;  // nothing more will go either way
};

// What a look at a kept connection finds. It takes nothing away.
enum class Look : uint8_t {
  quiet,   // open, and nothing has come
  speaks,  // something has come
  ended,   // its other end has closed
};

// What has become of a connection that was begun.
enum class Connected : uint8_t {
  yes,
  no,
  not_yet,     // its TLS is still to be settled: what happens next tells more
  unbelieved,  // somebody is there, with whom TLS cannot be settled
};

// What the TLS of a connection has settled.
class Secured {
 public:
  virtual ~Secured() = default;

  virtual bool is_established() const = 0;
  virtual bool is_http2() const = 0;             // by ALPN
  virtual std::string_view version() const = 0;  // "TLSv1.3"
  virtual std::string_view name() const = 0;     // the host that the client named (SNI), in small letters; or nothing
  // Whether the certificate that it was shown is of that host.
  virtual bool covers(std::string_view host) const = 0;
  // Whether its other end has said that nothing more comes, which may have come with the last bytes.
  virtual bool has_ended() const { return false; }
  // The stamp of the rule by which the client was asked for a certificate (tls/client_rule.h); nothing: it was not.
  virtual std::string_view client_rule() const { return {}; }
  // Whose certificate it has shown, and that was verified; or nothing.
  virtual std::string_view client_id() const { return {}; }
};

class Wire {
 public:
  virtual ~Wire() = default;

  // How many bytes, 0 at the end, or kWouldBlock or kBroken.
  virtual ssize_t read(int fd, char* into, size_t size) = 0;
  virtual ssize_t write(int fd, const iovec* parts, int count) = 0;
  // Begins to connect; what happens is told to the endpoint. The new fd, or kNobody or kNoFile. `at_once`: it is
  // connected already.
  virtual int connect(const Address& to, Endpoint& endpoint, bool& at_once) = 0;
  virtual Connected has_connected(int fd) = 0;
  // What happens at the fd is told to another endpoint from now on, also what was told before.
  virtual void hand_over(int fd, Endpoint& to) = 0;
  virtual Look look(int fd) = 0;
  // What has come, and is still to be read.
  virtual ssize_t peek(int fd, char* into, size_t size) = 0;
  // What comes from now on is TLS.
  virtual void start_tls(int fd) = 0;
  // The same of a connection that was begun here: has_connected() settles it.
  virtual void start_tls(int fd, const UpstreamTls& to) = 0;
  // Nothing: it is in the clear.
  virtual const Secured* secured(int) const { return nullptr; }
  // Tells the other end at once that what it has sent so far has come.
  virtual void acknowledge(int fd) = 0;
  virtual void shut_write(int fd) = 0;
  virtual void close(int fd) = 0;
  // So that the other end learns that what it has is not all.
  virtual void reset(int fd) = 0;
};

}  // namespace sluice::router
