// Reads the records of the journal whether their flows are packed or not, so that nobody who looks for something in it
// has to know which are.
//
//   RecordReader records(snapshot);
//   snapshot.journal_from(1, [&](const store::JournalRow& row) { auto record = records.read(row); … });
//
// A packed flow is unpacked once for as long as it stays among those read last; what is kept has a bound.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace sluice::engine {

class RecordReader {
 public:
  // The snapshot must outlive it.
  explicit RecordReader(store::Snapshot& snapshot) : snapshot_(snapshot) {}

  store::Snapshot& snapshot() { return snapshot_; }
  // The row's record; holds until the next call, and no longer than the row. Fails with `verification_failed` if the
  // flow's blob is damaged or lacks it.
  Result<std::string_view> read(const store::JournalRow& row);

 private:
  struct Unpacked {
    Ulid flow;
    std::vector<std::pair<uint64_t, std::string>> records;  // by seq
    size_t bytes = 0;
  };
  Result<const Unpacked*> unpacked(const Ulid& flow);

  store::Snapshot& snapshot_;
  std::list<Unpacked> kept_;  // the one read last first
  std::unordered_map<Ulid, std::list<Unpacked>::iterator> by_flow_;
  size_t bytes_ = 0;
};

}  // namespace sluice::engine
