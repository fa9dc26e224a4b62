// Sets of eight ways, as a processor's cache: what is least recently used is known within a set.
#include "router/pins/session_pins.h"

namespace sluice::router {
namespace {

constexpr int kNumberBits = 24;
constexpr uint64_t kNumberMask = (uint64_t{1} << kNumberBits) - 1;

}  // namespace

SessionPins::At SessionPins::at(std::string_view session) {
  uint64_t hash = keyed_hash(key_, session);
  return {&sets_[hash % kSets], (hash >> kNumberBits) << kNumberBits};
}

std::optional<SessionPins::Pin> SessionPins::find(std::string_view session, uint32_t now_s, int64_t ttl_s) {
  At place = at(session);
  for (Entry& entry : *place.set) {
    uint64_t word = entry.word.load(std::memory_order_relaxed);
    if (word == 0 || (word & ~kNumberMask) != place.tag) continue;
    uint32_t seen_s = entry.seen_s.load(std::memory_order_relaxed);
    if (static_cast<int64_t>(now_s) - seen_s > ttl_s) return std::nullopt;
    if (seen_s != now_s) entry.seen_s.store(now_s, std::memory_order_relaxed);
    entry.used.store(uses_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    int64_t step_s = renewal_step_s(ttl_s);
    return Pin{static_cast<uint32_t>((word & kNumberMask) - 1), now_s / step_s != seen_s / step_s};
  }
  return std::nullopt;
}

void SessionPins::put(std::string_view session, uint32_t revision, uint32_t now_s) {
  At place = at(session);
  Entry* chosen = nullptr;
  uint32_t now = uses_.fetch_add(1, std::memory_order_relaxed);
  uint32_t oldest = 0;
  for (Entry& entry : *place.set) {
    uint64_t word = entry.word.load(std::memory_order_relaxed);
    if (word != 0 && (word & ~kNumberMask) == place.tag) {
      chosen = &entry;
      break;
    }
    // As an age, so that the clock may run over.
    uint32_t age = word == 0 ? UINT32_MAX : now - entry.used.load(std::memory_order_relaxed);
    if (chosen != nullptr && age <= oldest) continue;
    chosen = &entry;
    oldest = age;
  }
  chosen->used.store(now, std::memory_order_relaxed);
  chosen->seen_s.store(now_s, std::memory_order_relaxed);
  chosen->word.store(place.tag | ((uint64_t{revision} + 1) & kNumberMask), std::memory_order_relaxed);
}

size_t SessionPins::size() const {
  size_t count = 0;
  for (const auto& set : sets_) {
    for (const Entry& entry : set) count += entry.word.load(std::memory_order_relaxed) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace sluice::router
