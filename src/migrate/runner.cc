// Phases as steps. Whatever takes a lock that the application could wait behind gives up after half a second, lets the
// application through, and tries again.
#include "migrate/runner.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "migrate/patience.h"

namespace sluice::migrate {
namespace {

constexpr int kTriesToEnter = 6;
constexpr int64_t kEntryPauseMs = 20;

bool begins_with(const Statement& statement, std::string_view words) { return statement.first.starts_with(words); }

bool makes_index_concurrently(const Statement& statement) {
  return begins_with(statement, "CREATE INDEX CONCURRENTLY") ||
         begins_with(statement, "CREATE UNIQUE INDEX CONCURRENTLY");
}
bool runs_alone(Engine engine, const Statement& statement) {
  return engine == Engine::postgres &&
         (makes_index_concurrently(statement) || begins_with(statement, "DROP INDEX CONCURRENTLY"));
}

// The index that CREATE INDEX CONCURRENTLY or DROP INDEX CONCURRENTLY names, in quotes; empty if it names none.
std::string index_name(const Statement& statement) {
  size_t at = statement.text.find_first_not_of(" \t\r\n", [&] {
    std::string capitals = statement.text;
    std::ranges::transform(capitals, capitals.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
    size_t found = capitals.find("CONCURRENTLY") + 12;
    size_t exists = capitals.find("EXISTS", found);
    return exists != std::string::npos && exists - found < 12 ? exists + 6 : found;
  }());
  if (at == std::string::npos) return "";
  size_t end = at;
  for (bool quoted = false; end < statement.text.size(); ++end) {
    char c = statement.text[end];
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '(')) break;
  }
  auto name = parse_name(Engine::postgres, statement.text.substr(at, end - at));
  if (!name || (name->size() == 1 && name->front() == "on")) return "";
  return quoted_name(*name);
}

Result<MigratorLock> take_lock(Database& database, const Caller& caller, Clock& clock) {
  int64_t pause_ms = kEntryPauseMs;
  for (int i = 1;; ++i) {
    auto taken = MigratorLock::take(database, caller, clock);
    // What the application holds and what another migrator holds are waited for alike.
    const bool held = !taken && (taken.error().code == Code::timeout || taken.error().code == Code::conflict);
    if (!held || i >= kTriesToEnter) return taken;
    clock.sleep_ms(pause_ms);
    pause_ms *= 2;
  }
}

}  // namespace

Result<Runner> Runner::open(Database& database, const Migrations& migrations, const Caller& caller, Clock& clock) {
  auto lock = take_lock(database, caller, clock);
  if (!lock) return lock.error();
  auto ledger = Ledger::claim(database, caller, clock);
  if (!ledger) return ledger.error();
  return Runner(database, migrations, clock, *std::move(lock), *std::move(ledger));
}

Result<Runner::Known> Runner::known(int64_t number) {
  if (number < 1 || number > static_cast<int64_t>(migrations_->size())) {
    return Error{.code = Code::not_found, .message = "there is no migration " + std::to_string(number)};
  }
  auto entry = ledger_.entry(number);
  if (!entry) return entry.error();
  return Known{.migration = &(*migrations_)[static_cast<size_t>(number - 1)],
               .phase = *entry ? (*entry)->phase : std::string(kPlanned)};
}

Result<Runner::Known> Runner::unchanged(int64_t number) {
  if (!compared_) {
    auto entries = ledger_.entries();
    if (!entries) return entries.error();
    auto same = compare_files(*migrations_, *entries);
    if (!same) return same.error();
    compared_ = true;
  }
  return known(number);
}

// ---- expand

Result<void> Runner::begin_expand(const Migration& migration) {
  if (migration.number > 1) {
    auto before = known(migration.number - 1);
    if (!before) return before.error();
    if (before->phase == kPlanned || before->phase == kExpanding || before->phase == kUndoing) {
      return Error{.code = Code::conflict,
                   .message = before->migration->name + " comes first, and is " + before->phase};
    }
  }
  auto schema = describe_schema(*database_);
  if (!schema) return schema.error();
  before_ = Before{migration.number, *schema};
  Result<Value> invalid = Value("");
  if (database_->engine() == Engine::postgres) {
    invalid =
        database_->value("SELECT coalesce(string_agg(oid::text, ','), '') FROM pg_constraint WHERE NOT convalidated");
    if (!invalid) return invalid.error();
  }
  return in_transaction(*database_, *clock_, [&]() -> Result<void> {
    for (const auto& [name, text] : {std::pair<std::string, std::string>("before", schema_to_json(*schema)),
                                     std::pair<std::string, std::string>("invalid", invalid->value_or(""))}) {
      auto kept = ledger_.keep(migration.number, name, text);
      if (!kept) return kept;
    }
    return ledger_.put(migration, kExpanding);
  });
}

