// Simulated traffic: windows of counts as a router would give them, the same for the same seed on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "judge/buckets.h"
#include "judge/counts.h"

namespace sluice::judge::simulation {

// xoshiro256**, filled by splitmix64.
class Dice {
 public:
  explicit Dice(uint64_t seed);
  uint64_t bits();
  double uniform();  // in [0, 1)
  bool happens(double chance) { return uniform() < chance; }
  double poisson(double mean);

 private:
  std::array<uint64_t, 4> state_;
};

// How a version answers: the share that fails, and a log-normal latency of those that do not, but for a share that is
// answered at once.
struct Version {
  double error_rate = 0.001;
  double median_ms = 50;
  double sigma = 0.7;
  double at_once = 0;
};

// The fate of one request, drawn in constant time (Walker's alias method): a bucket, or failure.
class Fates {
 public:
  Fates(const Version& version, const Buckets& buckets);
  // So many requests; adds them to the counts.
  void draw(Dice& dice, double requests, Counts& into) const;

 private:
  std::vector<uint64_t> keep_;  // of 2^32
  std::vector<uint8_t> other_;
};

}  // namespace sluice::judge::simulation
