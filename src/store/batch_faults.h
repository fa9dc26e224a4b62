// What a store refuses, said the same way by every store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace sluice::store {

// Whether these rows go on where the journal ends, each a step after the one before; else `conflict`.
Result<void> check_follows(const std::vector<JournalRow>& rows, uint64_t position);

// Whether the flow (none: it is not there) may be packed.
Result<void> check_packable(const Ulid& id, const std::optional<FlowRow>& flow);

// Compares the hashes that a PackedFlow names with the records of its flow. Give it each record's seq, then ask.
class HashCheck {
 public:
  explicit HashCheck(const PackedFlow& packed);

  // The hash of this record, or `invalid` if none was named.
  Result<std::string> take(uint64_t seq);
  // `invalid` if a hash is left over.
  Result<void> finish() const;
  // What to say of a seq that leads out of the flow.
  Error not_its_own(uint64_t seq) const;

 private:
  Ulid flow_;
  std::map<uint64_t, std::string> left_;
};

}  // namespace sluice::store
