// Which revision a session of the application's own is on: 16,384 of them, the least recently used of a few makes room.
// All threads share it without locks: an entry is one word, so a reader sees an old one or a new one, never a mixture.
//
// A session is known by 51 bits of a keyed hash of its key. Two sessions that share them would share a revision, which
// is harmless.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "router/keyed_hash.h"

namespace sluice::router {

class SessionPins {
 public:
  static constexpr size_t kCapacity = 16'384;

  explicit SessionPins(const HashKey& key) : key_(key) {}

  // The number of the revision, if the session was seen within the last ttl_s; it counts as seen now.
  std::optional<uint32_t> find(std::string_view session, uint32_t now_s, int64_t ttl_s);
  void put(std::string_view session, uint32_t revision, uint32_t now_s);

  size_t size() const;

 private:
  static constexpr size_t kWays = 8;
  static constexpr size_t kSets = kCapacity / kWays;

  struct Entry {
    std::atomic<uint64_t> word = 0;  // 40 bits of hash, 24 bits of the revision's number + 1; 0: free
    std::atomic<uint32_t> seen_s = 0;
    std::atomic<uint32_t> used = 0;  // when, by a clock that counts uses
  };
  struct At {
    std::array<Entry, kWays>* set;
    uint64_t tag;
  };
  At at(std::string_view session);

  HashKey key_;
  std::atomic<uint32_t> uses_ = 0;
  std::array<std::array<Entry, kWays>, kSets> sets_;
};

}  // namespace sluice::router
