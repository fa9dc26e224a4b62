// The view `name-uses`: where the name of an environment is used, in rows, files and records of the journal, before it
// is given up for another one.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "deploy/views/name_search.h"
#include "host/moment.h"

namespace sluice::host {

struct NameUsesQuery {
  std::string name;         // that is to be given up
  std::string environment;  // that takes over
};
BOOST_DESCRIBE_STRUCT(NameUsesQuery, (), (name, environment))

struct NameUsesDocument {
  std::string environment;
  OrNull<std::string> warning;  // about a name of the environment that is itself given up
  std::string name;
  bool exists = false;   // there is an environment of this name
  bool aliased = false;  // it means the other environment already
  std::vector<deploy::views::NameUse> findings;
};
BOOST_DESCRIBE_STRUCT(NameUsesDocument, (), (environment, warning, name, exists, aliased, findings))

std::vector<HostView> name_uses_views();

}  // namespace sluice::host
