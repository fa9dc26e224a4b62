// A connection that belongs to whoever holds it: no thread waits for it, and nothing is kept for it but what TLS needs.
// For those who have thousands that are mostly silent, and one loop for all of them.
//
//   auto link = HeldConnection::connect("sluice.example", 8443, {.roots_pem = …, .chain_pem = …, .key_pem = …}, clock,
//   3'000);
//   (*link)->send(bytes);
//   if (!(*link)->flush()) …                   // it is broken; is_sending(): wait until fd() takes more
//   auto got = (*link)->read(input);           // without waiting
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/socket.h"

struct ssl_st;

namespace sluice::http {

// Whom a connection believes, and who it is itself.
struct HeldTls {
  std::string roots_pem;  // who must have signed the server's certificate; empty: those whom the system believes
  std::string chain_pem;  // its own; empty: none
  std::string key_pem;
};

class HeldConnection {
 public:
  // Takes over a connection, and the TLS that has been agreed on there; null: it is in the clear.
  HeldConnection(Socket socket, ssl_st* ssl);
  // To a server that speaks TLS. `verification_failed`: it is not who it must be; nothing was sent.
  static Result<std::unique_ptr<HeldConnection>> connect(const std::string& host, uint16_t port, const HeldTls& tls,
                                                         const Clock& clock, int64_t patience_ms);
  ~HeldConnection();
  HeldConnection(const HeldConnection&) = delete;
  HeldConnection& operator=(const HeldConnection&) = delete;

  int fd() const { return socket_.fd(); }
  std::string address() const { return address_of(socket_); }

  enum class Read { some, nothing, ended };
  // Adds what there is.
  Read read(std::string& into);
  // What the next flush writes, as far as the connection takes it; false: it is broken.
  void send(std::string_view bytes) { out_.append(bytes); }
  bool flush();
  bool is_sending() const { return sent_ < out_.size(); }
  size_t waiting() const { return out_.size() - sent_; }

 private:
  Socket socket_;
  ssl_st* ssl_;
  std::string out_;
  size_t sent_ = 0;  // of it
};

}  // namespace sluice::http
