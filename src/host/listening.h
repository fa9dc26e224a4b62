// Where a control plane listens, and what it is called there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::host {

struct Where {
  std::string address;
  uint16_t port = 0;
};

// "127.0.0.1:8080", "[::1]:8080". Others than this machine may reach it only through TLS.
Result<Where> where_in(const std::string& text, bool tls);

// What this machine is called by those who reach it: its name, and the address that it listens at or, at any, all.
void add_own_names(std::vector<std::string>& names, const std::string& address);

// "https://mill:8400": what others call what listens there; at any address, by the machine's name.
std::string url_of(const Where& where, bool tls);

}  // namespace sluice::host
