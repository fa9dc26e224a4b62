// Reading, writing and making ids.
#include "base/ulid.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>

namespace sluice {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr uint8_t kNoDigit = 255;

constexpr std::array<uint8_t, 256> digit_values() {
  std::array<uint8_t, 256> values;
  values.fill(kNoDigit);
  for (size_t i = 0; i < kAlphabet.size(); ++i) values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr auto kDigitValues = digit_values();

// How an error shows a character: as itself if it can be printed, else as its byte.
std::string shown(char c) {
  if (c >= 0x20 && c < 0x7f) return {'\'', c, '\''};
  char text[16];
  std::snprintf(text, sizeof text, "byte 0x%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
  return text;
}

Error not_a_ulid(std::string why) {
  return {.code = Code::invalid,
          .message = "not a ULID: " + std::move(why),
          .next = "copy the id whole, as Sluice printed it"};
}

std::string why_not_a_digit(char c) {
  if (c >= 'a' && c <= 'z') return "; letters are upper case";
  if (c == 'I' || c == 'L' || c == 'O' || c == 'U') return "; I, L, O and U are not used";
  return "; expected 0-9 or A-Z";
}

}  // namespace

Ulid Ulid::from(int64_t wall_ms, std::span<const uint8_t, kRandomBytes> random) {
  uint64_t high = static_cast<uint64_t>(std::clamp<int64_t>(wall_ms, 0, kMaxMs)) << 16;
  high |= uint64_t{random[0]} << 8 | random[1];
  uint64_t low = 0;
  for (size_t i = 2; i < random.size(); ++i) low = low << 8 | random[i];
  return {high, low};
}

Result<Ulid> Ulid::parse(std::string_view text) {
  if (text.size() != kTextLength) {
    return not_a_ulid("expected 26 characters, found " + std::to_string(text.size()));
  }
  uint64_t high = 0;
  uint64_t low = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t value = kDigitValues[static_cast<uint8_t>(text[i])];
    if (value == kNoDigit) {
      return not_a_ulid("character " + std::to_string(i + 1) + " is " + shown(text[i]) + why_not_a_digit(text[i]));
    }
    if (i == 0 && value > 7) {
      return not_a_ulid("character 1 is " + shown(text[0]) + "; more than 7 does not fit into 128 bits");
    }
    high = high << 5 | low >> 59;
    low = low << 5 | value;
  }
  return Ulid(high, low);
}

std::string to_string(const Ulid& ulid) {
  std::string text(Ulid::kTextLength, '0');
  write_text(ulid, std::span<char, Ulid::kTextLength>(text));
  return text;
}

void write_text(const Ulid& ulid, std::span<char, Ulid::kTextLength> text) {
  uint64_t high = ulid.high();
  uint64_t low = ulid.low();
  for (size_t i = text.size(); i-- > 0;) {
    text[i] = kAlphabet[low & 31];
    low = low >> 5 | high << 59;
    high >>= 5;
  }
}

Ulid UlidSource::next() {
  std::lock_guard guard(mutex_);
  int64_t now_ms = clock_.wall_ms();
  if (made_any_ && now_ms <= last_.wall_ms()) {
    Ulid next(last_.high_, last_.low_ + 1);
    if (next.low_ == 0) ++next.high_;
    if (next.wall_ms() == last_.wall_ms()) return last_ = next;
    assert(last_.wall_ms() < Ulid::kMaxMs);
    now_ms = last_.wall_ms() + 1;
  }
  std::array<uint8_t, Ulid::kRandomBytes> random;
  random_.fill(random);
  made_any_ = true;
  return last_ = Ulid::from(now_ms, random);
}

}  // namespace sluice
