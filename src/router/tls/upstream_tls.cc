// One context for each name and authority; a replica's sessions are made from it.
#include "router/tls/upstream_tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "crypto/evp.h"
#include "crypto/sha256.h"
#include "router/tls/tls_session.h"

namespace sluice::router {
namespace {

using crypto::must;

constexpr unsigned char kHttp11[] = "\x08http/1.1";
constexpr unsigned char kHttp2[] = "\x02h2";

bool add_authorities(X509_STORE* store, std::string_view pem) {
  crypto::BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  must(bio != nullptr, "BIO_new_mem_buf");
  bool any = false;
  while (X509* each = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    const std::unique_ptr<X509, crypto::FreeWith<X509_free>> owner(each);
    must(X509_STORE_add_cert(store, each) == 1, "X509_STORE_add_cert");
    any = true;
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return any && ended;
}

}  // namespace

Result<std::shared_ptr<const UpstreamTls>> UpstreamTls::make(std::string_view name, std::string_view authorities,
                                                             bool http2) {
  std::shared_ptr<UpstreamTls> made(new UpstreamTls);
  made->name_ = name;
  made->http2_ = http2;
  made->stamp_ = crypto::to_string(
      crypto::sha256(std::string(http2 ? "h2\n" : "http/1.1\n") + made->name_ + "\n" + std::string(authorities)));
  made->context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX* context = made->context_;
  must(context != nullptr, "SSL_CTX_new");
  must(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1, "SSL_CTX_set_min_proto_version");
  TlsSession::prepare(context);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (authorities == kSystemAuthorities) {
    SSL_CTX_set_default_verify_paths(context);
    ERR_clear_error();
  } else if (!add_authorities(SSL_CTX_get_cert_store(context), authorities)) {
    return Error{.code = Code::invalid, .message = "expected certificates of authorities as PEM, or system"};
  }
  const unsigned char* protocol = http2 ? kHttp2 : kHttp11;
  must(SSL_CTX_set_alpn_protos(context, protocol, protocol[0] + 1U) == 0, "SSL_CTX_set_alpn_protos");
  return std::shared_ptr<const UpstreamTls>(std::move(made));
}

UpstreamTls::~UpstreamTls() { SSL_CTX_free(context_); }

std::unique_ptr<TlsSession> UpstreamTls::connect(int fd) const {
  auto session = std::make_unique<TlsSession>(context_, fd);
  SSL* ssl = session->ssl();
  SSL_set_connect_state(ssl);
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, name_.c_str()) != 1) {
    must(SSL_set_tlsext_host_name(ssl, name_.c_str()) == 1, "SSL_set_tlsext_host_name");
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    must(X509_VERIFY_PARAM_set1_host(rules, name_.c_str(), name_.size()) == 1, "X509_VERIFY_PARAM_set1_host");
  }
  ERR_clear_error();
  if (http2_) session->must_speak_http2();
  return session;
}

}  // namespace sluice::router
