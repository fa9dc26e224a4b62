// Sets of eight ways, as a processor's cache: what is least recently used is known within a set.
#include "router/pins/session_pins.h"

#include <cstring>

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

// By entry: where it is (2 bytes), its word (8), and when it was seen (4).
constexpr size_t kSavedBytes = 14;

std::string SessionPins::save() const {
  std::string saved;
  for (size_t set = 0; set < kSets; ++set) {
    for (const Entry& entry : sets_[set]) {
      const uint64_t word = entry.word.load(std::memory_order_relaxed);
      if (word == 0) continue;
      const auto place = static_cast<uint16_t>(set);
      const uint32_t seen_s = entry.seen_s.load(std::memory_order_relaxed);
      saved.append(reinterpret_cast<const char*>(&place), sizeof place);
      saved.append(reinterpret_cast<const char*>(&word), sizeof word);
      saved.append(reinterpret_cast<const char*>(&seen_s), sizeof seen_s);
    }
  }
  return saved;
}

void SessionPins::take(std::string_view saved, const std::function<std::optional<uint32_t>(uint32_t)>& number_of) {
  for (; saved.size() >= kSavedBytes; saved.remove_prefix(kSavedBytes)) {
    uint16_t place = 0;
    uint64_t word = 0;
    uint32_t seen_s = 0;
    std::memcpy(&place, saved.data(), sizeof place);
    std::memcpy(&word, saved.data() + sizeof place, sizeof word);
    std::memcpy(&seen_s, saved.data() + sizeof place + sizeof word, sizeof seen_s);
    const auto number = number_of(static_cast<uint32_t>((word & kNumberMask) - 1));
    if (place >= kSets || !number) continue;
    for (Entry& entry : sets_[place]) {
      if (entry.word.load(std::memory_order_relaxed) != 0) continue;
      entry.seen_s.store(seen_s, std::memory_order_relaxed);
      entry.used.store(uses_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
      entry.word.store((word & ~kNumberMask) | ((uint64_t{*number} + 1) & kNumberMask), std::memory_order_relaxed);
      break;
    }
  }
}

size_t SessionPins::size() const {
  size_t count = 0;
  for (const auto& set : sets_) {
    for (const Entry& entry : set) count += entry.word.load(std::memory_order_relaxed) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace sluice::router
