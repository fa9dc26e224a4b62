// The upstreams' side: answers on their way to the client, and what becomes of a request when there is none.
#include <algorithm>

#include "router/http1/grpc_status.h"
#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int kUpstreamReadsInATurn = 8;

}  // namespace

void Proxy::happened(Upstream& upstream, const Happened& what) {
  if (upstream.fd < 0) return;
  // An answer may be there to be read, even if nothing more comes: reading tells.
  upstream.readable = upstream.readable || what.readable || what.broken;
  upstream.end_near = upstream.end_near || what.ended || what.broken;
  upstream.writable = upstream.writable || what.writable;
  if (upstream.exchange == nullptr) {
    if (!what.readable && !what.broken) return;
    const Look look = wire_.look(upstream.fd);
    if (look == Look::speaks) {
      spoke_unasked(upstream);
    } else if (look == Look::ended || upstream.end_near) {
      close(upstream);
    } else {
      upstream.readable = false;  // it was of its TLS alone, such as a ticket
    }
    return;
  }
  if (upstream.connecting && (what.readable || what.writable || what.broken)) {
    switch (wire_.has_connected(upstream.fd)) {
      case Connected::not_yet:
        return;
      case Connected::no:
        fail(*upstream.exchange, UpstreamFault::connect);
        return;
      case Connected::unbelieved:
        fail(*upstream.exchange, UpstreamFault::unbelieved);
        return;
      case Connected::yes:
        break;
    }
    upstream.connecting = false;
    upstream.readable = what.readable;
    upstream.writable = true;
    write_request(*upstream.exchange);
    if (upstream.fd < 0) return;
  }
  progress(upstream);
}

void Proxy::progress(Upstream& upstream) {
  if (upstream.connecting || upstream.exchange == nullptr) return;
  Exchange& exchange = *upstream.exchange;
  if (upstream.writable && request_waits(exchange)) {
    if (exchange.tunnel) {
      if (flush_request(exchange)) tunnel_flushed(exchange);
      if (upstream.fd < 0) return;
      if (!request_waits(exchange)) wake(*exchange.client);
    } else {
      write_request(exchange);
    }
  }
  if (upstream.fd >= 0 && upstream.exchange != nullptr) read(upstream);
}

void Proxy::read(Upstream& upstream) {
  for (int turn = 0; turn < kUpstreamReadsInATurn; ++turn) {
    if (upstream.fd < 0 || upstream.exchange == nullptr || !upstream.readable) return;
    Exchange& exchange = *upstream.exchange;
    if (exchange.client->out != nullptr || exchange.upstream_ended) return;
    ssize_t size = read_from(upstream);
    if (size == kWouldBlock) {
      upstream.readable = false;
      return;
    }
    if (size <= 0) {
      if (upstream.stream && upstream.stream->unconnected) {
        fail(exchange, upstream.stream->unbelieved ? UpstreamFault::unbelieved : UpstreamFault::connect);
      } else if (upstream.stream && upstream.stream->refused) {
        fail(exchange, UpstreamFault::refused);
      } else {
        upstream_ended(upstream, size == kBroken);
      }
      return;
    }
    note_read(upstream, size, upstream.replica->tls && !upstream.stream ? wire_.secured(upstream.fd) : nullptr);
    std::string_view bytes(input_.get(), static_cast<size_t>(size));
    // What is kept may have to grow while it is read from; it is only ever a part of a head.
    Buffer* whole = nullptr;
    if (upstream.in != nullptr) {
      buffers_.append(upstream.in, bytes);
      whole = std::exchange(upstream.in, nullptr);
      bytes = whole->view();
    }
    size_t used = take_response(exchange, bytes);
    if (upstream.fd >= 0 && used < bytes.size()) buffers_.append(upstream.in, bytes.substr(used));
    buffers_.give_up(whole);
    // The rest may wait for an acknowledgement, which the kernel delays by 40 ms: an application that writes its answer
    // in two pieces waits for that of the first (Nagle's algorithm).
    bool incomplete = upstream.fd >= 0 && upstream.exchange != nullptr && !upstream.exchange->tunnel;
    if (incomplete && !upstream.readable && !upstream.stream && upstream.replica->address.family() != AF_UNIX) {
      wire_.acknowledge(upstream.fd);
    }
  }
  if (upstream.fd >= 0 && upstream.readable) wake(upstream);
}

