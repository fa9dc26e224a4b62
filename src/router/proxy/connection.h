// What a thread keeps of each connection and of each request under way. A connection that waits is a Client or an
// Upstream alone, without buffers; an Exchange is there from a request's head to the last byte of its answer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "router/address.h"
#include "router/http1/chunk_reader.h"
#include "router/http1/websocket_frames.h"
#include "router/http2/http2_client.h"
#include "router/http2/http2_session.h"
#include "router/proxy/buffers.h"
#include "router/proxy/timers.h"
#include "router/table/dispatch.h"

namespace sluice::router {

struct Exchange;
struct Http2Connection;
struct Replica;
struct SharedUpstream;
class RevisionPool;
class Secured;

struct Endpoint {
  enum class Kind : uint8_t { client, upstream, listener, wakeup, redis, http2, shared };

  int fd = -1;  // -1: gone
  Kind kind = Kind::client;
  bool readable = false;
  bool writable = true;
  bool queued = false;        // to be looked at again
  bool end_near = false;      // the other end has closed: the end is told once, and must be read up to
  bool spare = false;         // it has nothing to do, and is closed where room is needed
  Endpoint* older = nullptr;  // the neighbours among those
  Endpoint* newer = nullptr;
  Timer timer;
};

// Who is at the other end of a client's connection. All that is asked over one connection has the same.
struct Peer {
  bool trusted = false;
  bool counted = false;  // among those of its address
  bool at_unix = false;
  uint8_t size = 0;
  uint16_t port = 0;         // of the listener
  uint32_t trust_stamp = 0;  // of the settings by which `trusted` was found
  std::array<char, 46> text{};
  IpBytes ip{};
  const Secured* tls = nullptr;  // of the connection, as long as it is open; nothing: it is in the clear

  std::string_view address() const { return {text.data(), size}; }
};

// Who asks: a connection of HTTP/1.1, or a stream of one of HTTP/2, which has no file of its own: its fd is kStream.
struct Client : Endpoint {
  enum class Phase : uint8_t {
    introduced,  // whom it speaks for is to come, in a PROXY header
    idle,        // between requests
    head,        // a part of a head has come
    busy,        // an exchange is under way
    held,        // a whole head waits for a hold to end
    asking,      // a whole head waits for what Redis knows of its session
    closing,     // what is in `out` is written, then it closes
    lingering,   // it has closed for writing, and reads until the other end has, too
  };

