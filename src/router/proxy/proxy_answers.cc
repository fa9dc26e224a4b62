// The end of an exchange: the router's own answers, counting and logging.
#include <array>
#include <cstring>

#include "router/http1/grpc_status.h"
#include "router/http1/own_answers.h"
#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr size_t kLogHandOver = 32 << 10;
constexpr int kRefusalsLoggedPerSecond = 10;

// Of a head that was written by the router itself: the method and the path of its first line, and its Host.
struct SentHead {
  std::string_view method, path, host;
};

SentHead read_sent_head(std::string_view sent) {
  SentHead head;
  std::string_view line = sent.substr(0, sent.find("\r\n"));
  head.method = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), head.method.size() + 1));
  head.path = line.substr(0, line.find_first_of(" ?"));
  size_t at = 0;
  while ((at = sent.find("\r\n", at)) != std::string_view::npos) {
    at += 2;
    if (sent.size() - at > 5 && equal_ignoring_case(sent.substr(at, 5), "host:")) {
      std::string_view rest = sent.substr(at + 5);
      head.host = without_blanks(rest.substr(0, rest.find('\r')));
      break;
    }
  }
  return head;
}

std::string_view tls_version(const Peer& peer) { return peer.tls != nullptr ? peer.tls->version() : ""; }
std::string_view protocol_of(const Exchange& exchange) {
  if (exchange.client->http2 != nullptr) return "HTTP/2";
  return exchange.old_client ? "HTTP/1.0" : "HTTP/1.1";
}

std::string_view sni(const Peer& peer) { return peer.tls != nullptr ? peer.tls->name() : ""; }

}  // namespace

