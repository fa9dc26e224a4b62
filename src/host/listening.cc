// Addresses are taken apart by their last colon; those of version 6 stand in brackets.
#include "host/listening.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::host {

Result<Where> where_in(const std::string& text, bool tls) {
  const size_t colon = text.rfind(':');
  Where where{.address = text.substr(0, colon == std::string::npos ? 0 : colon)};
  if (where.address.starts_with('[') && where.address.ends_with(']')) {
    where.address = where.address.substr(1, where.address.size() - 2);
  }
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), where.port);
  if (where.address.empty() || port.empty() || failure != std::errc() || end != port.data() + port.size()) {
    return Error{.code = Code::usage,
                 .message = "'" + text + "' is no address to listen at",
                 .next = "write ADDRESS:PORT, such as 127.0.0.1:8400"};
  }
  if (!tls && !where.address.starts_with("127.") && where.address != "::1") {
    return Error{.code = Code::usage,
                 .message = where.address +
                            " can be reached from elsewhere, and tokens would cross the network in the "
                            "clear; nothing was started",
                 .next = "give it a certificate: --tls-cert FILE --tls-key FILE, or --tls-own"};
  }
  return where;
}

void add_own_names(std::vector<std::string>& names, const std::string& address) {
  auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) add(host.data());
  add("localhost");
  add("127.0.0.1");
  add("::1");
  const bool any = address == "0.0.0.0" || address == "::";
  if (!any) return add(address);
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return;
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    std::array<char, NI_MAXHOST> text{};
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if ((family != AF_INET && family != AF_INET6) ||
        ::getnameinfo(each->ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
      continue;
    }
    const std::string name = text.data();
    if (name.find('%') == std::string::npos) add(name);  // those of one link are nobody's name
  }
  ::freeifaddrs(found);
}

std::string url_of(const Where& where, bool tls) {
  std::string host = where.address;
  if (host == "0.0.0.0" || host == "::") {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) == 0) host = name.data();
  }
  const bool six = host.find(':') != std::string::npos;
  return (tls ? "https://" : "http://") + (six ? "[" + host + "]" : host) + ":" + std::to_string(where.port);
}

}  // namespace sluice::host
