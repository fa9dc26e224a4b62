// A blob's records are found by the seq that each begins with.
#include "engine/journal/record_reader.h"

#include <algorithm>
#include <charconv>

#include "engine/journal/retention.h"

namespace sluice::engine {
namespace {

constexpr size_t kKeptBytes = size_t{32} << 20;
constexpr size_t kSeqAt = 82;  // {"chain":"<64>","seq":

Error damaged(const std::string& what) {
  return {.code = Code::verification_failed, .message = what, .next = "sluice audit verify"};
}

// 0: the record does not begin as records do.
uint64_t seq_of(std::string_view record) {
  uint64_t seq = 0;
  if (record.size() <= kSeqAt || !record.substr(0, kSeqAt).ends_with("\",\"seq\":")) return 0;
  std::from_chars(record.data() + kSeqAt, record.data() + record.size(), seq);
  return seq;
}

}  // namespace

Result<std::string_view> RecordReader::read(const store::JournalRow& row) {
  if (!row.record.empty()) return std::string_view(row.record);
  auto flow = unpacked(row.flow);
  if (!flow) return flow.error();
  const auto& records = (*flow)->records;
  auto found = std::ranges::lower_bound(records, row.seq, {}, [](const auto& record) { return record.first; });
  if (found == records.end() || found->first != row.seq) {
    return damaged("the packed flow " + to_string(row.flow) + " lacks record " + std::to_string(row.seq));
  }
  return std::string_view(found->second);
}

Result<const RecordReader::Unpacked*> RecordReader::unpacked(const Ulid& flow) {
  if (auto known = by_flow_.find(flow); known != by_flow_.end()) {
    kept_.splice(kept_.begin(), kept_, known->second);
    return &kept_.front();
  }
  auto blob = snapshot_.packed(flow);
  if (!blob) return blob.error();
  if (!*blob) return damaged("the records of flow " + to_string(flow) + " are neither in the journal nor packed");
  auto records = unpack_records(**blob);
  if (!records) return damaged("the packed flow " + to_string(flow) + " is damaged");
  Unpacked made{.flow = flow};
  for (std::string& record : *records) {
    made.bytes += record.size();
    uint64_t seq = seq_of(record);
    made.records.emplace_back(seq, std::move(record));
  }
  bytes_ += made.bytes;
  kept_.push_front(std::move(made));
  by_flow_[flow] = kept_.begin();
  while (bytes_ > kKeptBytes && kept_.size() > 1) {
    bytes_ -= kept_.back().bytes;
    by_flow_.erase(kept_.back().flow);
    kept_.pop_back();
  }
  return &kept_.front();
}

}  // namespace sluice::engine
