// Nothing here comes from the standard library's distributions, which differ from one to the next.
#include "traffic.h"

#include <algorithm>
#include <cmath>
namespace sluice::judge::simulation {

Dice::Dice(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t Dice::bits() {
  auto turned = [](uint64_t word, int by) { return (word << by) | (word >> (64 - by)); };
  uint64_t result = turned(state_[1] * 5, 7) * 9, shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = turned(state_[3], 45);
  return result;
}

double Dice::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Dice::poisson(double mean) {
  if (mean > 50) {  // by the normal distribution, which is near enough for a number of requests
    double angle = 2 * M_PI * uniform(), length = std::sqrt(-2 * std::log(1 - uniform()));
    return std::max(0.0, std::round(mean + std::sqrt(mean) * length * std::cos(angle)));
  }
  double left = std::exp(-mean), product = uniform();
  double count = 0;
  for (; product > left; product *= uniform()) ++count;
  return count;
}

Fates::Fates(const Version& version, const Buckets& buckets) : keep_(buckets.size() + 1), other_(keep_.size()) {
  std::vector<double> chance(keep_.size());
  double below = 0, good = 1 - version.error_rate;
  for (size_t i = 0; i < buckets.size(); ++i) {
    double upto = 1;
    if (i < buckets.ends_us().size()) {
      double sigmas = std::log(buckets.ends_us()[i] / 1'000 / version.median_ms) / version.sigma;
      upto = 0.5 * std::erfc(-sigmas / std::sqrt(2));
    }
    chance[i] = good * (1 - version.at_once) * (upto - below);
    below = upto;
  }
  chance[0] += good * version.at_once;
  chance.back() = version.error_rate;
  // Walker's tables: what is short of the mean is filled up by what is beyond it.
  std::vector<size_t> small, large;
  for (size_t i = 0; i < chance.size(); ++i) {
    chance[i] *= static_cast<double>(chance.size());
    other_[i] = static_cast<uint8_t>(i);
    (chance[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    size_t less = small.back(), more = large.back();
    small.pop_back();
    other_[less] = static_cast<uint8_t>(more);
    chance[more] -= 1 - chance[less];
    if (chance[more] < 1) {
      large.pop_back();
      small.push_back(more);
    }
  }
  for (size_t each : small) chance[each] = 1;
  for (size_t i = 0; i < chance.size(); ++i) keep_[i] = static_cast<uint64_t>(std::min(chance[i], 1.0) * 0x1p32);
}

void Fates::draw(Dice& dice, double requests, Counts& into) const {
  std::array<uint32_t, kMostBuckets + 1> drawn{};
  const uint64_t fates = keep_.size();
  for (auto left = static_cast<int64_t>(requests); left > 0; --left) {
    uint64_t bits = dice.bits(), column = ((bits & 0xffffffff) * fates) >> 32;
    drawn[(bits >> 32) < keep_[column] ? column : other_[column]]++;
  }
  into.latencies.resize(fates - 1);
  into.requests += requests;
  into.failed += drawn[fates - 1];
  for (size_t i = 0; i + 1 < fates; ++i) into.latencies[i] += drawn[i];
}

}  // namespace sluice::judge::simulation