Result<Progress> Runner::expand(int64_t number) {
  auto now = unchanged(number);
  if (!now) return now.error();
  const Migration& migration = *now->migration;
  if (now->phase == kPlanned) {
    auto begun = begin_expand(migration);
    if (!begun) return begun.error();
  } else if (now->phase != kExpanding) {
    auto progress = progress_of(migration, "");
    if (progress) progress->done = true;  // whatever phase followed
    return progress;
  }
  auto done = ledger_.done(number, "expand");
  if (!done) return done.error();
  const auto statements = static_cast<int64_t>(migration.expand.size());
  const auto copies = static_cast<int64_t>(migration.copy.size());
  if (*done < statements) {
    const Statement& statement = migration.expand[static_cast<size_t>(*done)];
    auto ran = run_statement(migration, statement, *done);
    if (!ran) return at_line(ran.error(), migration, "expand.sql", statement);
    return progress_of(migration, statement.text);
  }
  if (*done < statements + copies) {
    auto place = static_cast<size_t>(*done - statements);
    auto made = make_copy(migration, place, *done);
    if (!made) return made.error();
    return progress_of(migration, "triggers on " + migration.copy[place].table);
  }
  auto ended = in_transaction(*database_, *clock_, [&] { return end_phase(migration, kExpanded); });
  if (!ended) return ended.error();
  return progress_of(migration, "expanded");
}

Result<void> Runner::run_statement(const Migration& migration, const Statement& statement, int64_t place) {
  if (runs_alone(database_->engine(), statement)) return run_concurrently(migration, statement, place);
  return in_transaction(*database_, *clock_, [&]() -> Result<void> {
    auto done = ledger_.done(migration.number, "expand");
    if (!done) return done.error();
    if (*done != place) return overtaken();
    auto ran = database_->run(statement.text);
    if (!ran) return ran;
    auto marked = ledger_.mark(migration.number, "expand", place);
    // Nobody waits longer for it: a statement has all of SQLite to itself.
    const bool ends = place + 1 == static_cast<int64_t>(migration.expand.size()) && migration.copy.empty();
    if (!marked || !ends || database_->engine() != Engine::sqlite) return marked;
    return end_phase(migration, kExpanded);
  });
}

Result<void> Runner::drop_invalid(const std::string& index) {
  auto invalid =
      database_->value("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid", {index});
  if (!invalid) return invalid.error();
  if (!*invalid) return {};
  return patiently(*clock_, [&] { return database_->run("DROP INDEX CONCURRENTLY " + index); });
}

// It cannot be in a transaction with its mark. That it was begun is written before, so that an index that is there and
// valid is known to be its work; one that is not valid is what a failed try left.
Result<void> Runner::run_concurrently(const Migration& migration, const Statement& statement, int64_t place) {
  const bool makes = makes_index_concurrently(statement);
  const std::string index = index_name(statement);
  if (index.empty()) {
    return Error{.code = Code::invalid,
                 .message = "an index that is made CONCURRENTLY needs a name",
                 .next = "name it, so that what a failed try leaves can be found"};
  }
  auto unlimited = database_->run("SET lock_timeout = 0");
  if (!unlimited) return unlimited;
  const std::string mark = "begun " + std::to_string(place);
  auto begun = ledger_.kept(migration.number, mark);
  if (!begun) return begun.error();
  if (*begun) {
    auto dropped = makes ? drop_invalid(index) : Result<void>();
    if (!dropped) return dropped;
    auto there = database_->value("SELECT to_regclass($1)::text", {index});
    if (!there) return there.error();
    if (there->has_value() == makes) return ledger_.mark(migration.number, "expand", place);
  }
  auto kept = ledger_.keep(migration.number, mark, statement.text);
  if (!kept) return kept;
  auto ran = patiently(*clock_, [&]() -> Result<void> {
    auto tried = database_->run(statement.text);
    if (!tried && makes && tried.error().code != Code::unavailable) (void)drop_invalid(index);
    return tried;
  });
  if (!ran) return ran;
  return ledger_.mark(migration.number, "expand", place);
}

