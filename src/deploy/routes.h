// Which requests a deployment is for: its route binding, as a set of routes that can be compared.
//
// A binding has hosts (exact, or "*." and a name, which is for one or more labels in its place), path prefixes (by
// whole segments) and perhaps a tenant and a team. No hosts: any host; no prefixes: any path; neither: it is reached by
// nobody from outside. A route is one host with one prefix. Of the routes that match a request the one of the highest
// rank counts: first by host (exact before wildcard, a longer wildcard before a shorter, any host last), then by the
// number of segments of the prefix, then by whether tenant and team are named. So two routes can both count for one
// request only if their ranks are equal, and that is so exactly when they are the same route: what is refused when a
// binding is set.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::deploy {

struct RouteBinding {
  std::vector<std::string> hosts;
  std::vector<std::string> path_prefixes;
  std::string tenant;
  std::string team;

  bool operator==(const RouteBinding&) const = default;
};

// Checked, small letters in hosts, no trailing slashes, each once and in order; or what is wrong with it.
Result<RouteBinding> normal_binding(const RouteBinding& given);

struct Route {
  std::string host;    // empty: any
  std::string prefix;  // "/" or "/a/b"
  std::string tenant;  // empty: any
  std::string team;    // empty: any

  auto operator<=>(const Route&) const = default;
};

// Of a normal binding.
std::vector<Route> routes_of(const RouteBinding& binding);

struct RouteRequest {
  std::string host;
  std::string path;
  std::string tenant;
  std::string team;
};

bool matches(const Route& route, const RouteRequest& request);

struct RouteRank {
  int host = 0;  // 0: any; the number of labels of a wildcard's name; more than any of these: exact
  int segments = 0;
  int selectors = 0;

  auto operator<=>(const RouteRank&) const = default;
};
RouteRank rank_of(const Route& route);

// A route that both have, as people write it; none if no request can mean both.
std::optional<std::string> shared_route(const RouteBinding& one, const RouteBinding& other);

}  // namespace sluice::deploy
