// Version 1 is a line of text, version 2 begins with twelve bytes that no other protocol begins with.
#include "router/proxy_header.h"

#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string>

namespace sluice::router {
namespace {

constexpr std::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr size_t kFixed = 16;     // of version 2, before the addresses
constexpr size_t kMaxLine = 107;  // of version 1, with CRLF

Parsed bad_header(ProxyHeader& header, const char* fault) {
  header.fault = fault;
  return Parsed::bad;
}

bool read_port(std::string_view text, uint16_t& port) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
         (text.size() == 1 || text[0] != '0');
}

Parsed parse_line(std::string_view input, ProxyHeader& header) {
  constexpr std::string_view kWord = "PROXY ";
  const size_t end = input.substr(0, kMaxLine).find("\r\n");
  if (end == std::string_view::npos) {
    if (!input.starts_with(kWord.substr(0, input.size()))) return bad_header(header, "no PROXY header");
    return input.size() < kMaxLine ? Parsed::incomplete : bad_header(header, "a PROXY header without an end");
  }
  std::string_view line = input.substr(0, end);
  if (!line.starts_with(kWord)) return bad_header(header, "no PROXY header");
  line.remove_prefix(kWord.size());
  header.size = end + 2;
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return Parsed::complete;
  std::array<std::string_view, 5> words;
  size_t count = 0;
  while (count < words.size()) {
    const size_t blank = line.find(' ');
    words[count++] = line.substr(0, blank);
    if (blank == std::string_view::npos) break;
    line.remove_prefix(blank + 1);
    if (count == words.size()) return bad_header(header, "a PROXY header with too much in it");
  }
  const bool is_v6 = words[0] == "TCP6";
  if (count != words.size() || (!is_v6 && words[0] != "TCP4")) return bad_header(header, "a PROXY header of no kind");
  uint16_t port = 0;
  if (!read_port(words[3], port) || !read_port(words[4], header.to_port)) {
    return bad_header(header, "a PROXY header with a port that is none");
  }
  auto place = [&](std::string_view ip, std::string_view of_port) {
    const std::string host(ip);
    return parse_address((is_v6 ? "[" + host + "]" : host) + ":" + std::string(of_port));
  };
  auto from = place(words[1], words[3]), to = place(words[2], words[4]);
  if (!from || !to) return bad_header(header, "a PROXY header with an address that is none");
  header.from = *from;
  header.has_addresses = true;
  return Parsed::complete;
}

Parsed parse_binary(std::string_view input, ProxyHeader& header) {
  if (input.size() < kFixed) return Parsed::incomplete;
  auto byte = [&](size_t at) { return static_cast<uint8_t>(input[at]); };
  const uint8_t version = byte(12) >> 4, command = byte(12) & 15, family = byte(13) >> 4, transport = byte(13) & 15;
  const size_t size = static_cast<size_t>(byte(14)) << 8 | byte(15);
  if (version != 2 || command > 1) return bad_header(header, "a PROXY header of another version");
  if (kFixed + size > kMaxProxyHeader) return bad_header(header, "a PROXY header that is too large");
  if (input.size() < kFixed + size) return Parsed::incomplete;
  header.size = kFixed + size;
  if (command == 0) return Parsed::complete;  // the proxy's own
  if (family > 3 || transport > 2) return bad_header(header, "a PROXY header of no kind");
  if (family == 0 || family == 3 || transport != 1) return Parsed::complete;  // nothing that can be said of a peer
  const size_t ip = family == 1 ? 4 : 16;
  if (size < 2 * ip + 4) return bad_header(header, "a PROXY header without its addresses");
  const char* at = input.data() + kFixed;
  if (family == 1) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(header.from.storage);
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, at, ip);
    std::memcpy(&v4.sin_port, at + 2 * ip, 2);
    header.from.size = sizeof v4;
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(header.from.storage);
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, at, ip);
    std::memcpy(&v6.sin6_port, at + 2 * ip, 2);
    header.from.size = sizeof v6;
  }
  header.to_port =
      static_cast<uint16_t>(static_cast<uint8_t>(at[2 * ip + 2]) << 8 | static_cast<uint8_t>(at[2 * ip + 3]));
  header.has_addresses = true;
  return Parsed::complete;
}

}  // namespace

Parsed parse_proxy_header(std::string_view input, ProxyHeader& header) {
  header = {};
  if (input.empty()) return Parsed::incomplete;
  const std::string_view begin = kSignature.substr(0, input.size());
  return input.starts_with(begin) ? parse_binary(input, header) : parse_line(input, header);
}

}  // namespace sluice::router
