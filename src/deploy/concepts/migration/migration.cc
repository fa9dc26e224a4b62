// Migration knows which revision needs which schema, and what its database was last seen to be. A contraction and an
// undoing are claimed before they begin (`floor`, `ceiling`), so that meanwhile nothing is started that needs what
// goes; the other half of both is in guards.sync.
#include <algorithm>

#include "base/json.h"
#include "base/json_reader.h"
#include "bundle/manifest/manifest.h"
#include "deploy/concepts/migration/migration_work.h"

namespace sluice::deploy::migration {
namespace {

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end == nullptr || end->message.empty() ? std::string("it was not done") : end->message;
}

void edit_database(State& state, const MigrationBId& id, const std::function<void(MigrationBRecord&)>& change) {
  MigrationBRecord record = state.get(id).value_or(MigrationBRecord{});
  change(record);
  state.put(id, record);
}

// Takes down what a step saw. What is claimed stays claimed.
void note(State& state, const MigrationId& id, const std::string& text) {
  auto document = parse_json(text, "seen");
  auto seen = document ? read<Seen>(*document) : Result<Seen>(document.error());
  auto record = state.get(id);
  if (!seen || !record) return;
  record->phase = seen->phase;
  record->fromVersion = seen->version;
  record->toVersion = seen->newest;
  record->contractsTo = seen->contracts;
  record->recordsMigrated = seen->copied;
  record->recordsTotal = seen->total;
  record->recordsFailed = seen->failed;
  if (!seen->database.empty()) record->database = MigrationBId(seen->database);
  state.put(id, *record);
  state.errors(id).assign(seen->errors);
  if (seen->database.empty()) return;
  edit_database(state, MigrationBId(seen->database), [&](MigrationBRecord& database) {
    database.removed = std::max(database.removed, seen->removed);
    database.floor = std::max(database.floor, seen->removed);
    database.moves = seen->moves;
  });
}

std::vector<std::string> errors_of(const State& state, const MigrationId& id) { return state.errors(id).values(); }

// Rows, and what went wrong, of an end of migrate and retry.
template <class Action>
typename Action::Outcome told(const typename Action::Outcome& outcome, const MigrationId& id, State& state) {
  auto record = state.get(id).value_or(MigrationRecord{});
  const auto ended = ended_of(outcome);
  if (ended == Action::Ended::engine) return outcome;
  if (ended == Action::Ended::ok && record.phase != "partial") {
    return typename Action::Ok{.migration = id, .recordsMigrated = record.recordsMigrated};
  }
  return typename Action::Partial{.migration = id,
                                  .migrated = record.recordsMigrated,
                                  .failed = record.recordsFailed,
                                  .errors = errors_of(state, id)};
}

}  // namespace

// ---- plan, expand, migrate

Plan::Begun Migration::begin_plan(const Plan&, State&) { return lang::Opened{}; }

Plan::Outcome Migration::finish_plan(const Plan& ask, const Plan::Outcome& outcome, State& state) {
  const auto* ok = get_if<Plan::Ok>(&outcome);
  auto record = state.get(ask.migration);
  if (ok == nullptr || !record) return outcome;
  if (ok->steps.empty()) {
    return Plan::NoMigrationNeeded{
        .migration = ask.migration, .concept_ = record->concept_, .version = record->toVersion};
  }
  return Plan::Ok{.migration = ask.migration,
                  .fromVersion = record->fromVersion,
                  .toVersion = record->toVersion,
                  .phase = record->phase,
                  .steps = ok->steps,
                  .estimatedRecords = record->recordsTotal};
}

Expand::Begun Migration::begin_expand(const Expand&, State&) { return lang::Opened{}; }

Expand::Outcome Migration::finish_expand(const Expand&, const Expand::Outcome& outcome, State&) { return outcome; }

Migrate::Begun Migration::begin_migrate(const Migrate& ask, State& state) {
  if (state.has(ask.migration)) state.edit(ask.migration, [](MigrationRecord& record) { record.paused = false; });
  return lang::Opened{};
}

Migrate::Outcome Migration::finish_migrate(const Migrate& ask, const Migrate::Outcome& outcome, State& state) {
  return told<Migrate>(outcome, ask.migration, state);
}

Retry::Begun Migration::begin_retry(const Retry&, State&) { return lang::Opened{}; }

