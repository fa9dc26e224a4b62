// Store keeps what the engine must not lose: the journal, the concepts' state with its look-ups, flows, timers,
// idempotency keys and sync sets. It knows nothing of what they mean. docs/internals/store.md says what is on disk.
//
//   auto done = store.commit({.journal = {…}, .state = {…}, .flows = {…}});
//   auto snapshot = store.read();
//   auto row = (*snapshot)->get("Rollout", "r1");
//
// A Batch happens whole or not at all, and is durable when commit() returns. A Snapshot sees one committed moment for
// as long as it lives, also while commits go on. Rows come in the byte order of their keys.
//
// A failed call has changed nothing, and the store can be used on: after `limit` (the disk is full) once there is room
// again. The one exception is a failed sync, after which nobody can know what is on the disk: from then on every call
// fails with the same error, broken() returns it, and the process must stop. What a reopened store then holds is every
// batch whose commit() returned, and the one under way whole or not at all.
//
// All strings are bytes: NUL and invalid UTF-8 are kept. A Store may be used from many threads, a Snapshot from one at
// a time; commits wait for each other. Snapshots must not outlive their store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/ulid.h"

namespace sluice::store {

// One step. The first has seq 1 and each that follows one more. `prev` is the seq of the step before it in the same
// flow (0: none), so that a flow is read backwards from its head without an index.
struct JournalRow {
  uint64_t seq = 0;
  Ulid flow;
  uint64_t prev = 0;
  std::string record;       // empty once its flow is packed
  std::string packed_hash;  // of the record, once its flow is packed; committed as it is where the record is empty

  bool operator==(const JournalRow&) const = default;
};

// One row of a concept's state. `rel` is "Rollout" or "Rollout.steps". A child's key is its owner's key, a NUL and its
// place, so that the children of one owner are neighbours.
struct StateRow {
  std::string rel;
  std::string key;
  uint64_t generation = 0;
  uint64_t seq = 0;   // of the step that changed it last
  std::string value;  // JSON

  bool operator==(const StateRow&) const = default;
};

struct StateChange {
  std::string rel;
  std::string key;
  uint64_t generation = 0;
  uint64_t seq = 0;                  // of the step that changes it
  std::optional<std::string> value;  // none: erased
};

// A field value under which a row can be found. Values are canonical JSON. Erasing a row leaves its look-ups: whoever
// changes one changes both.
struct LookupChange {
  std::string rel;
  std::string field;
  std::string value;
  std::string key;
  bool present = true;  // false: removed
};

// The numbers are those on disk.
enum class FlowStatus : uint8_t { running = 0, waiting = 1, stuck = 2, settled_ok = 3, settled_failed = 4 };

constexpr bool is_open(FlowStatus status) { return status < FlowStatus::settled_ok; }

struct FlowRow {
  Ulid id;
  uint64_t head = 0;  // seq of its newest step
  FlowStatus status = FlowStatus::running;
  std::string sync_set;       // hash of the set that it goes on under
  int64_t settled_at_ms = 0;  // 0 while open
  std::string summary;        // JSON for lists: root action, caller, first failure
  bool packed = false;        // set by pack(); commit() leaves it as it is

  bool operator==(const FlowRow&) const = default;
};

// The newest step of a flow, of which nothing else has changed: most steps of most flows.
struct FlowHead {
  Ulid id;
  uint64_t head = 0;
};

struct TimerRow {
  Ulid invocation;
  Ulid flow;
  int64_t due_ms = 0;

  bool operator==(const TimerRow&) const = default;
};

// What a caller's idempotency key was used for.
struct KeyRow {
  std::string caller;
  std::string key;
  std::string request_hash;
  Ulid flow;
  Ulid invocation;
  int64_t expires_ms = 0;

