// Connections whose first bytes say whom they speak for: the header of the PROXY protocol, believed from trusted
// proxies alone.
#include <cstring>

#include "router/proxy/proxy.h"
#include "router/proxy_header.h"

namespace sluice::router {

// Who is at the other end.
void Proxy::introduce(Client& client, const Address& peer) {
  const std::string text = host_text(peer);
  client.peer.size = static_cast<uint8_t>(std::min(text.size(), client.peer.text.size()));
  std::memcpy(client.peer.text.data(), text.data(), client.peer.size);
  client.peer.ip = ip_bytes(peer);
  client.peer.trust_stamp = 0;
}

// False: more is to come, or it is gone.
bool Proxy::read_introduction(Client& client) {
  if (!client.readable) return false;
  if (table() == nullptr || !is_trusted(client.peer)) {
    turn_away(client, "a PROXY header from who is no trusted proxy");
    return false;
  }
  char bytes[kMaxProxyHeader];
  const ssize_t size = wire_.peek(client.fd, bytes, sizeof bytes);
  if (size == kWouldBlock) {
    client.readable = false;
    return false;
  }
  if (size <= 0) {
    close(client);
    return false;
  }
  ProxyHeader header;
  switch (parse_proxy_header({bytes, static_cast<size_t>(size)}, header)) {
    case Parsed::bad:
      turn_away(client, header.fault);
      return false;
    case Parsed::incomplete:
      client.readable = false;  // what comes next is told
      if (client.end_near) close(client);
      return false;
    case Parsed::complete:
      break;
  }
  // It is there, so all of it is read.
  for (size_t left = header.size; left > 0;) {
    const ssize_t read = wire_.read(client.fd, bytes, left);
    if (read <= 0) {
      close(client);
      return false;
    }
    left -= static_cast<size_t>(read);
  }
  if (header.has_addresses) {
    if (std::exchange(client.peer.counted, false)) addresses_.leave(client.peer.ip);
    introduce(client, header.from);
    client.peer.at_unix = false;
    client.peer.port = header.to_port;
    if (!enter(client.peer.ip)) {
      close(client);
      return false;
    }
    client.peer.counted = true;
  }
  begin_client(client);
  return true;
}

// Without a word: what it speaks is not known.
void Proxy::turn_away(Client& client, const char* why) {
  refused_.store(refused_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (is_sampled() || is_refusal_logged()) {
    std::array<char, 32> trace;
    write_new_trace(trace.data());
    write_line({.wall_ms = now_.wall_ms,
                .environment = environment(),
                .peer = client.peer.address(),
                .trace = {trace.data(), trace.size()},
                .error = why});
  }
  close(client);
}

}  // namespace sluice::router
