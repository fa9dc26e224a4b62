// Counts of what passed, by revision and thread, in a file that survives the process: docs/internals/router.md, Usage
// counters. A thread adds to its own lane without a lock; whoever reads sums up the lanes. Two workers may count at
// once: each has lanes of its own, which it holds by locks on the memory of the gauges as long as it lives.
//
// Series get their room in groups, on disk and in memory, before anything is counted in them. A group for which the
// disk has no room is in memory alone, and so is every later one; their counts have an epoch of their own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "router/mapped_file.h"
#include "router/table/table_compile.h"

namespace sluice::router {

inline constexpr size_t kLatencyBuckets = 30;
// Upper ends in microseconds; the last bucket has none.
inline constexpr std::array<uint32_t, kLatencyBuckets - 1> kLatencyEnds_us = {
    50,      100,     200,     300,     500,       750,       1'000,     1'500,      2'000,     3'000,
    5'000,   7'500,   10'000,  15'000,  20'000,    30'000,    50'000,    75'000,     100'000,   150'000,
    200'000, 300'000, 500'000, 750'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000, 30'000'000};

size_t latency_bucket(uint64_t latency_us);

// As it is in the file. Each word has one writer.
struct Counts {
  uint64_t requests = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  std::array<uint64_t, 5> classes{};  // 1xx to 5xx
  uint64_t retries = 0;
  uint64_t failures = 0;  // of upstreams
  uint64_t latency_us = 0;
  std::array<uint64_t, kLatencyBuckets> latencies{};
};

// What is under way now; not in the file, but in memory that workers of one master share.
struct Gauge {
  std::atomic<uint32_t> in_flight = 0;
  std::atomic<uint32_t> websockets = 0;
};

class Counters {
 public:
  static constexpr size_t kSeries = 16'384;
  static constexpr size_t kLanes = 64;
  static constexpr uint32_t kOther = kSeries - 1;  // of those for which there is no room

  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  // `router` and `fresh_epoch` go into a new file. One that cannot be used is set aside, as PATH.old. `spare` is what
  // make_spare() has made, with the counts that are in memory; who has it keeps them from being lost. -1: its own.
  // An error only if there is no memory: without a disk all is in memory.
  static Result<std::unique_ptr<Counters>> open(const std::string& path, const std::string& router,
                                                const std::string& fresh_epoch, size_t lanes, int spare = -1,
                                                int gauges = -1);
  static Result<int> make_spare();
  // Memory for `gauges`, which workers of one master share. -1: its own.
  static Result<int> make_gauges();
  // Of those that it has for itself.
  size_t first_lane() const { return first_lane_; }
  // What a router that is not there has left, to be read; `not_found` if there is no such file.
  static Result<std::unique_ptr<Counters>> left_at(const std::string& path);
  // Counts on when the disk fails under the file, as long as the process lives; for one Counters of a process.
  void rescue_from_disk_faults() { file_.rescue_from_disk_faults(); }

  // One thread only, that of the control socket. Another one may read meanwhile: what series() has counted stays.
  uint32_t series_of(const SeriesName& name);

  uint64_t next_sequence();
  std::string router() const;
  std::string epoch() const;
  size_t series() const;
  const SeriesName& name(uint32_t series) const { return names_[series]; }
  Counts total(uint32_t series) const;
  uint32_t in_flight(uint32_t series) const;
  uint32_t websockets(uint32_t series) const;

  // Why some counts are in memory alone; empty if none are.
  std::string trouble() const;
  bool is_in_memory(uint32_t series) const;
  bool any_in_memory() const;
  std::string memory_epoch() const;
  uint64_t next_memory_sequence();
  // The epoch of counts that were in memory alone and ended with it; empty if there were none.
  std::string lost_epoch() const;

  // Of one thread.
  Counts& of(size_t lane, uint32_t series);
  Gauge& gauge(size_t lane, uint32_t series) { return gauges_[lane * kSeries + series]; }

 private:
  Counters(MappedFile file, size_t lanes);
  // Finds as many free lanes in a row, and holds them. `conflict`: other workers have too many.
  Result<void> take_lanes(int gauges);
  static Result<std::unique_ptr<Counters>> open_file(const std::string& path, size_t lanes, int spare);
  static Result<std::unique_ptr<Counters>> open_memory(size_t lanes, int spare);
  void begin(const std::string& router, const std::string& epoch);
  bool is_begun() const;
  bool is_sound() const;
  void take_up(const std::string& router, const std::string& fresh_epoch);
  // Those of a group, or fewer if it is not full.
  std::vector<SeriesName> names_in(size_t group) const;
  void add_names(std::vector<SeriesName> names);
  // Makes room for the group that comes next, and for more the more there are: each takes a while on a disk.
  void grow();
  Result<void> hold(size_t group, size_t groups);
  void use_memory(size_t group);

  mutable MappedFile file_;
  size_t lanes_;
  size_t first_lane_ = 0;
  int gauges_fd_ = -1;
  size_t groups_ = 0;              // that have their room
  Gauge* gauges_ = nullptr;        // of all lanes
  mutable std::mutex naming_;      // of how many names there are, and of which groups are in memory
  std::vector<SeriesName> names_;  // with room for all: they stay where they are
  std::unordered_map<std::string, uint32_t> by_name_;
};

// Adds to a word that only this thread writes and others may read.
inline void add(uint64_t& word, uint64_t more) {
  std::atomic_ref<uint64_t> shared(word);
  shared.store(shared.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace sluice::router
