// OpenSSL over sockets that wait.
#include <openssl/ssl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "bench/folder.h"
#include "bench/router_stage.h"
#include "bench/router_tls_client.h"

namespace sluice::bench {
namespace {

constexpr unsigned char kHttp1[] = "\x08http/1.1";
constexpr unsigned char kHttp2[] = "\x02h2";

// The preface, empty SETTINGS, and a HEADERS frame of stream 1: GET https://app.example/index.html.
std::string http2_request() {
  std::string block = "\x82\x87";  // :method GET, :scheme https
  const auto literal = [&](char name, const std::string& value) {
    block += name;
    block += static_cast<char>(value.size());
    block += value;
  };
  literal(0x04, "/index.html");  // :path
  literal(0x01, "app.example");  // :authority
  std::string text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  text += std::string("\0\0\0\x04\0\0\0\0\0", 9);
  text += std::string("\0\0", 2) + static_cast<char>(block.size()) + std::string("\x01\x05\0\0\0\x01", 6) + block;
  return text;
}

// The bytes of the frames that are whole; `ended`: one of them ends stream 1.
size_t whole_frames(const std::string& came, bool& ended) {
  size_t at = 0;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(came[at + i])); };
  while (came.size() - at >= 9) {
    const size_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
    if (came.size() - at < 9 + size) break;
    ended = ended || (byte(3) <= 1 && (byte(4) & 1) != 0 && byte(8) == 1);
    at += 9 + size;
  }
  return at;
}

}  // namespace

TlsClient::TlsClient(bool http2) : context_(SSL_CTX_new(TLS_client_method())), http2_(http2) {
  must(context_ != nullptr, "no TLS");
  SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION);
  SSL_CTX_set_verify(context_, SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  if (http2) {
    SSL_CTX_set_alpn_protos(context_, kHttp2, sizeof kHttp2 - 1);
  } else {
    SSL_CTX_set_alpn_protos(context_, kHttp1, sizeof kHttp1 - 1);
  }
  SSL_CTX_set_app_data(context_, this);
  SSL_CTX_sess_set_new_cb(context_, [](SSL* tls, SSL_SESSION* session) {
    auto& client = *static_cast<TlsClient*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls)));
    if (client.newest_ != nullptr) SSL_SESSION_free(client.newest_);
    client.newest_ = session;
    return 1;  // it is ours
  });
}

TlsClient::~TlsClient() {
  let_go();
  if (newest_ != nullptr) SSL_SESSION_free(newest_);
  SSL_CTX_free(context_);
}

ssl_st* TlsClient::connect(int port, ssl_session_st* session) {
  const int fd = connected_to(port);
  must(fd >= 0, "cannot connect: raise the limit of open files");
  SSL* tls = SSL_new(context_);
  SSL_set_fd(tls, fd);
  SSL_set_tlsext_host_name(tls, "app.example");
  if (session != nullptr) SSL_set_session(tls, session);
  must(SSL_connect(tls) == 1, "a handshake failed");
  must((SSL_session_reused(tls) == 1) == (session != nullptr), "a session was not resumed as it should be");
  return tls;
}

void TlsClient::ask(ssl_st* tls) const {
  const std::string request = http2_ ? http2_request() : "GET /index.html HTTP/1.1\r\nHost: app.example\r\n\r\n";
  must(SSL_write(tls, request.data(), static_cast<int>(request.size())) > 0, "cannot ask");
  std::string came;
  std::array<char, 16'384> piece{};
  for (bool ended = false; !ended;) {
    const int got = SSL_read(tls, piece.data(), piece.size());
    must(got > 0, "a connection ended before its answer");
    came.append(piece.data(), static_cast<size_t>(got));
    if (http2_) {
      came.erase(0, whole_frames(came, ended));
    } else if (const size_t end = came.find("\r\n\r\n"); end != std::string::npos) {
      must(came.starts_with("HTTP/1.1 200"), came);
      ended = came.size() >= end + 4 + 1024;
    }
  }
}

void TlsClient::close(ssl_st* tls) {
  const int fd = SSL_get_fd(tls);
  SSL_shutdown(tls);
  SSL_free(tls);
  ::close(fd);
}

void TlsClient::shake_hands(int port, int count, bool resumed) {
  SSL_SESSION* session = nullptr;
  for (int i = 0; i < count; ++i) {
    SSL* tls = connect(port, session);
    ask(tls);  // tickets come before the answer
    close(tls);
    if (session != nullptr) SSL_SESSION_free(session);
    session = resumed ? newest_ : nullptr;
    if (resumed) newest_ = nullptr;
    must(!resumed || session != nullptr, "no ticket came");
  }
  if (session != nullptr) SSL_SESSION_free(session);
}

void TlsClient::hold(int port, int count) {
  for (int i = 0; i < count; ++i) {
    held_.push_back(connect(port, nullptr));
    ask(held_.back());
  }
}

void TlsClient::let_go() {
  for (SSL* each : held_) close(each);
  held_.clear();
}

}  // namespace sluice::bench