  Phase phase = Phase::idle;
  bool ended = false;                                // nothing more comes
  bool hold_over = false;                            // it has waited as long as it may
  bool cut = false;                                  // what was written is not all: it must not look as if it were
  bool will_be_secure = false;                       // TLS begins behind the PROXY header
  bool handshakes = false;                           // its TLS is not settled yet
  bool asked = false;                                // something has come; what begins now is no preface any more
  bool whole = false;                                // of a stream: all of the answer is in `out`
  bool over = false;                                 // of a stream: the other end knows that it has ended
  PinElsewhere elsewhere = PinElsewhere::not_asked;  // what it was told of its session
  Peer peer;
  int64_t asked_us = 0;  // when its request came, if it has asked; else 0
  Exchange* exchange = nullptr;
  Buffer* in = nullptr;              // read, and not yet used
  Buffer* out = nullptr;             // to be written
  Http2Connection* http2 = nullptr;  // of a stream
  int32_t stream = 0;
  uint32_t uncredited = 0;     // bytes of its body that the other end may make up for once they are written
  Buffer* trailers = nullptr;  // of a stream's request: lines
  Client* prev = nullptr;      // all clients of the thread, or all streams of a connection
  Client* next = nullptr;
};

inline constexpr int kStream = INT32_MAX;

// A connection that speaks HTTP/2.
struct Http2Connection : Endpoint {
  Peer peer;
  Buffer* out = nullptr;  // to be written
  Client* streams = nullptr;
  uint32_t count = 0;    // of them
  bool closing = false;  // it closes once all is written
  bool lingers = false;  // all is written; it reads until the other end has closed, too
  int64_t idle_until_ms = 0;
  std::unique_ptr<Http2Events> events;
  std::unique_ptr<Http2Session> session;
  Http2Connection* prev = nullptr;  // all of the thread
  Http2Connection* next = nullptr;
};

enum class BodyKind : uint8_t { none, length, chunked, until_close };

// One direction of a message's body.
struct Body {
  BodyKind kind = BodyKind::none;
  bool done = true;
  uint64_t left = 0;
  ChunkReader chunks;
};

// A request's part of a connection of HTTP/2 that it shares with others (proxy_shared.cc). To the rest of the proxy it
// is an Upstream like any other, whose fd is kStream: what is written to it is HTTP/1.1 and goes out in frames, and
// what comes in frames is read from it as HTTP/1.1.
struct UpstreamStream {
  SharedUpstream* shared = nullptr;  // nothing: that is closed
  int32_t id = 0;                    // 0: the head was not sent yet
  Body request;                      // as it is written
  std::string going;                 // of the body, to be sent
  size_t gone = 0;                   // of that
  std::string trailers;              // of the request: lines
  std::string came;                  // of the answer, to be read
  size_t read = 0;                   // of that
  uint32_t uncredited = 0;           // bytes of the answer's body that the replica may make up for once they are read
  bool chunked = false;              // the answer's body is read as chunks
  bool over = false;                 // nothing more comes
  bool refused = false;              // and nobody has looked at the request
  bool unconnected = false;          // and nobody was there
  bool unbelieved = false;           // or somebody, with whom TLS could not be settled
  bool answered = false;             // the answer is whole, whether or not the replica says so
  bool sent = false;                 // the request is, with its last byte
};

struct Upstream : Endpoint {
  bool connecting = false;
  bool reused = false;    // it has served a request before
  bool settling = false;  // kept, and not used before it has stayed silent for a while
  Exchange* exchange = nullptr;
  Replica* replica = nullptr;
  Buffer* in = nullptr;   // a part of an answer's head
  Buffer* out = nullptr;  // to be written, behind the exchange's `sent`
  int64_t idle_since_ms = 0;
  std::unique_ptr<UpstreamStream> stream;  // over HTTP/2; nothing: a connection of its own
  Upstream* prev = nullptr;                // of the replica's idle or settling ones, or of the shared connection's
  Upstream* next = nullptr;
};

// A connection to a replica that speaks HTTP/2, with all the requests of this thread that go over it.
struct SharedUpstream : Endpoint {
  bool connecting = false;
  bool closing = false;  // it takes no more requests, and closes with the last one
  bool served = false;   // a request before
  Replica* replica = nullptr;
  Buffer* out = nullptr;  // to be written
  Upstream* streams = nullptr;
  uint32_t count = 0;  // of them
  std::unique_ptr<Http2ClientEvents> events;
  std::unique_ptr<Http2Client> session;
  SharedUpstream* prev = nullptr;  // of the replica's
  SharedUpstream* next = nullptr;
};

struct Exchange {
  Client* client = nullptr;
  Upstream* upstream = nullptr;
  RevisionPool* pool = nullptr;
  Replica* replica = nullptr;
  Exchange* prev = nullptr;  // of the pool's
  Exchange* next = nullptr;

  Buffer* sent = nullptr;    // the request as it goes upstream: the head, and what of the body came with it
  Buffer* cookie = nullptr;  // a Set-Cookie line for the answer
  uint32_t sent_at = 0;      // how much of it is written
  Body request;
  Body response;

  bool is_head = false;     // HEAD
  bool old_client = false;  // HTTP/1.0
  bool keep_alive = true;   // the client's connection, afterwards
  bool idempotent = false;
  bool replayable = true;  // `sent` is all that was sent
  bool asks_upgrade = false;
  bool is_websocket = false;
  bool expects = false;  // 100-continue
  bool begun = false;    // of the answer's final head, something is on its way to the client
  bool reusable = true;  // the upstream's connection, afterwards
  bool streams = false;  // the answer is an event stream, or a tunnel
  bool tunnel = false;
  bool client_ended = false;    // of a tunnel
  bool upstream_ended = false;  // of a tunnel
  bool closing_1012 = false;
  bool closed_client = false;  // the close frame is on its way
  bool closed_upstream = false;
  bool logged = false;  // it is, whatever comes of it
  bool wants_html = false;
  bool grpc = false;        // its errors are statuses of gRPC
  int8_t grpc_status = -1;  // of the answer; less than 0: it said none
  uint8_t attempts = 0;
  Reason reason = Reason::none;
  uint16_t status = 0;
  uint32_t series = 0;  // its counters, as it began
  uint64_t tried = 0;   // replicas, by their place
  int64_t generation = 0;
  int64_t begun_us = 0;
  int64_t body_awaited_ms = 0;  // since when; 0: it is not
  int64_t body_waited_ms = 0;   // before that, for the client alone
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  const char* error = "";
  Timeouts timeouts;
  std::array<char, 32> trace{};
  std::string trailers;  // lines, of an answer to a stream
  WebsocketFrames to_client;
  WebsocketFrames to_upstream;
};

}  // namespace sluice::router
