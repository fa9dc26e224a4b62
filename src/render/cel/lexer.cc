// Reads words one after the other; strings are unescaped here.
#include "render/cel/lexer.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "render/cel/syntax.h"

namespace sluice::cel {
namespace {

constexpr std::string_view kSigns[] = {"&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/",
                                       "%",  "!",  "?",  ":",  ",",  ".",  "(", ")", "[", "]", "{", "}"};

bool begins_name(char each) { return is_letter(each) || each == '_'; }
bool within_name(char each) { return begins_name(each) || is_digit(each); }

int hex_digit(char each) {
  if (is_digit(each)) return each - '0';
  const char lower = to_lower(each);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 2 + 2);
    for (;;) {
      skip_space();
      Token token{.offset = static_cast<uint32_t>(at_)};
      if (at_ == text_.size()) {
        tokens.push_back(std::move(token));
        return tokens;
      }
      if (auto read = take(token); !read) return read.error();
      tokens.push_back(std::move(token));
    }
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Error fault(std::string message, size_t offset) const {
    return {.code = Code::invalid,
            .message = std::move(message),
            .position = place_of(text_, static_cast<uint32_t>(offset))};
  }

  void skip_space() {
    for (;;) {
      while (at_ < text_.size() && std::string_view(" \t\n\r\f").find(text_[at_]) != std::string_view::npos) ++at_;
      if (!text_.substr(at_).starts_with("//")) return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  Result<void> take(Token& token) {
    if (const size_t prefix = string_prefix(); prefix != std::string_view::npos) return take_string(token, prefix);
    if (begins_name(peek())) {
      const size_t begin = at_;
      while (within_name(peek())) ++at_;
      token.word = Word::name;
      token.text = text_.substr(begin, at_ - begin);
      return {};
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return take_number(token);
    if (peek() == '`') return take_quoted_name(token);
    for (const auto sign : kSigns) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      token.word = Word::sign;
      token.text = sign;
      at_ += sign.size();
      return {};
    }
    const auto point = first_code_point(text_.substr(at_));
    return fault("'" + std::string(text_.substr(at_, point.bytes)) + "' has no meaning here", at_);
  }

  // How many letters stand before the quote of a string that begins here; npos if none does.
  size_t string_prefix() const {
    size_t letters = 0;
    while (letters < 2 && std::string_view("rRbB").find(peek(letters)) != std::string_view::npos && peek(letters)) {
      ++letters;
    }
    if (letters == 2 && to_lower(peek(0)) == to_lower(peek(1))) return std::string_view::npos;
    return peek(letters) == '"' || peek(letters) == '\'' ? letters : std::string_view::npos;
  }

  Result<void> take_string(Token& token, size_t letters) {
    const size_t begin = at_;
    bool raw = false;
    token.word = Word::string;
    for (size_t index = 0; index < letters; ++index) {
      if (to_lower(peek(index)) == 'r') raw = true;
      if (to_lower(peek(index)) == 'b') token.word = Word::bytes;
    }
    at_ += letters;
    const std::string one(1, peek());
    const std::string three = one + one + one;
    const std::string quote = text_.substr(at_).starts_with(three) ? three : one;
    at_ += quote.size();
    for (;;) {
      if (at_ == text_.size()) return fault("this string has no end", begin);
      if (text_.substr(at_).starts_with(quote)) break;
      const char each = text_[at_];
      if (quote.size() == 1 && (each == '\n' || each == '\r'))
        return fault("this string has no end on its line", begin);
      if (each == '\\' && !raw) {
        if (auto read = take_escape(token); !read) return read.error();
      } else {
        token.text += each;
        ++at_;
      }
    }
    at_ += quote.size();
    return {};
  }

  Result<void> take_escape(Token& token) {
    const size_t begin = at_;
    const char each = peek(1);
    at_ += 2;
    constexpr std::string_view kPlain = "abfnrtv\\?\"'`";
    constexpr std::string_view kMeans = "\a\b\f\n\r\t\v\\?\"'`";
    if (const size_t place = kPlain.find(each); each && place != std::string_view::npos) {
      token.text += kMeans[place];
      return {};
    }
    uint32_t value = 0;
    size_t digits = 0;
    int base = 16;
    if (each >= '0' && each <= '3') {
      --at_;
      digits = 3;
      base = 8;
    } else if (each == 'x' || each == 'X') {
      digits = 2;
    } else if (each == 'u' && token.word == Word::string) {
      digits = 4;
    } else if (each == 'U' && token.word == Word::string) {
      digits = 8;
    } else {
      return fault("no such escape in a string; a backslash is written \\\\", begin);
    }
    for (size_t index = 0; index < digits; ++index, ++at_) {
      const int digit = hex_digit(peek());
      if (digit < 0 || digit >= base) return fault("this escape wants " + std::to_string(digits) + " digits", begin);
      value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
    }
    if (token.word == Word::bytes) {
      token.text += static_cast<char>(value);
      return {};
    }
    if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return fault("no character has this number", begin);
    append_utf8(token.text, value);
    return {};
  }

  Result<void> take_number(Token& token) {
    const size_t begin = at_;
    token.word = Word::integer;
    if (peek() == '0' && to_lower(peek(1)) == 'x' && hex_digit(peek(2)) >= 0) {
      at_ += 2;
      while (hex_digit(peek()) >= 0) ++at_;
    } else {
      while (is_digit(peek())) ++at_;
      if (peek() == '.' && is_digit(peek(1))) {
        token.word = Word::real;
        ++at_;
        while (is_digit(peek())) ++at_;
      }
      const size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if (to_lower(peek()) == 'e' && is_digit(peek(sign))) {
        token.word = Word::real;
        at_ += sign;
        while (is_digit(peek())) ++at_;
      }
    }
    token.text = text_.substr(begin, at_ - begin);
    if (token.word == Word::integer && to_lower(peek()) == 'u') {
      token.word = Word::unsigned_integer;
      ++at_;
    }
    if (within_name(peek())) return fault("a number ends here, and a name cannot follow it directly", at_);
    return {};
  }

  Result<void> take_quoted_name(Token& token) {
    const size_t end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos || end == at_ + 1) return fault("this name in backquotes has no end", at_);
    token.word = Word::quoted_name;
    token.text = text_.substr(at_ + 1, end - at_ - 1);
    const bool plain = std::all_of(token.text.begin(), token.text.end(), [](char each) {
      return within_name(each) || std::string_view(".-/ ").find(each) != std::string_view::npos;
    });
    if (!plain) return fault("a name in backquotes has letters, digits and _ . - / and spaces", at_);
    at_ = end + 1;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> words_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace sluice::cel
