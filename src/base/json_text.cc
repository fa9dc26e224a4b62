// Strings go out in runs between the bytes that need care; numbers are std::to_chars' shortest digits in ECMAScript's
// layout.
#include "base/json_text.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sluice {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// True for the bytes that end a run: what must be escaped, and what does not stand alone (not ASCII).
constexpr std::array<bool, 256> needs_care() {
  std::array<bool, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte < 0x20 || byte == '"' || byte == '\\' || byte >= 0x80;
  }
  return table;
}
constexpr std::array<bool, 256> kNeedsCare = needs_care();

void append_escape(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\':
      out += '\\';
      out += static_cast<char>(c);
      break;
    case '\b':
      out += "\\b";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\f':
      out += "\\f";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

// The length of the UTF-8 sequence that begins at `at`, or 0 if there is none. Overlong forms, surrogates and
// code points past U+10FFFF are none.
size_t utf8_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  auto is_tail = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  unsigned lead = byte(at);
  unsigned second = byte(at + 1);
  if (lead >= 0xC2 && lead <= 0xDF) return is_tail(at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    bool overlong = lead == 0xE0 && second < 0xA0;
    bool surrogate = lead == 0xED && second > 0x9F;
    return is_tail(at + 1) && is_tail(at + 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    bool overlong = lead == 0xF0 && second < 0x90;
    bool too_large = lead == 0xF4 && second > 0x8F;
    return is_tail(at + 1) && is_tail(at + 2) && is_tail(at + 3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool append_json_string(std::string& out, std::string_view text) {
  bool valid = true;
  size_t run = 0;  // where the bytes begin that are copied as they are
  size_t at = 0;
  out += '"';
  while (at < text.size()) {
    auto c = static_cast<unsigned char>(text[at]);
    if (!kNeedsCare[c]) {
      ++at;
      continue;
    }
    if (c >= 0x80) {
      if (size_t length = utf8_length(text, at)) {
        at += length;
        continue;
      }
    }
    out.append(text, run, at - run);
    if (c >= 0x80) {
      out += kReplacement;
      valid = false;
    } else {
      append_escape(out, c);
    }
    run = ++at;
  }
  out.append(text, run, at - run);
  out += '"';
  return valid;
}

// ECMAScript 2024, 6.1.6.1.20 Number::toString, for radix 10. In its terms the number is digits × 10^(point − count).
void append_json_number(std::string& out, double number) {
  assert(std::isfinite(number));
  if (number == 0) {  // also -0.0
    out += '0';
    return;
  }
  // Longest: "-d.dddddddddddddddde-308".
  std::array<char, 32> buffer;
  auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<size_t>(done.ptr - buffer.data()));
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  size_t exponent_at = text.find('e');
  int exponent = 0;
  const char* exponent_text = text.data() + exponent_at + 1;
  std::from_chars(exponent_text + (*exponent_text == '+' ? 1 : 0), done.ptr, exponent);
  std::array<char, 24> digit_buffer;
  size_t count = 0;
  for (char c : text.substr(0, exponent_at)) {
    if (c != '.') digit_buffer[count++] = c;
  }
  std::string_view digits(digit_buffer.data(), count);
  int point = exponent + 1;  // the decimal point stands after this many digits
  if (static_cast<int>(count) <= point && point <= 21) {
    out += digits;
    out.append(static_cast<size_t>(point) - count, '0');
  } else if (0 < point && point <= 21) {
    out += digits.substr(0, static_cast<size_t>(point));
    out += '.';
    out += digits.substr(static_cast<size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0.";
    out.append(static_cast<size_t>(-point), '0');
    out += digits;
  } else {
    out += digits.front();
    if (count > 1) {
      out += '.';
      out += digits.substr(1);
    }
    out += exponent < 0 ? "e-" : "e+";
    std::array<char, 8> exponent_digits;
    auto end =
        std::to_chars(exponent_digits.data(), exponent_digits.data() + exponent_digits.size(), std::abs(exponent));
    out.append(exponent_digits.data(), end.ptr);
  }
}

}  // namespace sluice
