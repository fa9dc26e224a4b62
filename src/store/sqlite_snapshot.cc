// One query a function, and one function that runs them all.
#include "store/sqlite_snapshot.h"

#include <algorithm>
#include <limits>

namespace sluice::store {
namespace {

constexpr const char* kPosition = "SELECT coalesce(max(seq), 0) FROM journal";
constexpr const char* kGet = "SELECT rel, key, generation, seq, value FROM state WHERE rel = ? AND key = ?";
constexpr const char* kScanAll =
    "SELECT rel, key, generation, seq, value FROM state WHERE rel = ? AND key >= ? ORDER BY key";
constexpr const char* kScan =
    "SELECT rel, key, generation, seq, value FROM state WHERE rel = ? AND key >= ? AND key < ? ORDER BY key";
constexpr const char* kRelations = "SELECT DISTINCT rel FROM state ORDER BY rel";
constexpr const char* kLookup = "SELECT key FROM lookup WHERE rel = ? AND field = ? AND value = ? ORDER BY key";
constexpr const char* kJournal = "SELECT seq, flow, prev, record, packed_hash FROM journal WHERE seq = ?";
constexpr const char* kJournalFrom =
    "SELECT seq, flow, prev, record, packed_hash FROM journal WHERE seq >= ? ORDER BY seq";
constexpr const char* kFlow =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM flow WHERE id = ?";
constexpr const char* kOpenFlows =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM flow WHERE status < 3 ORDER BY id";
constexpr const char* kFlowsNewest =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM flow ORDER BY id DESC";
constexpr const char* kFlowsBefore =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM flow WHERE id < ? ORDER BY id DESC";
constexpr const char* kFlowsOldest =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM flow ORDER BY id";
constexpr const char* kFlowsAfter =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM flow WHERE id > ? ORDER BY id";
constexpr const char* kPacked = "SELECT blob FROM packed WHERE flow = ?";
constexpr const char* kTimers = "SELECT invocation, flow, due_ms FROM timer ORDER BY due_ms, invocation";
constexpr const char* kKey =
    "SELECT caller, key, request_hash, flow, invocation, expires_ms FROM idempotency_key WHERE caller = ? AND key = ?";
constexpr const char* kSyncSet = "SELECT content FROM sync_set WHERE hash = ?";
constexpr const char* kSyncSets = "SELECT hash FROM sync_set ORDER BY hash";
constexpr const char* kMeta = "SELECT value FROM meta WHERE name = ?";
constexpr const char* kLookups = "SELECT rel, field, value, key FROM lookup ORDER BY rel, field, value, key";
constexpr const char* kKeys =
    "SELECT caller, key, request_hash, flow, invocation, expires_ms FROM idempotency_key ORDER BY caller, key";
constexpr const char* kMetas = "SELECT name, value FROM meta ORDER BY name";

void take(const Statement& row, StateRow& out) {
  out = {
      .rel = row.bytes(0), .key = row.bytes(1), .generation = row.count(2), .seq = row.count(3), .value = row.bytes(4)};
}

void take(const Statement& row, JournalRow& out) {
  out = {.seq = row.count(0),
         .flow = row.id(1),
         .prev = row.count(2),
         .record = row.bytes(3),
         .packed_hash = row.bytes(4)};
}

void take(const Statement& row, FlowRow& out) {
  out = {.id = row.id(0),
         .head = row.count(1),
         .status = static_cast<FlowStatus>(row.integer(2)),
         .sync_set = row.bytes(3),
         .settled_at_ms = row.integer(4),
         .summary = row.bytes(5),
         .packed = row.integer(6) != 0};
}

void take(const Statement& row, TimerRow& out) {
  out = {.invocation = row.id(0), .flow = row.id(1), .due_ms = row.integer(2)};
}

void take(const Statement& row, KeyRow& out) {
  out = {.caller = row.bytes(0),
         .key = row.bytes(1),
         .request_hash = row.bytes(2),
         .flow = row.id(3),
         .invocation = row.id(4),
         .expires_ms = row.integer(5)};
}

void take(const Statement& row, std::string& out) { out = row.bytes(0); }

void take(const Statement& row, LookupRow& out) {
  out = {.rel = row.bytes(0), .field = row.bytes(1), .value = row.bytes(2), .key = row.bytes(3)};
}

void take(const Statement& row, std::pair<std::string, std::string>& out) { out = {row.bytes(0), row.bytes(1)}; }

// Runs the query with these parameters and visits its rows.
template <typename Row, typename... Parameters>
Result<void> visit_rows(Connection& connection, const char* sql, const Visit<Row>& visit,
                        const Parameters&... parameters) {
  auto statement = connection.prepared(sql);
  if (!statement) return statement.error();
  (statement->bind(parameters), ...);
  while (true) {
    auto found = statement->step();
    if (!found) return found.error();
    if (!*found) return {};
    Row row;
    take(*statement, row);
    if (!visit(row)) return {};
  }
}

template <typename Row, typename... Parameters>
Result<std::optional<Row>> one_row(Connection& connection, const char* sql, const Parameters&... parameters) {
  std::optional<Row> only;
  auto done = visit_rows<Row>(
      connection, sql,
      [&](const Row& row) {
        only = row;
        return false;
      },
      parameters...);
  if (!done) return done.error();
  return only;
}

// The least string above all that begin with prefix; none if there is no such (an empty prefix, or bytes ff alone).
std::optional<std::string> end_of_prefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return std::nullopt;
  end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

// A seq as SQLite's signed integer; the journal never comes near its end.
int64_t clamp(uint64_t seq) {
  return static_cast<int64_t>(std::min(seq, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

class SqliteSnapshot final : public Snapshot {
 public:
  using GiveBack = std::function<void(std::unique_ptr<Connection>, bool)>;

  SqliteSnapshot(std::unique_ptr<Connection> connection, uint64_t position, GiveBack give_back)
      : connection_(std::move(connection)), position_(position), give_back_(std::move(give_back)) {}

  ~SqliteSnapshot() override {
    bool ended = connection_->execute("COMMIT").has_value();
    give_back_(std::move(connection_), ended);
  }

  uint64_t position() const override { return position_; }

  Result<std::optional<StateRow>> get(std::string_view rel, std::string_view key) override {
    return one_row<StateRow>(*connection_, kGet, rel, key);
  }

  Result<void> scan(std::string_view rel, std::string_view prefix, const Visit<StateRow>& visit) override {
    auto end = end_of_prefix(prefix);
    if (end) return visit_rows(*connection_, kScan, visit, rel, prefix, *end);
    return visit_rows(*connection_, kScanAll, visit, rel, prefix);
  }

  Result<void> relations(const Visit<std::string>& visit) override {
    return visit_rows(*connection_, kRelations, visit);
  }

  Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                      const Visit<std::string>& visit) override {
    return visit_rows(*connection_, kLookup, visit, rel, field, value);
  }

  Result<std::optional<JournalRow>> journal(uint64_t seq) override {
    return one_row<JournalRow>(*connection_, kJournal, clamp(seq));
  }

  Result<void> journal_from(uint64_t seq, const Visit<JournalRow>& visit) override {
    return visit_rows(*connection_, kJournalFrom, visit, clamp(seq));
  }

  Result<std::optional<FlowRow>> flow(const Ulid& id) override { return read_flow(*connection_, id); }
  Result<void> open_flows(const Visit<FlowRow>& visit) override { return visit_rows(*connection_, kOpenFlows, visit); }

  Result<void> flows_newest_first(std::optional<Ulid> before, const Visit<FlowRow>& visit) override {
    if (before) return visit_rows(*connection_, kFlowsBefore, visit, *before);
    return visit_rows(*connection_, kFlowsNewest, visit);
  }

  Result<void> flows_oldest_first(std::optional<Ulid> after, const Visit<FlowRow>& visit) override {
    if (after) return visit_rows(*connection_, kFlowsAfter, visit, *after);
    return visit_rows(*connection_, kFlowsOldest, visit);
  }

  Result<std::optional<std::string>> packed(const Ulid& flow) override {
    return one_row<std::string>(*connection_, kPacked, flow);
  }

  Result<void> timers(const Visit<TimerRow>& visit) override { return visit_rows(*connection_, kTimers, visit); }

  Result<std::optional<KeyRow>> key(std::string_view caller, std::string_view key) override {
    return one_row<KeyRow>(*connection_, kKey, caller, key);
  }

  Result<std::optional<std::string>> sync_set(std::string_view hash) override {
    return one_row<std::string>(*connection_, kSyncSet, hash);
  }
  Result<void> sync_sets(const Visit<std::string>& visit) override {
    return visit_rows(*connection_, kSyncSets, visit);
  }

  Result<std::optional<std::string>> meta(std::string_view name) override {
    return one_row<std::string>(*connection_, kMeta, name);
  }

  Result<void> lookups(const Visit<LookupRow>& visit) override { return visit_rows(*connection_, kLookups, visit); }
  Result<void> keys(const Visit<KeyRow>& visit) override { return visit_rows(*connection_, kKeys, visit); }
  Result<void> metas(const Visit<std::pair<std::string, std::string>>& visit) override {
    return visit_rows(*connection_, kMetas, visit);
  }

 private:
  std::unique_ptr<Connection> connection_;
  uint64_t position_;
  GiveBack give_back_;
};

}  // namespace

Result<std::unique_ptr<Snapshot>> open_snapshot(std::unique_ptr<Connection> connection,
                                                std::function<void(std::unique_ptr<Connection>, bool)> give_back) {
  if (auto begun = connection->execute("BEGIN"); !begun) return begun.error();
  // The first reading, not BEGIN, chooses the moment.
  auto position = read_position(*connection);
  if (!position) return position.error();
  return std::unique_ptr<Snapshot>(
      std::make_unique<SqliteSnapshot>(std::move(connection), *position, std::move(give_back)));
}

Result<std::optional<FlowRow>> read_flow(Connection& connection, const Ulid& id) {
  return one_row<FlowRow>(connection, kFlow, id);
}

Result<uint64_t> read_position(Connection& connection) {
  auto position = connection.query_integer(kPosition);
  if (!position) return position.error();
  return static_cast<uint64_t>(*position);
}

}  // namespace sluice::store
