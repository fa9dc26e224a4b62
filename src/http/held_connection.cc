// OpenSSL reads and writes the socket itself here, so that it can give back its buffers while nothing comes.
#include "http/held_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "crypto/evp.h"

namespace sluice::http {
namespace {

constexpr size_t kHeldPiece = size_t{16} << 10U;
constexpr size_t kKeptRoom = 4096;  // of what has gone out

using HeldContext = std::unique_ptr<SSL_CTX, crypto::FreeWith<SSL_CTX_free>>;
using HeldCertificate = std::unique_ptr<X509, crypto::FreeWith<X509_free>>;

Error refused_tls(const std::string& what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return {.code = Code::verification_failed, .message = what + (reason != nullptr ? std::string(": ") + reason : "")};
}

crypto::BioPtr bio_of(const std::string& text) {
  return crypto::BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<HeldContext> context_for(const HeldTls& tls) {
  HeldContext context(SSL_CTX_new(TLS_client_method()));
  crypto::must(context != nullptr, "SSL_CTX_new");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  if (tls.roots_pem.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else {
    const crypto::BioPtr roots = bio_of(tls.roots_pem);
    while (HeldCertificate one{PEM_read_bio_X509(roots.get(), nullptr, nullptr, nullptr)}) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), one.get());
    }
  }
  ERR_clear_error();
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (tls.chain_pem.empty()) return context;
  const crypto::BioPtr chain = bio_of(tls.chain_pem), key_text = bio_of(tls.key_pem);
  const HeldCertificate own(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  const crypto::KeyPtr key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (!own || !key || SSL_CTX_use_certificate(context.get(), own.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return refused_tls("the own certificate and its key cannot be used");
  }
  return context;
}

Result<void> shake(SSL* ssl, int fd, const std::string& host, const Clock& clock, int64_t until_ms) {
  while (true) {
    ERR_clear_error();
    const int done = SSL_connect(ssl);
    if (done == 1) return {};
    const int why = SSL_get_error(ssl, done);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
      const long verdict = SSL_get_verify_result(ssl);
      if (verdict != X509_V_OK) {
        ERR_clear_error();
        return Error{.code = Code::verification_failed,
                     .message = std::string("the certificate of ") + host +
                                " is not to be believed: " + X509_verify_cert_error_string(verdict)};
      }
      if (ERR_peek_last_error() != 0) return refused_tls("TLS could not begin");
      return Error{.code = Code::unavailable, .message = "the connection broke before TLS could begin"};
    }
    pollfd ready{fd, static_cast<short>(why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT), 0};
    const int64_t left_ms = until_ms - clock.monotonic_ns() / 1'000'000;
    if (left_ms <= 0 || ::poll(&ready, 1, static_cast<int>(left_ms)) == 0) {
      return Error{.code = Code::timeout, .message = host + " does not answer"};
    }
  }
}

}  // namespace

HeldConnection::HeldConnection(Socket socket, ssl_st* ssl) : socket_(std::move(socket)), ssl_(ssl) {
  if (ssl_ == nullptr) return;
  SSL_set_mode(ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  crypto::must(SSL_set_fd(ssl_, socket_.fd()) == 1, "SSL_set_fd");
}

HeldConnection::~HeldConnection() { SSL_free(ssl_); }

Result<std::unique_ptr<HeldConnection>> HeldConnection::connect(const std::string& host, uint16_t port,
                                                                const HeldTls& tls, const Clock& clock,
                                                                int64_t patience_ms) {
  auto context = context_for(tls);
  if (!context) return context.error();
  const int64_t until_ms = clock.monotonic_ns() / 1'000'000 + patience_ms;
  auto socket = connect_host(host, port);
  if (!socket) return socket.error();
  const int yes = 1;
  ::setsockopt(socket->fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  SSL* ssl = SSL_new(context->get());
  crypto::must(ssl != nullptr, "SSL_new");
  auto made = std::make_unique<HeldConnection>(*std::move(socket), ssl);
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) != 1) {
    SSL_set_tlsext_host_name(ssl, host.c_str());
    crypto::must(X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size()) == 1, "set1_host");
  }
  ERR_clear_error();
  if (auto agreed = shake(ssl, made->fd(), host, clock, until_ms); !agreed) return agreed.error();
  return made;
}

HeldConnection::Read HeldConnection::read(std::string& into) {
  std::array<char, kHeldPiece> piece;
  bool any = false;
  while (true) {
    ssize_t got = 0;
    if (ssl_ == nullptr) {
      got = ::recv(socket_.fd(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return any ? Read::some : Read::nothing;
    } else {
      ERR_clear_error();
      got = SSL_read(ssl_, piece.data(), static_cast<int>(piece.size()));
      const int why = got > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_, static_cast<int>(got));
      ERR_clear_error();
      if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return any ? Read::some : Read::nothing;
    }
    // What came before the end is read first; the end is found again.
    if (got <= 0) return any ? Read::some : Read::ended;
    into.append(piece.data(), static_cast<size_t>(got));
    any = true;
  }
}

bool HeldConnection::flush() {
  while (sent_ < out_.size()) {
    const size_t size = std::min(out_.size() - sent_, kHeldPiece);
    ssize_t put = 0;
    if (ssl_ == nullptr) {
      put = ::send(socket_.fd(), out_.data() + sent_, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    } else {
      ERR_clear_error();
      put = SSL_write(ssl_, out_.data() + sent_, static_cast<int>(size));
      const int why = put > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_, static_cast<int>(put));
      ERR_clear_error();
      if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return true;
    }
    if (put <= 0) return false;
    sent_ += static_cast<size_t>(put);
  }
  sent_ = 0;
  if (out_.capacity() > kKeptRoom) {
    out_ = std::string();
  } else {
    out_.clear();
  }
  return true;
}

}  // namespace sluice::http
