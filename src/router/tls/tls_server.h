// TLS towards clients: one server for all threads of a worker, and a session for each connection. TLS 1.2 (ECDHE with
// AEAD) and 1.3; no renegotiation, no compression, no early data.
//
// A session reads and writes its socket itself, without waiting; whoever calls it does so for a socket that tells each
// change once, so a read goes on until the socket has no more.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "router/proxy/wire.h"
#include "router/tls/certificates.h"
#include "router/tls/challenges.h"
#include "router/tls/ticket_keys.h"

struct ssl_ctx_st;
struct ssl_st;

namespace sluice::router {

class TlsSession;

struct TlsCounts {
  std::atomic<uint64_t> tls12 = 0;  // handshakes that were completed
  std::atomic<uint64_t> tls13 = 0;
  std::atomic<uint64_t> resumed = 0;  // of both
  std::atomic<uint64_t> failed = 0;
};

class TlsServer {
 public:
  // `secret`: what the keys of tickets follow from.
  TlsServer(const TicketSecret& secret, const Clock& clock);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // What is shown from now on. Sessions keep what they were shown.
  void show(std::shared_ptr<const Certificates> certificates);
  std::shared_ptr<const Certificates> shown() const;

  // Where proofs for certificate authorities are; it must outlive this.
  void prove_by(const ChallengeBoard& board) { challenges_ = &board; }

  std::unique_ptr<TlsSession> accept(int fd);
  TlsCounts& counts() { return counts_; }
  const TlsCounts& counts() const { return counts_; }
  TicketKeys& tickets() { return tickets_; }
  int64_t now_s() const { return clock_.wall_ms() / 1'000; }

 private:
  TicketKeys tickets_;
  const Clock& clock_;
  ssl_ctx_st* context_;
  TlsCounts counts_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Certificates> certificates_;
  const ChallengeBoard* challenges_ = nullptr;

  friend struct TlsCallbacks;
};

class TlsSession final : public Secured {
 public:
  TlsSession(TlsServer& server, ssl_ctx_st* context, int fd);
  ~TlsSession();

  ssize_t read(char* into, size_t size);
  ssize_t write(const iovec* parts, int count);
  // Says that nothing more is written, once.
  void end();
  // What it waits for to read on is room to write.
  bool reads_when_writable() const { return reads_when_writable_; }

  bool is_established() const override { return established_; }
  bool is_http2() const override { return http2_; }
  std::string_view version() const override;
  std::string_view name() const override { return name_; }
  bool covers(std::string_view host) const override;

 private:
  friend struct TlsCallbacks;
  bool progressed();

  TlsServer& server_;
  ssl_st* ssl_;
  int fd_;
  bool drained_ = false;  // the socket has no more
  bool established_ = false;
  bool http2_ = false;
  bool reads_when_writable_ = false;
  bool broken_ = false;
  bool ended_ = false;
  std::string name_;  // that the client asked for, in small letters
  // What it is shown, and the set that it is in.
  std::shared_ptr<const Certificates> certificates_;
  const Shown* shown_ = nullptr;
  std::shared_ptr<const Challenges> challenges_;  // only if the client is an authority that asks for a proof
};

}  // namespace sluice::router
