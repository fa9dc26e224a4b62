// One connection commits, and a few that come and go serve snapshots. Statements take whole columns as arrays, so their
// number does not grow with the batch.
#include "store/postgres_store.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>

#include "store/batch_faults.h"
#include "store/postgres_connection.h"
#include "store/postgres_schema.h"
#include "store/postgres_snapshot.h"

namespace sluice::store::postgres {
namespace {

constexpr size_t kIdleConnections = 8;
constexpr size_t kDigestBytes = 32;
constexpr int64_t kSilent_s = 10;  // how long nothing is heard of a replica until another one may take its name

using Texts = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

// What becomes of rows with these keys: the last word for each holds, and PostgreSQL wants each key once.
template <typename Row>
using LastWord = std::map<std::string, const Row*>;

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const auto part : parts) key += std::to_string(part.size()) + ":" + std::string(part);
  return key;
}

int64_t signed_of(uint64_t number) { return static_cast<int64_t>(number); }

void send_journal(PostgresConnection& to, const Batch& batch) {
  if (batch.journal.empty()) return;
  Numbers seqs, prevs;
  Texts flows, records;
  for (const auto& row : batch.journal) {
    seqs.push_back(signed_of(row.seq));
    flows.push_back(bytes_of(row.flow));
    prevs.push_back(signed_of(row.prev));
    records.push_back(row.record);
  }
  to.send(
      "INSERT INTO sluice.journal (seq, flow, prev, record) SELECT * FROM unnest($1::int8[], $2::bytea[], $3::int8[], "
      "$4::bytea[])",
      {parameter(seqs), parameter(flows), parameter(prevs), parameter(records)});
}

void send_state(PostgresConnection& to, const Batch& batch) {
  LastWord<StateChange> last;
  for (const auto& change : batch.state) last[joined({change.rel, change.key})] = &change;
  Texts rels, keys, values, gone_rels, gone_keys;
  Numbers generations, seqs;
  for (const auto& [unused, change] : last) {
    if (!change->value) {
      gone_rels.push_back(change->rel);
      gone_keys.push_back(change->key);
      continue;
    }
    rels.push_back(change->rel);
    keys.push_back(change->key);
    generations.push_back(signed_of(change->generation));
    seqs.push_back(signed_of(change->seq));
    values.push_back(*change->value);
  }
  if (!rels.empty()) {
    to.send(
        "INSERT INTO sluice.state (rel, key, generation, seq, value) SELECT * FROM unnest($1::bytea[], $2::bytea[], "
        "$3::int8[], $4::int8[], $5::bytea[]) ON CONFLICT (rel, key) DO UPDATE SET generation = excluded.generation, "
        "seq = excluded.seq, value = excluded.value",
        {parameter(rels), parameter(keys), parameter(generations), parameter(seqs), parameter(values)});
  }
  if (!gone_rels.empty()) {
    to.send(
        "DELETE FROM sluice.state USING unnest($1::bytea[], $2::bytea[]) AS gone(rel, key) "
        "WHERE state.rel = gone.rel AND state.key = gone.key",
        {parameter(gone_rels), parameter(gone_keys)});
  }
}

void send_lookups(PostgresConnection& to, const Batch& batch) {
  LastWord<LookupChange> last;
  for (const auto& change : batch.lookups) last[joined({change.rel, change.field, change.value, change.key})] = &change;
  Texts columns[2][4];  // gone, present
  for (const auto& [unused, change] : last) {
    auto& to_columns = columns[change->present ? 1 : 0];
    to_columns[0].push_back(change->rel);
    to_columns[1].push_back(change->field);
    to_columns[2].push_back(change->value);
    to_columns[3].push_back(change->key);
  }
  const auto all = [&](int which) {
    std::vector<PostgresParameter> parameters;
    for (const auto& column : columns[which]) parameters.push_back(parameter(column));
    return parameters;
  };
  if (!columns[1][0].empty()) {
    to.send(
        "INSERT INTO sluice.lookup (rel, field, value, key) SELECT * FROM unnest($1::bytea[], $2::bytea[], "
        "$3::bytea[], "
        "$4::bytea[]) ON CONFLICT DO NOTHING",
        all(1));
  }
  if (!columns[0][0].empty()) {
    to.send(
        "DELETE FROM sluice.lookup USING unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[]) "
        "AS gone(rel, field, value, key) WHERE lookup.rel = gone.rel AND lookup.field = gone.field "
        "AND sha256(lookup.value) = sha256(gone.value) AND sha256(lookup.key) = sha256(gone.key)",
        all(0));
  }
}

