// Version and commit come from the build.
#include "cli/version.h"

#include "base/version.h"
#include "commit.gen.h"

namespace sluice::cli {

Version version() { return {std::string(version_number()), kCommit}; }

std::string version_line() { return "sluice " + version().number + " (" + version().commit + ")"; }

}  // namespace sluice::cli
