// UTF-8, read strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

struct CodePoint {
  char32_t value = 0;  // U+FFFD when the bytes are not UTF-8
  size_t bytes = 0;    // how many bytes it takes: 1 when they are not UTF-8
  bool valid = false;
};

// The first code point of a text that is not empty.
CodePoint first_code_point(std::string_view text);

bool valid_utf8(std::string_view text);

// The code point's bytes are added to `text`.
void append_utf8(std::string& text, char32_t point);

}  // namespace sluice