void send_flows(PostgresConnection& to, const Batch& batch) {
  std::map<Ulid, const FlowRow*> last;
  for (const auto& flow : batch.flows) last[flow.id] = &flow;
  if (!last.empty()) {
    Texts ids, sync_sets, summaries;
    Numbers heads, statuses, settled;
    for (const auto& [id, flow] : last) {
      ids.push_back(bytes_of(id));
      heads.push_back(signed_of(flow->head));
      statuses.push_back(static_cast<int64_t>(flow->status));
      sync_sets.push_back(flow->sync_set);
      settled.push_back(flow->settled_at_ms);
      summaries.push_back(flow->summary);
    }
    to.send(
        "INSERT INTO sluice.flow (id, head, status, sync_set, settled_at_ms, summary) SELECT * FROM "
        "unnest($1::bytea[], "
        "$2::int8[], $3::int8[], $4::bytea[], $5::int8[], $6::bytea[]) ON CONFLICT (id) DO UPDATE SET "
        "head = excluded.head, status = excluded.status, sync_set = excluded.sync_set, "
        "settled_at_ms = excluded.settled_at_ms, summary = excluded.summary",
        {parameter(ids), parameter(heads), parameter(statuses), parameter(sync_sets), parameter(settled),
         parameter(summaries)});
  }
  std::map<Ulid, uint64_t> heads;
  for (const auto& head : batch.heads) heads[head.id] = head.head;
  if (!heads.empty()) {
    Texts ids;
    Numbers numbers;
    for (const auto& [id, head] : heads) {
      ids.push_back(bytes_of(id));
      numbers.push_back(signed_of(head));
    }
    to.send(
        "UPDATE sluice.flow SET head = newest.head FROM unnest($1::bytea[], $2::int8[]) AS newest(id, head) "
        "WHERE flow.id = newest.id",
        {parameter(ids), parameter(numbers)});
  }
}

void send_timers(PostgresConnection& to, const Batch& batch) {
  std::map<Ulid, const TimerRow*> last;
  for (const auto& timer : batch.timers) last[timer.invocation] = &timer;
  if (!last.empty()) {
    Texts invocations, flows;
    Numbers due;
    for (const auto& [invocation, timer] : last) {
      invocations.push_back(bytes_of(invocation));
      flows.push_back(bytes_of(timer->flow));
      due.push_back(timer->due_ms);
    }
    to.send(
        "INSERT INTO sluice.timer (invocation, flow, due_ms) SELECT * FROM unnest($1::bytea[], $2::bytea[], "
        "$3::int8[]) "
        "ON CONFLICT (invocation) DO UPDATE SET flow = excluded.flow, due_ms = excluded.due_ms",
        {parameter(invocations), parameter(flows), parameter(due)});
  }
  if (!batch.timers_done.empty()) {
    Texts done;
    for (const auto& each : batch.timers_done) done.push_back(bytes_of(each));
    to.send("DELETE FROM sluice.timer WHERE invocation = ANY($1::bytea[])", {parameter(done)});
  }
}

void send_keys(PostgresConnection& to, const Batch& batch) {
  LastWord<KeyRow> last;
  for (const auto& row : batch.keys) last[joined({row.caller, row.key})] = &row;
  if (last.empty()) return;
  Texts callers, keys, hashes, flows, invocations;
  Numbers expires;
  for (const auto& [unused, row] : last) {
    callers.push_back(row->caller);
    keys.push_back(row->key);
    hashes.push_back(row->request_hash);
    flows.push_back(bytes_of(row->flow));
    invocations.push_back(bytes_of(row->invocation));
    expires.push_back(row->expires_ms);
  }
  to.send(
      "INSERT INTO sluice.idempotency_key SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], "
      "$5::bytea[], $6::int8[]) ON CONFLICT (caller, key) DO UPDATE SET request_hash = excluded.request_hash, "
      "flow = excluded.flow, invocation = excluded.invocation, expires_ms = excluded.expires_ms",
      {parameter(callers), parameter(keys), parameter(hashes), parameter(flows), parameter(invocations),
       parameter(expires)});
}

void send_names(PostgresConnection& to, const char* sql,
                const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : pairs) last[name] = value;
  if (last.empty()) return;
  Texts names, values;
  for (const auto& [name, value] : last) {
    names.push_back(name);
    values.push_back(value);
  }
  to.send(sql, {parameter(names), parameter(values)});
}

constexpr const char* kPackRecords =
    "UPDATE sluice.journal SET record = NULL, packed_hash = gone.hash FROM unnest($1::int8[], $2::bytea[]) "
    "AS gone(seq, hash) WHERE journal.seq = gone.seq";
