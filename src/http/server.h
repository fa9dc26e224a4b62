// Server answers HTTP/1.1 on a listening socket, for the control plane. One thread moves the bytes of all connections,
// which are coroutines; a pool of threads runs the handler, which may block. A connection that sends nothing, half a
// request or half a body, and one that reads nothing, is closed after a bounded time, and holds no thread until then.
//
//   auto server = Server::start(*std::move(listening), [&](const Request& request, const Peer& peer) { … }, clock);
//   …
//   (*server)->stop();
//
// The handler is called from many threads at once. An answer that has no end is a Feed, which holds no thread either,
// or a Stream, which does. For a PUT or PATCH the handler is called when the head is there, and takes the body piece by
// piece; if it does not take all of it, the connection is closed. An answer with a `channel` switches the connection to
// another protocol, and closes it at the channel's end; one that is given away is nobody's here. Whoever keeps
// something for a connection forgets it when `closed` names that connection. With `shown`, which is asked for each
// connection, it speaks TLS and nothing else.
//
// `quick` is asked first, on the thread of all connections: it must answer at once or not at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/parser.h"
#include "http/socket.h"
#include "http/tls.h"
#include "http/worker_pool.h"

namespace sluice::http {

struct ServerLimits {
  MessageLimits message = {};
  size_t connections = 20'000;
  int64_t idle_ms = 60'000;   // between requests
  int64_t read_ms = 20'000;   // for a whole request, from its first byte
  int64_t write_ms = 20'000;  // for an answer, or a part of a stream
  PoolSize handlers = {};
  size_t streams = 128;  // that hold a thread of the handlers, and connections that were switched
};

// A connection and who is at its other end.
struct Peer {
  uint64_t connection = 0;
  std::optional<Credentials> credentials;  // none over TCP
  std::string address;                     // "127.0.0.1"; empty over a Unix socket
  bool tls = false;                        // nobody on the way can read what is sent
  std::string certificate;                 // that they have shown and that holds, with those who signed it, in PEM
};

class Server {
 public:
  using Handler = std::function<Response(const Request&, const Peer&)>;
  using Closed = std::function<void(uint64_t connection)>;
  using Shown = std::function<std::shared_ptr<const ServerTls>()>;
  using Quick = std::function<std::optional<Response>(const Request&, const Peer&)>;

  static Result<std::unique_ptr<Server>> start(Socket listening, Handler handler, const Clock& clock,
                                               ServerLimits limits = {}, Closed closed = {}, Shown shown = {},
                                               Quick quick = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes no new connections from now on; returns once another process may listen in its place.
  void close();
  // Takes no new connections and no new requests, ends streams, and returns when those under way are answered.
  void stop();
  bool is_stopping() const;

 private:
  class Connection;
  struct State;
  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
  std::mutex stop_mutex_;
};

// What a request is answered with that the server itself refuses: an RFC 9457 problem.
std::string problem_of(int status, const Error& error);

// As many descriptors as this process may have, up to what the largest number of connections needs.
void raise_open_files();

}  // namespace sluice::http
