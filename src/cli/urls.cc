// Each address with each host and each path.
#include "cli/urls.h"

namespace sluice::cli {

std::vector<std::string> urls_of(const std::vector<std::string>& listen, const deploy::views::RouteDocument& route) {
  std::vector<std::string> urls;
  std::vector<std::string> prefixes = route.path_prefixes;
  if (prefixes.empty()) prefixes = {"/"};
  for (const std::string& place : listen) {
    const size_t how = place.find(',');  // "127.0.0.1:8443,tls"
    const std::string address = place.substr(0, how);
    const std::string scheme = how != std::string::npos ? "https://" : "http://";
    const size_t colon = address.rfind(':');
    if (address.starts_with("unix:") || colon == std::string::npos) continue;
    std::vector<std::string> hosts;
    for (const std::string& host : route.hosts) {
      if (!host.starts_with("*.")) hosts.push_back(host);
    }
    if (route.hosts.empty()) hosts = {address.substr(0, colon)};
    for (const std::string& host : hosts) {
      for (const std::string& prefix : prefixes) urls.push_back(scheme + host + address.substr(colon) + prefix);
    }
  }
  return urls;
}

}  // namespace sluice::cli