constexpr const char* kPackFlows = "UPDATE sluice.flow SET packed = 1 WHERE id = ANY($1::bytea[])";
constexpr const char* kPutPacked =
    "INSERT INTO sluice.packed (flow, blob) SELECT * FROM unnest($1::bytea[], $2::bytea[])";

void send_packed(PostgresConnection& to, const Batch& batch) {
  Numbers seqs;
  Texts hashes, ids, blobs;
  for (const auto& row : batch.journal) {
    if (!row.record.empty() || row.packed_hash.empty()) continue;
    seqs.push_back(signed_of(row.seq));
    hashes.push_back(row.packed_hash);
  }
  if (!seqs.empty()) to.send(kPackRecords, {parameter(seqs), parameter(hashes)});
  for (const auto& [flow, blob] : batch.packed) {
    ids.push_back(bytes_of(flow));
    blobs.push_back(blob);
  }
  if (ids.empty()) return;
  to.send(kPackFlows, {parameter(ids)});
  to.send(kPutPacked, {parameter(ids), parameter(blobs)});
}

void send_batch(PostgresConnection& to, const Batch& batch) {
  send_journal(to, batch);
  send_state(to, batch);
  send_lookups(to, batch);
  send_flows(to, batch);
  send_timers(to, batch);
  send_keys(to, batch);
  send_names(to,
             "INSERT INTO sluice.sync_set (hash, content) SELECT * FROM unnest($1::bytea[], $2::bytea[]) "
             "ON CONFLICT (hash) DO UPDATE SET content = excluded.content",
             batch.sync_sets);
  send_names(to,
             "INSERT INTO sluice.meta (name, value) SELECT * FROM unnest($1::bytea[], $2::bytea[]) "
             "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
             batch.meta);
  send_packed(to, batch);
}

}  // namespace

struct PostgresStore::State {
  Clock* clock = nullptr;
  std::string address;
  PostgresOptions options;

  std::mutex writing;  // of all below
  std::unique_ptr<PostgresConnection> writer;
  int64_t token = 0;
  std::atomic<int64_t> number = 0;  // of the last batch that is known to be committed
  uint64_t position = 0;
  std::string id;
  std::atomic<int> format = 0;

  std::mutex renewing;  // of the connection below
  std::unique_ptr<PostgresConnection> renewer;
  std::atomic<int64_t> lease_until_ns = 0;  // on the steady clock; 0: there is no lease

  std::mutex keeping;  // one file at a time

  mutable std::mutex breaking;
  std::optional<Error> broken;

  std::mutex wiring;
  std::vector<std::weak_ptr<PostgresWire>> wires;  // of all connections

  std::mutex pooling;
  std::vector<std::unique_ptr<PostgresConnection>> idle;

  Result<std::unique_ptr<PostgresConnection>> connect() {
    auto opened = PostgresConnection::open(address);
    if (!opened) return opened;
    {
      const std::lock_guard guard(wiring);
      std::erase_if(wires, [](const auto& each) { return each.expired(); });
      wires.push_back((*opened)->wire());
    }
    if (auto set = (*opened)->execute("SET synchronous_commit = on; SET lock_timeout = '10s'"); !set)
      return set.error();
    return opened;
  }

