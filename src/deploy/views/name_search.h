// Where an environment's name is used: what has to be looked at before the name can be given up. Each place is named by
// a file and what stands in it: rows by the store's file and CONCEPT/KEY/field, files by a JSON pointer.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {

enum class UseLevel { info, blocking };  // blocking: something that is used now would break
BOOST_DESCRIBE_ENUM(UseLevel, info, blocking)

struct NameUse {
  UseLevel level = UseLevel::info;
  std::string kind;  // environment, secrets, config or bundles; audit is for whoever can read the journal
  std::string file;
  std::string key;
  std::string what;
};
BOOST_DESCRIBE_STRUCT(NameUse, (), (level, kind, file, key, what))

// A name, and the environment that takes over what is of that name.
struct GivenUp {
  std::string name;
  std::string target;
};

// `store` is the file that the rows are said to be in. Answers of packs and manifests of archives are read from `disk`;
// what cannot be read blocks, since nobody knows what it says.
std::vector<NameUse> uses_of_environment(const lang::Snapshot& snapshot, Disk& disk, const GivenUp& names,
                                         const std::string& store);

}  // namespace sluice::deploy::views
