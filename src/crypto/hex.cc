// Hex digits by table.
#include "crypto/hex.h"

namespace sluice::crypto {

namespace {

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string to_hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string to_hex(std::string_view bytes) {
  return to_hex(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

Result<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return Error{.code = Code::invalid,
                 .message = "expected an even number of hex digits, found " + std::to_string(text.size()),
                 .next = "write each byte as two digits, as in 0a"};
  }
  std::string bytes;
  bytes.reserve(text.size() / 2);
  int high = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    int value = digit_value(text[i]);
    if (value < 0) {
      return Error{.code = Code::invalid,
                   .message = "character " + std::to_string(i + 1) + " is not a lowercase hex digit (0-9, a-f)",
                   .next = "write each byte as two digits, as in 0a"};
    }
    if (i % 2 == 0) {
      high = value;
    } else {
      bytes += static_cast<char>(high << 4 | value);
    }
  }
  return bytes;
}

}  // namespace sluice::crypto
