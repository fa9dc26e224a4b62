// Connections to replicas that speak HTTP/2, and the streams on them. A stream is an Upstream: retries, timeouts and
// answers are as over HTTP/1.1.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int64_t kSharedIdle_ms = 60'000;
constexpr int64_t kUntaken_ms = 60'000;
constexpr int kSharedReads = 8;
constexpr size_t kMostGoing = 65'536;

}  // namespace

// What the frames of one connection mean to the proxy. Nothing goes on from here: it is noted, and the queue does the
// rest.
class UpstreamStreams final : public Http2ClientEvents {
 public:
  UpstreamStreams(Proxy& proxy, SharedUpstream& shared) : proxy_(proxy), shared_(shared) {}

  void answer(void* found, uint16_t status, std::string_view fields, bool has_length, bool ends) override {
    auto& upstream = *static_cast<Upstream*>(found);
    UpstreamStream& stream = *upstream.stream;
    stream.came.append("HTTP/1.1 ").append(std::to_string(status)).append(" \r\n").append(fields);
    const bool bodyless = status < 200 || status == 204 || status == 304 || upstream.exchange->is_head;
    stream.chunked = !bodyless && !has_length && !ends;
    if (stream.chunked) stream.came += "transfer-encoding: chunked\r\n";
    if (!bodyless && !has_length && ends) stream.came += "content-length: 0\r\n";
    stream.came += "\r\n";
    tell(upstream);
  }

  void body(void* found, std::string_view bytes) override {
    auto& upstream = *static_cast<Upstream*>(found);
    UpstreamStream& stream = *upstream.stream;
    stream.uncredited += static_cast<uint32_t>(bytes.size());
    if (bytes.empty()) return;
    if (stream.chunked) {
      char size[20];
      const int digits = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
      stream.came.append(size, static_cast<size_t>(digits)).append(bytes).append("\r\n");
    } else {
      stream.came += bytes;
    }
    tell(upstream);
  }

  void end_of_body(void* found, std::string_view trailers) override {
    auto& upstream = *static_cast<Upstream*>(found);
    if (!upstream.stream->chunked) return;
    upstream.stream->came += "0\r\n";
    Proxy::add_trailers(trailers, upstream.stream->came);
    upstream.stream->came += "\r\n";
    tell(upstream);
  }

  void over(void* found, bool refused) override {
    auto& upstream = *static_cast<Upstream*>(found);
    upstream.stream->over = upstream.end_near = true;
    upstream.stream->refused = refused;
    tell(upstream);
  }

  void not_sent(int32_t id) override {
    for (Upstream* each = shared_.streams; each != nullptr; each = each->next) {
      if (each->stream->id == id) over(each, true);
    }
  }

  size_t fill(void* found, char* into, size_t room, bool& last) override {
    auto& upstream = *static_cast<Upstream*>(found);
    UpstreamStream& stream = *upstream.stream;
    const size_t size = std::min(room, stream.going.size() - stream.gone);
    std::memcpy(into, stream.going.data() + stream.gone, size);
    stream.gone += size;
    if (stream.gone == stream.going.size()) {
      stream.going.clear();
      stream.gone = 0;
      if (!upstream.writable) {
        upstream.writable = true;
        proxy_.wake(upstream);
      }
    }
    last = stream.sent = stream.request.done && stream.going.empty();
    return size;
  }

  std::string_view trailers(void* found) override { return static_cast<Upstream*>(found)->stream->trailers; }

 private:
  void tell(Upstream& upstream) {
    upstream.readable = true;
    proxy_.wake(upstream);
  }

  Proxy& proxy_;
  SharedUpstream& shared_;
};

// ------------------------------------------------------------------------------------------------------------- streams

// A stream over a connection to the replica that has room for one, or over a new one; nothing if nobody is there.
// `no_file`: it is the router that can open none.
Upstream* Proxy::open_stream(Replica& replica, bool& no_file) {
  no_file = false;
  SharedUpstream* shared = replica.shared;
  while (shared != nullptr && (shared->closing || !shared->session->takes(shared->count))) shared = shared->next;
  if (shared == nullptr) shared = connect_shared(replica, no_file);
  if (shared == nullptr) return nullptr;
  Upstream* upstream = upstreams_.take();
  upstream->kind = Endpoint::Kind::upstream;
  upstream->fd = kStream;
  upstream->replica = &replica;
  upstream->connecting = shared->connecting;
  upstream->writable = !shared->connecting;
  upstream->reused = shared->served;
  upstream->stream = std::make_unique<UpstreamStream>();
  upstream->stream->shared = shared;
  upstream->next = shared->streams;
  if (shared->streams != nullptr) shared->streams->prev = upstream;
  shared->streams = upstream;
  ++upstream_streams_;
  if (++shared->count == 1) {
    remove_spare(*shared);
    timers_.clear(shared->timer);
  }
  return upstream;
}

