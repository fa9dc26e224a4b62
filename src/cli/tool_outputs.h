// Of what commands print (cli/outputs.h), that which holds structs of the tools and of the kit's views.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "deploy/views/name_search.h"
#include "mesh/compile.h"
#include "mesh/join.h"

namespace sluice::cli::outputs {

struct Migrated {
  std::string environment, name;
  bool clean = false;
  std::string outcome;  // "checked", "migrated", "aliased" or "nothing to do"
  std::vector<deploy::views::NameUse> findings;
};
BOOST_DESCRIBE_STRUCT(Migrated, (), (environment, name, clean, outcome, findings))

struct MeshTraced {
  std::vector<mesh::Traced> ways;
  bool signed_ = false;
};
BOOST_DESCRIBE_STRUCT(MeshTraced, (), (ways, signed_))

struct MeshJoined {
  std::string mgmt, ctrl;
  bool holds = false;
  std::vector<mesh::JoinRule> rules;
};
BOOST_DESCRIBE_STRUCT(MeshJoined, (), (mgmt, ctrl, holds, rules))

}  // namespace sluice::cli::outputs
