// The frames of one HTTP/2 connection to a replica (RFC 9113), as a client: requests in, bytes out; bytes in, answers
// out. nghttp2 knows the protocol; what it refuses in an answer ends that stream with PROTOCOL_ERROR.
//
// The window of a stream grows by what consumed() says, so nothing more comes than the router has passed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "router/http1/http1_parser.h"

struct nghttp2_session;

namespace sluice::router {

inline constexpr uint32_t kMostUpstreamStreams = 100;

// The value of the first line of that field in a head; empty if there is none.
std::string_view line_of(std::string_view head, Field field);

// What the replica does. Called from within receive() and send(); nothing of the session may be called back.
class Http2ClientEvents {
 public:
  virtual ~Http2ClientEvents() = default;

  // The head of an answer: its fields as lines of HTTP/1.1. `ends`: there is no body, and no trailers.
  virtual void answer(void* stream, uint16_t status, std::string_view fields, bool has_length, bool ends) = 0;
  virtual void body(void* stream, std::string_view bytes) = 0;
  // The answer is whole; lines of trailers, or nothing.
  virtual void end_of_body(void* stream, std::string_view trailers) = 0;
  // It is over, for whatever reason. `refused`: nobody has looked at the request.
  virtual void over(void* stream, bool refused) = 0;
  // The request of that stream will not be sent any more.
  virtual void not_sent(int32_t id) = 0;
  // What of the request's body is to be sent next, up to `room`: how many bytes were put there; `last`: that is all.
  virtual size_t fill(void* stream, char* into, size_t room, bool& last) = 0;
  // Lines of trailers for a request whose last byte was filled in.
  virtual std::string_view trailers(void* stream) = 0;
};

class Http2Client {
 public:
  explicit Http2Client(Http2ClientEvents& events);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // False: the connection is to be closed, once what send() still has is written.
  bool receive(std::string_view bytes);
  // The next bytes to be written; empty: none now. They stay until the next call.
  std::string_view send();
  bool has_ended() const;

  // Whether another request may be asked, beside so many that are under way.
  bool takes(uint32_t under_way) const;
  // The head is one that the router has written, without the empty line at its end. The number of the stream, or less
  // than 0: none can be had.
  int32_t ask(std::string_view head, bool has_body, void* stream);
  void more(int32_t id);  // fill() has something again
  // Nothing more is told of the stream.
  void let_go(int32_t id);
  void reset(int32_t id);
  void consumed(int32_t id, size_t bytes);
  // Bytes of a stream that is over, which nobody has consumed.
  void given_up(size_t bytes);

 private:
  friend struct Http2ClientCallbacks;
  struct Head {
    uint16_t status = 0;  // 0: these are trailers
    bool has_length = false;
    std::string fields;
  };

  Http2ClientEvents& events_;
  nghttp2_session* session_ = nullptr;
  Head head_;
  bool ended_ = false;
};

}  // namespace sluice::router
