// Decoding by the table of well-formed byte sequences in the Unicode standard (3-7).
#include "base/utf8.h"

#include <cassert>

namespace sluice {

CodePoint first_code_point(std::string_view text) {
  assert(!text.empty());
  constexpr CodePoint kBroken{U'\uFFFD', 1, false};
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return kBroken;
  char32_t value = lead & (0xFF >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kBroken;
    value = (value << 6) | (byte(i) & 0x3F);
  }
  bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return kBroken;
  return {value, bytes, true};
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    CodePoint point = first_code_point(text);
    if (!point.valid) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

void append_utf8(std::string& text, char32_t point) {
  auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | (point >> 6));
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3F));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

}  // namespace sluice
