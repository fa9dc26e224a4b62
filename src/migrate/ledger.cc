// The tables of the ledger and the statements that read and write them.
#include "migrate/ledger.h"

#include <charconv>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/ulid.h"

namespace sluice::migrate {
namespace {

// One number for all of Sluice, so that two of them find each other: "sluice" in bytes.
constexpr const char* kAdvisoryKey = "126943972912997";
constexpr int64_t kLeaseMs = 60'000;

constexpr const char* kTables[] = {
    "owner(one integer PRIMARY KEY CHECK (one = 1), sluice text NOT NULL, database_id text NOT NULL, since text NOT "
    "NULL)",
    "migration(number bigint PRIMARY KEY, name text NOT NULL, phase text NOT NULL, files text NOT NULL, "
    "who text NOT NULL, flow text NOT NULL, began text NOT NULL, changed text NOT NULL, moves bigint NOT NULL)",
    "statement(number bigint NOT NULL, phase text NOT NULL, place bigint NOT NULL, at text NOT NULL, "
    "PRIMARY KEY (number, phase, place))",
    "copy(number bigint NOT NULL, place bigint NOT NULL, position text NOT NULL, seen bigint NOT NULL, "
    "copied bigint NOT NULL, total bigint NOT NULL, took_ms bigint NOT NULL, done bigint NOT NULL, "
    "PRIMARY KEY (number, place))",
    "failed(number bigint NOT NULL, place bigint NOT NULL, key text NOT NULL, error text NOT NULL, "
    "PRIMARY KEY (number, place, key))",
    "kept(number bigint NOT NULL, name text NOT NULL, value text NOT NULL, PRIMARY KEY (number, name))",
};

int64_t number_of(const Value& value) {
  int64_t number = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), number);
  return number;
}

std::string name_of_table(Engine engine, std::string_view name) {
  return (engine == Engine::postgres ? "sluice." : "_sluice_") + std::string(name);
}

Result<bool> has_ledger(Database& database) {
  auto found = database.value(database.engine() == Engine::postgres
                                  ? "SELECT to_regclass('sluice.owner')::text"
                                  : "SELECT name FROM sqlite_schema WHERE name = '_sluice_owner'");
  if (!found) return found.error();
  return found->has_value();
}

Result<void> make_tables(Database& database) {
  const bool postgres = database.engine() == Engine::postgres;
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  if (postgres) {
    auto made = database.run("CREATE SCHEMA IF NOT EXISTS sluice");
    if (!made) return made;
  }
  for (const char* table : kTables) {
    auto made = database.run("CREATE TABLE IF NOT EXISTS " + name_of_table(database.engine(), "") + table);
    if (!made) return made;
  }
  if (!postgres) {
    for (const char* sql : {"CREATE TABLE IF NOT EXISTS _sluice_flag(copying integer NOT NULL)",
                            "INSERT INTO _sluice_flag SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM _sluice_flag)"}) {
      auto made = database.run(sql);
      if (!made) return made;
    }
  }
  return transaction->commit();
}

std::string files_text(const std::map<std::string, std::string>& files) { return json::serialize(to_json(files)); }

}  // namespace

std::string Ledger::table(std::string_view name) const { return name_of_table(database_->engine(), name); }

Result<std::optional<Owner>> Ledger::owner(Database& database) {
  auto there = has_ledger(database);
  if (!there) return there.error();
  if (!*there) return std::optional<Owner>();
  auto rows = database.query("SELECT sluice, database_id FROM " + name_of_table(database.engine(), "owner"));
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<Owner>();
  return std::optional<Owner>({.sluice = rows->front()[0].value_or(""), .database = rows->front()[1].value_or("")});
}

Result<Ledger> Ledger::claim(Database& database, const Caller& caller, const Clock& clock, bool take_over) {
  auto there = has_ledger(database);
  if (!there) return there.error();
  if (!*there) {
    auto made = make_tables(database);
    if (!made) return made.error();
  }
  Ledger ledger(database, caller, &clock);
  auto found = owner(database);
  if (!found) return found.error();
  const std::string owners = ledger.table("owner");
  if (!*found) {
    RealRandom random;
    auto claimed =
        database.run("INSERT INTO " + owners + " VALUES (1, $1, $2, $3) ON CONFLICT (one) DO NOTHING",
                     {caller.sluice, to_string(UlidSource(clock, random).next()), utc_text(clock.wall_ms())});
    if (!claimed) return claimed.error();
    found = owner(database);
    if (!found) return found.error();
  }
  if ((*found)->sluice == caller.sluice) return ledger;
  if (!take_over) {
    return Error{.code = Code::conflict,
                 .message = "the database belongs to another Sluice, " + (*found)->sluice,
                 .next = "migrate it there, or have this one take it over"};
  }
  auto taken =
      database.run("UPDATE " + owners + " SET sluice = $1, since = $2", {caller.sluice, utc_text(clock.wall_ms())});
  if (!taken) return taken.error();
  return ledger;
}