// Uses what it can, and says how much; what is left is a part of a head.
size_t Proxy::take_response(Exchange& exchange, std::string_view bytes) {
  Upstream& upstream = *exchange.upstream;
  Client& client = *exchange.client;
  if (exchange.tunnel) {
    tunnel_from_upstream(exchange, bytes);
    return bytes.size();
  }
  if (exchange.begun) return forward_response(exchange, {}, bytes);
  size_t used = 0;
  while (used < bytes.size()) {
    std::string_view rest = bytes.substr(used);
    switch (parse_response_head(rest, response_head_)) {
      case Parsed::bad:
        fail(exchange, UpstreamFault::garbage);
        return bytes.size();
      case Parsed::incomplete:
        return used;
      case Parsed::complete:
        break;
    }
    if (response_head_.status >= 200 || response_head_.status == 101) return used + begin_response(exchange, rest);
    relay_interim(exchange);
    if (client.fd < 0 || upstream.fd < 0) return bytes.size();
    used += response_head_.size;
  }
  return used;
}

void Proxy::relay_interim(Exchange& exchange) {
  if (response_head_.status == 100) {
    // Whoever did not ask would not know what it is.
    if (!exchange.expects) return;
    exchange.expects = false;
    await(exchange);
  }
  if (exchange.old_client) return;
  if (exchange.client->http2 != nullptr) {
    exchange.client->http2->session->interim(exchange.client->stream, response_head_);
    wake(*exchange.client->http2);
    return;
  }
  size_t size = write_response_head(response_head_, {}, output_.get());
  write(*exchange.client, {output_.get(), size}, {});
}

// The final head, with what of the body came along.
size_t Proxy::begin_response(Exchange& exchange, std::string_view bytes) {
  const ResponseHead& head = response_head_;
  RevisionPool& pool = *exchange.pool;
  exchange.status = head.status;
  pool.succeeded(*exchange.replica, now_.monotonic_ms());
  bool sent_whole = exchange.sent == nullptr || exchange.sent_at == exchange.sent->end;
  exchange.reusable = (head.minor == 1 ? !head.framing.close : head.framing.keep_alive) && sent_whole;
  Answering answering{.old_client = exchange.old_client, .keep_alive = exchange.keep_alive};
  if (exchange.cookie != nullptr) answering.set_cookie = exchange.cookie->view();
  if (exchange.client->peer.tls != nullptr) answering.hsts = pool.deployment().hsts;
  if (is_asked_for(exchange.reason)) {
    answering.deployment = pool.deployment().id;
    answering.revision = pool.revision().id;
  }
  if (head.status == 101) {
    if (!exchange.asks_upgrade || !head.headers.has(Field::upgrade)) {
      fail(exchange, UpstreamFault::garbage);
      return bytes.size();
    }
    answering.upgrade = true;
    size_t size = write_response_head(head, answering, output_.get());
    begin_tunnel(exchange, {output_.get(), size}, bytes.substr(head.size));
    return bytes.size();
  }
  Body& body = exchange.response;
  if (exchange.is_head || head.status == 204 || head.status == 304) {
    body = {};
    // An application that answers HEAD as it does GET sends the body all the same, as late as it likes.
    bool announced = head.status == 204 && (head.framing.chunked || head.framing.length > 0);
    if (exchange.is_head || announced) exchange.reusable = false;
  } else if (head.framing.chunked) {
    body = {.kind = BodyKind::chunked, .done = false};
    if (exchange.old_client) exchange.keep_alive = false;
  } else if (head.framing.has_length) {
    body = {.kind = BodyKind::length, .done = head.framing.length == 0, .left = head.framing.length};
  } else {
    body = {.kind = BodyKind::until_close, .done = false};
    exchange.keep_alive = false;
    exchange.reusable = false;
  }
  // An early answer: what the client still sends is nobody's.
  if (!exchange.request.done) {
    exchange.keep_alive = false;
    exchange.reusable = false;
  }
  if (stopping_) exchange.keep_alive = false;
  answering.keep_alive = exchange.keep_alive;
  if (head.headers.has(Field::content_type)) {
    exchange.streams = head.headers.value_of(Field::content_type).starts_with("text/event-stream");
  }
  if (exchange.grpc) note_grpc_status(exchange, head);
  exchange.begun = true;
  size_t size = 0;
  if (exchange.client->http2 != nullptr) {
    if (body.kind == BodyKind::chunked) body.chunks.keep_trailers(exchange.trailers);
    put_answer(*exchange.client, head, answering, !body.done);
    exchange.bytes_out += head.size;
  } else {
    size = write_response_head(head, answering, output_.get());
  }
  buffers_.give_up(exchange.cookie);
  if (!exchange.logged && exchange.status < 500 && sent_whole) buffers_.give_up(exchange.sent);
  return head.size + forward_response(exchange, {output_.get(), size}, bytes.substr(head.size));
}

