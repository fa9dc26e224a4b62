// Characters that secrets are made of. For the files of the secrets doctor only.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace sluice::bundle {

constexpr bool is_alnum(char c) { return is_digit(c) || is_letter(c); }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
constexpr bool is_base64url(char c) { return is_alnum(c) || c == '_' || c == '-'; }
constexpr bool is_base64(char c) { return is_alnum(c) || c == '+' || c == '/'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

using Fits = bool (*)(char);

// How many characters from the beginning on fit.
constexpr size_t run_length(std::string_view text, Fits fits) {
  size_t n = 0;
  while (n < text.size() && fits(text[n])) ++n;
  return n;
}

}  // namespace sluice::bundle