  bool operator==(const KeyRow&) const = default;
};

// Rows replace those with the same key. Changes happen in the order written here, so the later one of two to the same
// row holds, and a timer that is both set and done is gone.
struct Batch {
  std::vector<JournalRow> journal;  // must go on where the journal ends, else `conflict`
  std::vector<StateChange> state;
  std::vector<LookupChange> lookups;
  std::vector<FlowRow> flows;
  std::vector<FlowHead> heads;  // of flows that are there; of others nothing happens
  std::vector<TimerRow> timers;
  std::vector<Ulid> timers_done;
  std::vector<KeyRow> keys;
  std::vector<std::pair<std::string, std::string>> sync_sets;  // hash, content
  std::vector<std::pair<std::string, std::string>> meta;       // name, value
  // Flows that were packed in the store that these rows are copied from, and their blobs: they are packed here, too.
  std::vector<std::pair<Ulid, std::string>> packed;
};

// A row can be found by this value.
struct LookupRow {
  std::string rel;
  std::string field;
  std::string value;
  std::string key;

  bool operator==(const LookupRow&) const = default;
};

// Called for each row; false ends the reading. It may read from the same snapshot.
template <typename Row>
using Visit = std::function<bool(const Row&)>;

// A committed moment.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  virtual uint64_t position() const = 0;  // seq of the newest step it sees; 0: none

  virtual Result<std::optional<StateRow>> get(std::string_view rel, std::string_view key) = 0;
  // Rows of rel whose key begins with prefix, by key.
  virtual Result<void> scan(std::string_view rel, std::string_view prefix, const Visit<StateRow>& visit) = 0;
  virtual Result<void> relations(const Visit<std::string>& visit) = 0;  // that have rows, in order
  // Keys of rel's rows that have this value in this field, in order.
  virtual Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                              const Visit<std::string>& visit) = 0;

  virtual Result<std::optional<JournalRow>> journal(uint64_t seq) = 0;
  virtual Result<void> journal_from(uint64_t seq, const Visit<JournalRow>& visit) = 0;

  virtual Result<std::optional<FlowRow>> flow(const Ulid& id) = 0;
  virtual Result<void> open_flows(const Visit<FlowRow>& visit) = 0;  // oldest first
  // Newest first, beginning below `before` (none: with the newest).
  virtual Result<void> flows_newest_first(std::optional<Ulid> before, const Visit<FlowRow>& visit) = 0;
  // Oldest first, beginning above `after` (none: with the oldest).
  virtual Result<void> flows_oldest_first(std::optional<Ulid> after, const Visit<FlowRow>& visit) = 0;
  virtual Result<std::optional<std::string>> packed(const Ulid& flow) = 0;

  virtual Result<void> timers(const Visit<TimerRow>& visit) = 0;  // by due time, then by invocation
  virtual Result<std::optional<KeyRow>> key(std::string_view caller, std::string_view key) = 0;
  virtual Result<std::optional<std::string>> sync_set(std::string_view hash) = 0;
  virtual Result<void> sync_sets(const Visit<std::string>& visit) = 0;  // their hashes, in order
  virtual Result<std::optional<std::string>> meta(std::string_view name) = 0;

  // All rows of tables in which others only look something up, for those who copy a store, in order. `unavailable` of
  // a snapshot that does not show everything.
  virtual Result<void> lookups(const Visit<LookupRow>& visit);
  virtual Result<void> keys(const Visit<KeyRow>& visit);
  virtual Result<void> metas(const Visit<std::pair<std::string, std::string>>& visit);
};

// A settled flow as one blob, which takes the place of its records.
struct PackedFlow {
  Ulid flow;
  std::string blob;
  std::vector<std::pair<uint64_t, std::string>> record_hashes;  // seq and hash of each record of the flow
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<void> commit(const Batch& batch) = 0;
  virtual Result<std::unique_ptr<Snapshot>> read() = 0;

  // Puts each flow's blob in the place of its records, of which the hashes stay: all flows or none. Fails with
  // `conflict` for a flow that is open or packed, `not_found` for one that is not there, and `invalid` if the hashes
  // are not those of exactly its records.
  virtual Result<void> pack(const std::vector<PackedFlow>& flows) = 0;

  // Removes the idempotency keys that expire before this time, and those of the sync sets that no open flow goes on
  // under.
  virtual Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) = 0;

  // A consistent copy of the whole store in a new file, while it is in use; `conflict` if the file is there.
  virtual Result<void> back_up(const std::string& path) = 0;

  // The failed sync after which this store refuses everything; none while it works.
  virtual std::optional<Error> broken() const = 0;
};

}  // namespace sluice::store
