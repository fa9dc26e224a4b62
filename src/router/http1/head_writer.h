// Heads as they are passed on: the lines that stay are copied in runs, the router's own are put behind them.
#pragma once

#include <cstdint>
#include <string_view>

#include "router/http1/http1_parser.h"
#include "router/proxy/buffers.h"

namespace sluice::router {

// What the router adds to a request.
struct Forwarding {
  std::string_view peer;       // the client's address; empty at a Unix socket
  uint16_t port = 0;           // on which it came
  bool trusted = false;        // what it says of those before it is believed
  bool secure = false;         // it came over TLS
  bool upgrade = false;        // the upgrade is passed on
  std::string_view client_id;  // of the certificate that it has shown; or nothing
  uint32_t strip = 0;          // so many bytes of the path are not
  std::string_view trace;      // 32 hex digits of a trace that begins here; empty: the request's own goes on
  std::string_view span;       // 16 hex digits
};

// The largest that a head can become.
size_t request_head_room(const RequestHead& head, const Forwarding& forwarding);
// Appends to the buffer, which has that much room.
void write_request_head(const RequestHead& head, const Forwarding& forwarding, Buffer& out);

struct Answering {
  bool old_client = false;  // HTTP/1.0: no chunks
  bool keep_alive = true;
  bool upgrade = false;         // this is the 101
  std::string_view set_cookie;  // a line with CRLF
  std::string_view hsts;        // another one, unless the application has its own
  std::string_view deployment;  // and revision: whose answer it is, for a trusted caller
  std::string_view revision;
};

// Whether a line of an answer is passed on.
bool stays_in_answer(const ResponseHead& head, const Answering& answering, const HeaderLine& line);

size_t response_head_room(const ResponseHead& head, const Answering& answering);
// Writes at `out` and says how much.
size_t write_response_head(const ResponseHead& head, const Answering& answering, char* out);

// The trace id of a valid traceparent (W3C Trace Context); empty if there is none, or several.
std::string_view trace_of(const RequestHead& head);

}  // namespace sluice::router
