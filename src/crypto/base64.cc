// Base64 by table, six bits a character.
#include "crypto/base64.h"

#include <array>
#include <cstdint>

namespace sluice::crypto {

namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNone = 0xff;

constexpr std::array<uint8_t, 256> values_of(std::string_view alphabet) {
  std::array<uint8_t, 256> values{};
  values.fill(kNone);
  for (size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<uint8_t>(i);
  return values;
}

constexpr std::array<uint8_t, 256> kStandardValues = values_of(kStandard);
constexpr std::array<uint8_t, 256> kUrlValues = values_of(kUrl);

Error not_base64(std::string message) {
  return Error{.code = Code::invalid, .message = std::move(message), .next = "encode it again, without line breaks"};
}

// Takes the padding off, or says why it is wrong.
Result<std::string_view> without_padding(std::string_view text, Base64 alphabet) {
  if (alphabet != Base64::url_unpadded) {
    if (text.size() % 4 != 0) {
      return not_base64("expected base64 whose length is a multiple of 4, padded with '=', found " +
                        std::to_string(text.size()) + " characters");
    }
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) {
    return not_base64("the base64 ends in the middle of a byte");
  }
  return text;
}

// Writes the bytes of unpadded text to out, which has room for them.
Result<void> decode(std::string_view text, Base64 alphabet, uint8_t* out) {
  const auto& values = alphabet == Base64::standard ? kStandardValues : kUrlValues;
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t value = values[static_cast<unsigned char>(text[i])];
    if (value == kNone) {
      return not_base64("character " + std::to_string(i + 1) + " is not of the " +
                        (alphabet == Base64::standard ? "standard" : "URL-safe") + " base64 alphabet");
    }
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      *out++ = static_cast<uint8_t>(bits >> count);
      bits &= (1U << count) - 1;
    }
  }
  if (bits != 0) return not_base64("the unused bits of the last base64 character are not zero");
  return {};
}

}  // namespace

std::string to_base64(std::string_view bytes, Base64 alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  append_base64(bytes, alphabet, text);
  return text;
}

void append_base64(std::string_view bytes, Base64 alphabet, std::string& out) {
  const size_t start = out.size();
  const std::string_view digits = alphabet == Base64::standard ? kStandard : kUrl;
  uint32_t bits = 0;
  int count = 0;
  for (char byte : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(byte);
    count += 8;
    while (count >= 6) {
      count -= 6;
      out += digits[bits >> count & 63];
    }
    bits &= (1U << count) - 1;
  }
  if (count > 0) out += digits[bits << (6 - count) & 63];
  if (alphabet != Base64::url_unpadded) out.append((4 - (out.size() - start) % 4) % 4, '=');
}

Result<std::string> from_base64(std::string_view text, Base64 alphabet) {
  auto digits = without_padding(text, alphabet);
  if (!digits) return digits.error();
  std::string bytes(digits->size() * 3 / 4, '\0');
  auto decoded = decode(*digits, alphabet, reinterpret_cast<uint8_t*>(bytes.data()));
  if (!decoded) return decoded.error();
  return bytes;
}

Result<SecretBuffer> secret_from_base64(std::string_view text, Base64 alphabet) {
  auto digits = without_padding(text, alphabet);
  if (!digits) return digits.error();
  SecretBuffer bytes(digits->size() * 3 / 4);
  auto decoded = decode(*digits, alphabet, bytes.writable().data());
  if (!decoded) return decoded.error();
  return bytes;
}

}  // namespace sluice::crypto
