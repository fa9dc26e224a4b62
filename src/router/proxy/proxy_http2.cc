// Connections of HTTP/2, and what is different about a request that came as one of their streams: its head and body are
// there without being read, and its answer goes into frames. Everything else is as with HTTP/1.1.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int64_t kIdle_ms = 75'000;
constexpr int64_t kRest_ms = 1'000;  // without a stream, until its memory is put away
constexpr int64_t kRestAgain_ms = 10'000;
constexpr int64_t kUnwritten_ms = 60'000;
constexpr int64_t kLingers_ms = 2'000;
constexpr int64_t kSecondWarning_ms = 1'000;
constexpr int kReads = 8;
constexpr uint32_t kInternalError = 2, kCancel = 8;

}  // namespace

// What the frames of one connection mean to the proxy. Nothing goes on from here: it is noted, and the queue does the
// rest.
class Http2Streams final : public Http2Events {
 public:
  Http2Streams(Proxy& proxy, Http2Connection& connection) : proxy_(proxy), connection_(connection) {}

  void* request(int32_t id, std::string_view head, bool ends) override {
    Client& client = *proxy_.clients_.take();
    client.fd = kStream;
    client.kind = Endpoint::Kind::client;
    client.peer = connection_.peer;
    client.peer.counted = false;
    client.http2 = &connection_;
    client.stream = id;
    client.ended = ends;
    proxy_.buffers_.append(client.in, head);
    client.next = connection_.streams;
    if (connection_.streams != nullptr) connection_.streams->prev = &client;
    connection_.streams = &client;
    ++proxy_.streams_;
    if (++connection_.count == 1) {
      proxy_.remove_spare(connection_);
      proxy_.timers_.clear(connection_.timer);
    }
    proxy_.wake(client);
    return &client;
  }

  void body(void* stream, std::string_view bytes) override {
    Client& client = *static_cast<Client*>(stream);
    client.uncredited += static_cast<uint32_t>(bytes.size());
    if (client.phase == Client::Phase::closing) {
      proxy_.credit(client);
    } else {
      proxy_.buffers_.append(client.in, bytes);
      proxy_.wake(client);
    }
  }

  void end_of_body(void* stream, std::string_view trailers) override {
    Client& client = *static_cast<Client*>(stream);
    client.ended = true;
    if (!trailers.empty()) proxy_.buffers_.append(client.trailers, trailers);
    proxy_.wake(client);
  }

  void over(void* stream) override {
    Client& client = *static_cast<Client*>(stream);
    client.over = true;
    proxy_.close(client);
  }

  size_t fill(void* stream, char* into, size_t room, bool& last) override {
    Client& client = *static_cast<Client*>(stream);
    size_t size = 0;
    if (client.out != nullptr) {
      size = std::min<size_t>(room, client.out->size());
      std::memcpy(into, client.out->view().data(), size);
      client.out->drop(size);
      if (client.out->size() == 0) proxy_.buffers_.give_up(client.out);
      if (client.out == nullptr && !client.whole) {
        proxy_.timers_.clear(client.timer);
        proxy_.wake(client);  // there is room for more
      }
    }
    last = client.whole && client.out == nullptr;
    return size;
  }

  std::string_view trailers(void* stream) override {
    const Client& client = *static_cast<Client*>(stream);
    return client.trailers != nullptr ? client.trailers->view() : std::string_view();
  }

 private:
  Proxy& proxy_;
  Http2Connection& connection_;
};

// -------------------------------------------------------------------------------------------------------- connections

// Whether a connection that has just begun speaks HTTP/2: as its TLS has settled, or as it says itself. Incomplete:
// what has come could be the beginning of that.
Parsed Proxy::speaks_http2(const Client& client, std::string_view bytes) const {
  if (client.asked) return Parsed::bad;
  if (client.peer.tls != nullptr) return client.peer.tls->is_http2() ? Parsed::complete : Parsed::bad;
  if (bytes.starts_with(kHttp2Preface)) return Parsed::complete;
  return kHttp2Preface.starts_with(bytes) ? Parsed::incomplete : Parsed::bad;
}

void Proxy::become_http2(Client& client, std::string_view bytes) {
  Http2Connection& connection = *connections_.take();
  connection.fd = client.fd;
  connection.kind = Endpoint::Kind::http2;
  connection.readable = client.readable;
  connection.writable = client.writable;
  connection.end_near = client.end_near;
  connection.peer = client.peer;
  connection.events = std::make_unique<Http2Streams>(*this, connection);
  connection.session = std::make_unique<Http2Session>(*connection.events, http2_counts_, session_pages_);
  connection.next = all_connections_;
  if (all_connections_ != nullptr) all_connections_->prev = &connection;
  all_connections_ = &connection;
  wire_.hand_over(connection.fd, connection);
  wait_for_streams(connection);
  add_spare(connection);
  receive(connection, bytes);
  wake(connection);
  client.peer.counted = false;  // the connection is
  forget(client);
}