// Passes on the head, if there is one, with what belongs to the body, and finishes if that is all of it.
size_t Proxy::forward_response(Exchange& exchange, std::string_view head, std::string_view bytes) {
  Body& body = exchange.response;
  if (body.kind == BodyKind::chunked && (exchange.old_client || exchange.client->http2 != nullptr))
    return forward_unchunked(exchange, head, bytes);
  size_t taken = 0;
  switch (body.kind) {
    case BodyKind::none:
      break;
    case BodyKind::length:
      taken = static_cast<size_t>(std::min<uint64_t>(body.left, bytes.size()));
      body.left -= taken;
      body.done = body.left == 0;
      break;
    case BodyKind::until_close:
      taken = bytes.size();
      break;
    case BodyKind::chunked:
      while (taken < bytes.size() && !body.chunks.done()) {
        std::string_view content;
        taken += body.chunks.take(bytes.substr(taken), content);
        if (body.chunks.bad()) {
          exchange.begun = head.empty();  // nothing was written yet
          fail(exchange, UpstreamFault::garbage);
          return bytes.size();
        }
      }
      body.done = body.chunks.done();
      break;
  }
  if (!write(*exchange.client, head, bytes.substr(0, taken))) return bytes.size();
  if (body.done) {
    finish_response(exchange, taken < bytes.size());
  } else {
    await(exchange);
  }
  return bytes.size();
}

// For HTTP/1.0, which knows no chunks: the content alone, until the connection ends.
size_t Proxy::forward_unchunked(Exchange& exchange, std::string_view head, std::string_view bytes) {
  Body& body = exchange.response;
  if (!write(*exchange.client, head, {})) return bytes.size();
  size_t taken = 0;
  while (taken < bytes.size() && !body.chunks.done()) {
    std::string_view content;
    taken += body.chunks.take(bytes.substr(taken), content);
    if (body.chunks.bad()) {
      fail(exchange, UpstreamFault::garbage);
      return bytes.size();
    }
    if (!content.empty() && !write(*exchange.client, content, {})) return bytes.size();
  }
  body.done = body.chunks.done();
  if (body.done) {
    finish_response(exchange, taken < bytes.size());
  } else {
    await(exchange);
  }
  return bytes.size();
}

void Proxy::finish_response(Exchange& exchange, bool leftover) {
  Client& client = *exchange.client;
  if (leftover && !exchange.is_head) exchange.replica->unruly_until_ms = now_.monotonic_ms() + kUnruly_ms;
  bool keep_alive = exchange.keep_alive && exchange.request.done;
  if (!exchange.trailers.empty()) {
    if (exchange.grpc) exchange.grpc_status = grpc_status_in(exchange.trailers, exchange.grpc_status);
    buffers_.give_up(client.trailers);
    buffers_.append(client.trailers, exchange.trailers);
  }
  detach(exchange, exchange.reusable && exchange.request.done && !leftover);
  finish(exchange);
  if (keep_alive) {
    become_idle(client);
  } else {
    close_after_writing(client);
  }
}

