// Transaction is the state that the running step sees: its own writes, then those of the steps before it in the batch,
// then those of the batch that is on its way to the store, then what is committed. It is both what handlers write
// (lang::Rows) and what wheres and guards read (StateReader).
//
//   state.begin_step(invocation, seq, now_ms);
//   handler(state.rows());
//   state.keep_step();            // or drop_step()
//   state.collect(batch);         // what all kept steps changed, each row once
//   state.take_off();             // from here on steps belong to the next batch
//   store.commit(batch);
//   state.committed();            // or rolled_back()
//
// A store that cannot be read has no variant to become: that is an UnreadableStore, which the machine treats as it
// treats a failed commit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/ulid.h"
#include "engine/journal/step.h"
#include "engine/rules/guard_set.h"
#include "engine/state_reader.h"
#include "lang/run/rows.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::engine {

// The fields of each relation by which rows are found, from the kit's rules and the concepts' handlers.
using IndexedFields = std::map<std::string, std::vector<std::string>, std::less<>>;

// In the store's meta data: generations of rows go on above this number, because others may have seen those up to it.
inline constexpr std::string_view kGenerationFloorMeta = "generation.floor";

struct UnreadableStore : std::runtime_error {
  explicit UnreadableStore(Error reason) : std::runtime_error(to_string(reason)), error(std::move(reason)) {}
  Error error;
};

// A stored value: large ones are in the blob store, and the row holds '@' and their digest, which no JSON begins with.
inline constexpr size_t kLargestInlineValue = size_t{64} << 10U;
Result<json::value> read_value(const std::string& stored, store::BlobStore* blobs);
// JSON that Sluice wrote; `verification_failed` if it is damaged. `what` begins the message.
Result<json::value> parse_stored(std::string_view text, const std::string& what);

// The text under which a row is found by a field; none if the field is not there.
std::optional<std::string> lookup_of(const json::value& row, std::string_view field);

class Transaction final : public StateReader {
 public:
  // Without a blob store, large values stay in their rows.
  Transaction(store::Store& store, store::BlobStore* blobs, IndexedFields indexed);
  ~Transaction() override;

  // ---- a step
  // From now on rows are found by these fields.
  void index(IndexedFields indexed) {
    indexed_ = std::move(indexed);
    snapshot_.reset();
  }

  // Ids that its handlers make derive from its invocation, whether it ends that, their number and its time.
  void begin_step(const Ulid& invocation, uint64_t seq, int64_t now_ms, bool ends = false);
  lang::Rows& rows();
  // Rows that the running step inserted or changed.
  std::vector<ChangedRow> changed() const;
  // The rows that it changed, as the journal is to tell.
  std::vector<Wrote> keep_step();
  void drop_step();

  struct Version {
    uint64_t generation = 0;  // 0: there is no such row
    uint64_t seq = 0;         // of the step that changed it last
  };
  Version version(std::string_view relation, std::string_view key) const;

  // ---- the batch
  // Large values are stored as blobs here, which can fail.
  Result<void> collect(store::Batch& batch);
  void take_off();
  void committed();
  void rolled_back();

  // ---- StateReader
  std::vector<Row> by_key(const std::string& relation, std::string_view key) const override;
  std::vector<Row> by_field(const std::string& relation, std::string_view field,
                            const json::value& value) const override;
  std::vector<Row> all(const std::string& relation, size_t limit) const override;
  int64_t now_ms() const override { return now_ms_; }

 private:
  class StepRows;

  // A row as it is, or is to become; `value` none: not there.
  struct Cell {
    Version version;
    std::optional<json::value> value;
    std::string text;  // of the value, until it is collected
  };
  using Cells = std::map<std::string, Cell, std::less<>>;
  using Layer = std::map<std::string, Cells, std::less<>>;

  bool is_blob(const std::string& text) const { return text.size() > kLargestInlineValue && blobs_ != nullptr; }
  const Cell& get(std::string_view relation, std::string_view key) const;
  // As the running step found it.
  const Cell& before(std::string_view relation, std::string_view key) const;
  // As the batch found it.
  const Cell& before_batch(std::string_view relation, std::string_view key) const;
  const Cell& stored(std::string_view relation, std::string_view key) const;
  // Above which generations go on in a store that was restored.
  uint64_t floor() const;
  void put(std::string_view relation, std::string_view key, std::optional<json::value> value);
  // Visits rows whose key begins with the prefix, in key order, as the running step sees them, until visit returns
  // false.
  template <typename Visit>
  void scan(std::string_view relation, std::string_view prefix, const Visit& visit) const;
  std::vector<std::string> keys_with(std::string_view relation, std::string_view field, const json::value& value) const;
  bool is_indexed(std::string_view relation, std::string_view field) const;
  void collect_lookups(const std::string& relation, const std::string& key, const Cell& before, const Cell& after,
                       store::Batch& batch) const;
  store::Snapshot& snapshot() const;

  store::Store& store_;
  store::BlobStore* blobs_;
  IndexedFields indexed_;
  mutable std::unique_ptr<store::Snapshot> snapshot_;  // of the last commit
  mutable std::optional<uint64_t> floor_;              // once it was read
  mutable Layer known_;                                // committed rows that were read or written
  mutable size_t known_count_ = 0;
  Layer flying_, batch_, step_;  // from the oldest to the newest
  Ulid invocation_;
  uint64_t seq_ = 0;
  int64_t now_ms_ = 0;
  bool ends_ = false;
  uint64_t ids_made_ = 0;
  std::unique_ptr<StepRows> rows_;
};

}  // namespace sluice::engine
