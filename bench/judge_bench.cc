// The judge: a verdict over 1,000 windows of two revisions with 64 buckets each, and one look more.
#include <cstdint>
#include <vector>

#include "bench/bench.h"
#include "judge/judge.h"

namespace sluice::judge {
namespace {

// A histogram around the thirtieth bucket that is a little different each time, and a failure now and then.
Counts counts(uint64_t& seed, double requests) {
  Counts made;
  made.latencies.resize(kMostBuckets);
  for (size_t i = 0; i < kMostBuckets; ++i) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    double off = static_cast<double>(i) - 30;
    double share = 1 / (1 + off * off / 4) / 6, noise = static_cast<double>(seed >> 40) / (1 << 24);
    made.latencies[i] = static_cast<double>(static_cast<int64_t>(requests * share * (0.8 + 0.4 * noise)));
    made.requests += made.latencies[i];
  }
  made.failed = seed >> 58 == 0 ? 1 : 0;
  made.requests += made.failed;
  return made;
}

std::vector<Window> windows(size_t count) {
  uint64_t seed = 1;
  std::vector<Window> made;
  for (size_t i = 0; i < count; ++i) {
    made.push_back({.canary_weight_bps = 500, .baseline = counts(seed, 950), .canary = counts(seed, 50)});
  }
  return made;
}

}  // namespace
}  // namespace sluice::judge

int main() {
  using namespace sluice;
  const std::vector<judge::Window> windows = judge::windows(1'000);
  double whole = bench::median_s(
      [&] {
        judge::Judge judge{judge::Settings(), judge::Buckets()};
        for (const judge::Window& window : windows) judge.add(window);
        bench::keep(judge.verdict("v1", "v2"));
      },
      bench::kRounds, bench::cpu_s);
  judge::Judge judge{judge::Settings(), judge::Buckets()};
  constexpr int kLooks = 1'000;
  double look = bench::median_s(
      [&] {
        for (int i = 0; i < kLooks; ++i) {
          judge.add(windows[static_cast<size_t>(i)]);
          bench::keep(judge.verdict("v1", "v2"));
        }
      },
      bench::kRounds, bench::cpu_s);
  bench::Report report;
  report.at_most("a verdict over 1,000 windows of 2 revisions × 64 buckets", whole * 1e3, 10, "ms");
  report.note("a look: one window more, and a verdict", look / kLooks * 1e6, "µs");
  return report.print();
}
