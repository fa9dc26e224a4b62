// The header of the PROXY protocol, versions 1 and 2: who stands before the router says whom it speaks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "router/address.h"
#include "router/http1/http1_parser.h"

namespace sluice::router {

// Version 2 may carry more than addresses; what is larger than this is refused.
inline constexpr size_t kMaxProxyHeader = 2'048;

struct ProxyHeader {
  size_t size = 0;
  bool has_addresses = false;  // else the connection is the proxy's own, or of a kind without addresses
  Address from;
  uint16_t to_port = 0;
  const char* fault = "";
};

// Parses from the beginning: complete, incomplete (call again with more) or bad, with `fault`.
Parsed parse_proxy_header(std::string_view input, ProxyHeader& header);

}  // namespace sluice::router