Result<void> Runner::make_copy(const Migration& migration, size_t place, int64_t step) {
  auto copy = look_up(*database_, migration.copy[place], migration.number, place);
  if (!copy) return copy.error();
  // Its expressions are looked at before anything is made of them.
  auto planned = database_->query("EXPLAIN " + batch_sql(*copy, "", "").update);
  if (!planned) {
    return Error{.code = Code::invalid,
                 .message = "the copy of " + copy->table + " cannot work: " + planned.error().message,
                 .next = "correct forward and back in migration.yaml; undo the migration first"};
  }
  auto total = database_->value(count_sql(database_->engine(), copy->table));
  if (!total) return total.error();
  return in_transaction(*database_, *clock_, [&]() -> Result<void> {
    for (const std::string& sql : make_triggers(*copy)) {
      auto made = database_->run(sql);
      if (!made) return made;
    }
    auto put = ledger_.put_copy(migration.number, static_cast<int64_t>(place),
                                {.total = std::atoll(total->value_or("0").c_str())});
    if (!put) return put;
    return ledger_.mark(migration.number, "expand", step);
  });
}

// The phase, and the schema as this phase leaves it. What others change while rows are copied stays their change.
Result<void> Runner::end_phase(const Migration& migration, std::string_view phase) {
  auto schema = describe_schema(*database_);
  if (!schema) return schema.error();
  auto kept = ledger_.keep(0, "schema", schema_to_json(*schema));
  if (!kept) return kept;
  if (phase == kExpanded) {
    kept = keep_undoing(migration, *schema);
    if (!kept) return kept;
  }
  return ledger_.put(migration, phase);
}

// What takes the expansion back, or why nothing does: two schemas for each migration would be many times as large.
Result<void> Runner::keep_undoing(const Migration& migration, const Schema& after) {
  auto statements = statements_to_undo(migration.number, after);
  const json::value text = statements ? json::value{{"statements", json::value_from(*statements)}}
                                      : json::value{{"why", statements.error().message}};
  auto kept = ledger_.keep(migration.number, "undo", json::serialize(text));
  if (!kept) return kept;
  return ledger_.keep(migration.number, "before", "[]");
}

Result<std::vector<std::string>> Runner::statements_to_undo(int64_t number, const Schema& now) {
  if (before_ && before_->number == number) return undoing(database_->engine(), before_->schema, now);
  auto before = ledger_.kept(number, "before");
  if (!before) return before.error();
  if (!*before) {
    return Error{.code = Code::conflict,
                 .message = "it cannot be undone: it was adopted, so what it made is not known"};
  }
  auto schema = schema_from_json(**before);
  if (!schema) return schema.error();
  return undoing(database_->engine(), *schema, now);
}

// ---- contract and undo

Result<void> Runner::drop_copies(const Migration& migration) {
  for (size_t place = 0; place < migration.copy.size(); ++place) {
    auto table = parse_name(database_->engine(), migration.copy[place].table);
    if (!table) return table.error();
    for (const std::string& sql :
         drop_triggers(database_->engine(), trigger_name(migration.number, place), quoted_name(*table))) {
      auto dropped = database_->run(sql);
      if (!dropped) return dropped;
    }
  }
  return {};
}

Result<Progress> Runner::contract(int64_t number) {
  auto now = unchanged(number);
  if (!now) return now.error();
  const Migration& migration = *now->migration;
  if (now->phase == kContracted) return progress_of(migration, "");
  if (now->phase != kMigrated) {
    return Error{.code = Code::conflict,
                 .message = migration.name + " is " + now->phase + ", and only what is migrated is contracted"};
  }
  auto done = in_transaction(*database_, *clock_, [&]() -> Result<void> {
    auto dropped = drop_copies(migration);
    if (!dropped) return dropped;
    for (const Statement& statement : migration.contract) {
      auto ran = database_->run(statement.text);
      if (!ran) return at_line(ran.error(), migration, "contract.sql", statement);
    }
    return end_phase(migration, kContracted);
  });
  if (!done) return done.error();
  return progress_of(migration, "contracted");
}