ssize_t Proxy::read_from(Upstream& upstream) {
  if (!upstream.stream) return wire_.read(upstream.fd, input_.get(), kReadBytes);
  UpstreamStream& stream = *upstream.stream;
  const size_t size = std::min(kReadBytes, stream.came.size() - stream.read);
  if (size == 0) return stream.over ? kBroken : kWouldBlock;
  std::memcpy(input_.get(), stream.came.data() + stream.read, size);
  stream.read += size;
  if (stream.read < stream.came.size()) return static_cast<ssize_t>(size);
  stream.came.clear();
  stream.read = 0;
  if (stream.uncredited > 0 && stream.shared != nullptr) {
    if (stream.over) {
      stream.shared->session->given_up(stream.uncredited);
    } else {
      stream.shared->session->consumed(stream.id, stream.uncredited);
    }
    stream.uncredited = 0;
    wake(*stream.shared);
  }
  return static_cast<ssize_t>(size);
}

ssize_t Proxy::write_to(Upstream& upstream, std::string_view bytes) {
  if (!upstream.stream) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    return wire_.write(upstream.fd, &part, 1);
  }
  UpstreamStream& stream = *upstream.stream;
  if (stream.over || stream.shared == nullptr) return kBroken;
  if (stream.going.size() - stream.gone >= kMostGoing) return kWouldBlock;
  SharedUpstream& shared = *stream.shared;
  std::string_view rest = bytes;
  if (stream.id == 0) {
    // The router has written it, and at once.
    const std::string_view head = bytes.substr(0, bytes.find("\r\n\r\n") + 2);
    rest.remove_prefix(head.size() + 2);
    const std::string_view length = line_of(head, Field::content_length);
    if (!line_of(head, Field::transfer_encoding).empty()) {
      stream.request = {.kind = BodyKind::chunked, .done = false};
      stream.request.chunks.keep_trailers(stream.trailers);
    } else {
      std::from_chars(length.data(), length.data() + length.size(), stream.request.left);
      if (stream.request.left > 0) stream.request.kind = BodyKind::length;
      stream.request.done = stream.request.left == 0;
    }
    stream.id = shared.session->ask(head, !stream.request.done, &upstream);
    if (stream.id < 0) {
      shared.closing = stream.over = stream.refused = upstream.end_near = true;
      return kBroken;
    }
    shared.served = true;
  }
  put_stream_body(stream, rest);
  shared.session->more(stream.id);
  wake(shared);
  return static_cast<ssize_t>(bytes.size());
}

// A piece of a request's body as it would go over HTTP/1.1.
void Proxy::put_stream_body(UpstreamStream& stream, std::string_view bytes) {
  Body& body = stream.request;
  if (body.done) return;
  if (body.kind == BodyKind::length) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(body.left, bytes.size()));
    stream.going.append(bytes.substr(0, size));
    body.left -= size;
    body.done = body.left == 0;
    return;
  }
  while (!bytes.empty() && !body.chunks.done() && !body.chunks.bad()) {
    std::string_view content;
    bytes.remove_prefix(body.chunks.take(bytes, content));
    stream.going.append(content);
  }
  body.done = body.chunks.done();
}

// The request is over, or given up; the connection stays for others.
void Proxy::leave_shared(Upstream& upstream) {
  UpstreamStream& stream = *upstream.stream;
  --upstream_streams_;
  SharedUpstream* shared = stream.shared;
  if (shared == nullptr) return;
  if (upstream.prev != nullptr) upstream.prev->next = upstream.next;
  if (upstream.next != nullptr) upstream.next->prev = upstream.prev;
  if (shared->streams == &upstream) shared->streams = upstream.next;
  if (stream.id > 0 && !stream.over) {
    // Resets that nobody needs would be counted by some.
    const bool ends = stream.answered && (stream.sent || stream.request.kind == BodyKind::none);
    ends ? shared->session->let_go(stream.id) : shared->session->reset(stream.id);
  }
  if (stream.uncredited > 0) shared->session->given_up(stream.uncredited);
  if (--shared->count == 0) {
    // Who has not been connected with while anybody waited is as good as not there.
    if (shared->connecting) shared->closing = true;
    timers_.set(shared->timer, now_.monotonic_ms() + kSharedIdle_ms);
    add_spare(*shared);
  }
  wake(*shared);
}

// --------------------------------------------------------------------------------------------------------- connections

SharedUpstream* Proxy::connect_shared(Replica& replica, bool& no_file) {
  no_file = !make_room();
  if (no_file) return nullptr;
  SharedUpstream* shared = shared_.take();
  shared->kind = Endpoint::Kind::shared;
  shared->replica = &replica;
  bool at_once = false;
  shared->fd = connect_to(replica, *shared, at_once);
  if (shared->fd < 0) {
    no_file = shared->fd == kNoFile;
    shared_.give(shared);
    return nullptr;
  }
  shared->connecting = !at_once;
  shared->writable = at_once;
  shared->events = std::make_unique<UpstreamStreams>(*this, *shared);
  shared->session = std::make_unique<Http2Client>(*shared->events);
  shared->next = replica.shared;
  if (replica.shared != nullptr) replica.shared->prev = shared;
  replica.shared = shared;
  return shared;
}

