// Which revision a session of the application's own is on: 16,384 of them, the least recently used of a few makes room.
// All threads share it without locks: an entry is one word, so a reader sees an old one or a new one, never a mixture.
//
// A session is known by 51 bits of a keyed hash of its key. Two sessions that share them would share a revision, which
// is harmless. Pins that are kept elsewhere, too, are in redis_pins.h.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "router/keyed_hash.h"

namespace sluice::router {

// What is known of a session where pins are kept besides the memory.
enum class PinElsewhere : uint8_t {
  not_asked,
  none,
  found,
  stale,    // its time is over, or its revision may not serve
  unknown,  // nothing was said in time
};

// A pin that is kept elsewhere, too, is written there again when it is used in another such span than before: its time
// there is never further behind.
inline int64_t renewal_step_s(int64_t ttl_s) { return std::max<int64_t>(ttl_s / 4, 1); }

class SessionPins {
 public:
  static constexpr size_t kCapacity = 16'384;

  explicit SessionPins(const HashKey& key) : key_(key) {}

  struct Pin {
    uint32_t revision = 0;  // its number
    bool renew = false;     // it is the first use in its span

    bool operator==(const Pin&) const = default;
  };
  // If the session was seen within the last ttl_s; it counts as seen now.
  std::optional<Pin> find(std::string_view session, uint32_t now_s, int64_t ttl_s);
  void put(std::string_view session, uint32_t revision, uint32_t now_s);

  size_t size() const;

  // All of them, for another one with the same key, in which revisions may have other numbers: those that `number_of`
  // has none for are left out.
  std::string save() const;
  void take(std::string_view saved, const std::function<std::optional<uint32_t>(uint32_t)>& number_of);

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