// What others made since an expansion ended is theirs; before that, whatever differs is the expansion's.
Result<std::vector<std::string>> Runner::known_undoing(int64_t number) {
  auto kept = ledger_.kept(number, "undo");
  if (!kept) return kept.error();
  if (!*kept) {
    auto schema = describe_schema(*database_);
    if (!schema) return schema.error();
    return statements_to_undo(number, *schema);
  }
  auto document = parse_json(**kept, "undo");
  if (!document) return document.error();
  const json::object& undo = document->root.as_object();
  if (const json::value* why = undo.if_contains("why")) {
    return Error{.code = Code::conflict, .message = std::string(why->as_string())};
  }
  return json::value_to<std::vector<std::string>>(undo.at("statements"));
}

Result<Progress> Runner::undo(int64_t number) {
  auto now = known(number);
  if (!now) return now.error();
  const Migration& migration = *now->migration;
  if (now->phase == kPlanned) return Progress{.done = true, .phase = std::string(kPlanned)};
  if (now->phase == kContracted) {
    return Error{.code = Code::conflict,
                 .message = migration.name + " is contracted: what it removed can only be restored from a backup"};
  }
  auto entries = ledger_.entries();
  if (!entries) return entries.error();
  if (entries->back().number != number) {
    return Error{.code = Code::conflict,
                 .message = entries->back().name + " came after " + migration.name,
                 .next = "undo the newer one first"};
  }
  auto statements = known_undoing(number);
  if (!statements) return statements.error();
  auto done = in_transaction(*database_, *clock_, [&]() -> Result<void> {
    auto dropped = drop_copies(migration);
    if (!dropped) return dropped;
    for (const std::string& statement : *statements) {
      auto ran = database_->run(statement);
      if (!ran) return ran;
    }
    auto left = describe_schema(*database_);
    if (!left) return left.error();
    auto kept = ledger_.keep(0, "schema", schema_to_json(*left));
    if (!kept) return kept;
    return ledger_.forget(number);
  });
  if (!done) return done.error();
  return Progress{.done = true, .phase = std::string(kPlanned), .what = "undone"};
}

Result<void> Runner::adopt(int64_t number) {
  for (int64_t each = 1; each <= number; ++each) {
    auto now = known(each);
    if (!now) return now.error();
    if (is_complete(now->phase)) continue;
    if (now->phase != kPlanned) {
      return Error{.code = Code::conflict, .message = now->migration->name + " is " + now->phase + " already"};
    }
    auto put = ledger_.put(*now->migration, now->migration->contract.empty() ? kMigrated : kContracted);
    if (!put) return put;
  }
  // What others have changed since is taken as it is, too.
  auto schema = describe_schema(*database_);
  if (!schema) return schema.error();
  return ledger_.keep(0, "schema", schema_to_json(*schema));
}

// ---- what differs

Result<std::vector<Difference>> drift(Database& database) {
  auto owner = Ledger::owner(database);
  if (!owner) return owner.error();
  if (!*owner) return std::vector<Difference>();
  auto kept = Ledger::of(database).kept(0, "schema");
  if (!kept) return kept.error();
  if (!*kept) return std::vector<Difference>();
  auto before = schema_from_json(**kept);
  if (!before) return before.error();
  auto now = describe_schema(database);
  if (!now) return now.error();
  return differences(*before, *now);
}

Result<void> compare_files(const Migrations& migrations, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (entry.number > static_cast<int64_t>(migrations.size())) continue;
    const Migration& migration = migrations[static_cast<size_t>(entry.number - 1)];
    if (migration.name != entry.name) {
      return Error{.code = Code::invalid,
                   .message = "migration " + std::to_string(entry.number) + " is " + entry.name +
                              " in the database, and " + migration.name + " in the files",
                   .next = "give a migration that is new the next number that is free"};
    }
    for (const auto& [file, digest] : entry.files) {
      bool ran = file == "expand.sql" || file == "migration.yaml" ||
                 (file == "check.sql" && is_complete(entry.phase)) ||
                 (file == "contract.sql" && entry.phase == kContracted);
      auto now = migration.files.find(file);
      const std::string found = now == migration.files.end() ? std::string("gone") : now->second;
      if (!ran || found == digest) continue;
      return Error{
          .code = Code::invalid,
          .message = entry.name + "/" + file + " was changed after it ran: it was " + digest + " and is " + found,
          .next = entry.phase == kExpanding
                      ? "its expansion has not ended: undo the migration, and expand it as it is now"
                      : "put it back as it was, and make the change a further migration"};
    }
  }
  return {};
}

}  // namespace sluice::migrate
