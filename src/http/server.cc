// One thread accepts; each connection has one of its own.
#include "http/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>

#include "base/json.h"
#include "base/thread_name.h"

namespace sluice::http {
namespace {

std::string chunk_of(std::string_view bytes) {
  std::array<char, 16> size;
  auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16);
  return std::string(size.data(), end.ptr) + "\r\n" + std::string(bytes) + "\r\n";
}

}  // namespace

std::string problem_of(int status, const Error& error) {
  return write(boost::json::object{{"type", problem_type(error.code)},
                                   {"title", entry(error.code).meaning},
                                   {"status", status},
                                   {"detail", error.message},
                                   {"code", code_name(error.code)}});
}

class Server::ChunkedStream final : public Stream {
 public:
  ChunkedStream(Server& server, Wire& wire) : server_(server), wire_(wire) {}

  bool write(std::string_view bytes) override {
    if (bytes.empty() || !wanted()) return wanted();
    broken_ = !wire_.write(chunk_of(bytes), server_.after_ms(server_.limits_.write_ms));
    return !broken_;
  }
  bool wanted() override {
    broken_ = broken_ || wire_.is_closed();
    return !broken_ && !server_.stopping_;
  }
  bool end() { return !broken_ && wire_.write("0\r\n\r\n", server_.after_ms(server_.limits_.write_ms)); }

 private:
  Server& server_;
  Wire& wire_;
  bool broken_ = false;
};

Server::Server(Socket listening, Handler handler, const Clock& clock, ServerLimits limits, Closed closed, Shown shown)
    : listening_(std::move(listening)),
      handler_(std::move(handler)),
      clock_(clock),
      limits_(limits),
      closed_(std::move(closed)),
      shown_(std::move(shown)) {}

Result<std::unique_ptr<Server>> Server::start(Socket listening, Handler handler, const Clock& clock,
                                              ServerLimits limits, Closed closed, Shown shown) {
  std::unique_ptr<Server> server(
      new Server(std::move(listening), std::move(handler), clock, limits, std::move(closed), std::move(shown)));
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return error_from(errno, "make", "a pipe");
  server->stop_read_ = Socket(ends[0]);
  server->stop_write_ = Socket(ends[1]);
  server->acceptor_ = std::thread([&self = *server] { self.accept_all(); });
  return server;
}

Server::~Server() { stop(); }

void Server::stop() {
  std::lock_guard lock(stop_mutex_);
  if (!stopping_.exchange(true)) (void)!::write(stop_write_.fd(), "x", 1);
  if (acceptor_.joinable()) acceptor_.join();
}

void Server::reap() {
  for (auto each = connections_.begin(); each != connections_.end();) {
    if (!each->done) {
      ++each;
      continue;
    }
    each->thread.join();
    each = connections_.erase(each);
  }
}

