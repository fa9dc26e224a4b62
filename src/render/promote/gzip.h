// How content is made small: gzip in base64 where others read it (openchoreo.dev/compression), zstd where it is kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::promote {

// Refused: what is no gzip, has a wrong sum, or becomes more than so many bytes.
Result<std::string> ungzip(std::string_view base64, size_t most_bytes);
std::string gzip(std::string_view text);

inline constexpr size_t kPackedFrom = 20'000;
// Text of that length or more becomes "zstd:" and base64; shorter text stays as it is.
std::string packed(std::string_view text);
Result<std::string> unpacked(std::string_view kept);

}  // namespace sluice::promote