// What is not a request: it is answered, and the connection ends.
void Proxy::refuse(Client& client, uint16_t status, const char* why) {
  refused_.store(refused_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::array<char, 32> digits;
  write_new_trace(digits.data());
  std::string_view trace(digits.data(), digits.size());
  text_.clear();
  write_own_answer({.status = status, .trace = trace}, text_);
  if (is_sampled() || is_refusal_logged()) {
    write_line({.wall_ms = now_.wall_ms,
                .environment = environment(),
                .peer = client.peer.address(),
                .trace = trace,
                .error = why,
                .tls_version = tls_version(client.peer),
                .sni = sni(client.peer),
                .status = status,
                .bytes_out = text_.size()});
  }
  client.phase = Client::Phase::closing;
  if (write_own(client)) close_after_writing(client);
}

// What is in `text_`.
bool Proxy::write_own(Client& client) {
  if (client.http2 == nullptr) return write(client, text_, {});
  if (client.exchange != nullptr) client.exchange->bytes_out += text_.size();
  put_own_answer(client, text_);
  return true;
}

void Proxy::note_grpc_status(Exchange& exchange, const ResponseHead& head) {
  for (uint32_t i = 0; i < head.headers.count; ++i) {
    const HeaderLine& line = head.headers.lines[i];
    if (equal_ignoring_case(line.name, "grpc-status")) exchange.grpc_status = read_grpc_status(line.value);
  }
}

// Where the request that was just read is to be asked with TLS.
std::string Proxy::secure_url() const {
  std::string url = "https://" + std::string(request_head_.host);
  if (secure_port_ != 443) url += ":" + std::to_string(secure_port_);
  if (request_head_.needs_slash) url += "/";
  return url + (request_head_.target == "*" ? "/" : std::string(request_head_.target));
}

bool Proxy::answer_challenge(Exchange& exchange, std::string_view target) {
  if (!target.starts_with(kChallengePath)) return false;
  const auto challenges = challenges_->now();
  const std::string* proof = challenges->answer(target.substr(kChallengePath.size()));
  if (proof == nullptr) return false;
  Client& client = *exchange.client;
  exchange.keep_alive = false;
  exchange.status = 200;
  exchange.begun = true;
  text_ =
      "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " + std::to_string(proof->size()) +
      "\r\nConnection: close\r\n\r\n";
  if (!exchange.is_head) text_ += *proof;
  if (!write_own(client)) return true;
  finish(exchange);
  close_after_writing(client);
  return true;
}

void Proxy::answer(Exchange& exchange, uint16_t status, const char* why, const Deployment* of) {
  Client& client = *exchange.client;
  if (stopping_ || !exchange.request.done || status == 400) exchange.keep_alive = false;
  exchange.status = status;
  exchange.error = why;
  exchange.begun = true;
  if (status >= 400 && status < 500) exchange.logged = exchange.logged || is_refusal_logged();
  bool trusted = is_asked_for(exchange.reason) && exchange.pool != nullptr;
  std::string location;
  if (status == 308) location = secure_url();
  const Deployment* deployment = exchange.pool != nullptr ? &exchange.pool->deployment() : of;
  text_.clear();
  // Who speaks gRPC reads nothing else. 421 is for the connection.
  if (exchange.grpc && status >= 400 && status != 421) {
    exchange.grpc_status = grpc_status_of(status);
    write_grpc_answer(status, {exchange.trace.data(), exchange.trace.size()}, text_);
  } else
    write_own_answer(
        {.status = status,
         .trace = {exchange.trace.data(), exchange.trace.size()},
         .reason = status == 403 ? why : "",
         .html = exchange.wants_html,
         .is_head = exchange.is_head,
         .old_client = exchange.old_client,
         .keep_alive = exchange.keep_alive,
         .deployment = trusted ? std::string_view(exchange.pool->deployment().id) : "",
         .revision = trusted ? std::string_view(exchange.pool->revision().id) : "",
         .hsts = client.peer.tls != nullptr && deployment != nullptr ? std::string_view(deployment->hsts) : "",
         .location = location,
         .paused = of != nullptr && of->paused && status == 503 ? of : nullptr},
        text_);
  if (!write_own(client)) return;
  bool keep_alive = exchange.keep_alive;
  finish(exchange, of);
  if (keep_alive) {
    become_idle(client);
  } else {
    close_after_writing(client);
  }
}

// Counts it, logs it and gives back all that it has. The client's connection is the caller's to go on with.
void Proxy::finish(Exchange& exchange, const Deployment* of) {
  count(exchange);
  log(exchange, exchange.pool != nullptr ? &exchange.pool->deployment() : of);
  if (exchange.pool != nullptr) {
    Gauge& gauge = counters_.gauge(lane_, exchange.series);
    gauge.in_flight.fetch_sub(1, std::memory_order_relaxed);
    if (exchange.tunnel && exchange.is_websocket) gauge.websockets.fetch_sub(1, std::memory_order_relaxed);
    exchange.pool->remove_exchange(exchange);
  }
  buffers_.give_up(exchange.sent);
  buffers_.give_up(exchange.cookie);
  exchange.client->exchange = nullptr;
  exchanges_.give(&exchange);
}

void Proxy::count(Exchange& exchange) {
  if (exchange.pool == nullptr) return;
  Counts& counts = counters_.of(lane_, exchange.series);
  // A client that left before there was an answer.
  if (exchange.status == 0) exchange.status = 499;
  auto latency_us = static_cast<uint64_t>(std::max<int64_t>(now_.monotonic_us - exchange.begun_us, 0));
  add(counts.requests, 1);
  add(counts.bytes_in, exchange.bytes_in);
  add(counts.bytes_out, exchange.bytes_out);
  const uint16_t status =
      exchange.grpc_status > 0 && exchange.status < 400 ? http_status_of(exchange.grpc_status) : exchange.status;
  add(counts.classes[std::min<size_t>(status / 100 - 1, 4)], 1);
  if (exchange.tunnel) return;  // how long it was open says nothing about how quick it is
  add(counts.latency_us, latency_us);
  add(counts.latencies[latency_bucket(latency_us)], 1);
}

bool Proxy::is_sampled() {
  const Table* table = this->table();
  if (table == nullptr) return false;
  sample_ = sample_ * 1'664'525 + 1'013'904'223;
  return (sample_ >> 16) * 10'000 >> 16 < table->settings->access_log_bps;
}

// What the router itself refuses is logged though it is not sampled, so that who has its number finds why; but only so
// many of a thread, or strangers could fill the disk.
bool Proxy::is_refusal_logged() {
  int64_t second = now_.monotonic_us / 1'000'000;
  if (refusals_second_ != second) {
    refusals_second_ = second;
    refusals_logged_ = 0;
  }
  return refusals_logged_++ < kRefusalsLoggedPerSecond;
}

void Proxy::log(Exchange& exchange, const Deployment* of) {
  const bool failed =
      exchange.status >= 500 || (exchange.grpc_status > 0 && http_status_of(exchange.grpc_status) >= 500);
  if (!failed && !exchange.logged) return;
  SentHead head;
  if (exchange.sent != nullptr) {
    head = read_sent_head(exchange.sent->view());
  } else if (exchange.pool == nullptr) {
    head = {request_head_.method, request_head_.path, request_head_.authority};
  }
  write_line({.wall_ms = now_.wall_ms,
              .environment = environment(),
              .deployment = of,
              .revision = exchange.pool != nullptr ? std::string_view(exchange.pool->revision().id) : "",
              .generation = exchange.generation,
              .reason = exchange.reason,
              .method = head.method,
              .host = head.host,
              .path = head.path,
              .peer = exchange.client->peer.address(),
              .trace = {exchange.trace.data(), exchange.trace.size()},
              .error = exchange.error,
              .protocol = protocol_of(exchange),
              .tls_version = tls_version(exchange.client->peer),
              .sni = sni(exchange.client->peer),
              .status = exchange.status,
              .grpc_status = exchange.grpc_status,
              .bytes_in = exchange.bytes_in,
              .bytes_out = exchange.bytes_out,
              .duration_us = now_.monotonic_us - exchange.begun_us});
}

void Proxy::write_line(const LoggedRequest& request) {
  write_log_line(request, log_lines_);
  if (log_lines_.size() > kLogHandOver) hand_over_log();
}

}  // namespace sluice::router
