// Everything of a connection but its handler, stream and channel happens on the one thread of the io_context, so
// nothing of it is locked.
#include "http/server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <future>
#include <limits>
#include <thread>
#include <unordered_map>

#include "base/json.h"
#include "base/thread_name.h"
#include "crypto/evp.h"
#include "http/held_connection.h"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Bytes = asio::generic::stream_protocol::socket;
using Tunnel = asio::ssl::stream<Bytes&>;
template <class T>
using Async = asio::awaitable<T>;

constexpr size_t kReadAtOnce = size_t{64} << 10U;
constexpr size_t kTunnelAtOnce = size_t{16} << 10U;
constexpr int64_t kLinger_ms = 2'000;
constexpr size_t kSpareFiles = 512;  // for the store, logs, routers and whatever else the process has open

std::string chunk_of(std::string_view bytes) {
  std::array<char, 16> size;
  auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16);
  std::string chunk;
  chunk.reserve(bytes.size() + 12);
  chunk.append(size.data(), end.ptr).append("\r\n").append(bytes).append("\r\n");
  return chunk;
}

auto into(error_code& failure) { return asio::redirect_error(asio::use_awaitable, failure); }

bool is_hung_up(int fd) {
  pollfd ready{fd, POLLRDHUP, 0};
  return ::poll(&ready, 1, 0) > 0 && (ready.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// The certificates that the other end has shown, its own first; empty: none.
std::string chain_of(SSL* ssl) {
  std::string pem;
  auto add = [&](X509* one) {
    crypto::BioPtr bio(BIO_new(BIO_s_mem()));
    if (bio == nullptr || PEM_write_bio_X509(bio.get(), one) != 1) return;
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    pem.append(text, static_cast<size_t>(size));
  };
  if (X509* own = SSL_get0_peer_certificate(ssl)) add(own);
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) add(sk_X509_value(chain, i));
  return pem;
}

asio::ssl::context context_of(const ServerTls& shown) {
  SSL_CTX_up_ref(shown.native());
  return asio::ssl::context(shown.native());
}

}  // namespace

void raise_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, 2 * ServerLimits().connections + kSpareFiles);
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

std::string problem_of(int status, const Error& error) {
  return write(boost::json::object{{"type", problem_type(error.code)},
                                   {"title", entry(error.code).meaning},
                                   {"status", status},
                                   {"detail", error.message},
                                   {"code", code_name(error.code)}});
}

struct Server::State {
  State(Socket given_listening, Handler given_handler, const Clock& given_clock, ServerLimits given_limits,
        Closed given_closed, Shown given_shown, Quick given_quick)
      : handler(std::move(given_handler)),
        clock(given_clock),
        limits(given_limits),
        closed(std::move(given_closed)),
        shown(std::move(given_shown)),
        quick(std::move(given_quick)),
        listening(std::move(given_listening)),
        pool(std::make_unique<WorkerPool>(limits.handlers, clock)) {}

  Async<void> accept_all();
  Async<void> refuse_connection(Socket socket);
  size_t most_connections() const;

  Handler handler;
  const Clock& clock;
  ServerLimits limits;
  Closed closed;
  Shown shown;
  Quick quick;
  Socket listening;
  Socket stop_read, stop_write;  // a pipe that can be read once it stops
  std::atomic<bool> stopping = false;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy = asio::make_work_guard(io);
  std::optional<asio::posix::stream_descriptor> acceptor;
  std::unordered_map<uint64_t, std::shared_ptr<Connection>> connections;  // of the io thread
  std::array<char, kReadAtOnce> part;                                     // what the io thread reads into
  std::atomic<size_t> streams = 0;
  // Feeds are asked one after the other, by a thread of their own: thousands of them are woken at once.
  std::unique_ptr<asio::io_context> feeding = std::make_unique<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> feeds = asio::make_work_guard(*feeding);
  std::thread mover, feeder;
  std::unique_ptr<WorkerPool> pool;
};

