// What the readers of signed JSON (statements, trust roots) say about a field that is not as it should be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace sluice::bundle {

// A fault of the field at the JSON pointer `path`.
Error invalid(std::string path, std::string message, std::string next = "");

// The time that a field holds, if it is there.
Result<std::optional<int64_t>> time_of(const std::optional<std::string>& text, const std::string& path);

}  // namespace sluice::bundle
