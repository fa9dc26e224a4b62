// What Runner does to copy rows: batches, rows that fail, constraints, checks.
#include <algorithm>
#include <optional>

#include "migrate/patience.h"
#include "migrate/runner.h"

namespace sluice::migrate {
namespace {

constexpr int64_t kMaxFailed = 10'000;
constexpr int64_t kBatchMs = 50;
constexpr int64_t kPauseMs = 10;
constexpr int64_t kMaxBatch = 100'000;
constexpr int64_t kErrorsShown = 5;

}  // namespace

Result<Progress> Runner::migrate(int64_t number, int64_t budget_ms) {
  auto now = unchanged(number);
  if (!now) return now.error();
  const Migration& migration = *now->migration;
  if (now->phase == kPlanned || now->phase == kExpanding) {
    return Error{.code = Code::conflict, .message = migration.name + " is " + now->phase + ": expand it first"};
  }
  if (is_complete(now->phase)) return progress_of(migration, "");
  auto unproven = next_unproven(migration);
  if (!unproven) return unproven.error();
  if (now->phase == kExpanded && (!migration.copy.empty() || *unproven)) {
    auto begun = in_transaction(*database_, *clock_, [&] { return ledger_.put(migration, kMigrating); });
    if (!begun) return begun.error();
  }
  const int64_t until_ns = clock_->monotonic_ns() + budget_ms * 1'000'000;
  for (size_t place = 0; place < migration.copy.size(); ++place) {
    auto state = ledger_.copy(number, static_cast<int64_t>(place));
    if (!state) return state.error();
    if (state->done) continue;
    auto copy = look_up(*database_, migration.copy[place], number, place);
    if (!copy) return copy.error();
    auto copied = copy_batches(migration, *copy, static_cast<int64_t>(place), *state, until_ns);
    if (!copied) return copied.error();
    if (!state->done) return progress_of(migration, "copying " + migration.copy[place].table);
  }
  if (now->phase == kPartial) {
    bool all = false;
    auto retried = retry_rows(migration, until_ns, all);
    if (!retried) return retried.error();
  }
  auto failures = ledger_.failures(number);
  if (!failures) return failures.error();
  if (*failures > 0) {
    auto ended = in_transaction(*database_, *clock_, [&] { return ledger_.put(migration, kPartial); });
    if (!ended) return ended.error();
    return progress_of(migration, "copied but for " + std::to_string(*failures) + " rows");
  }
  if (*unproven) {
    auto validated = validate(**unproven);
    if (!validated) return validated.error();
    return progress_of(migration, "validated a constraint");
  }
  auto failing = failing_checks(migration);
  if (!failing) return failing.error();
  auto ended = in_transaction(*database_, *clock_,
                              [&] { return ledger_.put(migration, failing->empty() ? kMigrated : kPartial); });
  if (!ended) return ended.error();
  auto progress = progress_of(migration, "migrated");
  if (progress) progress->errors.insert(progress->errors.end(), failing->begin(), failing->end());
  return progress;
}

Result<void> Runner::copy_batches(const Migration& migration, const Copy& copy, int64_t place, CopyState& state,
                                  int64_t until_ns) {
  do {
    const int64_t began_ns = clock_->monotonic_ns();
    const int64_t seen = state.seen;
    auto went = copy_batch(migration, copy, place, state, size_);
    if (!went) return went.error();
    const int64_t took_ms = (clock_->monotonic_ns() - began_ns) / 1'000'000;
    if (!*went) {
      size_ = std::max<int64_t>(1, size_ / 10);
    } else if (took_ms < kBatchMs && state.seen - seen == size_) {
      size_ = std::min(kMaxBatch, size_ * (took_ms < kBatchMs / 2 ? 2 : 1) + size_ / 8 + 1);
    } else if (took_ms > kBatchMs * 3 / 2) {
      size_ = std::max<int64_t>(1, size_ * kBatchMs / took_ms);
    }
    // SQLite has no queue for its lock: without a pause the application would hardly ever find it free.
    if (database_->engine() == Engine::sqlite && !state.done) clock_->sleep_ms(kPauseMs);
  } while (!state.done && clock_->monotonic_ns() < until_ns);
  return {};
}

Result<bool> Runner::copy_batch(const Migration& migration, const Copy& copy, int64_t place, CopyState& state,
                                int64_t size) {
  CopyState next = state;
  std::optional<Error> at_fault;
  std::string last;
  const int64_t began_ns = clock_->monotonic_ns();
  auto done = in_transaction(*database_, *clock_, [&]() -> Result<void> {
    next = state;
    at_fault.reset();
    auto now = ledger_.copy(migration.number, place);
    if (!now) return now.error();
    if (now->position != state.position || now->done) return overtaken();
    auto bound = database_->query(batch_sql(copy, state.position, "").bound, {std::to_string(size)});
    if (!bound) return bound.error();
    if (bound->empty()) {
      next.done = true;
      return ledger_.put_copy(migration.number, place, next);
    }
    last = bound->front()[0].value_or("");
    BatchSql sql = batch_sql(copy, state.position, last);
    auto began = database_->run(sql.begin);
    if (!began) return began;
    auto updated = database_->run(sql.update);
    if (!updated) {
      if (updated.error().code == Code::failed) at_fault = updated.error();
      return updated;
    }
    next.copied += database_->changed();
    auto ended = database_->run(sql.end);
    if (!ended) return ended;
    next.position = last;
    next.seen += std::atoll(bound->front()[1].value_or("0").c_str());
    next.took_ms += (clock_->monotonic_ns() - began_ns) / 1'000'000;
    return ledger_.put_copy(migration.number, place, next);
  });
  if (done) {
    state = next;
    return true;
  }
  if (!at_fault) return done.error();
  if (size > 1) return false;
  if (state.failed >= kMaxFailed) {
    return Error{.code = Code::limit,
                 .message = "more than " + std::to_string(kMaxFailed) + " rows of " + copy.table +
                            " failed: " + at_fault->message,
                 .next = "correct the rows, or undo the migration and correct its expressions"};
  }
  // One row alone is at fault: it is kept, and the others go on.
  done = in_transaction(*database_, *clock_, [&]() -> Result<void> {
    next = state;
    next.position = last;
    next.seen += 1;
    next.failed += 1;
    auto added = ledger_.add_failed(migration.number, {.place = place, .key = last, .error = at_fault->message});
    if (!added) return added;
    return ledger_.put_copy(migration.number, place, next);
  });
  if (!done) return done.error();
  state = next;
  return true;
}

Result<void> Runner::retry_rows(const Migration& migration, int64_t, bool& all) {
  auto rows = ledger_.failed(migration.number, kMaxBatch);
  if (!rows) return rows.error();
  all = true;
  for (const FailedRow& row : *rows) {
    auto copy = look_up(*database_, migration.copy[static_cast<size_t>(row.place)], migration.number,
                        static_cast<size_t>(row.place));
    if (!copy) return copy.error();
    auto done = in_transaction(*database_, *clock_, [&]() -> Result<void> {
      BatchSql sql = batch_sql(*copy, "", "");
      for (const std::string& each : {sql.begin, row_update(*copy, row.key), sql.end}) {
        auto ran = database_->run(each);
        if (!ran) return ran;
      }
      return ledger_.forget_failed(migration.number, row);
    });
    if (!done && done.error().code != Code::failed) return done;
    if (!done) all = false;
  }
  return {};
}

Result<std::optional<Row>> Runner::next_unproven(const Migration& migration) {
  if (database_->engine() == Engine::sqlite) return std::optional<Row>();
  auto before = ledger_.kept(migration.number, "invalid");
  if (!before) return before.error();
  auto rows = database_->query(
      "SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint WHERE NOT convalidated AND conrelid <> "
      "0 AND conparentid = 0 AND oid::text <> ALL (string_to_array($1, ',')) ORDER BY oid LIMIT 1",
      {before->value_or("")});
  if (!rows) return rows.error();
  return rows->empty() ? std::optional<Row>() : std::optional<Row>(std::move(rows->front()));
}

// Validating lets the application read and write meanwhile; one constraint a call.
Result<void> Runner::validate(const Row& row) {
  return in_transaction(*database_, *clock_, [&]() -> Result<void> {
    auto validated = database_->run("ALTER TABLE " + *row[0] + " VALIDATE CONSTRAINT " + *row[1]);
    if (!validated) return validated;
    return keep_validated();
  });
}

// In the schema as the expansion left it, constraints are as they are now but for others' changes.
Result<void> Runner::keep_validated() {
  auto kept = ledger_.kept(0, "schema");
  if (!kept) return kept.error();
  auto before = schema_from_json(kept->value_or("[]"));
  if (!before) return before.error();
  auto now = describe_schema(*database_);
  if (!now) return now.error();
  for (SchemaObject& object : *before) {
    const auto found = std::ranges::find_if(*now, [&](const SchemaObject& each) {
      return each.kind == "constraint" && each.kind == object.kind && each.name == object.name;
    });
    if (found != now->end() && object.definition == found->definition + " NOT VALID") {
      object.definition = found->definition;
    }
  }
  return ledger_.keep(0, "schema", schema_to_json(*before));
}

Result<std::vector<std::string>> Runner::failing_checks(const Migration& migration) {
  std::vector<std::string> failing;
  for (const Statement& statement : migration.check) {
    auto rows = database_->query(statement.text);
    if (!rows) return at_line(rows.error(), migration, "check.sql", statement);
    if (!rows->empty()) {
      failing.push_back(migration.name + "/check.sql:" + std::to_string(statement.line) + " returns " +
                        std::to_string(rows->size()) + (rows->size() == 1 ? " row" : " rows"));
    }
  }
  return failing;
}

Result<Progress> Runner::progress_of(const Migration& migration, std::string what) {
  auto entry = ledger_.entry(migration.number);
  if (!entry) return entry.error();
  Progress progress{.phase = *entry ? (*entry)->phase : std::string(kPlanned), .what = std::move(what)};
  progress.done = progress.phase != kExpanding && progress.phase != kMigrating && progress.phase != kPlanned;
  for (size_t place = 0; place < migration.copy.size(); ++place) {
    auto state = ledger_.copy(migration.number, static_cast<int64_t>(place));
    if (!state) return state.error();
    progress.seen += state->seen;
    progress.copied += state->copied;
    progress.total += std::max(state->total, state->seen);
    progress.took_ms += state->took_ms;
    progress.failed += state->failed;
  }
  if (progress.failed > 0) {
    auto rows = ledger_.failed(migration.number, kErrorsShown);
    if (!rows) return rows.error();
    for (const FailedRow& row : *rows) {
      progress.errors.push_back(migration.copy[static_cast<size_t>(row.place)].table + " (" + row.key +
                                "): " + row.error);
    }
  }
  return progress;
}

}  // namespace sluice::migrate
