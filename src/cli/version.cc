// Version and commit come from the build.
#include "cli/version.h"

namespace sluice::cli {

std::string version_line() { return "sluice " SLUICE_VERSION " (" SLUICE_COMMIT ")"; }

}  // namespace sluice::cli
