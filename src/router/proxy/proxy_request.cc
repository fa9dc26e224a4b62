// A request's way upstream: where it goes, over which connection, its head and its body.
#include <algorithm>
#include <cstring>

#include "router/http1/grpc_status.h"
#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int64_t kLeastBodyBytesPerSecond = 128;

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" || method == "OPTIONS" ||
         method == "TRACE";
}

// Whether what a request wants to upgrade to may be passed on: one line of protocols, none of which is HTTP again. h2c
// would let its requests reach the application past the router.
bool may_upgrade(const HeaderBlock& headers) {
  std::string_view protocols, protocol;
  for (uint32_t i = 0; i < headers.count; ++i) {
    if (headers.lines[i].field != Field::upgrade) continue;
    if (!protocols.empty()) return false;
    protocols = headers.lines[i].value;
  }
  bool any = false;
  while (next_element(protocols, protocol)) {
    std::string_view name = protocol.substr(0, protocol.find('/'));
    bool is_http = equal_ignoring_case(name.substr(0, 2), "h2") || equal_ignoring_case(name.substr(0, 4), "http");
    if (is_http || !is_token(name)) return false;
    any = true;
  }
  return any;
}

uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void write_hex(uint64_t word, char* at) {
  for (int i = 15; i >= 0; --i, word >>= 4) at[i] = "0123456789abcdef"[word & 15];
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- begin

void Proxy::begin_trace(Exchange& exchange, std::string_view given, char* span) {
  if (!given.empty()) {
    std::memcpy(exchange.trace.data(), given.data(), exchange.trace.size());
    return;
  }
  write_new_trace(exchange.trace.data());
  write_hex(next_random(trace_state_) | 1, span);
}

// 32 digits.
void Proxy::write_new_trace(char* trace) {
  write_hex(next_random(trace_state_) | 1, trace);
  write_hex(next_random(trace_state_), trace + 16);
}

// Takes what is there of the body; false if it is no body.
bool Proxy::take_body(Exchange& exchange, std::string_view rest, size_t& taken) {
  Body& body = exchange.request;
  taken = 0;
  if (body.done) return true;
  if (body.kind == BodyKind::length) {
    taken = static_cast<size_t>(std::min<uint64_t>(body.left, rest.size()));
    body.left -= taken;
    body.done = body.left == 0;
    return true;
  }
  while (taken < rest.size() && !body.chunks.done()) {
    std::string_view content;
    taken += body.chunks.take(rest.substr(taken), content);
    if (body.chunks.bad()) return false;
  }
  body.done = body.chunks.done();
  return true;
}

size_t Proxy::begin(Client& client, std::string_view bytes) {
  RequestHead& head = request_head_;
  Exchange& exchange = *exchanges_.take();
  timers_.clear(client.timer);
  remove_spare(client);
  client.exchange = &exchange;
  client.phase = Client::Phase::busy;
  client.asked = true;
  exchange.client = &client;
  exchange.begun_us = client.asked_us != 0 ? client.asked_us : now_.monotonic_us;
  exchange.logged = is_sampled();
  exchange.wants_html =
      head.headers.has(Field::accept) && head.headers.value_of(Field::accept).starts_with("text/html");
  exchange.is_head = head.method == "HEAD";
  exchange.grpc = client.http2 != nullptr && head.headers.has(Field::content_type) &&
                  is_grpc(head.headers.value_of(Field::content_type));
  exchange.old_client = head.minor == 0;
  exchange.keep_alive = head.minor == 0 ? head.framing.keep_alive && !head.framing.close : !head.framing.close;
  if (stopping_) exchange.keep_alive = false;
  exchange.idempotent = is_idempotent(head.method);
  if (head.framing.chunked) {
    exchange.request = {.kind = BodyKind::chunked, .done = false};
  } else if (head.framing.length > 0) {
    exchange.request = {.kind = BodyKind::length, .done = false, .left = head.framing.length};
  }
  char span[16];
  std::string_view trace = trace_of(head);
  begin_trace(exchange, trace, span);
  size_t taken = 0;
  std::string_view body = bytes.substr(head.size);  // as far as it is there, as it goes upstream
  if (client.http2 != nullptr) {
    taken = std::min(body.size(), kReadBytes);
  } else if (!take_body(exchange, body, taken)) {
    refused_.store(refused_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    answer(exchange, 400, "a bad chunk");
    return bytes.size();
  }
  size_t used = head.size + taken;
  exchange.bytes_in = used;
  if (head.headers.has(Field::expect) && head.minor == 1) {
    exchange.expects = equal_ignoring_case(head.headers.value_of(Field::expect), "100-continue");
    if (!exchange.expects) {
      answer(exchange, 417, "an expectation other than 100-continue");
      return used;
    }
    if (taken > 0) exchange.expects = false;  // it does not wait
  }
  if (challenges_ != nullptr && challenges_->any() && answer_challenge(exchange, head.target)) return used;
  const Table* table = this->table();
  if (table == nullptr) {
    answer(exchange, 503, "there is no table yet");
    return used;
  }
  if (client.peer.tls != nullptr && !client.peer.tls->covers(head.host)) {
    answer(exchange, 421, "the certificate of the connection is not of this host");
    return used;
  }
  bool trusted = is_trusted(client.peer);
  bool may_ask = client.elsewhere == PinElsewhere::not_asked && pins_.takes_questions();
  Caller caller{.trusted = trusted};
  if (const Secured* tls = client.peer.tls) {
    caller = {.trusted = trusted, .secure = true, .client_rule = tls->client_rule(), .client_id = tls->client_id()};
  }
  Dispatched done = dispatcher_.dispatch(*table, head, caller, {now_.monotonic_ms(), now_.wall_ms / 1'000}, may_ask);
  if (done.outcome == Outcome::held && !client.hold_over) {
    client.exchange = nullptr;
    exchanges_.give(&exchange);
    client.phase = Client::Phase::held;
    held_.push_back(&client);
    timers_.set(client.timer, done.deployment->memory->held_until_ms.load(std::memory_order_relaxed) + 1);
    return 0;
  }
  if (done.outcome == Outcome::asks) {
    client.exchange = nullptr;
    exchanges_.give(&exchange);
    ask_pins(client, done);
    return 0;
  }
  if (done.new_pin || done.renew_pin) share_pin(client, done);
  if (done.outcome == Outcome::routed) {
    std::string_view upgrade = head.framing.upgrade ? head.headers.value_of(Field::upgrade) : std::string_view();
    exchange.asks_upgrade = head.framing.upgrade && !done.revision->http2 && exchange.request.kind == BodyKind::none &&
                            head.minor == 1 && may_upgrade(head.headers);
    exchange.is_websocket = exchange.asks_upgrade && equal_ignoring_case(upgrade, "websocket");
    Forwarding forwarding{.peer = client.peer.address(),
                          .port = client.peer.port,
                          .trusted = trusted,
                          .secure = client.peer.tls != nullptr,
                          .upgrade = exchange.asks_upgrade,
                          .client_id = caller.client_id,
                          .strip = done.strip};
    if (trace.empty()) {
      forwarding.trace = {exchange.trace.data(), exchange.trace.size()};
      forwarding.span = {span, sizeof span};
    }
    const bool all = taken == body.size();
    body = body.substr(0, taken);
    if (client.http2 != nullptr && !exchange.request.done) body = next_body(exchange, body, client.ended && all);
    exchange.sent = buffers_.take(request_head_room(head, forwarding) + body.size());
    write_request_head(head, forwarding, *exchange.sent);
    exchange.sent->append(body);
  }
  prepare(exchange, client, done);
  return used;
}

// With the head's bytes no longer needed: answers, or sends it on its way.
void Proxy::prepare(Exchange& exchange, Client& client, const Dispatched& done) {
  client.hold_over = false;
  if (done.deployment != nullptr) exchange.generation = done.deployment->generation;
  switch (done.outcome) {
    case Outcome::no_route:
      answer(exchange, 404, "no deployment has such a route");
      return;
    case Outcome::paused:
      answer(exchange, 503, "the deployment is paused", done.deployment);
      return;
    case Outcome::no_revision:
      answer(exchange, 503, "no revision of the deployment has weight", done.deployment);
      return;
    case Outcome::held:
      answer(exchange, 503, "the deployment was held for too long", done.deployment);
      return;
    case Outcome::redirected:
      answer(exchange, 308, "", done.deployment);
      return;
    case Outcome::misdirected:
      answer(exchange, 421, "the connection was made by another rule for certificates of clients", done.deployment);
      return;
    case Outcome::denied:
      answer(exchange, 403, done.why);
      return;
    case Outcome::asks:  // it was parked
    case Outcome::routed:
      break;
  }
  exchange.reason = done.reason;
  exchange.timeouts = done.deployment->timeouts;
  route(exchange, done);
  send(exchange);
}

void Proxy::route(Exchange& exchange, const Dispatched& done) {
  const Revision* revision = done.revision;
  RevisionPool* pool = &pool_of(*done.deployment, *revision);
  if (!pool->is_well(now_.monotonic_ms()) && !is_asked_for(done.reason)) {
    const Revision* other = Dispatcher::another(*done.deployment, [&](const Revision& each) {
      return &each != revision && pool_of(*done.deployment, each).is_well(now_.monotonic_ms());
    });
    if (other != nullptr) {
      revision = other;
      pool = &pool_of(*done.deployment, *other);
    }
  }
  if (done.issue_cookie) {
    text_.clear();
    dispatcher_.cookies().issue(*table()->settings, *done.deployment, *revision, done.bucket, done.prefix,
                                now_.wall_ms / 1'000, text_);
    if (!text_.empty()) buffers_.append(exchange.cookie, text_);
  }
  pool->add_exchange(exchange);
  exchange.series = revision->series;
  counters_.gauge(lane_, exchange.series).in_flight.fetch_add(1, std::memory_order_relaxed);
}

// -------------------------------------------------------------------------------------------------------------- send

void Proxy::send(Exchange& exchange) {
  RevisionPool& pool = *exchange.pool;
  while (true) {
    Replica* replica = pool.pick(exchange.tried, now_.monotonic_ms(), true);
    if (replica == nullptr || exchange.attempts == kMaxAttempts) {
      bool none = replica == nullptr && exchange.attempts == 0;
      answer(exchange, none ? 503 : 502, none ? "the revision has no replica" : "no replica could be reached");
      return;
    }
    if (exchange.attempts++ > 0) add(counters_.of(lane_, exchange.series).retries, 1);
    exchange.tried |= uint64_t{1} << replica->place;
    exchange.replica = replica;
    const bool http2 = pool.revision().http2;
    Upstream* upstream = http2 ? nullptr : take_kept(exchange, *replica);
    if (upstream == nullptr) {
      bool no_file = false;
      upstream = http2 ? open_stream(*replica, no_file) : connect(*replica, no_file);
      if (no_file) {
        replica->probing = false;
        answer(exchange, 503, "the router can open no more connections");
        return;
      }
      if (upstream == nullptr) {
        add(counters_.of(lane_, exchange.series).failures, 1);
        pool.failed(*replica, now_.monotonic_ms());
        continue;
      }
    }
    ++replica->pending;
    upstream->exchange = &exchange;
    exchange.upstream = upstream;
    exchange.sent_at = 0;
    if (upstream->connecting) {
      timers_.set(upstream->timer, now_.monotonic_ms() + exchange.timeouts.connect_ms);
    } else {
      write_request(exchange);
    }
    return;
  }
}

bool Proxy::request_waits(const Exchange& exchange) const {
  const Upstream* upstream = exchange.upstream;
  return upstream == nullptr || upstream->connecting || upstream->out != nullptr ||
         (exchange.sent != nullptr && exchange.sent_at < exchange.sent->end);
}

// Writes what waits for the upstream. What breaks is found by whoever reads from it: there may be an answer to read.
bool Proxy::flush_request(Exchange& exchange) {
  Upstream& upstream = *exchange.upstream;
  while (upstream.writable && !upstream.connecting && request_waits(exchange)) {
    bool first = exchange.sent != nullptr && exchange.sent_at < exchange.sent->end;
    std::string_view waiting = first ? exchange.sent->view().substr(exchange.sent_at) : upstream.out->view();
    ssize_t size = write_to(upstream, waiting);
    if (size == kBroken) {
      if (exchange.sent != nullptr) exchange.sent_at = exchange.sent->end;
      buffers_.give_up(upstream.out);
      upstream.readable = true;
      wake(upstream);
      return false;
    }
    if (size == kWouldBlock || static_cast<size_t>(size) < waiting.size()) upstream.writable = false;
    if (size <= 0) break;
    if (first) {
      exchange.sent_at += static_cast<uint32_t>(size);
    } else {
      upstream.out->drop(static_cast<size_t>(size));
      if (upstream.out->size() == 0) buffers_.give_up(upstream.out);
    }
  }
  return !request_waits(exchange);
}

void Proxy::write_request(Exchange& exchange) {
  Client& client = *exchange.client;
  bool all = flush_request(exchange);
  await(exchange);
  if (all && !exchange.request.done && (client.in != nullptr || client.readable || client.http2 != nullptr)) {
    wake(client);
  }
}

// One of both is waited for, and it alone can be late: the client while it does not read, or more of its body is to
// come; else the upstream, be it that it does not take what there is or that it has all. Who waits for 100-continue is
// not slow. A body must come at a least rate, or one byte now and then would hold a request for ever: a client may make
// wait for it as long as for one byte, and longer by what it has sent.
void Proxy::await(Exchange& exchange) {
  Client& client = *exchange.client;
  Timer& upstream = exchange.upstream->timer;
  const Timeouts& timeouts = exchange.timeouts;
  const int64_t now_ms = now_.monotonic_ms();
  // Both sides of a call of gRPC may be silent for a while, and its body is as slow as it likes.
  const uint32_t idle_ms = exchange.streams || exchange.grpc ? timeouts.stream_idle_ms : timeouts.idle_ms;
  bool body_comes = !exchange.request.done && !exchange.expects && !request_waits(exchange);
  if (client.out != nullptr || body_comes) {
    int64_t wait_ms = idle_ms;
    if (body_comes && client.out == nullptr && !exchange.grpc) {
      if (exchange.body_awaited_ms == 0) exchange.body_awaited_ms = now_ms;
      int64_t earned_ms = static_cast<int64_t>(exchange.bytes_in) * 1'000 / kLeastBodyBytesPerSecond;
      int64_t end_ms = exchange.body_awaited_ms + idle_ms + earned_ms - exchange.body_waited_ms;
      wait_ms = std::clamp<int64_t>(end_ms - now_ms, 1, idle_ms);
    }
    timers_.set(client.timer, now_ms + wait_ms);
    timers_.clear(upstream);
  } else {
    timers_.clear(client.timer);
    timers_.set(upstream, now_ms + (exchange.begun ? idle_ms : timeouts.first_byte_ms));
  }
}

void Proxy::write_upstream(Exchange& exchange, std::string_view bytes) {
  Upstream& upstream = *exchange.upstream;
  if (bytes.empty()) return;
  size_t written = 0;
  if (upstream.writable && !request_waits(exchange)) {
    ssize_t size = write_to(upstream, bytes);
    if (size == kBroken) {
      upstream.readable = true;
      wake(upstream);
      return;
    }
    if (size > 0) written = static_cast<size_t>(size);
    if (written < bytes.size()) upstream.writable = false;
  }
  if (written < bytes.size()) buffers_.append(upstream.out, bytes.substr(written));
}

size_t Proxy::forward_body(Exchange& exchange, std::string_view bytes) {
  Client& client = *exchange.client;
  size_t taken = 0;
  if (!take_body(exchange, bytes, taken)) {
    refused_.store(refused_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    detach(exchange, false);
    if (exchange.begun) {
      close(client);
    } else {
      answer(exchange, 400, "a bad chunk");
    }
    return bytes.size();
  }
  exchange.bytes_in += taken;
  if (exchange.body_awaited_ms != 0) exchange.body_waited_ms += now_.monotonic_ms() - exchange.body_awaited_ms;
  exchange.body_awaited_ms = 0;
  exchange.replayable = false;
  exchange.expects = false;  // or it did not wait for it
  write_upstream(exchange, bytes.substr(0, taken));
  await(exchange);
  return taken;
}

}  // namespace sluice::router