Retry::Outcome Migration::finish_retry(const Retry& ask, const Retry::Outcome& outcome, State& state) {
  return told<Retry>(outcome, ask.migration, state);
}

// ---- contract and undo: claimed here, so that the guards of the opposite moves see it

Contract::Begun Migration::begin_contract(const Contract& ask, State& state) {
  auto record = state.get(ask.migration);
  if (!record || !record->database) {
    return Contract::Rollback{.migration = ask.migration,
                              .reason = "nobody has looked at its database yet: plan it first"};
  }
  auto database = state.get(*record->database).value_or(MigrationBRecord{});
  if (database.ceiling || database.floor > database.removed) {
    return Contract::Rollback{.migration = ask.migration, .reason = "the database is being changed already"};
  }
  edit_database(state, *record->database,
                [&](MigrationBRecord& each) { each.floor = std::max(each.floor, record->contractsTo); });
  return lang::Opened{};
}

// What may have happened stays claimed until somebody has looked.
Contract::Outcome Migration::finish_contract(const Contract& ask, const Contract::Outcome& outcome, State& state) {
  auto record = state.get(ask.migration);
  if (ended_of(outcome) != Contract::Ended::engine && record && record->database) {
    edit_database(state, *record->database, [](MigrationBRecord& each) { each.floor = each.removed; });
  }
  return outcome;
}

Undo::Begun Migration::begin_undo(const Undo& ask, State& state) {
  auto record = state.get(ask.migration);
  if (!record || !record->database) {
    return Undo::Failed{.migration = ask.migration, .reason = "nobody has looked at its database yet: plan it first"};
  }
  auto database = state.get(*record->database).value_or(MigrationBRecord{});
  if (database.ceiling || database.floor > database.removed) {
    return Undo::Failed{.migration = ask.migration, .reason = "the database is being changed already"};
  }
  edit_database(state, *record->database, [&](MigrationBRecord& each) { each.ceiling = record->toVersion - 1; });
  return lang::Opened{};
}

Undo::Outcome Migration::finish_undo(const Undo& ask, const Undo::Outcome& outcome, State& state) {
  auto record = state.get(ask.migration);
  if (ended_of(outcome) != Undo::Ended::engine && record && record->database) {
    edit_database(state, *record->database, [](MigrationBRecord& each) { each.ceiling.reset(); });
  }
  return outcome;
}

// ---- pause, resume, and what is known

Pause::Result Migration::pause(const Pause& ask, State& state) {
  if (!state.has(ask.migration)) {
    return Pause::NotFound{.migration = ask.migration, .message = "there is no migration of " + ask.migration.text()};
  }
  state.edit(ask.migration, [](MigrationRecord& record) { record.paused = true; });
  return Pause::Ok{.migration = ask.migration};
}

Resume::Begun Migration::begin_resume(const Resume& ask, State& state) {
  if (!state.has(ask.migration)) {
    return Resume::NotFound{.migration = ask.migration, .message = "there is no migration of " + ask.migration.text()};
  }
  state.edit(ask.migration, [](MigrationRecord& record) { record.paused = false; });
  return lang::Opened{};
}

Resume::Outcome Migration::finish_resume(const Resume& ask, const Resume::Outcome& outcome, State& state) {
  return told<Resume>(outcome, ask.migration, state);
}

Status::Result Migration::status(const Status& ask, const State& state) {
  auto record = state.get(ask.migration);
  if (!record) {
    return Status::NotFound{.migration = ask.migration, .message = "there is no migration of " + ask.migration.text()};
  }
  const bool all = record->recordsTotal == 0 || record->phase == "migrated" || record->phase == "contracted";
  return Status::Ok{
      .migration = ask.migration,
      .concept_ = record->concept_,
      .fromVersion = record->fromVersion,
      .toVersion = record->toVersion,
      .phase = record->phase,
      .progress = all ? 1.0 : static_cast<double>(record->recordsMigrated) / static_cast<double>(record->recordsTotal),
      .recordsMigrated = record->recordsMigrated,
      .recordsTotal = record->recordsTotal,
      .recordsFailed = record->recordsFailed,
      .errors = errors_of(state, ask.migration)};
}

