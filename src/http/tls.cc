// Each call moves bytes between OpenSSL's two buffers and the wire until it has what it wants.
#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "crypto/evp.h"

namespace sluice::http {
namespace {

constexpr size_t kTlsPiece = size_t{64} << 10U;

using ContextPtr = std::unique_ptr<SSL_CTX, crypto::FreeWith<SSL_CTX_free>>;
using CertificatePtr = std::unique_ptr<X509, crypto::FreeWith<X509_free>>;

crypto::BioPtr bio_over(const std::string& text) {
  return crypto::BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

ContextPtr new_context(const SSL_METHOD* method) {
  ContextPtr context(SSL_CTX_new(method));
  crypto::must(context != nullptr, "SSL_CTX_new");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  return context;
}

// The certificates of a PEM text go to `take`; false: it holds none.
template <class Take>
bool each_certificate(const std::string& pem, const Take& take) {
  crypto::BioPtr bio = bio_over(pem);
  size_t count = 0;
  while (CertificatePtr one{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (!take(std::move(one), count++)) return false;
  }
  ERR_clear_error();
  return count > 0;
}

bool trust_roots(SSL_CTX* context, const std::string& pem) {
  return each_certificate(pem, [&](CertificatePtr one, size_t) {
    SSL_CTX_add_client_CA(context, one.get());
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get()) == 1;
  });
}

Error tls_failure(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  std::string why;
  if (code != 0) {
    const char* reason = ERR_reason_error_string(code);
    why = reason != nullptr ? std::string(": ") + reason : "";
  }
  ERR_clear_error();
  return {.code = Code::verification_failed, .message = what + why};
}

}  // namespace

ServerTls::~ServerTls() { SSL_CTX_free(context_); }

Result<std::shared_ptr<const ServerTls>> ServerTls::make(const ServerCertificate& shown) {
  ContextPtr context = new_context(TLS_server_method());
  const bool chained = each_certificate(shown.chain_pem, [&](CertificatePtr one, size_t at) {
    if (at == 0) return SSL_CTX_use_certificate(context.get(), one.get()) == 1;
    return SSL_CTX_add_extra_chain_cert(context.get(), one.release()) == 1;
  });
  if (!chained) return Error{.code = Code::invalid, .message = "the file of the certificate holds none"};
  crypto::BioPtr bio = bio_over(shown.key_pem);
  crypto::KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (key == nullptr) return Error{.code = Code::invalid, .message = "the file of the key holds no private key"};
  const bool fits =
      SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1 && SSL_CTX_check_private_key(context.get()) == 1;
  ERR_clear_error();
  if (!fits) return Error{.code = Code::invalid, .message = "the key is not the certificate's"};
  if (!shown.client_roots_pem.empty()) {
    if (!trust_roots(context.get(), shown.client_roots_pem)) {
      return Error{.code = Code::invalid, .message = "the file of the clients' authorities holds no certificate"};
    }
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    // A session that is resumed would bring no certificate along.
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context.get(), 0);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  }
  return std::shared_ptr<const ServerTls>(new ServerTls(context.release()));
}

TlsTunnel::~TlsTunnel() { SSL_free(ssl_); }

namespace {

SSL* new_end(SSL_CTX* context) {
  SSL* ssl = SSL_new(context);
  crypto::must(ssl != nullptr, "SSL_new");
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  crypto::must(in != nullptr && out != nullptr, "BIO_new");
  BIO_set_mem_eof_return(in, -1);
  SSL_set_bio(ssl, in, out);
  return ssl;
}

}  // namespace

Result<std::unique_ptr<TlsTunnel>> TlsTunnel::accept(const ServerTls& shown) {
  std::unique_ptr<TlsTunnel> tunnel(new TlsTunnel(new_end(shown.context_)));
  SSL_set_accept_state(tunnel->ssl_);
  return tunnel;
}

Result<std::unique_ptr<TlsTunnel>> TlsTunnel::connect(const ServerTrust& trust) {
  ContextPtr context = new_context(TLS_client_method());
  if (trust.roots_pem.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (!trust_roots(context.get(), trust.roots_pem)) {
    return Error{.code = Code::invalid, .message = "the certificates to believe cannot be read"};
  }
  std::unique_ptr<TlsTunnel> tunnel(new TlsTunnel(new_end(context.get())));
  SSL* ssl = tunnel->ssl_;
  SSL_set_connect_state(ssl);
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl);
  const bool address = X509_VERIFY_PARAM_set1_ip_asc(rules, trust.host.c_str()) == 1;
  if (!address) {
    SSL_set_tlsext_host_name(ssl, trust.host.c_str());
    crypto::must(X509_VERIFY_PARAM_set1_host(rules, trust.host.c_str(), trust.host.size()) == 1, "set1_host");
  }
  ERR_clear_error();
  SSL_set_verify(ssl, trust.anybody ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  return tunnel;
}

bool TlsTunnel::flush(const Push& push) {
  std::array<char, 16 * 1024> piece;
  BIO* out = SSL_get_wbio(ssl_);
  while (BIO_ctrl_pending(out) > 0) {
    const int got = BIO_read(out, piece.data(), static_cast<int>(piece.size()));
    if (got <= 0 || !push({piece.data(), static_cast<size_t>(got)})) return false;
  }
  return true;
}

bool TlsTunnel::fill(const Pull& pull) {
  std::string bytes;
  if (!pull(bytes)) return false;
  return BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
}

Result<void> TlsTunnel::handshake(const Pull& pull, const Push& push) {
  while (true) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_);
    const int why = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_, done);
    // What went wrong is told to the other end, too.
    Error failure = why == SSL_ERROR_NONE || why == SSL_ERROR_WANT_READ ? Error() : tls_failure("TLS could not begin");
    const bool told = flush(push);
    if (why == SSL_ERROR_NONE) return {};
    if (why != SSL_ERROR_WANT_READ) {
      const long verdict = SSL_get_verify_result(ssl_);
      if (verdict != X509_V_OK) {
        failure.message =
            std::string("the certificate is not to be believed: ") + X509_verify_cert_error_string(verdict);
      }
      return failure;
    }
    if (!told || !fill(pull)) {
      return Error{.code = Code::unavailable, .message = "the connection broke before TLS could begin"};
    }
  }
}

