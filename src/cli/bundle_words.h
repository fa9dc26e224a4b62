// What the commands about bundles share: how they name, count and read things.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::cli {

// "1 entry", "12 entries"
std::string counted_things(uint64_t count, std::string_view one, std::string_view many);

// The folder's path without slashes at its end.
std::string plain_folder(std::string path);

}  // namespace sluice::cli
