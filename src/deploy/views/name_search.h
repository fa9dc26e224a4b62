// Where an environment's name is used: what has to be looked at before the name can be given up. Each place is named by
// a file and what stands in it: rows by the store's file and CONCEPT/KEY/field, files by a JSON pointer.
#pragma once

#include <string>
#include <vector>

#include "base/disk.h"
#include "base/document.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {

struct NameUse {
  enum class Level { info, blocking };  // blocking: something that is used now would break
  Level level = Level::info;
  std::string kind;  // environment, secrets, config or bundles; audit is for whoever can read the journal
  std::string file;
  std::string key;
  std::string what;
};

// A name, and the environment that takes over what is of that name.
struct GivenUp {
  std::string name;
  std::string target;
};

// `store` is the file that the rows are said to be in. Answers of packs and manifests of archives are read from `disk`;
// what cannot be read blocks, since nobody knows what it says.
std::vector<NameUse> uses_of_environment(const lang::Snapshot& snapshot, Disk& disk, const GivenUp& names,
                                         const std::string& store);

json::object json_of(const NameUse& use);

}  // namespace sluice::deploy::views
