// After a 101 both sides talk as they like. Of a WebSocket the frames are followed, so that it can be closed properly
// when its revision goes.
#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int64_t kAfterClose_ms = 2'000;

}  // namespace

void Proxy::begin_tunnel(Exchange& exchange, std::string_view head, std::string_view rest) {
  exchange.begun = true;
  exchange.tunnel = true;
  exchange.streams = true;
  exchange.keep_alive = false;
  exchange.reusable = false;
  Client& client = *exchange.client;
  Upstream& upstream = *exchange.upstream;
  timers_.set(upstream.timer, now_.monotonic_ms() + exchange.timeouts.stream_idle_ms);
  if (exchange.is_websocket) {
    counters_.gauge(lane_, exchange.series).websockets.fetch_add(1, std::memory_order_relaxed);
  }
  buffers_.give_up(exchange.cookie);
  if (!exchange.logged) buffers_.give_up(exchange.sent);
  if (!write(client, head, {})) return;
  if (!rest.empty()) tunnel_from_upstream(exchange, rest);
  if (client.fd < 0) return;
  if (client.ended) exchange.client_ended = true;
  wake(client);
  // It came while its revision had begun to go.
  if (exchange.is_websocket && ((stopping_ && !retiring_) || exchange.pool->revision().draining()))
    close_websocket(exchange);
}

size_t Proxy::tunnel_from_client(Exchange& exchange, std::string_view bytes) {
  exchange.bytes_in += bytes.size();
  timers_.set(exchange.upstream->timer, now_.monotonic_ms() + exchange.timeouts.stream_idle_ms);
  if (exchange.closed_upstream) return bytes.size();
  if (!exchange.is_websocket) {
    write_upstream(exchange, bytes);
    return bytes.size();
  }
  size_t at = 0;
  while (at < bytes.size()) {
    size_t size = exchange.to_upstream.take(bytes.substr(at));
    at += size;
    if (exchange.closing_1012 && exchange.to_upstream.between_frames()) break;
  }
  write_upstream(exchange, bytes.substr(0, at));
  if (exchange.closing_1012) put_close_frames(exchange);
  return bytes.size();
}

void Proxy::tunnel_from_upstream(Exchange& exchange, std::string_view bytes) {
  timers_.set(exchange.upstream->timer, now_.monotonic_ms() + exchange.timeouts.stream_idle_ms);
  if (exchange.closed_client) return;
  size_t at = bytes.size();
  if (exchange.is_websocket) {
    at = 0;
    while (at < bytes.size()) {
      at += exchange.to_client.take(bytes.substr(at));
      if (exchange.closing_1012 && exchange.to_client.between_frames()) break;
    }
  }
  if (!write(*exchange.client, bytes.substr(0, at), {})) return;
  if (exchange.closing_1012) put_close_frames(exchange);
}

void Proxy::close_websocket(Exchange& exchange) {
  if (exchange.closing_1012) return;
  exchange.closing_1012 = true;
  put_close_frames(exchange);
}

// Where a frame has just ended, the close frame is put behind it. False: the client is gone.
bool Proxy::put_close_frames(Exchange& exchange) {
  Client& client = *exchange.client;
  if (!exchange.closed_upstream && exchange.to_upstream.between_frames()) {
    exchange.closed_upstream = true;
    write_upstream(exchange, kCloseToServer);
  }
  if (!exchange.closed_client && exchange.to_client.between_frames()) {
    exchange.closed_client = true;
    if (!write(client, kCloseToClient, {})) return false;
  }
  if (exchange.closed_client && exchange.closed_upstream) {
    // The client answers with a close of its own and ends; it need not.
    timers_.set(client.timer, now_.monotonic_ms() + kAfterClose_ms);
  }
  return true;
}

// What was to be written is: ends are passed on, and the tunnel ends when both sides have.
void Proxy::tunnel_flushed(Exchange& exchange) {
  Client& client = *exchange.client;
  Upstream& upstream = *exchange.upstream;
  if (exchange.client_ended && upstream.out == nullptr && !exchange.closed_upstream) wire_.shut_write(upstream.fd);
  if (exchange.upstream_ended && client.out == nullptr) {
    end_tunnel(exchange);
  } else if (exchange.client_ended && exchange.closing_1012 && client.out == nullptr) {
    end_tunnel(exchange);
  }
}

void Proxy::end_tunnel(Exchange& exchange) {
  Client& client = *exchange.client;
  detach(exchange, false);
  finish(exchange);
  close_after_writing(client);
}

}  // namespace sluice::router
