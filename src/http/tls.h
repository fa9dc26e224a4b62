// TLS over a socket, for the control plane's server and the client that speaks to it: OpenSSL on memory, so that the
// wire below keeps its deadlines.
//
//   auto shown = ServerTls::make({.chain_pem = …, .key_pem = …});
//   auto tunnel = TlsTunnel::accept(**shown);         // then handshake(), read() and write() over a Wire
//
// Nothing below TLS 1.2 is spoken. A server that knows whom to believe asks clients for certificates, and takes those
// who show none as well: who they are is for others to say.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace sluice::http {

struct ServerCertificate {
  std::string chain_pem;
  std::string key_pem;
  std::string client_roots_pem = {};  // whom clients' certificates must be signed by; empty: none is asked for
};

// What a server shows, checked: the key is of the certificate. Any thread may use one.
class ServerTls {
 public:
  static Result<std::shared_ptr<const ServerTls>> make(const ServerCertificate& shown);
  ~ServerTls();
  ServerTls(const ServerTls&) = delete;
  ServerTls& operator=(const ServerTls&) = delete;

  ssl_ctx_st* native() const { return context_; }

 private:
  friend class TlsTunnel;
  explicit ServerTls(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

// Whom a client takes for the server.
struct ServerTrust {
  std::string host;       // that the certificate must be of
  std::string roots_pem;  // who must have signed it; empty: those whom the system believes
  bool anybody = false;   // nothing is checked: to look at a certificate, not to send anything
};

// One end of a connection. Bytes of the wire go in and out through `pull` and `push`; each returns false at its end.
class TlsTunnel {
 public:
  static Result<std::unique_ptr<TlsTunnel>> accept(const ServerTls& shown);
  static Result<std::unique_ptr<TlsTunnel>> connect(const ServerTrust& trust);
  ~TlsTunnel();
  TlsTunnel(const TlsTunnel&) = delete;
  TlsTunnel& operator=(const TlsTunnel&) = delete;

  using Pull = std::function<bool(std::string& into)>;
  using Push = std::function<bool(std::string_view bytes)>;

  Result<void> handshake(const Pull& pull, const Push& push);
  // Adds what there is to `into`, from what was pulled already or one pull more. False: the other end has ended.
  bool read(std::string& into, const Pull& pull, const Push& push);
  // Whether there is something to read without a pull.
  bool has_some() const;
  bool write(std::string_view bytes, const Push& push);

  // The certificates that the other end has shown, its own first; empty: none.
  std::string peer_chain() const;

 private:
  explicit TlsTunnel(ssl_st* ssl) : ssl_(ssl) {}
  bool flush(const Push& push);
  bool fill(const Pull& pull);

  ssl_st* ssl_;
};

}  // namespace sluice::http
