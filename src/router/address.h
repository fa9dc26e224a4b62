// Addresses: where to listen, where replicas are, and which peers are trusted.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::router {

// An address of a socket, IPv4, IPv6 or Unix.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  uint16_t port() const;  // 0 of a Unix socket
};

// "127.0.0.1:8080", "[::1]:8080" or "unix:/path". Names are not looked up.
Result<Address> parse_address(std::string_view text);
// The same with "tcp:" or "tls:" before the first two.
Result<Address> parse_replica_address(std::string_view text);
// As parse_address reads it.
std::string to_string(const Address& address);

// The number alone, an IPv4 address inside an IPv6 one as IPv4; empty for Unix.
std::string host_text(const Address& address);

// Sixteen bytes that stand for an IPv4 or IPv6 address; IPv4 as mapped into IPv6.
using IpBytes = std::array<uint8_t, 16>;
IpBytes ip_bytes(const Address& address);

struct Network {
  IpBytes address{};
  uint8_t bits = 128;  // counted in the sixteen bytes

  bool contains(const IpBytes& ip) const;
};

// "10.0.0.0/8", "::1/128", or an address alone.
Result<Network> parse_network(std::string_view text);

}  // namespace sluice::router
