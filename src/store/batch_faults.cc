// The sentences for what stores refuse.
#include "store/batch_faults.h"

namespace sluice::store {
namespace {

Error shows_not_everything() {
  return {.code = Code::unavailable, .message = "this view of the store does not show everything"};
}

}  // namespace

Result<void> Snapshot::lookups(const Visit<LookupRow>&) { return shows_not_everything(); }
Result<void> Snapshot::keys(const Visit<KeyRow>&) { return shows_not_everything(); }
Result<void> Snapshot::metas(const Visit<std::pair<std::string, std::string>>&) { return shows_not_everything(); }

Result<void> check_follows(const std::vector<JournalRow>& rows, uint64_t position) {
  for (const JournalRow& row : rows) {
    if (row.seq != position + 1) {
      return Error{.code = Code::conflict,
                   .message = "step " + std::to_string(row.seq) + " does not follow step " + std::to_string(position) +
                              ", the journal's last; nothing was changed"};
    }
    ++position;
  }
  return {};
}

Result<void> check_packable(const Ulid& id, const std::optional<FlowRow>& flow) {
  if (!flow) return Error{.code = Code::not_found, .message = "no flow " + to_string(id)};
  if (is_open(flow->status)) {
    return Error{.code = Code::conflict,
                 .message = "flow " + to_string(id) + " is open; only settled flows are packed"};
  }
  if (flow->packed) return Error{.code = Code::conflict, .message = "flow " + to_string(id) + " is packed already"};
  return {};
}

HashCheck::HashCheck(const PackedFlow& packed)
    : flow_(packed.flow), left_(packed.record_hashes.begin(), packed.record_hashes.end()) {}

Result<std::string> HashCheck::take(uint64_t seq) {
  auto found = left_.extract(seq);
  if (!found) {
    return Error{.code = Code::invalid,
                 .message = "flow " + to_string(flow_) + " cannot be packed: no hash was given for its step " +
                            std::to_string(seq)};
  }
  return std::move(found.mapped());
}

Result<void> HashCheck::finish() const {
  if (left_.empty()) return {};
  return not_its_own(left_.begin()->first);
}

Error HashCheck::not_its_own(uint64_t seq) const {
  return {.code = Code::invalid,
          .message =
              "flow " + to_string(flow_) + " cannot be packed: step " + std::to_string(seq) + " is not one of its own"};
}

}  // namespace sluice::store
