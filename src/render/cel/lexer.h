// The words of a CEL expression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::cel {

enum class Word : uint8_t { end, name, quoted_name, integer, unsigned_integer, real, string, bytes, sign };

struct Token {
  Word word = Word::end;
  uint32_t offset = 0;
  std::string text;  // a sign as it is written, a string's content, a number's digits without its suffix

  bool is(std::string_view sign) const { return word == Word::sign && text == sign; }
};

Result<std::vector<Token>> words_of(std::string_view text);

}  // namespace sluice::cel