class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(State& server, Bytes socket, Peer peer)
      : server_(server), bytes_(std::move(socket)), peer_(std::move(peer)), timer_(server.io), event_(server.io) {
    bytes_.non_blocking(true);
  }

  Async<void> run();
  // The server stops: whoever is between two requests goes now.
  void stop() {
    if (idle_) bytes_.cancel();
    event_.cancel();
  }

 private:
  enum class Read { some, ended, late };

  class PoolStream;

  Async<void> serve();
  Async<bool> shake_hands();
  Async<Read> fill();
  Async<bool> put(std::string_view bytes);
  Async<void> refuse(int status, Error error);
  Async<void> linger();
  Async<bool> next_piece(RequestParser& parser, std::string& piece, bool& whole, std::optional<Error>& broken);
  Async<bool> answer(Request& request, const bool& whole);
  Async<bool> follow(std::shared_ptr<Feed> feed);
  Async<void> switch_to(std::function<void(Switched&)> channel);
  std::unique_ptr<HeldConnection> give_away();
  Async<void> pump_in(std::shared_ptr<asio::local::stream_protocol::socket> pair);
  Response handled(const Request& request) const;

  void within(int64_t duration_ms);
  void without_end() { deadline_ns_ = std::numeric_limits<int64_t>::max(); }
  void arm();
  // Runs it on `where`, and goes on here when it is done.
  template <class Where, class Work>
  Async<void> elsewhere(Where where, Work work);
  // For a thread of the pool: does it here, and waits for its end.
  template <class Work>
  auto here(Work work) {
    return asio::co_spawn(server_.io, std::move(work), asio::use_future).get();
  }

  State& server_;
  Bytes bytes_;
  Peer peer_;
  std::optional<asio::ssl::context> context_;
  std::unique_ptr<Tunnel> tunnel_;
  asio::steady_timer timer_;  // cuts what takes too long
  int64_t deadline_ns_ = std::numeric_limits<int64_t>::max();
  int64_t armed_ns_ = std::numeric_limits<int64_t>::max();
  bool late_ = false;
  asio::steady_timer event_;  // cancelled when something has happened elsewhere
  bool idle_ = false;
  std::string input_;
};

// A stream that is written by a thread of the pool.
class Server::Connection::PoolStream final : public Stream {
 public:
  explicit PoolStream(Connection& connection) : connection_(connection) {}

  bool write(std::string_view bytes) override {
    if (bytes.empty() || !wanted()) return wanted();
    broken_ = !connection_.here(
        [this, chunk = chunk_of(bytes)]() -> Async<bool> { co_return co_await connection_.put(chunk); });
    return !broken_;
  }
  bool wanted() override {
    broken_ = broken_ || is_hung_up(connection_.bytes_.native_handle());
    return !broken_ && !connection_.server_.stopping;
  }
  bool is_broken() const { return broken_; }

 private:
  Connection& connection_;
  bool broken_ = false;
};

// ------------------------------------------------------------------------------------------------------------- time

// One timer for everything, which is set anew only for an earlier end: most ends are never reached.
void Server::Connection::within(int64_t duration_ms) {
  deadline_ns_ = server_.clock.monotonic_ns() + duration_ms * 1'000'000;
  late_ = false;
  if (deadline_ns_ < armed_ns_) arm();
}

void Server::Connection::arm() {
  armed_ns_ = deadline_ns_;
  const int64_t left_ns = std::max<int64_t>(0, armed_ns_ - server_.clock.monotonic_ns());
  timer_.expires_after(std::chrono::nanoseconds(left_ns));
  timer_.async_wait([self = weak_from_this(), armed_ns = armed_ns_](const error_code& failure) {
    auto connection = self.lock();
    if (failure || !connection || connection->armed_ns_ != armed_ns) return;
    connection->armed_ns_ = std::numeric_limits<int64_t>::max();
    if (connection->deadline_ns_ == std::numeric_limits<int64_t>::max()) return;
    if (connection->server_.clock.monotonic_ns() < connection->deadline_ns_) return connection->arm();
    connection->late_ = true;
    connection->without_end();
    error_code ignored;
    connection->bytes_.cancel(ignored);
  });
}

// ------------------------------------------------------------------------------------------------------------ bytes

Async<bool> Server::Connection::shake_hands() {
  auto shown = server_.shown();
  if (!shown) co_return false;
  context_.emplace(context_of(*shown));
  tunnel_ = std::make_unique<Tunnel>(bytes_, *context_);
  within(server_.limits.read_ms);
  error_code failure;
  co_await tunnel_->async_handshake(asio::ssl::stream_base::server, into(failure));
  if (failure) co_return false;
  peer_.tls = true;
  peer_.certificate = chain_of(tunnel_->native_handle());
  co_return true;
}

