// The frames of one HTTP/2 connection (RFC 9113), as a server: bytes in, requests out; answers in, bytes out. nghttp2
// knows the protocol; what is here says what the router makes of it, and when it has had enough.
//
// A request's head is written as the lines of HTTP/1.1, which the one parser then reads: whatever it refuses is refused
// over either protocol, and there is one form of head behind it. What could be read in two ways never gets that far:
// fields with bytes that are none, fields of a connection, a Host beside another :authority and a wrong Content-Length
// end the stream with PROTOCOL_ERROR.
//
// The window of a stream grows by what consumed() says, so nothing more comes than the router has passed on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "router/http1/head_writer.h"
#include "router/http1/http1_parser.h"
#include "router/http2/session_memory.h"

struct nghttp2_session;

namespace sluice::router {

inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr uint32_t kMostStreams = 128;
inline constexpr int32_t kConnectionWindow = 1 << 20;

// What the other end does. Called from within receive() and send(); nothing of the session may be called back but what
// says so.
class Http2Events {
 public:
  virtual ~Http2Events() = default;

  // A request: its head as lines of HTTP/1.1. `ends`: there is no body. What it returns comes back as `stream`;
  // nothing: it is not taken.
  virtual void* request(int32_t id, std::string_view head, bool ends) = 0;
  virtual void body(void* stream, std::string_view bytes) = 0;
  // The body is whole; lines of trailers, or nothing.
  virtual void end_of_body(void* stream, std::string_view trailers) = 0;
  // It is over, for whatever reason: answered, or reset by either side.
  virtual void over(void* stream) = 0;
  // What of the answer's body is to be sent next, up to `room`: how many bytes were put there; `last`: that is all.
  virtual size_t fill(void* stream, char* into, size_t room, bool& last) = 0;
  // Lines of trailers for an answer whose last byte was filled in.
  virtual std::string_view trailers(void* stream) = 0;
};

// How often something may happen on a connection: so many at once, and so many a second.
class Allowance {
 public:
  Allowance(uint32_t most, uint32_t per_second) : most_(most), per_second_(per_second), left_(most) {}
  // One more; false: it was too much.
  bool take(int64_t now_ms);

 private:
  uint32_t most_, per_second_;
  double left_;
  int64_t at_ms_ = 0;
};

// Others may read them.
struct Http2Counts {
  std::atomic<uint64_t> streams = 0;  // requests that came
  std::atomic<uint64_t> resets = 0;   // that came, or that the other end has provoked
};

class Http2Session {
 public:
  Http2Session(Http2Events& events, Http2Counts& counts, SessionPages& pages);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // Takes all of the bytes. False: the connection is to be closed, once what send() still has is written.
  bool receive(std::string_view bytes, int64_t now_ms);
  // The next bytes to be written; empty: none now. They stay until the next call.
  std::string_view send(int64_t now_ms);
  // Whether there is nothing more to say or to hear.
  bool has_ended() const;

  // Puts its memory away until it is called again, if there is nothing to say.
  void rest();

  // May be called from within events, too.
  void interim(int32_t id, const ResponseHead& head);
  // `has_body`: fill() is asked for it.
  void answer(int32_t id, const ResponseHead& head, const Answering& answering, bool has_body);
  void more(int32_t id);  // fill() has something again
  void reset(int32_t id, uint32_t code);
  void consumed(int32_t id, size_t bytes);
  // Bytes of a stream that is over, which nobody has consumed.
  void given_up(size_t bytes);

  // No new streams: said once as a warning, and then with the last one that was taken.
  void warn_of_end();
  void end();

 private:
  friend struct Http2Callbacks;
  // A head that is being read.
  struct Head {
    int32_t id = 0;
    std::string method, path, authority, host, cookie, fields;
    bool has_length = false;
    bool spoilt = false;  // it was reset
    size_t lines = 0;
    size_t bytes = 0;
  };

  // Every use goes through here: its memory may be put away.
  nghttp2_session* session() const {
    memory_.wake();
    return session_;
  }
  void take_field(std::string_view name, std::string_view value);
  bool begin_request(int32_t id, bool ends);
  void too_much(bool within);
  void count_reset();

  Http2Events& events_;
  Http2Counts& counts_;
  mutable SessionMemory memory_;
  nghttp2_session* session_ = nullptr;
  Head head_;
  std::string text_;
  int64_t now_ms_ = 0;
  Allowance resets_{1'000, 200};
  Allowance idle_talk_{1'000, 200};  // frames that carry nothing
  bool too_much_ = false;
  bool ended_ = false;
};

}  // namespace sluice::router
