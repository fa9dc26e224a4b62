// Server answers HTTP/1.1 on a listening socket, for the control plane: a thread a connection, with a bound on how
// many there are, on what they may send, and on how long they may take.
//
//   auto server = Server::start(*std::move(listening), [&](const Request& request, const Peer& peer) { … }, clock);
//   …
//   (*server)->stop();
//
// The handler is called from many threads at once. It may block; an answer that has no end is a Stream. For a PUT it is
// called when the head is there, and takes the body piece by piece; if it does not take all of it, the connection is
// closed. An answer with a `channel` switches the connection to another protocol, and closes it at the channel's end.
// Whoever keeps something for a connection forgets it when `closed` names that connection. With `shown`,
// which is asked for each connection, it speaks TLS and nothing else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/parser.h"
#include "http/socket.h"
#include "http/tls.h"

namespace sluice::http {

struct ServerLimits {
  MessageLimits message;
  size_t connections = 256;
  int64_t idle_ms = 60'000;   // between requests
  int64_t read_ms = 20'000;   // for a whole request, from its first byte
  int64_t write_ms = 20'000;  // for an answer, or a part of a stream
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

  static Result<std::unique_ptr<Server>> start(Socket listening, Handler handler, const Clock& clock,
                                               ServerLimits limits = {}, Closed closed = {}, Shown shown = {});
  ~Server();

  // Takes no new connections and no new requests, ends streams, and returns when those under way are answered.
  void stop();
  bool is_stopping() const { return stopping_; }

 private:
  struct Connection {
    std::thread thread;
    std::atomic<bool> done = false;
  };
  class ChunkedStream;

  Server(Socket listening, Handler handler, const Clock& clock, ServerLimits limits, Closed closed, Shown shown);
  void accept_all();
  void serve(Socket socket, uint64_t number);
  Result<bool> next_piece(Wire& wire, RequestParser& parser, std::string& input, std::string& piece, bool& whole);
  // `whole` says, once it has been handled, whether all of the request was read.
  bool answer(Wire& wire, const Request& request, const Peer& peer, const bool& whole, std::string& input);
  void refuse(Wire& wire, int status, const Error& error) const;
  void reap();
  int64_t after_ms(int64_t duration_ms) const { return clock_.monotonic_ns() + duration_ms * 1'000'000; }

  Socket listening_;
  Handler handler_;
  const Clock& clock_;
  ServerLimits limits_;
  Closed closed_;
  Shown shown_;
  Socket stop_read_, stop_write_;  // a pipe that can be read once it stops
  std::atomic<bool> stopping_ = false;
  std::thread acceptor_;
  std::list<Connection> connections_;  // of the acceptor alone
  std::mutex stop_mutex_;
};

// What a request is answered with that the server itself refuses: an RFC 9457 problem.
std::string problem_of(int status, const Error& error);

}  // namespace sluice::http