// In the clear nothing is held for a connection that waits: the bytes are read once they are there.
Async<Server::Connection::Read> Server::Connection::fill() {
  error_code failure;
  size_t got = 0;
  if (tunnel_) {
    const size_t before = input_.size();
    std::string part(kTunnelAtOnce, '\0');
    got = co_await tunnel_->async_read_some(asio::buffer(part), into(failure));
    if (!failure) input_.append(part, 0, got);
    if (input_.size() > before) co_return Read::some;
    co_return late_ ? Read::late : Read::ended;
  }
  while (true) {
    got = bytes_.read_some(asio::buffer(server_.part), failure);
    if (!failure) {
      input_.append(server_.part.data(), got);
      co_return Read::some;
    }
    if (failure != asio::error::would_block && failure != asio::error::try_again) co_return Read::ended;
    co_await bytes_.async_wait(Bytes::wait_read, into(failure));
    if (failure) co_return late_ ? Read::late : Read::ended;
  }
}

Async<bool> Server::Connection::put(std::string_view bytes) {
  error_code failure;
  within(server_.limits.write_ms);
  if (tunnel_) {
    co_await asio::async_write(*tunnel_, asio::buffer(bytes.data(), bytes.size()), into(failure));
  } else {
    // Most answers fit into the socket's buffer.
    const size_t put = bytes_.write_some(asio::buffer(bytes.data(), bytes.size()), failure);
    if (failure == asio::error::would_block || failure == asio::error::try_again) failure = {};
    if (!failure) bytes.remove_prefix(put);
    if (!failure && !bytes.empty()) {
      co_await asio::async_write(bytes_, asio::buffer(bytes.data(), bytes.size()), into(failure));
    }
  }
  without_end();
  co_return !failure;
}

Async<void> Server::Connection::refuse(int status, Error error) {
  Response response{
      .status = status, .content_type = "application/problem+json", .body = problem_of(status, error), .close = true};
  const std::string bytes = head_of(response) + response.body;
  if (co_await put(bytes)) co_await linger();
}

// Whoever is still sending would never see the answer if the connection were closed under what they send.
Async<void> Server::Connection::linger() {
  error_code failure;
  bytes_.shutdown(Bytes::shutdown_send, failure);
  within(kLinger_ms);
  while (!failure && !late_) {
    co_await bytes_.async_wait(Bytes::wait_read, into(failure));  // so that others have their turn, and time passes
    if (!failure) bytes_.read_some(asio::buffer(server_.part), failure);
    if (failure == asio::error::would_block || failure == asio::error::try_again) failure = {};
  }
}

template <class Where, class Work>
Async<void> Server::Connection::elsewhere(Where where, Work work) {
  auto done = std::make_shared<bool>(false);  // of the io thread
  where([this, self = shared_from_this(), done, &work] {
    work();
    asio::post(server_.io, [self, done] {
      *done = true;
      self->event_.cancel();
    });
  });
  while (!*done) {
    error_code ignored;
    event_.expires_at(asio::steady_timer::time_point::max());
    co_await event_.async_wait(into(ignored));
  }
}

// ---------------------------------------------------------------------------------------------------------- requests

Async<void> Server::Connection::run() {
  auto self = shared_from_this();
  try {
    if (!server_.shown || co_await shake_hands()) co_await serve();
  } catch (const std::exception&) {
    // Memory ran out: this connection is closed, the others go on.
  }
  error_code ignored;
  timer_.cancel();
  bytes_.close(ignored);
  if (server_.closed) server_.closed(peer_.connection);
  server_.connections.erase(peer_.connection);
}