void Proxy::happened(Http2Connection& connection, const Happened& what) {
  if (connection.fd < 0) return;
  if (what.broken) {
    close(connection);
    return;
  }
  connection.readable = connection.readable || what.readable;
  connection.end_near = connection.end_near || what.ended;
  connection.writable = connection.writable || what.writable;
  progress(connection);
}

void Proxy::progress(Http2Connection& connection) {
  pump(connection);
  for (int turn = 0; turn < kReads; ++turn) {
    // Who does not read what is answered is not listened to either.
    if (connection.fd < 0 || !connection.readable || connection.out != nullptr) return;
    ssize_t size = wire_.read(connection.fd, input_.get(), kReadBytes);
    if (size == kWouldBlock) {
      connection.readable = false;
      return;
    }
    if (size <= 0) {
      close(connection);
      return;
    }
    note_read(connection, size, connection.peer.tls);
    if (!connection.closing) receive(connection, {input_.get(), static_cast<size_t>(size)});
    pump(connection);
  }
  wake(connection);
}

void Proxy::receive(Http2Connection& connection, std::string_view bytes) {
  if (connection.session->receive(bytes, now_.monotonic_ms())) return;
  connection.closing = true;
  end_streams(connection);
}

// Writes what there is to say, as far as the wire takes it.
void Proxy::pump(Http2Connection& connection) {
  while (connection.fd >= 0 && connection.writable) {
    std::string_view bytes;
    if (connection.out != nullptr) {
      bytes = connection.out->view();
    } else {
      size_t size = 0;
      while (size < kReadBytes) {
        std::string_view frame = connection.session->send(now_.monotonic_ms());
        if (frame.empty()) break;
        std::memcpy(output_.get() + size, frame.data(), frame.size());
        size += frame.size();
      }
      bytes = {output_.get(), size};
    }
    if (bytes.empty()) break;
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    ssize_t written = wire_.write(connection.fd, &part, 1);
    if (written == kBroken) {
      close(connection);
      return;
    }
    const auto done = static_cast<size_t>(std::max<ssize_t>(written, 0));
    if (done < bytes.size()) {
      connection.writable = false;
      timers_.set(connection.timer, now_.monotonic_ms() + kUnwritten_ms);
    }
    if (connection.out == nullptr) {
      if (done < bytes.size()) buffers_.append(connection.out, bytes.substr(done));
      continue;
    }
    connection.out->drop(done);
    if (connection.out->size() > 0) continue;
    buffers_.give_up(connection.out);
    timers_.clear(connection.timer);
    if (connection.count == 0) wait_for_streams(connection);
  }
  if (connection.fd < 0 || connection.out != nullptr || connection.lingers) return;
  if (!connection.closing && !connection.session->has_ended()) return;
  // Closing at once while the other end still sends would take from it what was just written.
  connection.closing = connection.lingers = true;
  end_streams(connection);
  wire_.shut_write(connection.fd);
  timers_.set(connection.timer, now_.monotonic_ms() + kLingers_ms);
  add_spare(connection);
}

void Proxy::end_streams(Http2Connection& connection) {
  while (Client* client = connection.streams) {
    client->over = true;
    close(*client);
  }
}

void Proxy::close(Http2Connection& connection) {
  if (connection.fd < 0) return;
  end_streams(connection);
  wire_.close(connection.fd);
  connection.fd = -1;
  timers_.remove(connection.timer);
  remove_spare(connection);
  if (connection.peer.counted) addresses_.leave(connection.peer.ip);
  buffers_.give_up(connection.out);
  connection.session = nullptr;
  connection.events = nullptr;
  if (connection.prev != nullptr) connection.prev->next = connection.next;
  if (connection.next != nullptr) connection.next->prev = connection.prev;
  if (all_connections_ == &connection) all_connections_ = connection.next;
  connections_.give(&connection);
}

void Proxy::fire(Http2Connection& connection) {
  if (connection.lingers || connection.out != nullptr) {
    close(connection);
    return;
  }
  const int64_t now_ms = now_.monotonic_ms();
  if (connection.count == 0 && !stopping_ && now_ms < connection.idle_until_ms) {
    connection.session->rest();
    timers_.set(connection.timer, std::min(connection.idle_until_ms, now_ms + kRestAgain_ms));
    return;
  }
  connection.session->end();
  if (connection.count == 0) connection.closing = true;
  pump(connection);
}

// What comes without a stream, such as a PING, wakes its session and does not keep it.
void Proxy::wait_for_streams(Http2Connection& connection) {
  const int64_t now_ms = now_.monotonic_ms();
  connection.idle_until_ms = now_ms + kIdle_ms;
  timers_.set(connection.timer, now_ms + kRest_ms);
}

// A warning, so that what is on its way is still taken, and a second later the last word.
void Proxy::begin_stop(Http2Connection& connection) {
  connection.session->warn_of_end();
  timers_.set(connection.timer, now_.monotonic_ms() + kSecondWarning_ms);
  wake(connection);
}

// ------------------------------------------------------------------------------------------------------------- streams