Result<void> Ledger::make_another(Database& database) {
  auto there = has_ledger(database);
  if (!there) return there.error();
  if (!*there) return {};
  RealClock clock;
  RealRandom random;
  return database.run("UPDATE " + name_of_table(database.engine(), "owner") + " SET database_id = $1",
                      {to_string(UlidSource(clock, random).next())});
}

Result<std::vector<Entry>> Ledger::entries() { return entries_where("number > $1", 0); }

Result<std::vector<Entry>> Ledger::entries_where(const std::string& condition, int64_t number) {
  auto rows = database_->query("SELECT number, name, phase, files, who, flow, began, changed, moves FROM " +
                                   table("migration") + " WHERE " + condition + " ORDER BY number",
                               {std::to_string(number)});
  if (!rows) return rows.error();
  std::vector<Entry> all;
  for (const Row& row : *rows) {
    auto document = parse_json(row[3].value_or("{}"));
    if (!document) return document.error();
    auto files = read<std::map<std::string, std::string>>(*document);
    if (!files) return files.error();
    all.push_back({.number = number_of(row[0]),
                   .name = row[1].value_or(""),
                   .phase = row[2].value_or(""),
                   .files = *std::move(files),
                   .who = row[4].value_or(""),
                   .flow = row[5].value_or(""),
                   .began = row[6].value_or(""),
                   .changed = row[7].value_or(""),
                   .moves = number_of(row[8])});
  }
  return all;
}

Result<std::optional<Entry>> Ledger::entry(int64_t number) {
  auto found = entries_where("number = $1", number);
  if (!found) return found.error();
  if (found->empty()) return std::optional<Entry>();
  return std::optional<Entry>(std::move(found->front()));
}

Result<void> Ledger::put(const Migration& migration, std::string_view phase) {
  std::string now = utc_text(clock_->wall_ms());
  return database_->run(
      "INSERT INTO " + table("migration") +
          " AS m (number, name, phase, files, who, flow, began, changed, moves) VALUES ($1, $2, $3, $4, $5, $6, $7, "
          "$7, 1)"
          " ON CONFLICT (number) DO UPDATE SET phase = excluded.phase, files = excluded.files, who = excluded.who,"
          " flow = excluded.flow, changed = excluded.changed, moves = m.moves + 1",
      {std::to_string(migration.number), migration.name, std::string(phase), files_text(migration.files), caller_.who,
       caller_.flow, now});
}

Result<void> Ledger::forget(int64_t number) {
  for (const char* name : {"migration", "statement", "copy", "failed", "kept"}) {
    auto done = database_->run("DELETE FROM " + table(name) + " WHERE number = $1", {std::to_string(number)});
    if (!done) return done;
  }
  return {};
}

Result<void> Ledger::moved(int64_t number) {
  return database_->run("UPDATE " + table("migration") + " SET moves = moves + 1, changed = $2 WHERE number = $1",
                        {std::to_string(number), utc_text(clock_->wall_ms())});
}

Result<int64_t> Ledger::done(int64_t number, std::string_view phase) {
  auto count = database_->value("SELECT count(*) FROM " + table("statement") + " WHERE number = $1 AND phase = $2",
                                {std::to_string(number), std::string(phase)});
  if (!count) return count.error();
  return number_of(*count);
}

Result<void> Ledger::mark(int64_t number, std::string_view phase, int64_t place) {
  auto marked =
      database_->run("INSERT INTO " + table("statement") + " VALUES ($1, $2, $3, $4)",
                     {std::to_string(number), std::string(phase), std::to_string(place), utc_text(clock_->wall_ms())});
  if (!marked) return marked;
  return moved(number);
}

Result<void> Ledger::forget_steps(int64_t number, std::string_view phase) {
  return database_->run("DELETE FROM " + table("statement") + " WHERE number = $1 AND phase = $2",
                        {std::to_string(number), std::string(phase)});
}

Result<CopyState> Ledger::copy(int64_t number, int64_t place) {
  auto rows = database_->query("SELECT position, seen, copied, total, took_ms, done, (SELECT count(*) FROM " +
                                   table("failed") + " f WHERE f.number = c.number AND f.place = c.place) FROM " +
                                   table("copy") + " c WHERE number = $1 AND place = $2",
                               {std::to_string(number), std::to_string(place)});
  if (!rows) return rows.error();
  if (rows->empty()) return CopyState{};
  const Row& row = rows->front();
  return CopyState{.position = row[0].value_or(""),
                   .seen = number_of(row[1]),
                   .copied = number_of(row[2]),
                   .total = number_of(row[3]),
                   .failed = number_of(row[6]),
                   .took_ms = number_of(row[4]),
                   .done = number_of(row[5]) != 0};
}