  Result<void> open() {
    auto connected = connect();
    if (!connected) return connected.error();
    writer = std::move(*connected);
    if (auto durable = check_durable(); !durable) return durable;
    auto prepared = prepare_postgres(*writer, options.make, options.older);
    if (!prepared) return prepared.error();
    format = *prepared;
    if (auto same = check_same(); !same) return same;
    if (auto listed = list_replica(); !listed) return listed;
    if (options.follow) return {};
    const int64_t asked_ns = clock->monotonic_ns();
    auto fence = writer->query(
        "UPDATE sluice.fence SET token = token + 1, leader = $1, instance = $2, url = $3, lease_until = CASE WHEN $1 = "
        "'' THEN '-infinity' ELSE clock_timestamp() + $4 * interval '1 second' END WHERE $1 = '' OR instance = $2 OR "
        "lease_until < clock_timestamp() RETURNING token, batch",
        {parameter(options.name), parameter(options.instance), parameter(options.url),
         parameter(int64_t{options.lease_s})});
    if (!fence) return fence.error();
    if (fence->size() == 0) {
      (void)writer->query("DELETE FROM sluice.replica WHERE name = $1 AND instance = $2",
                          {parameter(options.name), parameter(options.instance)});
      return led_by_another();
    }
    if (!options.name.empty()) lease_until_ns = asked_ns + options.lease_s * int64_t{1'000'000'000};
    token = fence->integer(0, 0);
    number = fence->integer(0, 1);
    auto newest = writer->query("SELECT coalesce(max(seq), 0)::int8 FROM sluice.journal");
    if (!newest) return newest.error();
    position = static_cast<uint64_t>(newest->integer(0, 0));
    return {};
  }

  // That it is the store of this home, and has all that this home knows of.
  Result<void> check_same() {
    auto fence = writer->query("SELECT id, batch, key_check FROM sluice.fence");
    if (!fence) return fence.error();
    id = fence->bytes(0, 0);
    if (!options.store_id.empty() && options.store_id != id) {
      return Error{
          .code = Code::conflict,
          .message = "the store at this address is not the one that this home belongs to",
          .next = "give the address of its own store, or take another home: export SLUICE_HOME=/another/folder"};
    }
    if (fence->integer(0, 1) < static_cast<int64_t>(options.seen)) return went_back();
    return options.admit ? options.admit(fence->bytes(0, 2)) : Result<void>();
  }

  // One replica has a name at a time.
  Result<void> list_replica() {
    if (options.name.empty()) return {};
    auto listed = writer->query(
        "INSERT INTO sluice.replica (name, instance, url, seen) VALUES ($1, $2, $3, clock_timestamp()) ON CONFLICT "
        "(name) "
        "DO UPDATE SET instance = excluded.instance, url = excluded.url, seen = excluded.seen WHERE replica.instance = "
        "excluded.instance OR replica.seen < clock_timestamp() - $4 * interval '1 second' RETURNING 1",
        {parameter(options.name), parameter(options.instance), parameter(options.url), parameter(kSilent_s)});
    if (!listed) return listed.error();
    if (listed->size() > 0) return {};
    return Error{.code = Code::conflict,
                 .message = "another replica is called " + options.name + ", and was heard of less than " +
                            std::to_string(kSilent_s) + " seconds ago",
                 .next = "give this one another name: sluice serve --replica NAME"};
  }

  static Error went_back() {
    return {.code = Code::invalid,
            .message = "this PostgreSQL came back with less than it had acknowledged",
            .next = "it may be an old backup, or a standby that lagged: bring the newest server back"};
  }

  Error led_by_another() {
    auto lease = writer->query("SELECT leader, url FROM sluice.fence");
    const std::string name = lease && lease->size() == 1 ? lease->bytes(0, 0) : "another";
    return {.code = Code::conflict,
            .message = "the replica " + name + " leads this store",
            .next = "stop it first, or give this one a name and let it follow: sluice serve --replica NAME"};
  }

  Result<void> check_durable() {
    for (const char* setting : {"fsync", "full_page_writes"}) {
      auto value = writer->query((std::string("SHOW ") + setting).c_str());
      if (!value) return value.error();
      if (value->bytes(0, 0) != "on") {
        return Error{
            .code = Code::invalid,
            .message = std::string("this PostgreSQL has ") + setting + " off, so it can lose what it acknowledged",
            .next = std::string("set ") + setting + " = on in its configuration"};
      }
    }
    return {};
  }

  std::optional<Error> break_with(Error error) {
    const std::lock_guard guard(breaking);
    if (!broken) broken = std::move(error);
    return broken;
  }

  // Does `work`, which sends statements, in one transaction and one round trip.
  Result<void> transact(const std::function<void(PostgresConnection&)>& work) {
    {
      const std::lock_guard guard(breaking);
      if (broken) return *broken;
    }
    if (options.follow) {
      return Error{.code = Code::conflict, .message = "this replica follows, and a follower writes nothing"};
    }
    if (!writer->alive()) {
      if (auto back = reconnect(); !back) return back;
    }
    const int64_t next = number + 1;
    writer->send("BEGIN");
    writer->send("SELECT sluice.begin_batch($1, $2)", {parameter(token), parameter(next)});
    work(*writer);
    writer->send("COMMIT");
    auto done = writer->run();
    if (done) {
      number = next;
      return {};
    }
    if (writer->alive()) {
      (void)writer->execute("ROLLBACK");
      if (done.error().code == Code::conflict && done.error().message.find("another process") != std::string::npos) {
        return *break_with(taken_over());
      }
      return done.error();
    }
    return look_up(next, done.error());
  }

  static Error taken_over() {
    return {.code = Code::conflict,
            .message = "another process has opened this store, and this one can write nothing any more",
            .next = "stop this process, or the other one and start this one again"};
  }

  Result<void> reconnect() {
    auto connected = connect();
    if (!connected) return connected.error();
    auto fence = (*connected)->query("SELECT token, batch FROM sluice.fence");
    if (!fence) return fence.error();
    if (fence->size() != 1 || fence->integer(0, 0) != token) return *break_with(taken_over());
    if (fence->integer(0, 1) < number) {
      return *break_with(went_back());
    }
    writer = std::move(*connected);
    return {};
  }

  // The answer to batch `next` was lost. The server may still be at it, so its connection is waited for: the row of the
  // fence is free once it has ended, either way.
  Result<void> look_up(int64_t next, const Error& lost) {
    const int64_t until_ns = clock->monotonic_ns() + options.patience_s * int64_t{1'000'000'000};
    for (int64_t pause_ms = 20;; pause_ms = std::min<int64_t>(pause_ms * 2, 1000)) {
      if (auto back = reconnect()) {
        auto fence =
            writer->query("UPDATE sluice.fence SET token = token WHERE token = $1 RETURNING batch", {parameter(token)});
        if (fence && fence->size() == 1) {
          if (fence->integer(0, 0) < next) return lost;
          number = next;
          return {};
        }
      } else {
        const std::lock_guard guard(breaking);
        if (broken) return *broken;
      }
      if (clock->monotonic_ns() > until_ns) {
        return *break_with({.code = Code::unavailable,
                            .message = "whether the last change was committed cannot be told: " + lost.message,
                            .next = "bring PostgreSQL back and start this process again"});
      }
      clock->sleep_ms(pause_ms);
    }
  }

  Result<std::unique_ptr<PostgresConnection>> reader() {
    {
      const std::lock_guard guard(breaking);
      if (broken) return *broken;
    }
    {
      const std::lock_guard guard(pooling);
      while (!idle.empty()) {
        auto taken = std::move(idle.back());
        idle.pop_back();
        if (taken->alive()) return taken;
      }
    }
    return connect();
  }

  void give_back(std::unique_ptr<PostgresConnection> connection, bool reusable) {
    if (!reusable || !connection->alive()) return;
    const std::lock_guard guard(pooling);
    if (idle.size() < kIdleConnections) idle.push_back(std::move(connection));
  }
};

PostgresStore::PostgresStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(Clock& clock, const std::string& address,
                                                           PostgresOptions options) {
  auto state = std::make_unique<State>();
  state->clock = &clock;
  state->address = address;
  state->options = options;
  if (auto opened = state->open(); !opened) return opened.error();
  return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(state)));
}