void Proxy::upstream_ended(Upstream& upstream, bool broken) {
  Exchange& exchange = *upstream.exchange;
  if (exchange.tunnel) {
    exchange.upstream_ended = true;
    tunnel_flushed(exchange);
  } else if (exchange.begun && exchange.response.kind == BodyKind::until_close && !broken) {
    finish_response(exchange, false);
  } else {
    fail(exchange, UpstreamFault::closed);
  }
}

// The upstream will not do: another is tried if that is safe, else the client is told, or cut off.
void Proxy::fail(Exchange& exchange, UpstreamFault fault) {
  RevisionPool& pool = *exchange.pool;
  Replica& replica = *exchange.replica;
  Client& client = *exchange.client;
  bool reused = exchange.upstream->reused;
  bool nothing_came = exchange.upstream->in == nullptr;
  bool probed = replica.probing;
  // Who has kept a request waiting would do so with the next.
  const bool late = fault == UpstreamFault::timeout || fault == UpstreamFault::connect_timeout;
  if (late && exchange.upstream->stream && exchange.upstream->stream->shared != nullptr) {
    exchange.upstream->stream->shared->closing = true;
  }
  detach(exchange, false);
  // A kept connection that the other side has closed meanwhile says nothing about the replica.
  bool blame = !(fault == UpstreamFault::closed && reused) && fault != UpstreamFault::refused;
  if (blame) {
    replica.probing = probed;
    add(counters_.of(lane_, exchange.series).failures, 1);
    pool.failed(replica, now_.monotonic_ms());
  }
  if (exchange.begun) {
    client.cut = true;
    exchange.error =
        fault == UpstreamFault::timeout ? "the upstream stopped in its answer" : "the upstream broke its answer off";
    close(client);
    return;
  }
  bool unsent = fault == UpstreamFault::connect || fault == UpstreamFault::connect_timeout ||
                fault == UpstreamFault::unbelieved || fault == UpstreamFault::refused;
  bool again = unsent || (fault == UpstreamFault::closed && reused && nothing_came && exchange.idempotent);
  if (again && exchange.replayable && exchange.attempts < kMaxAttempts) {
    // The one that closed is as good as any.
    if (!blame) exchange.tried &= ~(uint64_t{1} << replica.place);
    send(exchange);
    return;
  }
  switch (fault) {
    case UpstreamFault::connect:
      answer(exchange, 502, "the upstream could not be reached");
      break;
    case UpstreamFault::connect_timeout:
      answer(exchange, 504, "the upstream took no connection in time");
      break;
    case UpstreamFault::unbelieved:
      answer(exchange, 502, "the upstream's TLS will not do: its certificate is not believed, or it speaks no TLS");
      break;
    case UpstreamFault::closed:
      answer(exchange, 502, "the upstream closed without an answer");
      break;
    case UpstreamFault::refused:
      answer(exchange, 502, "the upstream took no request");
      break;
    case UpstreamFault::garbage:
      answer(exchange, 502, response_head_.fault[0] != '\0' ? response_head_.fault : "the upstream's answer is none");
      break;
    case UpstreamFault::timeout:
      answer(exchange, 504, "the upstream did not answer in time");
      break;
  }
}

void Proxy::fire(Upstream& upstream) {
  if (upstream.exchange == nullptr && upstream.settling) {
    upstream.replica->pool->remove_idle(*upstream.replica, upstream);
    upstream.settling = false;
    make_idle(upstream);
    return;
  }
  if (upstream.exchange == nullptr) {
    close(upstream);
    return;
  }
  Exchange& exchange = *upstream.exchange;
  if (exchange.tunnel) {
    exchange.error = "the tunnel was idle";
    close(*exchange.client);
  } else {
    fail(exchange, upstream.connecting ? UpstreamFault::connect_timeout : UpstreamFault::timeout);
  }
}

}  // namespace sluice::router
