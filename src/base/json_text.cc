// Strings go out eight bytes at a time until one needs care; numbers are std::to_chars' shortest digits in ECMAScript's
// layout.
#include "base/json_text.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/utf8.h"

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

// Whether eight bytes at once are free of such bytes. Each term sets the top bit of a byte that it finds.
bool all_plain(const char* bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kTops = 0x8080808080808080;
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  auto zero_bytes = [](uint64_t x) { return (x - kOnes) & ~x; };
  uint64_t control = (word - kOnes * 0x20) & ~word;
  return ((word | control | zero_bytes(word ^ (kOnes * '"')) | zero_bytes(word ^ (kOnes * '\\'))) & kTops) == 0;
}

char* put(char* out, std::string_view text) { return out + text.copy(out, text.size()); }

constexpr size_t kLongestEscape = 6;

char* put_escape(char* out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      return put(out, "\\\"");
    case '\\':
      return put(out, "\\\\");
    case '\b':
      return put(out, "\\b");
    case '\t':
      return put(out, "\\t");
    case '\n':
      return put(out, "\\n");
    case '\f':
      return put(out, "\\f");
    case '\r':
      return put(out, "\\r");
    default:
      out = put(out, "\\u00");
      *out++ = kHex[c >> 4];
      *out++ = kHex[c & 15];
      return out;
  }
}

}  // namespace

void TextBuffer::grow(size_t bytes) {
  capacity_ = std::max(capacity_ * 2, size_ + bytes);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
  std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
}

bool append_json_string(TextBuffer& buffer, std::string_view text) {
  bool valid = true;
  char* out = buffer.room(text.size() * kLongestEscape + 2);
  *out++ = '"';
  size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8 && all_plain(text.data() + at)) {
      std::memcpy(out, text.data() + at, 8);
      out += 8;
      at += 8;
      continue;
    }
    auto c = static_cast<unsigned char>(text[at]);
    if (!kNeedsCare[c]) {
      *out++ = text[at++];
    } else if (c < 0x80) {
      out = put_escape(out, c);
      ++at;
    } else if (CodePoint point = first_code_point(text.substr(at)); point.valid) {
      out = put(out, text.substr(at, point.bytes));
      at += point.bytes;
    } else {
      out = put(out, kReplacement);
      valid = false;
      ++at;
    }
  }
  *out++ = '"';
  buffer.advance_to(out);
  return valid;
}

std::string json_quoted(std::string_view text) {
  TextBuffer out;
  append_json_string(out, text);
  return std::string(out.view());
}

// ECMAScript 2024, 6.1.6.1.20 Number::toString, for radix 10. In its terms the number is digits × 10^(point − count).
void append_json_number(TextBuffer& out, double number) {
  assert(std::isfinite(number));
  if (number == 0) {  // also -0.0
    out.append('0');
    return;
  }
  // Longest: "-d.dddddddddddddddde-308".
  std::array<char, 32> buffer;
  auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<size_t>(done.ptr - buffer.data()));
  if (text.front() == '-') {
    out.append('-');
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
    out.append(digits);
    out.append(static_cast<size_t>(point) - count, '0');
  } else if (0 < point && point <= 21) {
    out.append(digits.substr(0, static_cast<size_t>(point)));
    out.append('.');
    out.append(digits.substr(static_cast<size_t>(point)));
  } else if (-6 < point && point <= 0) {
    out.append("0.");
    out.append(static_cast<size_t>(-point), '0');
    out.append(digits);
  } else {
    out.append(digits.front());
    if (count > 1) {
      out.append('.');
      out.append(digits.substr(1));
    }
    out.append(exponent < 0 ? "e-" : "e+");
    std::array<char, 8> exponent_digits;
    auto end =
        std::to_chars(exponent_digits.data(), exponent_digits.data() + exponent_digits.size(), std::abs(exponent));
    out.append(std::string_view(exponent_digits.data(), static_cast<size_t>(end.ptr - exponent_digits.data())));
  }
}

}  // namespace sluice
