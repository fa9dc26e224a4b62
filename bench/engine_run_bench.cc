// Durable steps: flows of ten effects with empty bodies, each driven by a sync from the one before, so that each is a
// commit of its own in its flow, with its firing, follow-up, state row and chained records. Beside it, in the same run:
// what the disk and bare SQLite can do.
#include <fcntl.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/engine_chain.h"
#include "bench/threads.h"

namespace sluice::bench {
namespace {

double fdatasync_ms() {
  DiskFolder folder;
  int file = ::open(folder.path("raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  must(file >= 0, "cannot open a file");
  std::string bytes(4096, 'r');
  must(::pwrite(file, bytes.data(), bytes.size(), 0) == 4096 && ::fsync(file) == 0, "cannot write");
  double seconds = median_s(
      [&] {
        for (int i = 0; i < 50; ++i) {
          must(::pwrite(file, bytes.data(), bytes.size(), 0) == 4096 && ::fdatasync(file) == 0, "cannot sync");
        }
      },
      5);
  ::close(file);
  return seconds / 50 * 1000;
}

}  // namespace

void run_bench(Report& report) {
  DiskFolder folder;
  Bench bench(folder.path("store.db"));
  bench.flows("Chain/run", 500, 64);
  double raw_ms = fdatasync_ms();
  uint64_t syncs = bench.store->counts().syncs;
  constexpr int64_t kFlows = 6000;
  auto before = thread_cpu_s();
  double all_s = cpu_s();
  double many_s = bench.flows("Chain/run", kFlows, 64);
  all_s = cpu_s() - all_s;
  auto after = thread_cpu_s();
  syncs = bench.store->counts().syncs - syncs;
  double steps = static_cast<double>(kFlows * kChain);
  report.at_least("durable steps, 64 flows of 10 effects at once", steps / many_s, 20'000, "steps/s");
  report.note("  steps a sync", steps / static_cast<double>(syncs), "");
  report.note("  CPU a step: all threads", all_s / steps * 1e6, "us");
  for (const char* name : {"writer", "committer", "effects"}) {
    report.note("  CPU a step: " + std::string(name), (after[name] - before[name]) / steps * 1e6, "us");
  }
  double one_s = bench.flows("Chain/run", 100, 1);
  report.note("one fdatasync of 4 kB", raw_ms, "ms");
  report.at_most("one flow alone, a step, beyond one fdatasync", one_s / (100 * kChain) * 1000 - raw_ms, 0.1, "ms");
  double falling_s = bench.flows("Chain/drop", 2000, 64);
  report.note("cascades of pure steps, 64 flows of 11 at once", 2000 * (kChain + 1) / falling_s, "steps/s");
}

}  // namespace sluice::bench
