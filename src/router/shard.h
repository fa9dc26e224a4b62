// A part of a hash table: values side by side, and slots that lead to them. Copying one is copying three arrays, which
// is what a patch of the routing table does to the shards that it changes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice::router {

template <class T>
class Shard {
 public:
  void reserve(size_t count) {
    values_.reserve(count);
    hashes_.reserve(count);
    resize(slots_for(count));
  }

  // The value with this hash of which same(value) holds; nothing if there is none.
  template <class Same>
  const T* find(uint64_t hash, Same&& same) const {
    if (slots_.empty()) return nullptr;
    for (size_t at = place_of(hash); slots_[at].value != 0; at = next(at)) {
      const T& value = values_[slots_[at].value - 1];
      if (slots_[at].tag == tag_of(hash) && same(value)) return &value;
    }
    return nullptr;
  }
  template <class Same>
  T* find(uint64_t hash, Same&& same) {
    return const_cast<T*>(std::as_const(*this).find(hash, same));
  }

  // One that is not there yet. What find gave before is no longer valid, here and in erase.
  void insert(uint64_t hash, T value) {
    if (slots_.size() < slots_for(values_.size() + 1)) resize(slots_for(values_.size() + 1));
    values_.push_back(std::move(value));
    hashes_.push_back(hash);
    enter(hash, values_.size());
  }

  // One that find gave.
  void erase(const T* value) {
    size_t number = static_cast<size_t>(value - values_.data()) + 1, last = values_.size();
    leave(slot_of(number));
    if (number != last) {
      slots_[slot_of(last)].value = static_cast<uint32_t>(number);
      values_[number - 1] = std::move(values_[last - 1]);
      hashes_[number - 1] = hashes_[last - 1];
    }
    values_.pop_back();
    hashes_.pop_back();
  }

  const std::vector<T>& values() const { return values_; }

 private:
  struct Slot {
    uint32_t tag = 0;    // of the hash
    uint32_t value = 0;  // its number, from 1 on; 0: free
  };

  // At most half full.
  static size_t slots_for(size_t count) { return std::bit_ceil(std::max<size_t>(8, count * 2)); }
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  // The lowest bits have chosen the shard.
  size_t place_of(uint64_t hash) const { return (hash >> 8) & (slots_.size() - 1); }
  size_t next(size_t at) const { return (at + 1) & (slots_.size() - 1); }

  size_t slot_of(size_t number) const {
    size_t at = place_of(hashes_[number - 1]);
    while (slots_[at].value != number) at = next(at);
    return at;
  }

  void enter(uint64_t hash, size_t number) {
    size_t at = place_of(hash);
    while (slots_[at].value != 0) at = next(at);
    slots_[at] = {tag_of(hash), static_cast<uint32_t>(number)};
  }

  // Frees a slot, and moves those behind it up which would not be found across the gap.
  void leave(size_t gap) {
    size_t mask = slots_.size() - 1;
    for (size_t at = next(gap); slots_[at].value != 0; at = next(at)) {
      size_t wanted = place_of(hashes_[slots_[at].value - 1]);
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = {};
  }

  void resize(size_t slots) {
    slots_.assign(slots, {});
    for (size_t i = 0; i < hashes_.size(); ++i) enter(hashes_[i], i + 1);
  }

  std::vector<Slot> slots_;
  std::vector<T> values_;
  std::vector<uint64_t> hashes_;  // of the values
};

}  // namespace sluice::router