List::Result Migration::list(const List& ask, const State& state) {
  List::Ok ok;
  for (const auto& [id, record] : state.all()) {
    if (record.environment != ask.environment) continue;
    ok.migrations.push_back({.migration = id.text(),
                             .concept_ = record.concept_,
                             .fromVersion = record.fromVersion,
                             .toVersion = record.toVersion,
                             .phase = record.phase,
                             .recordsMigrated = record.recordsMigrated,
                             .recordsTotal = record.recordsTotal});
  }
  return ok;
}

Drift::Begun Migration::begin_drift(const Drift&, State&) { return lang::Opened{}; }

Drift::Outcome Migration::finish_drift(const Drift&, const Drift::Outcome& outcome, State&) { return outcome; }

Attend::Begun Migration::begin_attend(const Attend&, State&) { return lang::Opened{}; }

// What was claimed while its database was looked at binds it, too.
Attend::Outcome Migration::finish_attend(const Attend& ask, const Attend::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Attend::Ended::engine) {
    return Attend::Refused{.migration = ask.migration, .reason = reason_of(outcome)};
  }
  auto record = state.get(ask.migration);
  if (ended_of(outcome) != Attend::Ended::ok || !record || !record->database) return outcome;
  auto database = state.get(*record->database).value_or(MigrationBRecord{});
  auto needs = [&](const std::string& why) {
    return Attend::Refused{.migration = ask.migration,
                           .reason = "it needs the schema of migration " + std::to_string(record->toVersion) + why};
  };
  if (record->toVersion < database.floor) {
    return needs(", and migration " + std::to_string(database.floor) + " has removed what was there before");
  }
  if (database.ceiling && record->toVersion > *database.ceiling) return needs(", which is being undone");
  return outcome;
}

Prepare::Result Migration::prepare(const Prepare& ask, State& state) {
  MigrationRecord record = state.get(ask.migration).value_or(MigrationRecord{.startedAt = state.now()});
  record.concept_ = ask.concept_;
  record.deployment = ask.deployment;
  record.environment = ask.environment;
  record.source = ask.source;
  record.settings = ask.settings;
  state.put(ask.migration, record);
  return Prepare::Ok{.migration = ask.migration};
}

Pursue::Begun Migration::begin_pursue(const Pursue&, State&) { return lang::Opened{}; }

Pursue::Outcome Migration::finish_pursue(const Pursue&, const Pursue::Outcome& outcome, State&) { return outcome; }

Call::Result Migration::call(const Call& ask, State& state) {
  auto record = state.get(ask.migration);
  auto document = parse_json(record ? record->settings : "", "settings");
  auto settings = document ? read<bundle::Migrations>(*document) : Result<bundle::Migrations>(document.error());
  if (!settings) {
    return Call::NotFound{.migration = ask.migration, .message = "there is no migration of " + ask.migration.text()};
  }
  if (settings->database) return Call::Secret{.migration = ask.migration, .variable = settings->database->text};
  return Call::File{.migration = ask.migration};
}

Step::Begun Migration::begin_step(const Step& ask, State& state) {
  auto record = state.get(ask.migration);
  if (!record) {
    return Step::Result(
        Step::Failed{.migration = ask.migration, .reason = "there is no migration of " + ask.migration.text()});
  }
  int64_t moves = -1;
  if (record->database) moves = state.get(*record->database).value_or(MigrationBRecord{}).moves;
  return StepWork{.migration = ask.migration.text(),
                  .goal = ask.goal,
                  .deployment = record->deployment,
                  .source = record->source,
                  .settings = record->settings,
                  .address = ask.address,
                  .moves = moves};
}

Step::Outcome Migration::finish_step(const Step& ask, const Step::Outcome& outcome, State& state) {
  if (const auto* more = get_if<Step::More>(&outcome)) note(state, ask.migration, more->seen);
  if (const auto* done = get_if<Step::Done>(&outcome)) note(state, ask.migration, done->seen);
  if (const auto* failed = get_if<Step::Failed>(&outcome)) {
    if (failed->seen) note(state, ask.migration, *failed->seen);
    std::vector<std::string> errors = errors_of(state, ask.migration);
    if (std::ranges::find(errors, failed->reason) == errors.end()) errors.push_back(failed->reason);
    if (state.has(ask.migration)) state.errors(ask.migration).assign(errors);
  }
  return outcome;
}

}  // namespace sluice::deploy::migration