Result<void> Ledger::put_copy(int64_t number, int64_t place, const CopyState& state) {
  auto put = database_->run(
      "INSERT INTO " + table("copy") +
          " (number, place, position, seen, copied, total, took_ms, done) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
          " ON CONFLICT (number, place) DO UPDATE SET position = excluded.position, seen = excluded.seen,"
          " copied = excluded.copied, total = excluded.total, took_ms = excluded.took_ms, done = excluded.done",
      {std::to_string(number), std::to_string(place), state.position, std::to_string(state.seen),
       std::to_string(state.copied), std::to_string(state.total), std::to_string(state.took_ms),
       state.done ? "1" : "0"});
  if (!put) return put;
  return moved(number);
}

Result<std::vector<FailedRow>> Ledger::failed(int64_t number, int64_t limit) {
  auto rows = database_->query("SELECT place, key, error FROM " + table("failed") +
                                   " WHERE number = $1 ORDER BY place, key LIMIT " + std::to_string(limit),
                               {std::to_string(number)});
  if (!rows) return rows.error();
  std::vector<FailedRow> all;
  for (const Row& row : *rows) all.push_back({number_of(row[0]), row[1].value_or(""), row[2].value_or("")});
  return all;
}

Result<int64_t> Ledger::failures(int64_t number) {
  auto count =
      database_->value("SELECT count(*) FROM " + table("failed") + " WHERE number = $1", {std::to_string(number)});
  if (!count) return count.error();
  return number_of(*count);
}

Result<void> Ledger::add_failed(int64_t number, const FailedRow& row) {
  return database_->run(
      "INSERT INTO " + table("failed") +
          " VALUES ($1, $2, $3, $4) ON CONFLICT (number, place, key) DO UPDATE SET error = excluded.error",
      {std::to_string(number), std::to_string(row.place), row.key, row.error});
}

Result<void> Ledger::forget_failed(int64_t number, const FailedRow& row) {
  auto gone = database_->run("DELETE FROM " + table("failed") + " WHERE number = $1 AND place = $2 AND key = $3",
                             {std::to_string(number), std::to_string(row.place), row.key});
  if (!gone) return gone;
  return moved(number);
}

Result<Value> Ledger::kept(int64_t number, const std::string& name) {
  return database_->value("SELECT value FROM " + table("kept") + " WHERE number = $1 AND name = $2",
                          {std::to_string(number), name});
}

Result<void> Ledger::keep(int64_t number, const std::string& name, const std::string& text) {
  return database_->run("INSERT INTO " + table("kept") +
                            " VALUES ($1, $2, $3) ON CONFLICT (number, name) DO UPDATE SET value = excluded.value",
                        {std::to_string(number), name, text});
}

Result<MigratorLock> MigratorLock::take(Database& database, const Caller& caller, const Clock& clock) {
  const Error held{.code = Code::timeout,
                   .message = "another migrator works on the database",
                   .next = "try again when it has ended"};
  if (database.engine() == Engine::postgres) {
    auto taken = database.value(std::string("SELECT pg_try_advisory_lock(") + kAdvisoryKey + ")::int");
    if (!taken) return taken.error();
    if (*taken != "1") return held;
    return MigratorLock(database, "");
  }
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  auto made =
      database.run("CREATE TABLE IF NOT EXISTS _sluice_lease(one integer PRIMARY KEY, holder text, until_ms integer)");
  if (!made) return made.error();
  // The same Sluice goes on after a crash without waiting: its home lets only one of its processes run.
  const std::string holder = caller.sluice + " " + caller.process;
  auto taken = database.run(
      "INSERT INTO _sluice_lease AS l VALUES (1, $1, CAST($2 AS INTEGER)) ON CONFLICT (one) DO UPDATE SET holder = "
      "excluded.holder, until_ms = excluded.until_ms WHERE l.until_ms < CAST($3 AS INTEGER) OR (l.holder <> "
      "excluded.holder AND substr(l.holder, 1, instr(l.holder, ' ') - 1) = $4)",
      {holder, std::to_string(clock.wall_ms() + kLeaseMs), std::to_string(clock.wall_ms()), caller.sluice});
  if (!taken) return taken.error();
  if (database.changed() == 0) return held;
  auto committed = transaction->commit();
  if (!committed) return committed.error();
  return MigratorLock(database, holder);
}

MigratorLock::~MigratorLock() {
  if (database_ == nullptr) return;
  if (database_->engine() == Engine::postgres) {
    (void)database_->run(std::string("SELECT pg_advisory_unlock(") + kAdvisoryKey + ")");
  } else {
    (void)database_->run("DELETE FROM _sluice_lease WHERE holder = $1", {holder_});
  }
}

}  // namespace sluice::migrate
