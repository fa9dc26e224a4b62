// The clients' side: reading heads and bodies, writing answers, closing.
#include <cstring>

#include "router/proxy/proxy.h"

namespace sluice::router {
namespace {

constexpr int64_t kHead_ms = 10'000;
constexpr int64_t kHandshake_ms = 10'000;
constexpr int64_t kKeepAlive_ms = 75'000;
constexpr int64_t kUnread_ms = 60'000;
constexpr int64_t kLinger_ms = 2'000;
constexpr int kReadsInATurn = 8;
constexpr size_t kCopied = 4'096;

}  // namespace

Client* Proxy::accept(int fd, const Address& peer, const Arrival& at) {
  Client* client = clients_.take();
  client->fd = fd;
  client->kind = Endpoint::Kind::client;
  client->readable = true;  // often the request is there already
  client->peer = {.at_unix = at.at_unix, .port = at.port};
  client->will_be_secure = at.secure;
  if (!at.at_unix) {
    introduce(*client, peer);
    client->peer.counted = true;
  }
  client->next = all_clients_;
  if (all_clients_ != nullptr) all_clients_->prev = client;
  all_clients_ = client;
  if (at.proxied) {
    client->phase = Client::Phase::introduced;
    timers_.set(client->timer, now_.monotonic_ms() + kHandshake_ms);
  } else {
    begin_client(*client);
  }
  add_spare(*client);
  wake(*client);
  return client;
}

// With its peer known: TLS begins, or requests.
void Proxy::begin_client(Client& client) {
  client.phase = Client::Phase::idle;
  if (client.will_be_secure) wire_.start_tls(client.fd);
  client.peer.tls = wire_.secured(client.fd);
  client.handshakes = client.peer.tls != nullptr;
  timers_.set(client.timer, now_.monotonic_ms() + (client.handshakes ? kHandshake_ms : kKeepAlive_ms));
}

void Proxy::happened(Client& client, const Happened& what) {
  if (client.fd < 0) return;
  if (what.broken) {
    close(client);
    return;
  }
  client.readable = client.readable || what.readable;
  client.end_near = client.end_near || what.ended;
  client.writable = client.writable || what.writable;
  progress(client);
}

void Proxy::progress(Client& client) {
  if (client.http2 != nullptr) {
    progress_stream(client);
    return;
  }
  if (client.out != nullptr && client.writable) {
    if (!flush(client)) return;
    if (client.out == nullptr) {
      if (client.phase == Client::Phase::closing) {
        linger(client);
        return;
      }
      Exchange* exchange = client.exchange;
      if (exchange != nullptr && exchange->tunnel) {
        tunnel_flushed(*exchange);
        if (client.fd < 0) return;
      }
      if (client.exchange != nullptr && client.exchange->upstream != nullptr) {
        Upstream& upstream = *client.exchange->upstream;
        if (upstream.readable) {
          wake(upstream);
        } else if (client.exchange->tunnel) {
          timers_.set(upstream.timer, now_.monotonic_ms() + client.exchange->timeouts.stream_idle_ms);
        } else if (!upstream.connecting) {
          await(*client.exchange);
        }
      }
    }
  }
  read(client);
}

// The next bytes that the client has sent, from what was kept or from the wire. False: none now, or the client is gone.
bool Proxy::take_input(Client& client, std::string_view& bytes) {
  bool partial = client.phase == Client::Phase::head;
  if (client.in != nullptr && !partial) {
    bytes = client.in->view();
    return true;
  }
  if (!client.readable || client.ended) return false;
  ssize_t size = wire_.read(client.fd, input_.get(), kReadBytes);
  if (client.handshakes) settle_tls(client);
  if (size == kWouldBlock) {
    client.readable = false;
    return false;
  }
  if (size == kBroken) {
    close(client);
    return false;
  }
  if (size == 0) {
    client.ended = true;
    client_ended(client);
    return false;
  }
  note_read(client, size, client.peer.tls);
  bytes = {input_.get(), static_cast<size_t>(size)};
  if (partial) {
    buffers_.append(client.in, bytes);
    bytes = client.in->view();
  }
  return true;
}

// So much was read. What comes next is told again, but for an end: one that was told before is still to be read, and
// that of TLS may have come with the last bytes.
void Proxy::note_read(Endpoint& endpoint, ssize_t size, const Secured* tls) {
  endpoint.end_near = endpoint.end_near || (tls != nullptr && tls->has_ended());
  if (static_cast<size_t>(size) < kReadBytes && !endpoint.end_near) endpoint.readable = false;
}

// Once its TLS is settled, it has as long as any other for its first request.
void Proxy::settle_tls(Client& client) {
  if (!client.peer.tls->is_established()) return;
  client.handshakes = false;
  timers_.set(client.timer, now_.monotonic_ms() + kKeepAlive_ms);
}

void Proxy::read(Client& client) {
  for (int turn = 0; turn < kReadsInATurn; ++turn) {
    if (client.fd < 0) return;
    Exchange* exchange = client.exchange;
    switch (client.phase) {
      case Client::Phase::lingering: {
        if (!client.readable) return;
        ssize_t size = wire_.read(client.fd, input_.get(), kReadBytes);
        if (size == kWouldBlock) client.readable = false;
        if (size == 0 || size == kBroken) close(client);
        continue;
      }
      case Client::Phase::introduced:
        if (!read_introduction(client)) return;
        continue;
      case Client::Phase::closing:
      case Client::Phase::held:
      case Client::Phase::asking:
        return;
      case Client::Phase::busy:
        // Nothing more is wanted, or what was read before still waits.
        if ((exchange->request.done && !exchange->tunnel) || exchange->client_ended || request_waits(*exchange)) return;
        break;
      case Client::Phase::idle:
      case Client::Phase::head:
        if (client.out != nullptr) return;
        break;
    }
    std::string_view bytes;
    if (!take_input(client, bytes)) return;
    bool kept = client.in != nullptr;
    size_t used = consume(client, bytes);
    if (client.fd < 0) return;
    if (kept) {
      if (client.in != nullptr) {
        client.in->drop(used);
        if (client.in->size() == 0) buffers_.give_up(client.in);
      }
    } else if (used < bytes.size() && client.phase != Client::Phase::lingering) {
      buffers_.append(client.in, bytes.substr(used));
    }
  }
  if (client.fd >= 0) wake(client);
}

// Uses what it can of the bytes, and says how much.
size_t Proxy::consume(Client& client, std::string_view bytes) {
  if (client.phase == Client::Phase::closing || client.phase == Client::Phase::lingering) return bytes.size();
  if (client.exchange != nullptr) {
    if (client.exchange->tunnel) return tunnel_from_client(*client.exchange, bytes);
    return forward_body(*client.exchange, bytes);
  }
  if (client.http2 == nullptr && !client.asked) {
    switch (speaks_http2(client, bytes)) {
      case Parsed::complete:
        become_http2(client, bytes);
        return bytes.size();
      case Parsed::incomplete:
        wait_for_head(client);
        return 0;
      case Parsed::bad:
        break;
    }
  }
  switch (parse_request_head(bytes, request_head_)) {
    case Parsed::bad:
      refuse(client, 400, request_head_.fault);
      return bytes.size();
    case Parsed::incomplete:
      wait_for_head(client);
      return 0;
    case Parsed::complete:
      break;
  }
  return begin(client, bytes);
}

void Proxy::wait_for_head(Client& client) {
  if (client.phase != Client::Phase::idle) return;
  client.phase = Client::Phase::head;
  timers_.set(client.timer, now_.monotonic_ms() + kHead_ms);
}

void Proxy::client_ended(Client& client) {
  Exchange* exchange = client.exchange;
  if (exchange == nullptr) {
    close(client);
  } else if (exchange->tunnel) {
    exchange->client_ended = true;
    tunnel_flushed(*exchange);
  } else if (!exchange->request.done) {
    // The request will never be whole.
    exchange->error = "the client ended in its request's body";
    close(client);
  }
}

// Writes what waits; false: the client is gone, or there is still some.
bool Proxy::flush(Client& client) {
  while (client.out != nullptr && client.writable) {
    std::string_view waiting = client.out->view();
    iovec part{const_cast<char*>(waiting.data()), waiting.size()};
    ssize_t size = wire_.write(client.fd, &part, 1);
    if (size == kBroken) {
      close(client);
      return false;
    }
    if (size == kWouldBlock) {
      client.writable = false;
      return false;
    }
    client.out->drop(static_cast<size_t>(size));
    if (client.out->size() == 0) {
      buffers_.give_up(client.out);
      if (client.exchange == nullptr) {
        add_spare(client);
      } else if (!client.exchange->closing_1012) {
        timers_.clear(client.timer);
      }
      return true;
    }
    if (client.exchange == nullptr) {
      timers_.set(client.timer, now_.monotonic_ms() + kUnread_ms);
    } else {
      const Timeouts& timeouts = client.exchange->timeouts;
      timers_.set(client.timer,
                  now_.monotonic_ms() + (client.exchange->tunnel ? timeouts.stream_idle_ms : timeouts.idle_ms));
    }
    // Less than there was: the next event says when there is room again.
    client.writable = false;
  }
  return client.out == nullptr;
}

// Writes both, and keeps what the wire does not take; false: the client is gone.
bool Proxy::write(Client& client, std::string_view first, std::string_view second) {
  size_t size = first.size() + second.size();
  if (client.exchange != nullptr) client.exchange->bytes_out += size;
  if (client.http2 != nullptr) {
    put_content(client, first);
    put_content(client, second);
    return true;
  }
  size_t written = 0;
  if (client.out == nullptr && client.writable && size > 0) {
    // One piece costs the kernel less than two; copying a little costs nearly nothing.
    if (!first.empty() && !second.empty() && first.data() == output_.get() && second.size() <= kCopied) {
      std::memcpy(output_.get() + first.size(), second.data(), second.size());
      first = {first.data(), size};
      second = {};
    }
    iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
    iovec* begin = first.empty() ? parts + 1 : parts;
    ssize_t done = wire_.write(client.fd, begin, static_cast<int>(parts + 2 - begin) - (second.empty() ? 1 : 0));
    if (done == kBroken) {
      if (client.exchange != nullptr) client.exchange->error = "the client was gone";
      close(client);
      return false;
    }
    if (done > 0) written = static_cast<size_t>(done);
    if (written < size) client.writable = false;
  }
  if (written == size) return true;
  if (written < first.size()) buffers_.append(client.out, first.substr(written));
  written = written < first.size() ? 0 : written - first.size();
  if (written < second.size()) buffers_.append(client.out, second.substr(written));
  int64_t wait_ms = kUnread_ms;
  if (client.exchange != nullptr) {
    const Timeouts& timeouts = client.exchange->timeouts;
    wait_ms = client.exchange->tunnel ? timeouts.stream_idle_ms : std::max<int64_t>(timeouts.idle_ms, 1);
  }
  timers_.set(client.timer, now_.monotonic_ms() + wait_ms);
  return true;
}

void Proxy::become_idle(Client& client) {
  if (client.http2 != nullptr) {
    end_stream(client);
    return;
  }
  client.exchange = nullptr;
  client.hold_over = false;
  client.elsewhere = PinElsewhere::not_asked;
  client.asked_us = 0;
  client.phase = Client::Phase::idle;
  if (stopping_ && !retiring_ && client.in == nullptr) {
    close_after_writing(client);
    return;
  }
  timers_.set(client.timer, now_.monotonic_ms() + kKeepAlive_ms);
  if (client.out == nullptr) add_spare(client);
  if (client.in != nullptr || client.readable) wake(client);
}

void Proxy::close_after_writing(Client& client) {
  if (client.http2 != nullptr) {
    end_stream(client);
    return;
  }
  client.phase = Client::Phase::closing;
  buffers_.give_up(client.in);
  timers_.set(client.timer, now_.monotonic_ms() + kUnread_ms);
  if (client.out == nullptr) linger(client);
}

// Closing at once while the client still sends would take from it what was just written.
void Proxy::linger(Client& client) {
  wire_.shut_write(client.fd);
  client.phase = Client::Phase::lingering;
  timers_.set(client.timer, now_.monotonic_ms() + kLinger_ms);
  add_spare(client);
  if (client.ended) {
    close(client);
  } else {
    wake(client);
  }
}

void Proxy::close(Client& client) {
  if (client.fd < 0) return;
  if (Exchange* exchange = client.exchange) {
    if (exchange->error[0] == '\0' && !exchange->tunnel) exchange->error = "the client was gone";
    detach(*exchange, false);
    finish(*exchange);
  }
  if (client.http2 != nullptr) {
    leave_connection(client);
  } else if (client.out == nullptr && !client.cut) {
    wire_.close(client.fd);
  } else {
    wire_.reset(client.fd);
  }
  forget(client);
}

// Its connection is closed, or somebody else's.
void Proxy::forget(Client& client) {
  client.fd = -1;
  client.exchange = nullptr;
  timers_.remove(client.timer);
  remove_spare(client);
  if (client.peer.counted) addresses_.leave(client.peer.ip);
  buffers_.give_up(client.in);
  buffers_.give_up(client.out);
  buffers_.give_up(client.trailers);
  if (client.phase == Client::Phase::held) std::erase(held_, &client);
  if (client.phase == Client::Phase::asking) pins_.forget(client);
  if (client.prev != nullptr) client.prev->next = client.next;
  if (client.next != nullptr) client.next->prev = client.prev;
  Client*& first = client.http2 != nullptr ? client.http2->streams : all_clients_;
  if (first == &client) first = client.next;
  clients_.give(&client);
}

void Proxy::fire(Client& client) {
  switch (client.phase) {
    case Client::Phase::asking:  // it will be answered
      return;
    case Client::Phase::introduced:
    case Client::Phase::idle:
    case Client::Phase::closing:
    case Client::Phase::lingering:
      close(client);
      return;
    case Client::Phase::head:
      refuse(client, 408, "the head did not come in time");
      return;
    case Client::Phase::held:
      std::erase(held_, &client);
      client.hold_over = true;
      client.phase = Client::Phase::idle;
      wake(client);
      return;
    case Client::Phase::busy:
      break;
  }
  Exchange& exchange = *client.exchange;
  if (client.out != nullptr || exchange.begun || exchange.tunnel) {
    if (!exchange.closing_1012) exchange.error = exchange.tunnel ? "the tunnel was idle" : "the client did not go on";
    close(client);
  } else {
    detach(exchange, false);
    exchange.keep_alive = false;
    answer(exchange, 408, "the body did not come in time");
  }
}

}  // namespace sluice::router