void Proxy::progress_stream(Client& client) {
  if (client.phase == Client::Phase::idle && client.in != nullptr) {
    const size_t used = consume(client, client.in->view());
    if (client.fd < 0 || client.in == nullptr) return;
    client.in->drop(used);
    if (client.in->size() == 0) buffers_.give_up(client.in);
  }
  while (client.fd >= 0 && client.phase == Client::Phase::busy && !client.exchange->request.done) {
    if (request_waits(*client.exchange)) return;
    credit(client);
    if (client.in == nullptr && !client.ended) break;
    forward_stream_body(*client.exchange);
  }
  if (client.fd < 0 || client.exchange == nullptr || client.out != nullptr) return;
  if (request_waits(*client.exchange)) return;
  credit(client);
  // What was answered so far has been sent.
  Upstream& upstream = *client.exchange->upstream;
  if (upstream.readable) {
    wake(upstream);
  } else {
    await(*client.exchange);
  }
}

// The next piece of a stream's body as it goes upstream: as it is if its length is known, else as a chunk.
std::string_view Proxy::next_body(Exchange& exchange, std::string_view content, bool last) {
  Body& body = exchange.request;
  if (body.kind == BodyKind::length) {
    body.left -= std::min<uint64_t>(body.left, content.size());
    body.done = body.left == 0;
    return content;
  }
  body_.clear();
  if (!content.empty()) {
    char size[20];
    const int digits = std::snprintf(size, sizeof size, "%zx\r\n", content.size());
    body_.append(size, static_cast<size_t>(digits)).append(content).append("\r\n");
  }
  if (last) {
    body_ += "0\r\n";
    if (Buffer* trailers = exchange.client->trailers) add_trailers(trailers->view(), body_);
    buffers_.give_up(exchange.client->trailers);
    body_ += "\r\n";
    body.done = true;
  }
  return body_;
}

// Without those that would change the meaning of the message, or where it goes.
void Proxy::add_trailers(std::string_view lines, std::string& into) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find("\r\n"), lines.size() - 2) + 2;
    const Field field = field_named(lines.substr(0, lines.find(':')));
    if (field == Field::other || field == Field::accept) into += lines.substr(0, end);
    lines.remove_prefix(end);
  }
}

void Proxy::forward_stream_body(Exchange& exchange) {
  Client& client = *exchange.client;
  std::string_view content = client.in != nullptr ? client.in->view().substr(0, kReadBytes) : std::string_view();
  const bool last = client.ended && (client.in == nullptr || content.size() == client.in->size());
  exchange.bytes_in += content.size();
  if (exchange.body_awaited_ms != 0) exchange.body_waited_ms += now_.monotonic_ms() - exchange.body_awaited_ms;
  exchange.body_awaited_ms = 0;
  exchange.replayable = false;
  exchange.expects = false;
  write_upstream(exchange, next_body(exchange, content, last));
  if (client.in != nullptr) {
    client.in->drop(content.size());
    if (client.in->size() == 0) buffers_.give_up(client.in);
  }
  await(exchange);
}

// What is no longer here has gone upstream, and the other end may send as much again.
void Proxy::credit(Client& client) {
  const uint32_t kept = client.in != nullptr ? client.in->size() : 0;
  if (client.uncredited <= kept) return;
  client.http2->session->consumed(client.stream, client.uncredited - kept);
  client.uncredited = kept;
  wake(*client.http2);
}

void Proxy::put_answer(Client& client, const ResponseHead& head, const Answering& answering, bool has_body) {
  client.http2->session->answer(client.stream, head, answering, has_body);
  wake(*client.http2);
}

// An answer of the router's own, as it would be written over HTTP/1.1.
void Proxy::put_own_answer(Client& client, std::string_view text) {
  if (parse_response_head(text, response_head_) != Parsed::complete) return;
  std::string_view page = text.substr(response_head_.size);
  put_answer(client, response_head_, {}, !page.empty());
  put_content(client, page);
}

void Proxy::put_content(Client& client, std::string_view content) {
  if (content.empty()) return;
  buffers_.append(client.out, content);
  client.http2->session->more(client.stream);
  wake(*client.http2);
  const int64_t wait_ms = client.exchange != nullptr ? client.exchange->timeouts.idle_ms : 0;
  timers_.set(client.timer, now_.monotonic_ms() + (wait_ms > 0 ? wait_ms : kUnwritten_ms));
}

// All of its answer is there; it is over once that is sent.
void Proxy::end_stream(Client& client) {
  client.whole = true;
  client.phase = Client::Phase::closing;
  buffers_.give_up(client.in);
  credit(client);
  client.http2->session->more(client.stream);
  timers_.set(client.timer, now_.monotonic_ms() + kUnwritten_ms);
  wake(*client.http2);
}

void Proxy::leave_connection(Client& client) {
  Http2Connection& connection = *client.http2;
  if (!client.over) connection.session->reset(client.stream, client.cut ? kInternalError : kCancel);
  connection.session->given_up(client.uncredited);
  --streams_;
  if (--connection.count == 0 && !connection.lingers) {
    if (connection.out == nullptr && !stopping_) {
      wait_for_streams(connection);
      add_spare(connection);
    }
    if (stopping_) connection.session->end();
  }
  wake(connection);
}

}  // namespace sluice::router