Async<void> Server::Connection::serve() {
  while (!server_.stopping) {
    bool begun = !input_.empty();
    within(begun ? server_.limits.read_ms : server_.limits.idle_ms);
    if (!begun) {
      // A request that has begun is read to its end, also when the server stops.
      idle_ = true;
      const Read read = co_await fill();
      idle_ = false;
      if (read != Read::some) co_return;
      within(server_.limits.read_ms);
    }
    RequestParser parser(server_.limits.message);
    bool continued = false;
    while (true) {
      auto complete = parser.take(input_);
      if (!complete) {
        co_await refuse(parser.status(), complete.error());
        co_return;
      }
      if (*complete || parser.is_streamed()) break;
      if (!continued && parser.expects_continue()) {
        continued = true;
        const int64_t deadline_ns = deadline_ns_;
        if (!co_await put("HTTP/1.1 100 Continue\r\n\r\n")) co_return;
        deadline_ns_ = deadline_ns;
        if (deadline_ns_ < armed_ns_) arm();
      }
      const Read read = co_await fill();
      if (read == Read::some) continue;
      const Error slow{.code = Code::timeout, .message = "the request did not come to its end in time"};
      if (read == Read::late) co_await refuse(408, slow);
      co_return;
    }
    without_end();
    const bool streamed = parser.is_streamed();
    auto request = streamed ? parser.head() : parser.request();
    if (!request) {
      co_await refuse(parser.status(), request.error());
      co_return;
    }
    bool whole = !streamed;
    if (streamed) {
      request->more = [&](std::string& piece) -> Result<bool> {
        std::optional<Error> broken;
        const bool more = here([&]() -> Async<bool> { co_return co_await next_piece(parser, piece, whole, broken); });
        if (broken) return *broken;
        return more;
      };
    }
    if (!co_await answer(*request, whole)) co_return;
  }
}

// Each piece has the time that a whole request has otherwise.
Async<bool> Server::Connection::next_piece(RequestParser& parser, std::string& piece, bool& whole,
                                           std::optional<Error>& broken) {
  bool continued = false;
  while (true) {
    auto complete = parser.take(input_);
    if (!complete) {
      broken = complete.error();
      co_return false;
    }
    piece = parser.take_body();
    whole = *complete && piece.empty();
    if (*complete || !piece.empty()) co_return !whole;
    if (!continued && parser.expects_continue()) {
      continued = true;
      co_await put("HTTP/1.1 100 Continue\r\n\r\n");
    }
    within(server_.limits.read_ms);
    const Read read = co_await fill();
    without_end();
    if (read == Read::some) continue;
    broken = Error{.code = Code::unavailable, .message = "the request broke off before its end"};
    co_return false;
  }
}

Response Server::Connection::handled(const Request& request) const {
  try {
    return server_.handler(request, peer_);
  } catch (const std::exception& error) {
    Error fault{.code = Code::failed, .message = std::string("this request met a fault in Sluice: ") + error.what()};
    return {.status = 500, .content_type = "application/problem+json", .body = problem_of(500, fault)};
  }
}

Async<bool> Server::Connection::answer(Request& request, const bool& whole) {
  std::optional<Response> quick;
  if (server_.quick && whole) quick = server_.quick(request, peer_);
  auto on_pool = [this](std::function<void()> work) { server_.pool->run(std::move(work)); };
  Response response;
  if (quick) {
    response = *std::move(quick);
  } else {
    auto handle = [&] { response = handled(request); };
    co_await elsewhere(on_pool, handle);
  }
  if (response.stream || response.channel) {
    if (server_.streams >= server_.limits.streams) {
      const Error full{.code = Code::unavailable,
                       .message = "there are " + std::to_string(server_.limits.streams) +
                                  " streams, which is the limit; nothing was started"};
      co_await refuse(503, full);
      co_return false;
    }
  }
  if (response.channel) {
    const std::string head = head_of(response);
    if (co_await put(head)) co_await switch_to(std::move(response.channel));
    co_return false;
  }
  if (response.give_away) {
    const std::string head = head_of(response);
    if (co_await put(head)) {
      if (auto held = give_away()) response.give_away(std::move(held), std::exchange(input_, {}));
    }
    co_return false;
  }
  response.close = response.close || !request.keep_alive || server_.stopping || !whole;
  if (!response.stream && !response.feed) {
    std::string bytes = head_of(response);
    if (request.method != "HEAD") bytes += response.body;
    const bool sent = co_await put(bytes);
    if (sent && !whole) co_await linger();
    co_return sent && !response.close;
  }
  const std::string head = head_of(response);
  if (!co_await put(head)) co_return false;
  bool ended = true;
  if (response.feed) {
    ended = co_await follow(std::move(response.feed));
  } else {
    auto write = [&] {
      PoolStream stream(*this);
      try {
        response.stream(stream);
        ended = !stream.is_broken();
      } catch (const std::exception&) {
        ended = false;  // the head has gone out: all that is left is not to end it as if it were whole
      }
    };
    ++server_.streams;
    co_await elsewhere(on_pool, write);
    --server_.streams;
  }
  if (!ended) co_return false;
  const bool whole_sent = co_await put("0\r\n\r\n");
  co_return whole_sent && !response.close;
}