Result<void> PostgresStore::commit(const Batch& batch) {
  const std::lock_guard guard(state_->writing);
  if (auto follows = check_follows(batch.journal, state_->position); !follows) return follows;
  auto done = state_->transact([&](PostgresConnection& to) { send_batch(to, batch); });
  if (done) state_->position += batch.journal.size();
  return done;
}

Result<std::unique_ptr<Snapshot>> PostgresStore::read() {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  return open_postgres_snapshot(std::move(*connection), [state = state_.get()](auto used, bool reusable) {
    state->give_back(std::move(used), reusable);
  });
}

Result<void> PostgresStore::pack(const std::vector<PackedFlow>& flows) {
  const std::lock_guard guard(state_->writing);
  // Who may be packed is read first; nobody else writes meanwhile.
  Numbers seqs;
  Texts hashes, ids, blobs;
  for (const auto& packed : flows) {
    auto flow = read_postgres_flow(*state_->writer, packed.flow);
    if (!flow) return flow.error();
    if (auto packable = check_packable(packed.flow, *flow); !packable) return packable;
    for (size_t other = 0; other < ids.size(); ++other) {
      if (ids[other] == bytes_of(packed.flow)) {
        FlowRow again = **flow;
        again.packed = true;
        return check_packable(packed.flow, again);
      }
    }
    HashCheck check(packed);
    for (uint64_t seq = (*flow)->head; seq != 0;) {
      auto hash = check.take(seq);
      if (!hash) return hash.error();
      auto record = state_->writer->query("SELECT prev FROM sluice.journal WHERE seq = $1 AND flow = $2",
                                          {parameter(signed_of(seq)), parameter(bytes_of(packed.flow))});
      if (!record) return record.error();
      if (record->size() == 0) return check.not_its_own(seq);
      seqs.push_back(signed_of(seq));
      hashes.push_back(*hash);
      seq = static_cast<uint64_t>(record->integer(0, 0));
    }
    if (auto all = check.finish(); !all) return all;
    ids.push_back(bytes_of(packed.flow));
    blobs.push_back(packed.blob);
  }
  return state_->transact([&](PostgresConnection& to) {
    to.send(kPackRecords, {parameter(seqs), parameter(hashes)});
    to.send(kPackFlows, {parameter(ids)});
    to.send(kPutPacked, {parameter(ids), parameter(blobs)});
  });
}

