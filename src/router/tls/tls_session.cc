// OpenSSL over the socket, by a BIO of our own that never raises SIGPIPE and knows when the socket is empty.
#include "router/tls/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "crypto/evp.h"

namespace sluice::router {
namespace {

using crypto::must;

constexpr size_t kMaxRecord = 16'384;

}  // namespace

// What OpenSSL calls.
struct SocketBio {
  static int read(BIO* bio, char* into, int size) {
    auto& session = *static_cast<TlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (session.drained_) {
      BIO_set_retry_read(bio);
      return -1;
    }
    while (true) {
      ssize_t done = ::recv(session.fd_, into, static_cast<size_t>(size), 0);
      if (done > 0 && done < size) session.drained_ = true;  // what comes next is told
      if (done >= 0) return static_cast<int>(done);
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {
        session.drained_ = true;
        BIO_set_retry_read(bio);
      }
      return -1;
    }
  }

  static int write(BIO* bio, const char* bytes, int size) {
    auto& session = *static_cast<TlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    while (true) {
      ssize_t done = ::send(session.fd_, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
      if (done >= 0) return static_cast<int>(done);
      if (errno == EINTR) continue;
      if (errno == EAGAIN) BIO_set_retry_write(bio);
      return -1;
    }
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* method() {
    static BIO_METHOD* made = [] {
      BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "router");
      must(method != nullptr, "BIO_meth_new");
      BIO_meth_set_read(method, read);
      BIO_meth_set_write(method, write);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    return made;
  }
};

void TlsSession::prepare(ssl_ctx_st* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
}

TlsSession::TlsSession(ssl_ctx_st* context, int fd) : ssl_(SSL_new(context)), fd_(fd) {
  BIO* bio = BIO_new(SocketBio::method());
  must(ssl_ != nullptr && bio != nullptr, "SSL_new");
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

// After each call of OpenSSL: notes what a handshake that has just ended has settled. False: nothing can be done any
// more.
bool TlsSession::progressed() {
  if (established_ || SSL_is_init_finished(ssl_) != 1) return !broken_;
  established_ = true;
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &protocol, &size);
  http2_ = size == 2 && std::memcmp(protocol, "h2", 2) == 0;
  if (!settled() || (needs_http2_ && !http2_)) broken_ = true;
  return !broken_;
}

Connected TlsSession::shake_hands() {
  drained_ = false;
  reads_when_writable_ = false;
  ERR_clear_error();
  if (const int result = SSL_do_handshake(ssl_); result != 1 && !broken_) {
    const int why = SSL_get_error(ssl_, result);
    reads_when_writable_ = why == SSL_ERROR_WANT_WRITE;
    broken_ = why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE;
  }
  ERR_clear_error();
  if (!progressed()) return Connected::unbelieved;
  return established_ ? Connected::yes : Connected::not_yet;
}

ssize_t TlsSession::read(char* into, size_t size) {
  drained_ = false;
  reads_when_writable_ = false;
  size_t done = 0;
  while (done < size && !broken_ && !ended_) {
    ERR_clear_error();
    size_t piece = 0;
    const int result = SSL_read_ex(ssl_, into + done, size - done, &piece);
    if (result == 1) {
      done += piece;
      continue;
    }
    const int why = SSL_get_error(ssl_, result);
    if (why == SSL_ERROR_WANT_READ) break;
    if (why == SSL_ERROR_WANT_WRITE) {
      reads_when_writable_ = true;
      break;
    }
    if (why == SSL_ERROR_ZERO_RETURN) {
      ended_ = true;
    } else {
      broken_ = true;
    }
  }
  const bool was_established = established_;
  const bool going = progressed();
  // What came together with a handshake that will not do is nobody's.
  if (done > 0 && (going || was_established)) return static_cast<ssize_t>(done);
  if (!going) return kBroken;
  return ended_ ? 0 : kWouldBlock;
}

ssize_t TlsSession::write(const iovec* parts, int count) {
  size_t done = 0;
  for (int i = 0; i < count && !broken_; ++i) {
    const char* bytes = static_cast<const char*>(parts[i].iov_base);
    for (size_t at = 0; at < parts[i].iov_len;) {
      ERR_clear_error();
      size_t piece = 0;
      const int result = SSL_write_ex(ssl_, bytes + at, std::min(parts[i].iov_len - at, kMaxRecord), &piece);
      if (result == 1) {
        at += piece;
        done += piece;
        continue;
      }
      const int why = SSL_get_error(ssl_, result);
      broken_ = why != SSL_ERROR_WANT_WRITE && why != SSL_ERROR_WANT_READ;
      if (done > 0) return static_cast<ssize_t>(done);
      return broken_ ? kBroken : kWouldBlock;
    }
  }
  return broken_ && done == 0 ? kBroken : static_cast<ssize_t>(done);
}

Look TlsSession::look() {
  if (broken_ || ended_) return Look::ended;
  drained_ = false;
  ERR_clear_error();
  char byte;
  size_t size = 0;
  const int result = SSL_peek_ex(ssl_, &byte, 1, &size);
  if (result == 1) return Look::speaks;
  const int why = SSL_get_error(ssl_, result);
  ERR_clear_error();
  return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? Look::quiet : Look::ended;
}

void TlsSession::end() {
  if (!established_ || broken_ || (SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN) != 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

std::string_view TlsSession::version() const { return SSL_get_version(ssl_); }

}  // namespace sluice::router
