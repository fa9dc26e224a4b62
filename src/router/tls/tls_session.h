// TLS of one connection, whichever end of it the router is. A session reads and writes its socket itself, without
// waiting; whoever calls it does so for a socket that tells each change once, so a read goes on until the socket has no
// more.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <string_view>

#include "router/proxy/wire.h"

struct ssl_ctx_st;
struct ssl_st;

namespace sluice::router {

class TlsSession : public Secured {
 public:
  // What all contexts of sessions have in common.
  static void prepare(ssl_ctx_st* context);

  TlsSession(ssl_ctx_st* context, int fd);
  virtual ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Goes on with the handshake, which reading and writing do, too.
  Connected shake_hands();
  ssize_t read(char* into, size_t size);
  ssize_t write(const iovec* parts, int count);
  // Whether something has come that is still to be read. What is only between the two ends, such as tickets, is taken.
  Look look();
  // Says that nothing more is written, once.
  void end();
  // What it waits for to read on is room to write.
  bool reads_when_writable() const { return reads_when_writable_; }
  // The handshake fails if the other end does not.
  void must_speak_http2() { needs_http2_ = true; }

  bool is_established() const override { return established_; }
  bool is_http2() const override { return http2_; }
  bool has_ended() const override { return ended_ || broken_; }
  std::string_view version() const override;
  std::string_view name() const override { return {}; }
  bool covers(std::string_view) const override { return true; }

  ssl_st* ssl() const { return ssl_; }
  int fd() const { return fd_; }

 protected:
  // The handshake has ended; whether what it has settled will do.
  virtual bool settled() { return true; }

 private:
  friend struct SocketBio;
  bool progressed();

  ssl_st* ssl_;
  int fd_;
  bool drained_ = false;  // the socket has no more
  bool established_ = false;
  bool http2_ = false;
  bool needs_http2_ = false;
  bool reads_when_writable_ = false;
  bool broken_ = false;
  bool ended_ = false;
};

}  // namespace sluice::router
