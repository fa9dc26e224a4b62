// Version and commit come from the build.
#include "cli/version.h"

namespace sluice::cli {

Version version() { return {SLUICE_VERSION, SLUICE_COMMIT}; }

std::string version_line() { return "sluice " + version().number + " (" + version().commit + ")"; }

}  // namespace sluice::cli
