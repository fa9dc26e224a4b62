// Headers of the PROXY protocol: whatever comes, what is taken for whole stays whole, and more bytes never make a bad
// one good. covers: src/router/proxy_header.cc
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "router/proxy_header.h"

using sluice::router::Parsed;
using sluice::router::ProxyHeader;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  Parsed before = Parsed::incomplete;
  size_t whole = 0;
  for (size_t most = 0; most <= size && most <= 300; ++most) {
    ProxyHeader header;
    const Parsed parsed = parse_proxy_header(input.substr(0, most), header);
    if (before != Parsed::incomplete && parsed != before) std::abort();
    if (parsed == Parsed::complete && (header.size > most || (whole != 0 && header.size != whole))) std::abort();
    if (parsed == Parsed::complete) whole = header.size;
    if (parsed == Parsed::bad && header.fault[0] == '\0') std::abort();
    if (header.has_addresses) (void)to_string(header.from);
    before = parsed;
  }
  return 0;
}
