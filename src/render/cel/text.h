// Text counted in code points, as CEL does.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::cel {

size_t length_of(std::string_view text);

// Where the code point with this index begins, in bytes; the text's size for the one after the last, npos beyond.
size_t byte_of(std::string_view text, size_t index);

}  // namespace sluice::cel
