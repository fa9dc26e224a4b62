// The number comes from the build.
#include "base/version.h"

namespace sluice {

std::string_view version_number() { return SLUICE_VERSION; }

}  // namespace sluice
