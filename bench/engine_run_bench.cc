// Durable steps: flows of ten effects with empty bodies, each driven by a sync from the one before, so that each is a
// commit of its own in its flow, with its firing, follow-up, state row and chained records. Beside it, in the same run:
// what the disk and bare SQLite can do.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "bench/bench.h"
#include "bench/engine_chain.h"
#include "bench/threads.h"

namespace sluice::bench {
namespace {

// A log that is written over from its beginning, as SQLite's is: each sync brings the bytes of one step to the disk.
class RawLog {
 public:
  RawLog() : file_(::open(folder_.path("raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    must(file_ >= 0, "cannot open a file");
    std::string old(kSize, 'o');
    must(::pwrite(file_, old.data(), old.size(), 0) == kSize && ::fsync(file_) == 0, "cannot write");
  }
  ~RawLog() { ::close(file_); }
  RawLog(const RawLog&) = delete;
  RawLog& operator=(const RawLog&) = delete;

  void sync(size_t bytes) {
    if (at_ + static_cast<off_t>(bytes) > kSize) at_ = 0;
    auto size = static_cast<ssize_t>(bytes);
    must(::pwrite(file_, bytes_.data(), bytes, at_) == size && ::fdatasync(file_) == 0, "cannot sync");
    at_ += size;
  }

 private:
  static constexpr off_t kSize = 4 << 20;

  DiskFolder folder_;
  int file_;
  off_t at_ = 0;
  std::string bytes_ = std::string(1 << 16, 'r');
};

// Of the flow, the state and the journal a page each changes, and goes to the log with a header.
constexpr size_t kStepBytes = 3 * (4096 + 24);

}  // namespace

void run_bench(Report& report) {
  DiskFolder folder;
  Bench bench(folder.path("store.db"));
  bench.flows("Chain/run", 500, 64);
  uint64_t syncs = bench.file->counts().syncs;
  constexpr int64_t kFlows = 6000;
  auto before = thread_cpu_s();
  double all_s = cpu_s();
  double many_s = bench.flows("Chain/run", kFlows, 64);
  all_s = cpu_s() - all_s;
  auto after = thread_cpu_s();
  syncs = bench.file->counts().syncs - syncs;
  double steps = static_cast<double>(kFlows * kChain);
  report.at_least("durable steps, 64 flows of 10 effects at once", steps / many_s, 20'000, "steps/s");
  report.note("  steps a sync", steps / static_cast<double>(syncs), "");
  report.note("  CPU a step: all threads", all_s / steps * 1e6, "us");
  for (const char* name : {"writer", "committer", "effects"}) {
    report.note("  CPU a step: " + std::string(name), (after[name] - before[name]) / steps * 1e6, "us");
  }
  // A flow of ten steps is eleven commits: its request is one.
  constexpr int kTogether = 5;
  RawLog raw;
  auto syncs_of = [&](size_t bytes) {
    return [&raw, bytes] {
      for (int i = 0; i < kTogether * (kChain + 1); ++i) raw.sync(bytes);
    };
  };
  auto took = medians_s({syncs_of(4096), syncs_of(kStepBytes), [&] { bench.flows("Chain/run", kTogether, 1); }}, 40);
  for (double& s : took) s *= 1000.0 / (kTogether * (kChain + 1));
  report.note("one fdatasync of 4 kB", took[0], "ms");
  report.note("one fdatasync of the 12 kB of a step", took[1], "ms");
  report.note("one flow alone, a step", took[2], "ms");
  report.at_most("one flow alone, a step, beyond that fdatasync", took[2] - took[1], 0.1, "ms");
  double falling_s = bench.flows("Chain/drop", 2000, 64);
  report.note("cascades of pure steps, 64 flows of 11 at once", 2000 * (kChain + 1) / falling_s, "steps/s");
}

}  // namespace sluice::bench
