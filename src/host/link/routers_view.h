// The view `router-list`: those that serve the environments, here and on other machines, and how far each of them is.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "host/moment.h"

namespace sluice::host {

struct RoutersQuery {
  std::string environment;  // empty: all
  static constexpr std::string_view kDefaulted[] = {"environment"};
};
BOOST_DESCRIBE_STRUCT(RoutersQuery, (), (environment))

struct RouterRow {
  std::string environment;
  std::string name;
  std::string router;
  bool reachable = false;       // somebody is at its control socket
  int64_t generation = 0;       // of the table that it has acknowledged
  int64_t newest = 0;           // that there is
  std::string trouble;          // why it has not acknowledged the newest
  OrNull<std::string> machine;  // another one, as it calls itself; null: this one
  OrNull<std::string> address;  // that it is linked from, or was last
  std::vector<std::string> listen;
  OrNull<int64_t> certificate_s;  // for how long the certificate of one on another machine holds; below 0: it has ended
};
BOOST_DESCRIBE_STRUCT(RouterRow, (),
                      (environment, name, router, reachable, generation, newest, trouble, machine, address, listen,
                       certificate_s))

struct RoutersDocument {
  std::vector<RouterRow> routers;
};
BOOST_DESCRIBE_STRUCT(RoutersDocument, (), (routers))

std::vector<HostView> routers_views();

}  // namespace sluice::host
