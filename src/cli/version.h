// What `sluice --version` says: name, version and the commit that it was built from.
#pragma once

#include <string>

namespace sluice::cli {

std::string version_line();

}  // namespace sluice::cli