bool TlsTunnel::has_some() const { return SSL_pending(ssl_) > 0 || BIO_ctrl_pending(SSL_get_rbio(ssl_)) > 0; }

bool TlsTunnel::read(std::string& into, const Pull& pull, const Push& push) {
  std::array<char, 16 * 1024> piece;
  while (true) {
    ERR_clear_error();
    const int got = SSL_read(ssl_, piece.data(), static_cast<int>(piece.size()));
    if (got > 0) {
      into.append(piece.data(), static_cast<size_t>(got));
      return true;
    }
    const int why = SSL_get_error(ssl_, got);
    ERR_clear_error();
    if (!flush(push) || why != SSL_ERROR_WANT_READ || !fill(pull)) return false;
  }
}

bool TlsTunnel::write(std::string_view bytes, const Push& push) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const int put = SSL_write(ssl_, bytes.data(), static_cast<int>(std::min(bytes.size(), kTlsPiece)));
    ERR_clear_error();
    if (put <= 0 || !flush(push)) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

std::string TlsTunnel::peer_chain() const {
  std::string pem;
  auto add = [&](X509* one) {
    crypto::BioPtr bio(BIO_new(BIO_s_mem()));
    if (bio == nullptr || PEM_write_bio_X509(bio.get(), one) != 1) return;
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    pem.append(text, static_cast<size_t>(size));
  };
  // A server's own certificate is the first of the chain that it sends; of a client's it is not part.
  if (SSL_is_server(ssl_) == 1) {
    if (X509* own = SSL_get0_peer_certificate(ssl_)) add(own);
  }
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl_);
  for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) add(sk_X509_value(chain, i));
  return pem;
}

}  // namespace sluice::http
