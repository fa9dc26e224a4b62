// Random is the seam through which Sluice draws random bytes: RealRandom takes them from the kernel and is fit for
// keys; SeededRandom gives the same bytes for the same seed on every machine and is for tests alone. Both may be used
// from many threads.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>

namespace sluice {

class Random {
 public:
  virtual ~Random() = default;

  virtual void fill(std::span<uint8_t> bytes) = 0;

  uint64_t u64();
  // Uniform in [0, bound); bound must not be 0.
  uint64_t below(uint64_t bound);
};

// getrandom(2). It cannot fail on a kernel that Sluice runs on; if it does, the process stops rather than go on with
// bytes that an attacker could guess.
class RealRandom final : public Random {
 public:
  void fill(std::span<uint8_t> bytes) override;
};

// xoshiro256** with its state filled by splitmix64 from the seed (Blackman and Vigna's public-domain algorithms).
// Each fill takes whole 64-bit outputs, least significant byte first, and drops what is left of the last one.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);
  void fill(std::span<uint8_t> bytes) override;

 private:
  uint64_t step();

  std::mutex mutex_;
  std::array<uint64_t, 4> state_;
};

}  // namespace sluice