Result<void> PostgresStore::forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) {
  const std::lock_guard guard(state_->writing);
  return state_->transact([&](PostgresConnection& to) {
    to.send("DELETE FROM sluice.idempotency_key WHERE expires_ms < $1", {parameter(keys_before_ms)});
    to.send(
        "DELETE FROM sluice.sync_set WHERE hash = ANY($1::bytea[]) AND NOT EXISTS "
        "(SELECT 1 FROM sluice.flow WHERE status < 3 AND flow.sync_set = sync_set.hash)",
        {parameter(sync_sets)});
  });
}

Result<void> PostgresStore::back_up(const std::string&) {
  return Error{.code = Code::unavailable,
               .message = "a store in PostgreSQL is not copied into a file",
               .next = "sluice backup create"};
}

std::optional<Error> PostgresStore::broken() const {
  const std::lock_guard guard(state_->breaking);
  return state_->broken;
}

// ---------------------------------------------------------------------------------------------------------- format

int PostgresStore::format() const { return state_->format; }
int PostgresStore::newest_format() const { return newest_postgres_format(); }

Result<void> PostgresStore::upgrade(const UpgradeNote& note) {
  const std::lock_guard guard(state_->writing);
  const int64_t newest = newest_format();
  auto done = state_->transact([&](PostgresConnection& to) {
    for (const char* each : postgres_steps_from(state_->format)) to.send(each);
    to.send("INSERT INTO sluice.upgrade (format, at_ms, backup) VALUES ($1, $2, $3)",
            {parameter(newest), parameter(note.at_ms), parameter(note.backup)});
    to.send("UPDATE sluice.fence SET format = $1", {parameter(newest)});
  });
  if (done) state_->format = static_cast<int>(newest);
  return done;
}

Result<std::optional<UpgradeNote>> PostgresStore::last_upgrade() {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto rows = (*connection)->query("SELECT at_ms, backup FROM sluice.upgrade ORDER BY format DESC LIMIT 1");
  if (!rows) return rows.error();
  state_->give_back(*std::move(connection), true);
  if (rows->size() == 0) return std::optional<UpgradeNote>();
  return std::optional<UpgradeNote>({.at_ms = rows->integer(0, 0), .backup = rows->bytes(0, 1)});
}

// ---------------------------------------------------------------------------------------------------------- files

namespace {

std::string joined_digests(const std::vector<std::string>& digests) {
  std::string all;
  for (const auto& each : digests) all += each;
  return all;
}

}  // namespace

// The parts come first, each by itself, so that commits need not wait for a large file; what a failure leaves of them
// goes when the file is kept the next time.
Result<void> PostgresStore::keep(const KeptFile& file,
                                 const std::function<Result<std::string>(size_t part)>& bytes_of) {
  const std::lock_guard guard(state_->keeping);
  auto connection = state_->reader();
  if (!connection) return connection.error();
  for (size_t part = 0; part < file.parts.size(); ++part) {
    const std::vector<PostgresParameter> which = {parameter(file.name), parameter(signed_of(part)),
                                                  parameter(file.parts[part])};
    auto there =
        (*connection)->query("SELECT 1 FROM sluice.file_part WHERE name = $1 AND part = $2 AND digest = $3", which);
    if (!there) return there.error();
    if (there->size() > 0) continue;
    auto bytes = bytes_of(part);
    if (!bytes) return bytes.error();
    auto all = which;
    all.push_back(parameter(*bytes));
    auto put = (*connection)
                   ->query(
                       "INSERT INTO sluice.file_part (name, part, digest, bytes) VALUES ($1, $2, $3, $4) ON "
                       "CONFLICT DO NOTHING",
                       all);
    if (!put) return put.error();
  }
  state_->give_back(*std::move(connection), true);
  Numbers numbers;
  for (size_t part = 0; part < file.parts.size(); ++part) numbers.push_back(signed_of(part));
  const std::lock_guard writing(state_->writing);
  return state_->transact([&](PostgresConnection& to) {
    to.send(
        "INSERT INTO sluice.file (name, version, mode, size, parts, gone) SELECT $1, batch, $2, $3, $4, false FROM "
        "sluice.fence ON CONFLICT (name) DO UPDATE SET version = excluded.version, mode = excluded.mode, size = "
        "excluded.size, parts = excluded.parts, gone = false",
        {parameter(file.name), parameter(int64_t{file.mode}), parameter(signed_of(file.size)),
         parameter(joined_digests(file.parts))});
    to.send(
        "DELETE FROM sluice.file_part WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM unnest($2::int8[], $3::bytea[]) AS "
        "kept(part, digest) WHERE kept.part = file_part.part AND kept.digest = file_part.digest)",
        {parameter(file.name), parameter(numbers), parameter(file.parts)});
  });
}