Async<bool> Server::Connection::follow(std::shared_ptr<Feed> feed) {
  // `woken` is of the io thread.
  auto woken = std::make_shared<bool>(true);
  feed->begin([&io = server_.io, self = weak_from_this(), woken] {
    asio::post(io, [self, woken] {
      *woken = true;
      if (auto connection = self.lock()) connection->event_.cancel();
    });
  });
  auto apart = [this, slow = feed->takes_time()](std::function<void()> work) {
    if (slow) return server_.pool->run(std::move(work));
    asio::post(*server_.feeding, std::move(work));
  };
  bool more = true;
  while (more && !server_.stopping) {
    *woken = false;
    std::string said;
    bool broken = false;
    auto ask = [&] {
      try {
        more = feed->next(said);
      } catch (const std::exception&) {
        broken = true;
      }
    };
    co_await elsewhere(apart, ask);
    if (broken) co_return false;
    if (!said.empty()) {
      said = chunk_of(said);
      if (!co_await put(said)) co_return false;
      continue;
    }
    if (is_hung_up(bytes_.native_handle())) co_return false;
    if (!more || *woken || server_.stopping) continue;
    error_code ignored;
    event_.expires_after(std::chrono::milliseconds(feed->look_ms()));
    co_await event_.async_wait(into(ignored));
  }
  co_return true;
}

// The other end says nothing before it has read the answer, so nothing of it is in this one's buffers.
std::unique_ptr<HeldConnection> Server::Connection::give_away() {
  error_code failure;
  Socket socket(bytes_.release(failure));
  if (failure || !socket) return nullptr;
  SSL* ssl = tunnel_ ? tunnel_->native_handle() : nullptr;
  if (ssl != nullptr) SSL_up_ref(ssl);
  auto held = std::make_unique<HeldConnection>(std::move(socket), ssl);
  tunnel_.reset();
  return held;
}

// The channel has a thread of its own and one end of a pair of sockets; what is said at the other end goes through TLS
// where the connection does.
Async<void> Server::Connection::switch_to(std::function<void(Switched&)> channel) {
  auto pair = std::make_shared<asio::local::stream_protocol::socket>(server_.io);
  auto ends = socket_pair();
  if (!ends) co_return;
  pair->assign(asio::local::stream_protocol(), ends->first.release());
  Socket given = std::move(ends->second);
  ++server_.streams;
  std::thread thread([&server = server_, self = shared_from_this(), &given, channel = std::move(channel),
                      input = std::exchange(input_, {})]() mutable {
    name_this_thread("channel");
    Switched switched{.connection = given.fd(), .input = std::move(input), .stop = server.stop_read.fd()};
    try {
      channel(switched);
    } catch (const std::exception&) {
    }
    ::shutdown(given.fd(), SHUT_RDWR);
  });
  asio::co_spawn(server_.io, pump_in(pair), asio::detached);
  std::string part(kTunnelAtOnce, '\0');
  error_code failure;
  while (true) {
    const size_t got = co_await pair->async_read_some(asio::buffer(part), into(failure));
    if (failure || !co_await put(std::string_view(part).substr(0, got))) break;
  }
  // The channel sees that its end is closed, and whoever pumps that the connection is.
  error_code ignored;
  pair->shutdown(asio::local::stream_protocol::socket::shutdown_both, ignored);
  bytes_.cancel(ignored);
  auto on_pool = [this](std::function<void()> work) { server_.pool->run(std::move(work)); };
  auto join = [&] { thread.join(); };
  co_await elsewhere(on_pool, join);
  --server_.streams;
}

