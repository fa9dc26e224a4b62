// Ulid: the 128-bit id of every object, 48 bits of milliseconds since 1970 and then 80 random bits, written as 26
// characters of Crockford's base 32. Ids sort by the time at which they were made, as values and as text alike.
//
// Text is read strictly: 26 characters, upper case, no I L O U, the first at most 7. One id therefore has one
// spelling, and comparing text is comparing ids.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace sluice {

class Ulid {
 public:
  static constexpr size_t kTextLength = 26;
  static constexpr size_t kRandomBytes = 10;
  static constexpr int64_t kMaxMs = (int64_t{1} << 48) - 1;

  Ulid() = default;  // all bits 0

  // The id of exactly these parts, for ids that must come out the same again. A time before 1970 counts as 1970, one
  // past the year 10889 as that.
  static Ulid from(int64_t wall_ms, std::span<const uint8_t, kRandomBytes> random);
  static Result<Ulid> parse(std::string_view text);

  int64_t wall_ms() const { return static_cast<int64_t>(high_ >> 16); }
  uint64_t high() const { return high_; }
  uint64_t low() const { return low_; }

  auto operator<=>(const Ulid&) const = default;

 private:
  friend class UlidSource;
  Ulid(uint64_t high, uint64_t low) : high_(high), low_(low) {}

  uint64_t high_ = 0;  // 48 bits of time, 16 bits of randomness
  uint64_t low_ = 0;
};

std::string to_string(const Ulid& ulid);
// The same into a place of one's own.
void write_text(const Ulid& ulid, std::span<char, Ulid::kTextLength> text);

// Makes ids that are each greater than the one before, from any number of threads, whatever the clock does. Within a
// millisecond, or while the clock is behind the last id, the random part counts up by one; when it has no more room
// the time of the id moves on by a millisecond instead.
class UlidSource {
 public:
  UlidSource(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

  Ulid next();

 private:
  const Clock& clock_;
  Random& random_;
  std::mutex mutex_;
  bool made_any_ = false;
  Ulid last_;
};

}  // namespace sluice

template <>
struct std::hash<sluice::Ulid> {
  size_t operator()(const sluice::Ulid& ulid) const noexcept { return ulid.low() ^ (ulid.high() * 0x9e3779b97f4a7c15); }
};
