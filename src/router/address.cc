// Text to socket addresses and back; only literal addresses, as looking up names would wait.
#include "router/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <charconv>
#include <cstddef>
#include <cstring>

#include "base/terminal.h"

namespace sluice::router {
namespace {

Error bad_address(std::string_view text, std::string_view expected) {
  return {.code = Code::invalid,
          .message =
              "'" + printable(std::string(text.substr(0, 200))) + "' is no address; expected " + std::string(expected)};
}

bool read_number(std::string_view text, unsigned most, unsigned& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() && number <= most;
}

bool read_ip(const std::string& text, Address& address) {
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    address.size = sizeof(sockaddr_in);
    return true;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    address.size = sizeof(sockaddr_in6);
    return true;
  }
  return false;
}

}  // namespace

uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  return 0;
}

Result<Address> parse_address(std::string_view text) {
  Address address;
  if (text.starts_with("unix:")) {
    std::string_view path = text.substr(5);
    auto& name = reinterpret_cast<sockaddr_un&>(address.storage);
    if (!path.starts_with('/') || path.size() >= sizeof name.sun_path || path.find('\0') != std::string_view::npos) {
      return bad_address(text, "unix: and an absolute path of at most 107 bytes");
    }
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
    return address;
  }
  constexpr std::string_view kExpected = "127.0.0.1:8080, [::1]:8080 or unix:/path";
  size_t colon = text.rfind(':');
  unsigned port = 0;
  if (colon == std::string_view::npos || !read_number(text.substr(colon + 1), 65535, port)) {
    return bad_address(text, kExpected);
  }
  std::string host(text.substr(0, colon));
  bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!read_ip(host, address) || bracketed != (address.family() == AF_INET6)) return bad_address(text, kExpected);
  // The port is at the same place in both.
  reinterpret_cast<sockaddr_in&>(address.storage).sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

Result<Address> parse_replica_address(std::string_view text) {
  constexpr std::string_view kExpected = "tcp:127.0.0.1:9000, tcp:[::1]:9000, tls:10.0.0.7:8443 or unix:/path";
  const bool is_ip = text.starts_with("tcp:") || text.starts_with("tls:");
  if (!is_ip && !text.starts_with("unix:")) return bad_address(text, kExpected);
  auto address = parse_address(is_ip ? text.substr(4) : text);
  if (!address || is_ip != (address->family() != AF_UNIX)) return bad_address(text, kExpected);
  if (is_ip && address->port() == 0) return bad_address(text, "a port other than 0");
  return address;
}

std::string host_text(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.family() == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr, text, sizeof text);
  } else if (address.family() == AF_INET6) {
    const in6_addr& ip = reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
      ::inet_ntop(AF_INET, &ip.s6_addr[12], text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &ip, text, sizeof text);
    }
  }
  return text;
}

std::string to_string(const Address& address) {
  if (address.family() == AF_UNIX)
    return std::string("unix:") + reinterpret_cast<const sockaddr_un&>(address.storage).sun_path;
  std::string host = host_text(address);
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return host + ":" + std::to_string(address.port());
}

IpBytes ip_bytes(const Address& address) {
  IpBytes bytes{};
  if (address.family() == AF_INET) {
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(&bytes[12], &reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr, 4);
  } else if (address.family() == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr, 16);
  }
  return bytes;
}

bool Network::contains(const IpBytes& ip) const {
  int whole = bits / 8;
  if (std::memcmp(ip.data(), address.data(), static_cast<size_t>(whole)) != 0) return false;
  if (bits % 8 == 0) return true;
  int mask = 0xff << (8 - bits % 8);
  return ((ip[static_cast<size_t>(whole)] ^ address[static_cast<size_t>(whole)]) & mask) == 0;
}

Result<Network> parse_network(std::string_view text) {
  constexpr std::string_view kExpected = "10.0.0.0/8, ::1/128 or an address alone";
  size_t slash = text.find('/');
  Address address;
  if (!read_ip(std::string(text.substr(0, slash)), address)) return bad_address(text, kExpected);
  unsigned most = address.family() == AF_INET ? 32 : 128, bits = most;
  if (slash != std::string_view::npos && !read_number(text.substr(slash + 1), most, bits)) {
    return bad_address(text, kExpected);
  }
  return Network{.address = ip_bytes(address), .bits = static_cast<uint8_t>(bits + (most == 32 ? 96 : 0))};
}

}  // namespace sluice::router
