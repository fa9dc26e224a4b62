// The characters of YAML: which of them may stand in a text, and which the emitter must escape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

// Whether a character may stand in a text as itself: not control characters, U+FEFF and noncharacters, nor the line
// breaks that YAML 1.1 and 1.2 take differently (U+0085, U+2028, U+2029).
bool is_yaml_printable(uint32_t code);

// What keeps a text from being read at all: bytes that are not UTF-8, characters that are not printable, and more %TAG
// lines than libyaml reads in good time. A byte order mark at the front is the caller's to remove. A text that passes
// gives libyaml no reader errors.
std::optional<Error> check_yaml_text(std::string_view text, const std::string& file);

}  // namespace sluice
