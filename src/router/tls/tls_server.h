// TLS towards clients: one server for all threads of a worker, and a session for each connection. TLS 1.2 (ECDHE with
// AEAD) and 1.3; no renegotiation, no compression, no early data.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "router/tls/certificates.h"
#include "router/tls/challenges.h"
#include "router/tls/client_rule.h"
#include "router/tls/ticket_keys.h"
#include "router/tls/tls_session.h"

namespace sluice::router {

class ServerSession;

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

  // What clients are asked to show from now on; nothing: no certificate. Sessions keep what they were asked.
  void demand(std::shared_ptr<const ClientRules> rules);
  // Of the host that a client asks for.
  std::shared_ptr<const ClientRule> rule_of(std::string_view name) const;

  // Where proofs for certificate authorities are; it must outlive this.
  void prove_by(const ChallengeBoard& board) { challenges_ = &board; }

  std::unique_ptr<ServerSession> accept(int fd);
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
  std::shared_ptr<const ClientRules> rules_;
  const ChallengeBoard* challenges_ = nullptr;

  friend struct TlsCallbacks;
};

class ServerSession final : public TlsSession {
 public:
  ServerSession(TlsServer& server, ssl_ctx_st* context, int fd);
  ~ServerSession() override;

  std::string_view name() const override { return name_; }
  bool covers(std::string_view host) const override;
  std::string_view client_rule() const override { return stamp_of(rule_); }
  std::string_view client_id() const override { return client_id_; }

 private:
  friend struct TlsCallbacks;
  bool settled() override;

  TlsServer& server_;
  std::string name_;  // that the client asked for, in small letters
  // What it is shown, and the set that it is in.
  std::shared_ptr<const Certificates> certificates_;
  const Shown* shown_ = nullptr;
  std::shared_ptr<const Challenges> challenges_;  // only if the client is an authority that asks for a proof
  std::shared_ptr<const ClientRule> rule_;        // by which it was asked for a certificate
  std::string client_id_;
};

}  // namespace sluice::router
