// Points in 0…9,999, by which a share of visitors or requests is chosen: those in the range of a revision are its own.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "router/keyed_hash.h"

namespace sluice::router {

// The point of request number i: its last four decimal digits, read backwards. So each run of ten requests has one in
// each tenth of the range, each run of a hundred one in each hundredth, and so on: a share is true after as few
// requests as it can be.
constexpr std::array<uint16_t, 10'000> kSequence = [] {
  std::array<uint16_t, 10'000> points{};
  for (uint32_t i = 0; i < points.size(); ++i) {
    points[i] = static_cast<uint16_t>(i % 10 * 1'000 + i / 10 % 10 * 100 + i / 100 % 10 * 10 + i / 1'000);
  }
  return points;
}();

constexpr uint32_t sequence_point(uint32_t i) { return kSequence[i % 10'000]; }

// The point of a session key, the same in every router.
inline uint32_t point_of_key(std::string_view deployment, std::string_view key) {
  constexpr HashKey kShared{0x736c756963652e62, 0x75636b65742e7631};
  uint64_t hash = keyed_hash({keyed_hash(kShared, deployment), kShared.second}, key);
  return static_cast<uint32_t>((static_cast<unsigned __int128>(hash) * 10'000) >> 64);
}

}  // namespace sluice::router
