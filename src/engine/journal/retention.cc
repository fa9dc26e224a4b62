// Packing settled flows. A blob is one zstd frame of the records, each with a newline, which no record contains.
#include "engine/journal/retention.h"

#include <zstd.h>

#include <algorithm>
#include <set>

#include "engine/journal/step.h"

namespace sluice::engine {
namespace {

constexpr int kLevel = 3;
constexpr unsigned long long kLargestFlow = 1ULL << 32U;

// The flows that are due, oldest first.
Result<std::vector<store::FlowRow>> due_flows(store::Snapshot& snapshot, int64_t now_ms, const Retention& retention) {
  uint64_t settled = 0;
  auto counted = snapshot.flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    settled += store::is_open(row.status) || row.packed ? 0 : 1;
    return true;
  });
  if (!counted) return counted.error();
  uint64_t too_many = settled > retention.keep_flows ? settled - retention.keep_flows : 0;
  std::vector<store::FlowRow> due;
  auto read = snapshot.flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    if (store::is_open(row.status) || row.packed) return true;
    bool old = row.settled_at_ms < now_ms - retention.keep_ms;
    if (old || too_many > 0) due.push_back(row);
    if (too_many > 0) --too_many;
    return due.size() < retention.flows_at_once;
  });
  if (!read) return read.error();
  return due;
}

}  // namespace

std::string pack_records(const std::vector<std::string>& records) {
  std::string text;
  for (const std::string& record : records) text += record + "\n";
  std::string blob(ZSTD_compressBound(text.size()), '\0');
  size_t size = ZSTD_compress(blob.data(), blob.size(), text.data(), text.size(), kLevel);
  blob.resize(size);
  return blob;
}

Result<std::vector<std::string>> unpack_records(std::string_view blob) {
  Error damaged{
      .code = Code::verification_failed, .message = "a packed flow is damaged", .next = "sluice audit verify"};
  unsigned long long size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kLargestFlow) return damaged;
  std::string text(size, '\0');
  size_t read = ZSTD_decompress(text.data(), text.size(), blob.data(), blob.size());
  if (ZSTD_isError(read) != 0 || read != size) return damaged;
  std::vector<std::string> records;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) return damaged;
    records.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return records;
}

Result<size_t> pack_settled(store::Store& store, int64_t now_ms, const Retention& retention) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto due = due_flows(**snapshot, now_ms, retention);
  if (!due) return due.error();
  std::vector<store::PackedFlow> packed;
  size_t taken = 0;
  for (const store::FlowRow& flow : *due) {
    if (taken > retention.bytes_at_once) break;
    size_t bytes = 0;
    std::vector<std::string> records;
    store::PackedFlow one{.flow = flow.id, .blob = "", .record_hashes = {}};
    for (uint64_t seq = flow.head; seq != 0 && bytes <= retention.bytes_at_once;) {
      auto row = (*snapshot)->journal(seq);
      if (!row) return row.error();
      if (!*row) {
        return Error{.code = Code::verification_failed,
                     .message = "the journal lacks record " + std::to_string(seq),
                     .next = "sluice audit verify"};
      }
      one.record_hashes.emplace_back(seq, chain_of((*row)->record));
      seq = (*row)->prev;
      bytes += (*row)->record.size();
      records.push_back(std::move((*row)->record));
    }
    if (bytes > retention.bytes_at_once) continue;
    taken += bytes;
    std::ranges::reverse(records);
    one.blob = pack_records(records);
    packed.push_back(std::move(one));
  }
  snapshot->reset();
  if (packed.empty()) return size_t{0};
  if (auto done = store.pack(packed); !done) return done.error();
  return packed.size();
}

Result<std::vector<std::string>> unneeded_sync_sets(store::Snapshot& snapshot, const std::string& current) {
  std::set<std::string> sets;
  auto listed = snapshot.sync_sets([&](const std::string& hash) {
    if (hash != current) sets.insert(hash);
    return true;
  });
  if (!listed) return listed.error();
  if (sets.empty()) return std::vector<std::string>();
  auto read = snapshot.flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    if (!row.packed) sets.erase(row.sync_set);
    return !sets.empty();
  });
  if (!read) return read.error();
  return std::vector<std::string>(sets.begin(), sets.end());
}

}  // namespace sluice::engine
