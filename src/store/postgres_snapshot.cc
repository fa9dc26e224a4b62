// Rows are fetched some hundred at a time by cursors, so that a visit may end early and read on within.
#include "store/postgres_snapshot.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sluice::store::postgres {
namespace {

constexpr size_t kFetched = 256;

int64_t as_signed(uint64_t seq) {
  return static_cast<int64_t>(std::min(seq, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

Ulid id_of(const std::string& bytes) {
  uint64_t wall_ms = 0;
  std::array<uint8_t, Ulid::kRandomBytes> random{};
  for (size_t index = 0; index < bytes.size() && index < 16; ++index) {
    const auto each = static_cast<uint8_t>(bytes[index]);
    if (index < 6) {
      wall_ms = wall_ms << 8 | each;
    } else {
      random[index - 6] = each;
    }
  }
  return Ulid::from(static_cast<int64_t>(wall_ms), random);
}

void take(const PostgresRows& rows, size_t row, StateRow& out) {
  out = {.rel = rows.bytes(row, 0),
         .key = rows.bytes(row, 1),
         .generation = static_cast<uint64_t>(rows.integer(row, 2)),
         .seq = static_cast<uint64_t>(rows.integer(row, 3)),
         .value = rows.bytes(row, 4)};
}

void take(const PostgresRows& rows, size_t row, JournalRow& out) {
  out = {.seq = static_cast<uint64_t>(rows.integer(row, 0)),
         .flow = id_of(rows.bytes(row, 1)),
         .prev = static_cast<uint64_t>(rows.integer(row, 2)),
         .record = rows.bytes(row, 3),
         .packed_hash = rows.bytes(row, 4)};
}

void take(const PostgresRows& rows, size_t row, FlowRow& out) {
  out = {.id = id_of(rows.bytes(row, 0)),
         .head = static_cast<uint64_t>(rows.integer(row, 1)),
         .status = static_cast<FlowStatus>(rows.integer(row, 2)),
         .sync_set = rows.bytes(row, 3),
         .settled_at_ms = rows.integer(row, 4),
         .summary = rows.bytes(row, 5),
         .packed = rows.integer(row, 6) != 0};
}

void take(const PostgresRows& rows, size_t row, TimerRow& out) {
  out = {.invocation = id_of(rows.bytes(row, 0)), .flow = id_of(rows.bytes(row, 1)), .due_ms = rows.integer(row, 2)};
}

void take(const PostgresRows& rows, size_t row, KeyRow& out) {
  out = {.caller = rows.bytes(row, 0),
         .key = rows.bytes(row, 1),
         .request_hash = rows.bytes(row, 2),
         .flow = id_of(rows.bytes(row, 3)),
         .invocation = id_of(rows.bytes(row, 4)),
         .expires_ms = rows.integer(row, 5)};
}

void take(const PostgresRows& rows, size_t row, std::string& out) { out = rows.bytes(row, 0); }

void take(const PostgresRows& rows, size_t row, LookupRow& out) {
  out = {
      .rel = rows.bytes(row, 0), .field = rows.bytes(row, 1), .value = rows.bytes(row, 2), .key = rows.bytes(row, 3)};
}

void take(const PostgresRows& rows, size_t row, std::pair<std::string, std::string>& out) {
  out = {rows.bytes(row, 0), rows.bytes(row, 1)};
}

template <typename Row>
Result<std::optional<Row>> one(PostgresConnection& connection, const char* sql,
                               const std::vector<PostgresParameter>& parameters) {
  auto rows = connection.query(sql, parameters);
  if (!rows) return rows.error();
  std::optional<Row> only;
  if (rows->size() > 0) take(*rows, 0, only.emplace());
  return only;
}

std::optional<std::string> above_prefix(std::string_view prefix) {
  std::string end(prefix);
  while (end.ends_with('\xff')) end.pop_back();
  if (end.empty()) return std::nullopt;
  end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

constexpr const char* kPosition = "SELECT coalesce(max(seq), 0)::int8 FROM sluice.journal";
constexpr const char* kGet = "SELECT rel, key, generation, seq, value FROM sluice.state WHERE rel = $1 AND key = $2";
constexpr const char* kScanAll =
    "SELECT rel, key, generation, seq, value FROM sluice.state WHERE rel = $1 AND key >= $2 ORDER BY key";
constexpr const char* kScan =
    "SELECT rel, key, generation, seq, value FROM sluice.state WHERE rel = $1 AND key >= $2 AND key < $3 ORDER BY key";
constexpr const char* kRelations = "SELECT DISTINCT rel FROM sluice.state ORDER BY rel";
constexpr const char* kLookup =
    "SELECT key FROM sluice.lookup WHERE rel = $1 AND field = $2 AND sha256(value) = sha256($3) AND value = $3 ORDER "
    "BY key";
constexpr const char* kJournal = "SELECT seq, flow, prev, record, packed_hash FROM sluice.journal WHERE seq = $1";
constexpr const char* kJournalFrom =
    "SELECT seq, flow, prev, record, packed_hash FROM sluice.journal WHERE seq >= $1 ORDER BY seq";
constexpr const char* kFlow =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM sluice.flow WHERE id = $1";
constexpr const char* kOpenFlows =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM sluice.flow WHERE status < 3 ORDER BY id";
constexpr const char* kFlowsNewest =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM sluice.flow ORDER BY id DESC";
constexpr const char* kFlowsBefore =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM sluice.flow WHERE id < $1 ORDER BY id DESC";
constexpr const char* kFlowsOldest =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM sluice.flow ORDER BY id";
constexpr const char* kFlowsAfter =
    "SELECT id, head, status, sync_set, settled_at_ms, summary, packed FROM sluice.flow WHERE id > $1 ORDER BY id";
constexpr const char* kPacked = "SELECT blob FROM sluice.packed WHERE flow = $1";
constexpr const char* kTimers = "SELECT invocation, flow, due_ms FROM sluice.timer ORDER BY due_ms, invocation";
constexpr const char* kKey =
    "SELECT caller, key, request_hash, flow, invocation, expires_ms FROM sluice.idempotency_key "
    "WHERE caller = $1 AND key = $2";
constexpr const char* kSyncSet = "SELECT content FROM sluice.sync_set WHERE hash = $1";
constexpr const char* kSyncSets = "SELECT hash FROM sluice.sync_set ORDER BY hash";
constexpr const char* kMeta = "SELECT value FROM sluice.meta WHERE name = $1";
constexpr const char* kLookups = "SELECT rel, field, value, key FROM sluice.lookup ORDER BY rel, field, value, key";
constexpr const char* kKeys =
    "SELECT caller, key, request_hash, flow, invocation, expires_ms FROM sluice.idempotency_key ORDER BY caller, key";
constexpr const char* kMetas = "SELECT name, value FROM sluice.meta ORDER BY name";

class PostgresSnapshot final : public Snapshot {
 public:
  using GiveBack = std::function<void(std::unique_ptr<PostgresConnection>, bool)>;

  PostgresSnapshot(std::unique_ptr<PostgresConnection> connection, uint64_t position, GiveBack give_back)
      : connection_(std::move(connection)), position_(position), give_back_(std::move(give_back)) {}
  ~PostgresSnapshot() override {
    const bool ended = connection_->execute("COMMIT").has_value();
    give_back_(std::move(connection_), ended);
  }

  uint64_t position() const override { return position_; }

  Result<std::optional<StateRow>> get(std::string_view rel, std::string_view key) override {
    return one<StateRow>(*connection_, kGet, {parameter(rel), parameter(key)});
  }
  Result<void> scan(std::string_view rel, std::string_view prefix, const Visit<StateRow>& visit) override {
    const auto end = above_prefix(prefix);
    if (end) return each(kScan, {parameter(rel), parameter(prefix), parameter(*end)}, visit);
    return each(kScanAll, {parameter(rel), parameter(prefix)}, visit);
  }
  Result<void> relations(const Visit<std::string>& visit) override { return each(kRelations, {}, visit); }
  Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                      const Visit<std::string>& visit) override {
    return each(kLookup, {parameter(rel), parameter(field), parameter(value)}, visit);
  }

  Result<std::optional<JournalRow>> journal(uint64_t seq) override {
    return one<JournalRow>(*connection_, kJournal, {parameter(as_signed(seq))});
  }
  Result<void> journal_from(uint64_t seq, const Visit<JournalRow>& visit) override {
    return each(kJournalFrom, {parameter(as_signed(seq))}, visit);
  }

  Result<std::optional<FlowRow>> flow(const Ulid& id) override { return read_postgres_flow(*connection_, id); }
  Result<void> open_flows(const Visit<FlowRow>& visit) override { return each(kOpenFlows, {}, visit); }
  Result<void> flows_newest_first(std::optional<Ulid> before, const Visit<FlowRow>& visit) override {
    if (before) return each(kFlowsBefore, {parameter(bytes_of(*before))}, visit);
    return each(kFlowsNewest, {}, visit);
  }
  Result<void> flows_oldest_first(std::optional<Ulid> after, const Visit<FlowRow>& visit) override {
    if (after) return each(kFlowsAfter, {parameter(bytes_of(*after))}, visit);
    return each(kFlowsOldest, {}, visit);
  }
  Result<std::optional<std::string>> packed(const Ulid& flow) override {
    return one<std::string>(*connection_, kPacked, {parameter(bytes_of(flow))});
  }

  Result<void> timers(const Visit<TimerRow>& visit) override { return each(kTimers, {}, visit); }
  Result<std::optional<KeyRow>> key(std::string_view caller, std::string_view key) override {
    return one<KeyRow>(*connection_, kKey, {parameter(caller), parameter(key)});
  }
  Result<std::optional<std::string>> sync_set(std::string_view hash) override {
    return one<std::string>(*connection_, kSyncSet, {parameter(hash)});
  }
  Result<void> sync_sets(const Visit<std::string>& visit) override { return each(kSyncSets, {}, visit); }
  Result<std::optional<std::string>> meta(std::string_view name) override {
    return one<std::string>(*connection_, kMeta, {parameter(name)});
  }

  Result<void> lookups(const Visit<LookupRow>& visit) override { return each(kLookups, {}, visit); }
  Result<void> keys(const Visit<KeyRow>& visit) override { return each(kKeys, {}, visit); }
  Result<void> metas(const Visit<std::pair<std::string, std::string>>& visit) override {
    return each(kMetas, {}, visit);
  }

 private:
  template <typename Row>
  Result<void> each(const char* sql, const std::vector<PostgresParameter>& parameters, const Visit<Row>& visit) {
    const auto cursor = "c" + std::to_string(++cursors_);
    auto declared = connection_->query(("DECLARE " + cursor + " NO SCROLL CURSOR FOR " + sql).c_str(), parameters);
    if (!declared) return declared.error();
    Result<void> done{};
    for (bool more = true; more;) {
      auto rows = connection_->query(("FETCH " + std::to_string(kFetched) + " FROM " + cursor).c_str());
      if (!rows) return rows.error();
      more = rows->size() == kFetched;
      for (size_t index = 0; index < rows->size(); ++index) {
        Row row;
        take(*rows, index, row);
        if (visit(row)) continue;
        more = false;
        break;
      }
    }
    return connection_->execute("CLOSE " + cursor);
  }

  std::unique_ptr<PostgresConnection> connection_;
  uint64_t position_;
  GiveBack give_back_;
  uint64_t cursors_ = 0;
};

}  // namespace

std::string bytes_of(const Ulid& id) {
  std::string bytes;
  for (const uint64_t half : {id.high(), id.low()}) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift & 0xff);
  }
  return bytes;
}

Result<std::optional<FlowRow>> read_postgres_flow(PostgresConnection& connection, const Ulid& id) {
  return one<FlowRow>(connection, kFlow, {parameter(bytes_of(id))});
}

Result<std::unique_ptr<Snapshot>> open_postgres_snapshot(
    std::unique_ptr<PostgresConnection> connection,
    std::function<void(std::unique_ptr<PostgresConnection>, bool)> give_back) {
  if (auto begun = connection->execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); !begun) return begun.error();
  // The first reading, not BEGIN, chooses the moment.
  auto position = connection->query(kPosition);
  if (!position) return position.error();
  return std::unique_ptr<Snapshot>(std::make_unique<PostgresSnapshot>(
      std::move(connection), static_cast<uint64_t>(position->integer(0, 0)), std::move(give_back)));
}

}  // namespace sluice::store::postgres
