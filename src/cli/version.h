// What `sluice --version` says: name, version and the commit that it was built from.
#pragma once

#include <string>

namespace sluice::cli {

struct Version {
  std::string number;
  std::string commit;
};

Version version();

// "sluice 0.1.0 (0123456789ab)"
std::string version_line();

}  // namespace sluice::cli
