// Where Sluice asks the kernel for randomness, and the generator that stands in for it in tests.
#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cassert>
#include <cerrno>
#include <cstdlib>

namespace sluice {

uint64_t Random::u64() {
  std::array<uint8_t, 8> bytes;
  fill(bytes);
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{bytes[i]} << (8 * i);
  return value;
}

uint64_t Random::below(uint64_t bound) {
  assert(bound > 0);
  // Values under 2^64 mod bound would make the low results likelier; they are drawn again.
  const uint64_t surplus = -bound % bound;
  for (;;) {
    uint64_t value = u64();
    if (value >= surplus) return value % bound;
  }
}

void RealRandom::fill(std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

SeededRandom::SeededRandom(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t SeededRandom::step() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

void SeededRandom::fill(std::span<uint8_t> bytes) {
  std::lock_guard guard(mutex_);
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word = i % 8 == 0 ? step() : word >> 8;
    bytes[i] = static_cast<uint8_t>(word);
  }
}

}  // namespace sluice