Result<void> PostgresStore::drop(const std::string& name) {
  const std::lock_guard guard(state_->keeping);
  const std::lock_guard writing(state_->writing);
  return state_->transact([&](PostgresConnection& to) {
    to.send(
        "UPDATE sluice.file SET version = fence.batch, size = 0, parts = '', gone = true FROM sluice.fence WHERE name "
        "= "
        "$1",
        {parameter(name)});
    to.send("DELETE FROM sluice.file_part WHERE name = $1", {parameter(name)});
  });
}

Result<std::vector<KeptFile>> PostgresStore::changed_after(uint64_t version) {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto rows = (*connection)
                  ->query(
                      "SELECT name, version, mode, size, parts, gone FROM sluice.file WHERE version > $1 ORDER BY "
                      "version, name",
                      {parameter(signed_of(version))});
  if (!rows) return rows.error();
  std::vector<KeptFile> all;
  for (size_t row = 0; row < rows->size(); ++row) {
    KeptFile file{.name = rows->bytes(row, 0),
                  .version = static_cast<uint64_t>(rows->integer(row, 1)),
                  .mode = static_cast<uint32_t>(rows->integer(row, 2)),
                  .size = static_cast<uint64_t>(rows->integer(row, 3)),
                  .parts = {},
                  .gone = rows->integer(row, 5) != 0};
    const std::string parts = rows->bytes(row, 4);
    for (size_t at = 0; at + kDigestBytes <= parts.size(); at += kDigestBytes) {
      file.parts.push_back(parts.substr(at, kDigestBytes));
    }
    all.push_back(std::move(file));
  }
  state_->give_back(*std::move(connection), true);
  return all;
}

Result<std::string> PostgresStore::part(const std::string& name, size_t part, const std::string& digest) {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto rows = (*connection)
                  ->query("SELECT bytes FROM sluice.file_part WHERE name = $1 AND part = $2 AND digest = $3",
                          {parameter(name), parameter(signed_of(part)), parameter(digest)});
  if (!rows) return rows.error();
  if (rows->size() == 0) {
    return Error{.code = Code::not_found, .message = "part " + std::to_string(part) + " of " + name + " is not kept"};
  }
  std::string bytes = rows->bytes(0, 0);
  state_->give_back(*std::move(connection), true);
  return bytes;
}

// ---------------------------------------------------------------------------------------------------------- the lease

namespace {

constexpr const char* kHere = "UPDATE sluice.replica SET seen = clock_timestamp() WHERE name = $1 AND instance = $2";

}  // namespace

const std::string& PostgresStore::id() const { return state_->id; }
const std::string& PostgresStore::instance() const { return state_->options.instance; }
uint64_t PostgresStore::batch() const { return static_cast<uint64_t>(state_->number.load()); }
int64_t PostgresStore::token() const { return state_->token; }

uint64_t PostgresStore::bytes() {
  auto connection = state_->reader();
  if (!connection) return 0;
  auto rows = (*connection)
                  ->query(
                      "SELECT coalesce(sum(pg_total_relation_size(quote_ident(schemaname) || '.' || "
                      "quote_ident(tablename))), 0)::int8 FROM pg_tables WHERE schemaname = 'sluice'");
  if (!rows) return 0;
  const auto bytes = static_cast<uint64_t>(rows->integer(0, 0));
  state_->give_back(*std::move(connection), true);
  return bytes;
}

Result<void> PostgresStore::set_key_check(const std::string& value) {
  const std::lock_guard writing(state_->writing);
  return state_->transact([&](PostgresConnection& to) {
    to.send("UPDATE sluice.fence SET key_check = $1 WHERE key_check = ''", {parameter(value)});
  });
}

Result<void> PostgresStore::raise_token(int64_t above) {
  const std::lock_guard writing(state_->writing);
  const std::lock_guard guard(state_->renewing);
  if (auto error = broken()) return *error;
  auto raised =
      state_->writer->query("UPDATE sluice.fence SET token = greatest(token, $2) + 1 WHERE token = $1 RETURNING token",
                            {parameter(state_->token), parameter(above)});
  if (!raised) return raised.error();
  if (raised->size() == 0) return *state_->break_with(State::taken_over());
  state_->token = raised->integer(0, 0);
  return {};
}

