// Which version of Sluice this is, for messages about what it can do.
#pragma once

#include <string_view>

namespace sluice {

// "0.1.0"
std::string_view version_number();

}  // namespace sluice
