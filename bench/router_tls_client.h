// A client of the benchmark that speaks TLS 1.3: it asks once a connection, and may resume what it had settled before.
#pragma once

#include <memory>
#include <string>
#include <vector>

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace sluice::bench {

class TlsClient {
 public:
  explicit TlsClient(bool http2);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // So many connections one after the other, each with one request and its answer. With `resumed` all but the first
  // go on with the session of the one before; throws if a proxy does otherwise.
  void shake_hands(int port, int count, bool resumed);

  // Connections that have asked once and then wait, until the object ends or lets them go.
  void hold(int port, int count);
  void let_go();

 private:
  ssl_st* connect(int port, ssl_session_st* session);
  void ask(ssl_st* tls) const;
  static void close(ssl_st* tls);

  ssl_ctx_st* context_;
  bool http2_;
  ssl_session_st* newest_ = nullptr;
  std::vector<ssl_st*> held_;
};

}  // namespace sluice::bench
