// What a handshake settles is decided in OpenSSL's callbacks.
#include "router/tls/tls_server.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/ascii.h"
#include "base/random.h"
#include "crypto/sha256.h"
#include "crypto/x509.h"
#include "router/address.h"

namespace sluice::router {
namespace {

constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr long kTicketLife_s = 3'600;
constexpr size_t kMaxClientId = 1'000;
constexpr size_t kMaxName = 255;

void require(bool ok, const char* call) {
  if (!ok) throw std::runtime_error(std::string("OpenSSL failed in ") + call);
}

// The name in a client's server_name extension (RFC 6066), if there is one.
std::string_view asked_name(SSL* ssl) {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) != 1) return {};
  // A list with its length, of a kind (0: a host) and a name with its length.
  if (size < 5 || bytes[2] != TLSEXT_NAMETYPE_host_name) return {};
  const size_t list = static_cast<size_t>(bytes[0]) << 8 | bytes[1],
               name = static_cast<size_t>(bytes[3]) << 8 | bytes[4];
  if (list + 2 != size || name + 5 != size || name == 0 || name > kMaxName) return {};
  return {reinterpret_cast<const char*>(bytes) + 5, name};
}

// Whether the client is an authority that asks for a proof (RFC 8737).
bool offers_acme_alone(SSL* ssl) {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes, &size) != 1) {
    return false;
  }
  // A list with its length, of names with theirs.
  return size == kAcmeProtocol.size() + 3 && bytes[2] == kAcmeProtocol.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes) + 3, size - 3) == kAcmeProtocol;
}

// Whose certificate it is, as the application is told: its SPIFFE ID, else its subject. Nothing that could be read as
// more than one header line.
std::string client_id_of(const crypto::CertificateFacts& facts) {
  std::string id = facts.subject;
  for (const std::string& uri : facts.uris) {
    if (!uri.starts_with("spiffe://")) continue;
    id = uri;
    break;
  }
  const bool fits = id.size() <= kMaxClientId && std::ranges::all_of(id, [](char c) { return c >= ' ' && c < 0x7f; });
  return fits ? id : "";
}

// Who asks for no name has connected to an address.
std::string local_address(int fd) {
  Address address;
  address.size = sizeof address.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) return {};
  return host_text(address);
}

}  // namespace

// What OpenSSL calls.
struct TlsCallbacks {
  static ServerSession& session_of(SSL* ssl) { return *static_cast<ServerSession*>(SSL_get_app_data(ssl)); }

  // Before anything is settled: which certificates are for the name that is asked for.
  static int hello(SSL* ssl, int* alert, void*) {
    ServerSession& session = session_of(ssl);
    session.name_ = asked_name(ssl);
    for (char& c : session.name_) {
      if (is_upper(c)) c = static_cast<char>(c | 0x20);
    }
    const ChallengeBoard* board = session.server_.challenges_;
    if (board != nullptr && board->any() && offers_acme_alone(ssl)) {
      session.challenges_ = board->now();
      session.shown_ = session.challenges_->shown(session.name_);
    } else {
      session.certificates_ = session.server_.shown();
      const std::string name = session.name_.empty() ? local_address(session.fd()) : session.name_;
      session.shown_ = session.certificates_ ? session.certificates_->find(name) : nullptr;
      session.rule_ = session.server_.rule_of(name);
      if (session.rule_) session.rule_->ask(ssl);
    }
    if (session.shown_ == nullptr) {
      *alert = SSL_AD_UNRECOGNIZED_NAME;
      return SSL_CLIENT_HELLO_ERROR;
    }
    // A session is resumed only where the same names are shown, and clients are asked for the same.
    const auto& identity = session.shown_->other ? session.shown_->other : session.shown_->rsa;
    std::string names(stamp_of(session.rule_));
    for (const std::string& each : identity->facts().names) names += each + "\n";
    const crypto::Sha256 digest = crypto::sha256(names);
    SSL_set_session_id_context(ssl, digest.data(), static_cast<unsigned>(digest.size()));
    return SSL_CLIENT_HELLO_SUCCESS;
  }

  static int certificate(SSL* ssl, void*) {
    const ServerSession& session = session_of(ssl);
    for (const auto& identity : {session.shown_->other, session.shown_->rsa}) {
      if (!identity) continue;
      if (SSL_use_cert_and_key(ssl, identity->leaf(), identity->key(), identity->rest(), 1) != 1) return 0;
    }
    return 1;
  }