void Server::accept_all() {
  name_this_thread("accept");
  uint64_t number = 0;
  while (!stopping_) {
    std::array<pollfd, 2> ready = {{{listening_.fd(), POLLIN, 0}, {stop_read_.fd(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), -1);
    if (stopping_) break;
    reap();
    Socket socket(::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // Out of descriptors: those who have some finish first.
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) ::poll(&ready[1], 1, 10);
      continue;
    }
    if (connections_.size() >= limits_.connections) {
      if (shown_) continue;  // nobody waits for a handshake here
      Wire wire(std::move(socket), clock_);
      refuse(wire, 503,
             {.code = Code::unavailable,
              .message = "there are " + std::to_string(limits_.connections) + " connections, which is the limit"});
      continue;
    }
    Connection& connection = connections_.emplace_back();
    try {
      connection.thread = std::thread([this, &connection, number = ++number, taken = std::move(socket)]() mutable {
        serve(std::move(taken), number);
        connection.done = true;
      });
    } catch (const std::system_error&) {
      connections_.pop_back();  // the system has no more threads: the connection is closed
    }
  }
  listening_ = Socket();
  for (Connection& each : connections_) each.thread.join();
  connections_.clear();
}

void Server::refuse(Wire& wire, int status, const Error& error) const {
  Response response{
      .status = status, .content_type = "application/problem+json", .body = problem_of(status, error), .close = true};
  wire.write(head_of(response) + response.body, after_ms(limits_.write_ms));
}

void Server::serve(Socket socket, uint64_t number) {
  name_this_thread("connection");
  Peer peer{.connection = number, .credentials = credentials_of(socket), .address = address_of(socket)};
  Wire wire(std::move(socket), clock_);
  std::string input;
  bool more = true;
  if (shown_) {
    more = wire.accept_tls(*shown_(), after_ms(limits_.read_ms)).has_value();
    peer.tls = true;
    peer.certificate = wire.peer_chain();
  }
  while (more && !stopping_) {
    RequestParser parser(limits_.message);
    int64_t deadline_ns = after_ms(input.empty() ? limits_.idle_ms : limits_.read_ms);
    bool begun = !input.empty();
    bool continued = false;
    while (true) {
      auto complete = parser.take(input);
      if (!complete) {
        refuse(wire, parser.status(), complete.error());
        more = false;
        break;
      }
      if (*complete || parser.is_streamed()) break;
      if (!continued && parser.expects_continue()) {
        continued = true;
        wire.write("HTTP/1.1 100 Continue\r\n\r\n", after_ms(limits_.write_ms));
      }
      // A request that has begun is read to its end, also when the server stops.
      Wire::Read read = wire.read(input, deadline_ns, begun ? -1 : stop_read_.fd());
      if (read == Wire::Read::some) {
        if (!begun) deadline_ns = after_ms(limits_.read_ms);
        begun = true;
        continue;
      }
      if (read == Wire::Read::late && begun) {
        refuse(wire, 408, {.code = Code::timeout, .message = "the request did not come to its end in time"});
      }
      more = false;
      break;
    }
    if (!more) break;
    const bool streamed = parser.is_streamed();
    auto request = streamed ? parser.head() : parser.request();
    if (!request) {
      refuse(wire, parser.status(), request.error());
      break;
    }
    bool whole = !streamed;
    if (streamed) request->more = [&](std::string& piece) { return next_piece(wire, parser, input, piece, whole); };
    more = answer(wire, *request, peer, whole, input);
  }
  if (closed_) closed_(number);
}

// Each piece has the time that a whole request has otherwise.
Result<bool> Server::next_piece(Wire& wire, RequestParser& parser, std::string& input, std::string& piece,
                                bool& whole) {
  bool continued = false;
  while (true) {
    auto complete = parser.take(input);
    if (!complete) return complete.error();
    piece = parser.take_body();
    whole = *complete && piece.empty();
    if (*complete || !piece.empty()) return !whole;
    if (!continued && parser.expects_continue()) {
      continued = true;
      wire.write("HTTP/1.1 100 Continue\r\n\r\n", after_ms(limits_.write_ms));
    }
    if (wire.read(input, after_ms(limits_.read_ms), -1) != Wire::Read::some) {
      return Error{.code = Code::unavailable, .message = "the request broke off before its end"};
    }
  }
}

bool Server::answer(Wire& wire, const Request& request, const Peer& peer, const bool& whole, std::string& input) {
  Response response;
  try {
    response = handler_(request, peer);
  } catch (const std::exception& error) {
    Error fault{.code = Code::failed, .message = std::string("this request met a fault in Sluice: ") + error.what()};
    response = {.status = 500, .content_type = "application/problem+json", .body = problem_of(500, fault)};
  }
  if (response.channel) {
    Switched switched{.wire = wire, .input = std::move(input), .stop = stop_read_.fd()};
    if (wire.write(head_of(response), after_ms(limits_.write_ms))) response.channel(switched);
    return false;
  }
  response.close = response.close || !request.keep_alive || stopping_ || !whole;
  if (!response.stream) {
    std::string bytes = head_of(response) + (request.method == "HEAD" ? "" : response.body);
    return wire.write(bytes, after_ms(limits_.write_ms)) && !response.close;
  }
  if (!wire.write(head_of(response), after_ms(limits_.write_ms))) return false;
  ChunkedStream stream(*this, wire);
  try {
    response.stream(stream);
  } catch (const std::exception&) {
    return false;  // the head has gone out: all that is left is not to end it as if it were whole
  }
  return stream.end() && !response.close;
}

}  // namespace sluice::http