void Proxy::happened(SharedUpstream& shared, const Happened& what) {
  if (shared.fd < 0) return;
  shared.readable = shared.readable || what.readable || what.broken;
  shared.end_near = shared.end_near || what.ended || what.broken;
  shared.writable = shared.writable || what.writable;
  if (shared.connecting && (what.readable || what.writable || what.broken)) {
    const Connected connected = wire_.has_connected(shared.fd);
    if (connected == Connected::not_yet) return;
    if (connected != Connected::yes) {
      close(shared, connected == Connected::unbelieved);
      return;
    }
    shared.connecting = false;
    shared.readable = what.readable;
    shared.writable = true;
    for (Upstream* each = shared.streams; each != nullptr; each = each->next) {
      each->connecting = false;
      each->writable = true;
      timers_.clear(each->timer);
      wake(*each);
    }
  }
  progress(shared);
}

void Proxy::progress(SharedUpstream& shared) {
  if (shared.connecting) {
    if (shared.closing && shared.count == 0) close(shared);
    return;
  }
  pump(shared);
  for (int turn = 0; turn < kSharedReads && shared.fd >= 0 && shared.readable; ++turn) {
    const ssize_t size = wire_.read(shared.fd, input_.get(), kReadBytes);
    if (size == kWouldBlock) {
      shared.readable = false;
      break;
    }
    if (size <= 0 || !shared.session->receive({input_.get(), static_cast<size_t>(size)})) {
      close(shared);
      return;
    }
    note_read(shared, size, wire_.secured(shared.fd));
    pump(shared);
  }
  if (shared.fd < 0) return;
  const bool unwanted = shared.closing || stopping_ || !shared.replica->listed || shared.session->has_ended();
  if (shared.count == 0 && unwanted) {
    close(shared);
  } else if (shared.readable) {
    wake(shared);
  }
}

// Writes what there is to say, as far as the wire takes it.
void Proxy::pump(SharedUpstream& shared) {
  while (shared.fd >= 0 && shared.writable) {
    std::string_view bytes;
    if (shared.out != nullptr) {
      bytes = shared.out->view();
    } else {
      size_t size = 0;
      while (size < kReadBytes) {
        const std::string_view frame = shared.session->send();
        if (frame.empty()) break;
        std::memcpy(output_.get() + size, frame.data(), frame.size());
        size += frame.size();
      }
      bytes = {output_.get(), size};
    }
    if (bytes.empty()) break;
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t written = wire_.write(shared.fd, &part, 1);
    if (written == kBroken) {
      // There may be answers to read.
      shared.readable = shared.end_near = true;
      shared.writable = false;
      wake(shared);
      return;
    }
    const auto done = static_cast<size_t>(std::max<ssize_t>(written, 0));
    if (done < bytes.size()) {
      shared.writable = false;
      timers_.set(shared.timer, now_.monotonic_ms() + kUntaken_ms);
    }
    if (shared.out == nullptr) {
      if (done < bytes.size()) buffers_.append(shared.out, bytes.substr(done));
      continue;
    }
    shared.out->drop(done);
    if (shared.out->size() > 0) continue;
    buffers_.give_up(shared.out);
    timers_.clear(shared.timer);
    if (shared.count == 0) timers_.set(shared.timer, now_.monotonic_ms() + kSharedIdle_ms);
  }
}

// With what has come, requests that are under way still go on.
void Proxy::close(SharedUpstream& shared, bool unbelieved) {
  if (shared.fd < 0) return;
  wire_.close(shared.fd);
  shared.fd = -1;
  shared.closing = true;
  timers_.remove(shared.timer);
  remove_spare(shared);
  buffers_.give_up(shared.out);
  if (shared.prev != nullptr) shared.prev->next = shared.next;
  if (shared.next != nullptr) shared.next->prev = shared.prev;
  if (shared.replica->shared == &shared) shared.replica->shared = shared.next;
  while (Upstream* upstream = shared.streams) {
    shared.streams = upstream->next;
    upstream->prev = upstream->next = nullptr;
    UpstreamStream& stream = *upstream->stream;
    stream.shared = nullptr;
    stream.unconnected = std::exchange(upstream->connecting, false);
    stream.unbelieved = unbelieved;
    stream.refused = stream.refused || stream.id == 0;
    stream.over = upstream->end_near = upstream->readable = true;
    wake(*upstream);
  }
  shared.session = nullptr;
  shared.events = nullptr;
  shared_.give(&shared);
}

void Proxy::fire(SharedUpstream& shared) { close(shared); }

// They take no more requests, and go with the last.
void Proxy::close_shared(Replica& replica) {
  for (SharedUpstream* shared = replica.shared; shared != nullptr;) {
    SharedUpstream* next = shared->next;
    shared->closing = true;
    if (shared->count == 0) close(*shared);
    shared = next;
  }
}

}  // namespace sluice::router
