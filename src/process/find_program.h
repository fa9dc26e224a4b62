// Which file a command names.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace sluice::process {

// A name with a slash is a path, from `folder` unless it is absolute. Any other is looked up in the PATH of the
// environment, of which only absolute entries count: a program that happens to lie in the folder is not meant by its
// name alone.
Result<std::string> find_program(const std::string& name, const std::string& folder,
                                 const std::map<std::string, std::string>& environment);

}  // namespace sluice::process
