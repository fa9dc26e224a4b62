// How much memory a piece of work takes at most, for tests of what hostile input can ask for. Boost.JSON and the
// standard containers take theirs from operator new, which this file replaces with one that counts: so one file of a
// test program may include it, and no other code at all. Where a sanitizer brings an operator new of its own nothing is
// counted, and every peak is 0.
//
//   size_t most = peak_memory([&] { parsed = parse_yaml(bomb); });
#pragma once

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace sluice {

struct CountedMemory {
  static inline std::atomic<size_t> live = 0;
  static inline std::atomic<size_t> peak = 0;

  static void* take(size_t size) {
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    size_t now = live += malloc_usable_size(memory);
    for (size_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) {
    }
    return memory;
  }
  static void give_back(void* memory) {
    if (memory == nullptr) return;
    live -= malloc_usable_size(memory);
    std::free(memory);
  }
};

// What the work takes at most, besides what there was before. Threads that run meanwhile are counted, too.
template <typename Work>
size_t peak_memory(Work work) {
  size_t before = CountedMemory::live;
  CountedMemory::peak = before;
  work();
  return CountedMemory::peak - before;
}

}  // namespace sluice

// Weak, so that the operators that a sanitizer brings along may stand in their place.
[[gnu::weak]] void* operator new(size_t size) { return sluice::CountedMemory::take(size); }  // NOLINT: see above
[[gnu::weak]] void* operator new(size_t size, const std::nothrow_t&) noexcept {              // NOLINT: see above
  return sluice::CountedMemory::take(size);
}
[[gnu::weak]] void operator delete(void* memory) noexcept { sluice::CountedMemory::give_back(memory); }  // NOLINT
[[gnu::weak]] void operator delete(void* memory, size_t) noexcept {                                      // NOLINT
  sluice::CountedMemory::give_back(memory);
}
