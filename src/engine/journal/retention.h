// What becomes of settled flows: those older than 30 days, and the oldest beyond 100,000, are packed, one compressed
// blob a flow. They can still be read; of their records the hashes stay in the journal, so that its chain still holds.
// Sync sets are kept while a flow may go on under them, which is until it is packed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace sluice::engine {

struct Retention {
  int64_t keep_ms = int64_t{30} * 24 * 3600 * 1000;
  uint64_t keep_flows = 100'000;
  size_t flows_at_once = 200;                 // in one commit, so that the writer is not held up for long
  size_t bytes_at_once = size_t{256} << 20U;  // of their records; a flow that alone has more stays as it is
};

// A flow's records as one blob, and back.
std::string pack_records(const std::vector<std::string>& records);
Result<std::vector<std::string>> unpack_records(std::string_view blob);

// The sync sets that no flow may need again: those of packed flows alone, and of none. `current` is not among them.
Result<std::vector<std::string>> unneeded_sync_sets(store::Snapshot& snapshot, const std::string& current);

// Packs what is due, at most `flows_at_once`. Returns how many flows were packed.
Result<size_t> pack_settled(store::Store& store, int64_t now_ms, const Retention& retention);

}  // namespace sluice::engine