Result<void> PostgresStore::renew() {
  if (state_->lease_until_ns == 0) return {};
  const std::lock_guard guard(state_->renewing);
  if (auto error = broken()) return *error;
  const int64_t asked_ns = state_->clock->monotonic_ns();
  const auto lapsed = [&](const Error& why) -> Error {
    if (state_->clock->monotonic_ns() < state_->lease_until_ns) return why;
    return *state_->break_with({.code = Code::unavailable,
                                .message = "the lease on the store has lapsed: " + why.message,
                                .next = "another replica leads now, or will; start this one again"});
  };
  if (asked_ns >= state_->lease_until_ns) {
    return lapsed({.code = Code::unavailable, .message = "it was not renewed in time"});
  }
  if (!state_->renewer || !state_->renewer->alive()) {
    auto connected = state_->connect();
    if (!connected) return lapsed(connected.error());
    state_->renewer = *std::move(connected);
  }
  auto renewed = state_->renewer->query(
      "UPDATE sluice.fence SET lease_until = clock_timestamp() + $2 * interval '1 second' WHERE token = $1 RETURNING "
      "batch",
      {parameter(state_->token), parameter(int64_t{state_->options.lease_s})});
  if (!renewed) return lapsed(renewed.error());
  if (renewed->size() == 0) return *state_->break_with(State::taken_over());
  state_->lease_until_ns = asked_ns + state_->options.lease_s * int64_t{1'000'000'000};
  (void)state_->renewer->query(kHere, {parameter(state_->options.name), parameter(state_->options.instance)});
  return {};
}

void PostgresStore::end_late_calls() {
  const int64_t until_ns = state_->lease_until_ns;
  if (until_ns == 0 || state_->clock->monotonic_ns() < until_ns) return;
  const std::lock_guard guard(state_->wiring);
  for (const auto& each : state_->wires) {
    if (auto wire = each.lock()) wire->cut();
  }
}

void PostgresStore::resign() {
  const auto& options = state_->options;
  if (options.name.empty() || broken()) return;
  const std::lock_guard guard(state_->renewing);
  auto connected = state_->connect();
  if (!connected) return;
  (void)(*connected)
      ->query("DELETE FROM sluice.replica WHERE name = $1 AND instance = $2",
              {parameter(options.name), parameter(options.instance)});
  if (state_->lease_until_ns == 0) return;
  (void)(*connected)
      ->query("UPDATE sluice.fence SET lease_until = '-infinity' WHERE token = $1", {parameter(state_->token)});
}

Result<void> PostgresStore::say_here() {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto said = (*connection)->query(kHere, {parameter(state_->options.name), parameter(state_->options.instance)});
  if (!said) return said.error();
  state_->give_back(*std::move(connection), true);
  return {};
}

Result<std::optional<Lease>> PostgresStore::lease() {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto rows = (*connection)
                  ->query(
                      "SELECT leader, instance, url, token, CASE WHEN lease_until = '-infinity' THEN 0 ELSE "
                      "(extract(epoch FROM lease_until - clock_timestamp()) * 1000)::int8 END FROM sluice.fence");
  if (!rows) return rows.error();
  state_->give_back(*std::move(connection), true);
  if (rows->size() == 0 || rows->bytes(0, 0).empty()) return std::optional<Lease>();
  return std::optional<Lease>({.name = rows->bytes(0, 0),
                               .instance = rows->bytes(0, 1),
                               .url = rows->bytes(0, 2),
                               .token = rows->integer(0, 3),
                               .left_ms = rows->integer(0, 4)});
}

Result<std::vector<ReplicaRow>> PostgresStore::replicas() {
  auto connection = state_->reader();
  if (!connection) return connection.error();
  auto rows = (*connection)
                  ->query(
                      "SELECT name, replica.url, (extract(epoch FROM clock_timestamp() - seen) * 1000)::int8, "
                      "replica.instance = fence.instance AND lease_until > clock_timestamp() FROM sluice.replica, "
                      "sluice.fence ORDER BY name");
  if (!rows) return rows.error();
  state_->give_back(*std::move(connection), true);
  std::vector<ReplicaRow> all;
  for (size_t row = 0; row < rows->size(); ++row) {
    all.push_back({.name = rows->bytes(row, 0),
                   .url = rows->bytes(row, 1),
                   .silent_ms = rows->integer(row, 2),
                   .leads = rows->integer(row, 3) != 0});
  }
  return all;
}

std::optional<int64_t> PostgresStore::lease_left_ms() const {
  const int64_t until_ns = state_->lease_until_ns;
  if (until_ns == 0) return std::nullopt;
  return std::max<int64_t>(0, (until_ns - state_->clock->monotonic_ns()) / 1'000'000);
}

}  // namespace sluice::store::postgres
