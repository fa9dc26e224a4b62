// Parsing is strict, so that what has been read compares byte by byte.
#include "deploy/routes.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/terminal.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxEach = 32;
constexpr size_t kMaxHost = 253;
constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxPath = 1000;
constexpr size_t kMaxSelector = 100;
constexpr int kExact = 1000;  // more labels than a name can have

Error bad_route(const std::string& what, const std::string& value, const std::string& why) {
  return {.code = Code::invalid, .message = what + " '" + printable(value.substr(0, 80)) + "': " + why};
}

bool in_label(char c) { return is_lower(c) || is_digit(c); }

Result<std::string> normal_host(const std::string& given) {
  std::string host = given;
  for (char& c : host) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view rest = host;
  if (rest.starts_with("*.")) rest.remove_prefix(2);
  if (rest.empty() || host.size() > kMaxHost) return bad_route("host", given, "expected a name such as shop.example");
  while (true) {
    std::string_view label = rest.substr(0, rest.find('.'));
    if (label.empty() || label.size() > kMaxLabel || !in_label(label.front()) || !in_label(label.back()) ||
        !std::ranges::all_of(label, [](char c) { return in_label(c) || c == '-'; })) {
      return bad_route("host", given, "expected a name such as shop.example or *.shop.example");
    }
    if (label.size() == rest.size()) return host;
    rest.remove_prefix(label.size() + 1);
  }
}

Result<std::string> normal_prefix(const std::string& given) {
  if (!given.starts_with('/')) return bad_route("path", given, "a path begins with /");
  if (given.find("//") != std::string::npos) {
    return bad_route("path", given, "its segments are names, none of them empty");
  }
  if (given.size() > kMaxPath) return bad_route("path", given, "it is longer than 1000 characters");
  for (unsigned char c : given) {
    if (c <= ' ' || c >= 0x7f || c == '?' || c == '#' || c == '%' || c == '\\' || c == '*') {
      return bad_route("path", given, "it has a character that could mean something else");
    }
  }
  std::string prefix = given;
  if (prefix.size() > 1 && prefix.ends_with('/')) prefix.pop_back();
  for (std::string_view wrong : {"/./", "/../"}) {
    if ((prefix + "/").find(wrong) != std::string::npos && prefix != "/") {
      return bad_route("path", given, "its segments are names, none of them empty");
    }
  }
  return prefix;
}

Result<void> check_selector(const std::string& what, const std::string& value) {
  auto fits = [](char c) { return in_label(c) || is_upper(c) || c == '-' || c == '_' || c == '.'; };
  if (value.size() <= kMaxSelector && std::ranges::all_of(value, fits)) return {};
  return bad_route(what, value, "expected letters, digits, -, _ and .");
}

Result<std::vector<std::string>> normal_list(const std::string& what, const std::vector<std::string>& given,
                                             Result<std::string> (*normal)(const std::string&)) {
  if (given.size() > kMaxEach) return Error{.code = Code::invalid, .message = "at most 32 " + what + " are taken"};
  std::vector<std::string> all;
  for (const std::string& each : given) {
    auto one = normal(each);
    if (!one) return one.error();
    all.push_back(*std::move(one));
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

Result<RouteBinding> normal_binding(const RouteBinding& given) {
  auto hosts = normal_list("hosts", given.hosts, normal_host);
  if (!hosts) return hosts.error();
  auto prefixes = normal_list("paths", given.path_prefixes, normal_prefix);
  if (!prefixes) return prefixes.error();
  if (auto sound = check_selector("tenant", given.tenant); !sound) return sound.error();
  if (auto sound = check_selector("team", given.team); !sound) return sound.error();
  if (!given.team.empty() && given.tenant.empty()) {
    return Error{.code = Code::invalid, .message = "a team is one of a tenant; name the tenant too"};
  }
  if (!given.tenant.empty() && hosts->empty() && prefixes->empty()) {
    return Error{.code = Code::invalid,
                 .message = "a route with a tenant needs a host or a path",
                 .next = "add --host or --path"};
  }
  return RouteBinding{*std::move(hosts), *std::move(prefixes), given.tenant, given.team};
}

std::vector<Route> routes_of(const RouteBinding& binding) {
  std::vector<Route> routes;
  if (binding.hosts.empty() && binding.path_prefixes.empty()) return routes;
  const std::vector<std::string> any_host = {""}, any_path = {"/"};
  for (const std::string& host : binding.hosts.empty() ? any_host : binding.hosts) {
    for (const std::string& prefix : binding.path_prefixes.empty() ? any_path : binding.path_prefixes) {
      routes.push_back({host, prefix, binding.tenant, binding.team});
    }
  }
  return routes;
}

bool matches(const Route& route, const RouteRequest& request) {
  if (route.host.starts_with("*.")) {
    std::string_view name = std::string_view(route.host).substr(1);  // with its dot
    if (request.host.size() <= name.size() || !request.host.ends_with(name)) return false;
  } else if (!route.host.empty() && route.host != request.host) {
    return false;
  }
  if (route.prefix != "/") {
    if (!request.path.starts_with(route.prefix)) return false;
    if (request.path.size() > route.prefix.size() && request.path[route.prefix.size()] != '/') return false;
  }
  return (route.tenant.empty() || route.tenant == request.tenant) && (route.team.empty() || route.team == request.team);
}

RouteRank rank_of(const Route& route) {
  RouteRank rank;
  auto dots = static_cast<int>(std::ranges::count(route.host, '.'));
  if (!route.host.empty()) rank.host = route.host.starts_with("*.") ? dots : kExact;
  rank.segments = route.prefix == "/" ? 0 : static_cast<int>(std::ranges::count(route.prefix, '/'));
  rank.selectors = (route.tenant.empty() ? 0 : 2) + (route.team.empty() ? 0 : 1);
  return rank;
}

std::optional<std::string> shared_route(const RouteBinding& one, const RouteBinding& other) {
  std::vector<Route> mine = routes_of(one), theirs = routes_of(other), both;
  std::ranges::sort(mine);
  std::ranges::sort(theirs);
  std::ranges::set_intersection(mine, theirs, std::back_inserter(both));
  if (both.empty()) return std::nullopt;
  const Route& route = both.front();
  std::string text = (route.host.empty() ? "any host" : route.host) + (route.host.empty() ? ", " : "") + route.prefix;
  if (!route.tenant.empty()) text += " for tenant " + route.tenant;
  if (!route.team.empty()) text += ", team " + route.team;
  return text;
}

}  // namespace sluice::deploy