  static int protocol(SSL* ssl, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                      unsigned offered_size, void*) {
    static constexpr unsigned char kKnown[] = "\x02h2\x08http/1.1";
    unsigned char* found = nullptr;
    if (session_of(ssl).challenges_ != nullptr) {
      *chosen = offered + 1;
      *size = offered[0];
      return SSL_TLSEXT_ERR_OK;
    }
    if (SSL_select_next_proto(&found, size, kKnown, sizeof kKnown - 1, offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED) {
      return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
  }

  static int ticket(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                    int seals) {
    TlsServer& server = session_of(ssl).server_;
    bool renew = false;
    TicketKey key;
    if (seals != 0) {
      key = server.tickets().current(server.now_s());
      std::memcpy(name, key.name.data(), key.name.size());
      RealRandom().fill({iv, static_cast<size_t>(EVP_CIPHER_get_iv_length(EVP_aes_256_cbc()))});
    } else {
      auto found = server.tickets().named(name, server.now_s(), renew);
      if (!found) return 0;
      key = *found;
    }
    char sha256[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac.data(), key.mac.size()),
                           OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
                           OSSL_PARAM_construct_end()};
    if (EVP_MAC_CTX_set_params(mac, params) != 1) return -1;
    if (EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), iv, seals) != 1) return -1;
    // Of TLS 1.3 a client uses each ticket once, so that nobody can see that two connections are the same client's:
    // without a new one it could resume as often as it has got some.
    return renew || (seals == 0 && SSL_version(ssl) == TLS1_3_VERSION) ? 2 : 1;
  }
};

// ------------------------------------------------------------------------------------------------------------- server

TlsServer::TlsServer(const TicketSecret& secret, const Clock& clock)
    : tickets_(secret), clock_(clock), context_(SSL_CTX_new(TLS_server_method())) {
  require(context_ != nullptr, "SSL_CTX_new");
  require(SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION) == 1, "SSL_CTX_set_min_proto_version");
  require(SSL_CTX_set_cipher_list(context_, kCiphers12) == 1, "SSL_CTX_set_cipher_list");
  TlsSession::prepare(context_);
  SSL_CTX_set_options(context_,
                      SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(context_, kTicketLife_s);
  require(SSL_CTX_set_tlsext_ticket_key_evp_cb(context_, TlsCallbacks::ticket) == 1,
          "SSL_CTX_set_tlsext_ticket_key_evp_cb");
  SSL_CTX_set_client_hello_cb(context_, TlsCallbacks::hello, nullptr);
  SSL_CTX_set_cert_cb(context_, TlsCallbacks::certificate, nullptr);
  SSL_CTX_set_alpn_select_cb(context_, TlsCallbacks::protocol, nullptr);
}

TlsServer::~TlsServer() { SSL_CTX_free(context_); }

void TlsServer::show(std::shared_ptr<const Certificates> certificates) {
  std::lock_guard lock(mutex_);
  certificates_.swap(certificates);
}

std::shared_ptr<const Certificates> TlsServer::shown() const {
  std::lock_guard lock(mutex_);
  return certificates_;
}

void TlsServer::demand(std::shared_ptr<const ClientRules> rules) {
  std::lock_guard lock(mutex_);
  rules_.swap(rules);
}

std::shared_ptr<const ClientRule> TlsServer::rule_of(std::string_view name) const {
  std::shared_ptr<const ClientRules> rules;
  {
    std::lock_guard lock(mutex_);
    rules = rules_;
  }
  return rules ? rules->find(name) : nullptr;
}

std::unique_ptr<ServerSession> TlsServer::accept(int fd) {
  return std::make_unique<ServerSession>(*this, context_, fd);
}

// ------------------------------------------------------------------------------------------------------------ session

ServerSession::ServerSession(TlsServer& server, ssl_ctx_st* context, int fd)
    : TlsSession(context, fd), server_(server) {
  SSL_set_app_data(ssl(), this);
  SSL_set_accept_state(ssl());
}

ServerSession::~ServerSession() {
  if (!is_established()) server_.counts().failed.fetch_add(1, std::memory_order_relaxed);
}

bool ServerSession::settled() {
  TlsCounts& counts = server_.counts();
  (SSL_version(ssl()) == TLS1_3_VERSION ? counts.tls13 : counts.tls12).fetch_add(1, std::memory_order_relaxed);
  if (SSL_session_reused(ssl()) == 1) counts.resumed.fetch_add(1, std::memory_order_relaxed);
  X509* shown = rule_ ? SSL_get0_peer_certificate(ssl()) : nullptr;
  if (shown == nullptr) return true;
  const crypto::CertificateFacts facts = crypto::facts_of(shown);
  client_id_ = client_id_of(facts);
  // A session that is resumed has the certificate of its first handshake.
  return SSL_get_verify_result(ssl()) == X509_V_OK && facts.until_ms > server_.now_s() * 1'000;
}

bool ServerSession::covers(std::string_view host) const {
  if (shown_ == nullptr) return false;
  std::string lower(host);
  for (char& c : lower) {
    if (is_upper(c)) c = static_cast<char>(c | 0x20);
  }
  // An address in brackets stands in certificates without them.
  if (lower.size() > 2 && lower.front() == '[' && lower.back() == ']') lower = lower.substr(1, lower.size() - 2);
  return shown_->covers(lower);
}

}  // namespace sluice::router