Async<void> Server::Connection::pump_in(std::shared_ptr<asio::local::stream_protocol::socket> pair) {
  auto self = shared_from_this();
  while (true) {
    error_code failure;
    if (co_await fill() != Read::some) break;
    std::string said = std::exchange(input_, {});
    co_await asio::async_write(*pair, asio::buffer(said), into(failure));
    if (failure) break;
  }
  error_code ignored;
  pair->shutdown(asio::local::stream_protocol::socket::shutdown_both, ignored);
}

// ------------------------------------------------------------------------------------------------------- connections

size_t Server::State::most_connections() const {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= 2 * kSpareFiles) {
    return std::min<size_t>(limits.connections, kSpareFiles);
  }
  return std::min<size_t>(limits.connections, files.rlim_cur - kSpareFiles);
}

Async<void> Server::State::refuse_connection(Socket socket) {
  Response response{.status = 503, .content_type = "application/problem+json", .body = {}, .close = true};
  response.body = problem_of(
      503, {.code = Code::unavailable,
            .message = "there are " + std::to_string(most_connections()) + " connections, which is the limit"});
  const std::string bytes = head_of(response) + response.body;
  (void)!::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  co_return;
}

Async<void> Server::State::accept_all() {
  uint64_t number = 0;
  error_code failure;
  asio::steady_timer pause(io);
  while (!stopping) {
    Socket socket(::accept4(acceptor->native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        // Those who have descriptors finish first.
        pause.expires_after(std::chrono::milliseconds(10));
        co_await pause.async_wait(into(failure));
        continue;
      }
      co_await acceptor->async_wait(asio::posix::stream_descriptor::wait_read, into(failure));
      if (failure) break;
      continue;
    }
    if (connections.size() >= most_connections()) {
      if (!shown) co_await refuse_connection(std::move(socket));  // nobody waits for a handshake here
      continue;
    }
    Peer peer{.connection = ++number, .credentials = credentials_of(socket), .address = address_of(socket)};
    int family = AF_UNIX;
    socklen_t size = sizeof(family);
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_DOMAIN, &family, &size);
    int yes = 1;
    if (family != AF_UNIX) ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    Bytes bytes(io);
    bytes.assign(asio::generic::stream_protocol(family, 0), socket.fd(), failure);
    if (failure) continue;
    (void)socket.release();
    auto connection = std::make_shared<Connection>(*this, std::move(bytes), std::move(peer));
    connections.emplace(number, connection);
    asio::co_spawn(io, connection->run(), asio::detached);
  }
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(Socket listening, Handler handler, const Clock& clock,
                                              ServerLimits limits, Closed closed, Shown shown, Quick quick) {
  auto made = std::make_unique<State>(std::move(listening), std::move(handler), clock, limits, std::move(closed),
                                      std::move(shown), std::move(quick));
  State& state = *made;
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return error_from(errno, "make", "a pipe");
  state.stop_read = Socket(ends[0]);
  state.stop_write = Socket(ends[1]);
  state.acceptor.emplace(state.io, state.listening.release());
  asio::co_spawn(state.io, state.accept_all(), asio::detached);
  state.mover = std::thread([&state] {
    name_this_thread("connections");
    state.io.run();
  });
  state.feeder = std::thread([&state] {
    name_this_thread("feeds");
    state.feeding->run();
  });
  return std::unique_ptr<Server>(new Server(std::move(made)));
}

Server::~Server() { stop(); }

bool Server::is_stopping() const { return state_->stopping; }

void Server::close() {
  std::lock_guard lock(stop_mutex_);
  if (!state_->mover.joinable()) return;
  std::promise<void> closed;
  asio::post(state_->io, [&] {
    error_code ignored;
    state_->acceptor->close(ignored);
    closed.set_value();
  });
  closed.get_future().wait();
}

void Server::stop() {
  std::lock_guard lock(stop_mutex_);
  if (!state_->mover.joinable()) return;
  state_->stopping = true;
  (void)!::write(state_->stop_write.fd(), "x", 1);
  asio::post(state_->io, [&state = *state_] {
    error_code ignored;
    state.acceptor->close(ignored);
    for (const auto& [number, connection] : state.connections) connection->stop();
    state.busy.reset();  // the thread ends with the last connection
  });
  state_->mover.join();
  state_->pool.reset();
  state_->feeds.reset();
  state_->feeder.join();
}

}  // namespace sluice::http
