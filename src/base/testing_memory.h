// How much memory a piece of work takes at most, for tests of what hostile input can ask for. Boost.JSON and the
// standard containers take theirs from operator new, which this file replaces with one that counts: so one file of a
// test program may include it, and no other code at all. Sanitizers bring an operator new of their own, which stays:
// under them nothing is counted, and every peak is 0.
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

// Clang alone can be asked so, and it alone makes the builds with sanitizers.
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLUICE_KEEP_OPERATOR_NEW
#endif
#endif
#ifndef SLUICE_KEEP_OPERATOR_NEW
void* operator new(size_t size) { return sluice::CountedMemory::take(size); }                      // NOLINT: see above
void operator delete(void* memory) noexcept { sluice::CountedMemory::give_back(memory); }          // NOLINT: see above
void operator delete(void* memory, size_t) noexcept { sluice::CountedMemory::give_back(memory); }  // NOLINT: see above
#endif
