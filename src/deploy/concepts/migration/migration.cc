// Migration knows which revision needs which schema, and what its database was last seen to be. A contraction and an
// undoing are claimed before they begin (`floor`, `ceiling`), so that meanwhile nothing is started that needs what
// goes; the other half of both is in guards.sync.
#include <algorithm>

#include "base/json.h"
#include "base/json_reader.h"
#include "bundle/manifest/manifest.h"
#include "deploy/concepts/migration/migration_work.h"
#include "deploy/secret_names.h"

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
  record->recordsSeen = seen->looked_at;
  record->tookMs = seen->took_ms;
  record->recordsTotal = seen->total;
  record->recordsFailed = seen->failed;
  if (!seen->database.empty()) record->database = MigrationBId(seen->database);
  if (!seen->backup.empty()) record->backedUp = true;
  state.put(id, *record);
  state.errors(id).assign(seen->errors);
  if (!seen->backup.empty()) {
    std::vector<std::string> backups = state.backups(id).values();
    backups.push_back(seen->backup);
    state.backups(id).assign(backups);
  }
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
  std::vector<std::string> errors = errors_of(state, id);
  if (ended == Action::Ended::engine) errors.push_back(reason_of(outcome));
  if (ended == Action::Ended::ok && record.phase != "partial") {
    return typename Action::Ok{.migration = id, .recordsMigrated = record.recordsMigrated};
  }
  return typename Action::Partial{
      .migration = id, .migrated = record.recordsMigrated, .failed = record.recordsFailed, .errors = std::move(errors)};
}

// What somebody asks for is not paused.
void asked_for(State& state, const MigrationId& id) {
  if (!state.has(id)) return;
  state.edit(id, [&](MigrationRecord& record) {
    record.paused = false;
    record.backedUp = false;
  });
}

// Where the runtime keeps what its programs store.
std::string storage_in(const std::string& runtime_config) {
  auto config = parse_json(runtime_config, "config");
  const json::value* storage =
      config && config->root.is_object() ? config->root.as_object().if_contains("storage") : nullptr;
  return storage == nullptr || !storage->is_string() ? std::string() : std::string(storage->as_string());
}

// How the environment calls the secret that the bundle calls so.
Result<std::string> secret_name(const std::string& pack_config, const std::string& variable) {
  auto config = parse_json(pack_config, "config");
  if (!config) return config.error();
  const json::value* references = config->root.as_object().if_contains("secret_refs");
  const json::value* reference = references == nullptr ? nullptr : references->as_object().if_contains(variable);
  if (reference == nullptr) {
    return Error{.code = Code::invalid,
                 .message = "the address of its database is " + variable + ", which is no secret"};
  }
  auto parsed = parse_secret_reference(reference->as_string());
  if (!parsed) return parsed.error();
  return parsed->name;
}

// Why neither a contraction nor an undoing may begin now; empty if one may. What is not known to have happened may be
// asked for again, and nothing else.
std::string in_the_way(const MigrationBRecord& database, bool undo) {
  const bool contracting = database.floor > database.removed;
  if (!contracting && !database.ceiling) return "";
  if (!database.unsure) return "the database is being changed already";
  if (contracting == !undo) return "";
  return contracting ? "it is not known whether migration " + std::to_string(database.floor) +
                           " was contracted: contract it again"
                     : "it is not known whether migration " + std::to_string(*database.ceiling + 1) +
                           " was undone: undo it again";
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

Expand::Begun Migration::begin_expand(const Expand& ask, State& state) {
  asked_for(state, ask.migration);
  return lang::Opened{};
}

Expand::Outcome Migration::finish_expand(const Expand& ask, const Expand::Outcome& outcome, State&) {
  if (ended_of(outcome) != Expand::Ended::engine) return outcome;
  return Expand::Failed{.migration = ask.migration, .reason = reason_of(outcome)};
}

Migrate::Begun Migration::begin_migrate(const Migrate& ask, State& state) {
  asked_for(state, ask.migration);
  return lang::Opened{};
}

Migrate::Outcome Migration::finish_migrate(const Migrate& ask, const Migrate::Outcome& outcome, State& state) {
  return told<Migrate>(outcome, ask.migration, state);
}

Retry::Begun Migration::begin_retry(const Retry& ask, State& state) {
  asked_for(state, ask.migration);
  return lang::Opened{};
}

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
  if (std::string why = in_the_way(database, false); !why.empty()) {
    return Contract::Rollback{.migration = ask.migration, .reason = std::move(why)};
  }
  asked_for(state, ask.migration);
  edit_database(state, *record->database, [&](MigrationBRecord& each) {
    each.floor = std::max(each.floor, record->contractsTo);
    each.unsure = false;
  });
  return lang::Opened{};
}

// What may have happened stays claimed until it is asked for again: then the database says.
Contract::Outcome Migration::finish_contract(const Contract& ask, const Contract::Outcome& outcome, State& state) {
  auto record = state.get(ask.migration);
  if (!record || !record->database) return outcome;
  edit_database(state, *record->database, [&](MigrationBRecord& each) {
    if (ended_of(outcome) == Contract::Ended::engine) each.unsure = true;
    if (!each.unsure) each.floor = each.removed;
  });
  return outcome;
}

Undo::Begun Migration::begin_undo(const Undo& ask, State& state) {
  auto record = state.get(ask.migration);
  if (!record || !record->database) {
    return Undo::Failed{.migration = ask.migration, .reason = "nobody has looked at its database yet: plan it first"};
  }
  auto database = state.get(*record->database).value_or(MigrationBRecord{});
  if (std::string why = in_the_way(database, true); !why.empty()) {
    return Undo::Failed{.migration = ask.migration, .reason = std::move(why)};
  }
  asked_for(state, ask.migration);
  edit_database(state, *record->database, [&](MigrationBRecord& each) {
    each.ceiling = record->toVersion - 1;
    each.unsure = false;
  });
  return lang::Opened{};
}

Undo::Outcome Migration::finish_undo(const Undo& ask, const Undo::Outcome& outcome, State& state) {
  auto record = state.get(ask.migration);
  if (!record || !record->database) return outcome;
  edit_database(state, *record->database, [&](MigrationBRecord& each) {
    if (ended_of(outcome) == Undo::Ended::engine) each.unsure = true;
    if (!each.unsure) each.ceiling.reset();
  });
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
  asked_for(state, ask.migration);
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
  std::optional<int64_t> rate;
  if (record->tookMs > 0) rate = record->recordsSeen * 1000 / record->tookMs;
  std::optional<int64_t> left;
  if (record->phase == "migrating" && rate.value_or(0) > 0) {
    left = std::max<int64_t>(0, record->recordsTotal - record->recordsSeen) / *rate;
  }
  const bool all = record->recordsTotal == 0 || record->phase == "migrated" || record->phase == "contracted";
  return Status::Ok{
      .migration = ask.migration,
      .concept_ = record->concept_,
      .fromVersion = record->fromVersion,
      .toVersion = record->toVersion,
      .phase = record->phase,
      .progress = all ? 1.0 : static_cast<double>(record->recordsSeen) / static_cast<double>(record->recordsTotal),
      .recordsMigrated = record->recordsMigrated,
      .recordsTotal = record->recordsTotal,
      .recordsFailed = record->recordsFailed,
      .rowsPerSecond = rate.value_or(0),
      .secondsLeft = left,
      .paused = record->paused,
      .errors = errors_of(state, ask.migration),
      .backups = state.backups(ask.migration).values()};
}

List::Result Migration::list(const List& ask, const State& state) {
  List::Ok ok;
  for (const auto& [id, record] : state.all()) {
    if (record.environment != ask.environment) continue;
    ok.migrations.push_back({.migration = id.text(),
                             .name = record.name,
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

Drift::Outcome Migration::finish_drift(const Drift& ask, const Drift::Outcome& outcome, State&) {
  if (ended_of(outcome) != Drift::Ended::engine) return outcome;
  return Drift::Failed{.migration = ask.migration, .reason = reason_of(outcome)};
}

History::Begun Migration::begin_history(const History&, State&) { return lang::Opened{}; }

History::Outcome Migration::finish_history(const History& ask, const History::Outcome& outcome, State&) {
  if (ended_of(outcome) != History::Ended::engine) return outcome;
  return History::Failed{.migration = ask.migration, .reason = reason_of(outcome)};
}

Adopt::Begun Migration::begin_adopt(const Adopt& ask, State& state) {
  if (!ask.at && !ask.takeOver.value_or(false)) {
    return Adopt::Failed{.migration = ask.migration,
                         .reason = "say at which migration the database is, or that it is taken over"};
  }
  asked_for(state, ask.migration);
  return lang::Opened{};
}

Adopt::Outcome Migration::finish_adopt(const Adopt& ask, const Adopt::Outcome& outcome, State&) {
  if (ended_of(outcome) != Adopt::Ended::engine) return outcome;
  return Adopt::Failed{.migration = ask.migration, .reason = reason_of(outcome)};
}

Backup::Begun Migration::begin_backup(const Backup&, State&) { return lang::Opened{}; }

Backup::Outcome Migration::finish_backup(const Backup& ask, const Backup::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Backup::Ended::engine) {
    return Backup::Failed{.migration = ask.migration, .reason = reason_of(outcome)};
  }
  if (ended_of(outcome) != Backup::Ended::ok) return outcome;
  const std::vector<std::string> backups = state.backups(ask.migration).values();
  return Backup::Ok{.migration = ask.migration, .backup = backups.empty() ? "" : backups.back()};
}

Restore::Begun Migration::begin_restore(const Restore& ask, State& state) {
  if (ask.backup || !state.backups(ask.migration).values().empty()) return lang::Opened{};
  return Restore::Failed{.migration = ask.migration, .reason = "there is no backup of its database"};
}

Restore::Outcome Migration::finish_restore(const Restore& ask, const Restore::Outcome& outcome, State&) {
  if (ended_of(outcome) != Restore::Ended::engine) return outcome;
  return Restore::Failed{.migration = ask.migration, .reason = reason_of(outcome)};
}

Attend::Begun Migration::begin_attend(const Attend& ask, State& state) {
  if (!state.has(ask.migration)) return lang::Opened{};
  state.edit(ask.migration, [](MigrationRecord& record) { record.backedUp = false; });
  return lang::Opened{};
}

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

Stall::Result Migration::stall(const Stall& ask, State& state) {
  if (state.has(ask.migration)) state.errors(ask.migration).assign({ask.reason});
  return Stall::Ok{.migration = ask.migration};
}

Prepare::Result Migration::prepare(const Prepare& ask, State& state) {
  MigrationRecord record = state.get(ask.migration).value_or(MigrationRecord{.startedAt = state.now()});
  record.concept_ = ask.concept_;
  record.name = ask.concept_ + "@" + std::to_string(ask.sequence);
  record.deployment = ask.deployment;
  record.environment = ask.environment;
  record.source = ask.source;
  record.settings = ask.settings;
  auto unfit = [&](const Error& error) {
    return Prepare::Unfit{.migration = ask.migration, .message = to_string(error)};
  };
  auto document = parse_json(ask.settings, "migrations");
  auto settings = document ? read<bundle::Migrations>(*document) : Result<bundle::Migrations>(document.error());
  if (!settings) return unfit(settings.error());
  record.autoContract = settings->autoContract;
  record.approvals = settings->contractApprovals;
  record.call = write(json::object{{"migration", ask.migration.text()}});
  record.secret.reset();
  if (settings->database) {
    auto name = secret_name(ask.packConfig, settings->database->text);
    if (!name) return unfit(name.error());
    record.secret = *std::move(name);
  }
  state.put(ask.migration, record);
  if (record.secret) return Prepare::Secret{.migration = ask.migration, .name = *record.secret};
  return Prepare::File{.migration = ask.migration, .storage = storage_in(ask.runtimeConfig)};
}

Pursue::Begun Migration::begin_pursue(const Pursue&, State&) { return lang::Opened{}; }

Pursue::Outcome Migration::finish_pursue(const Pursue&, const Pursue::Outcome& outcome, State&) { return outcome; }

Step::Begun Migration::begin_step(const Step& ask, State& state) {
  auto record = state.get(ask.migration);
  if (!record) {
    return Step::Result(
        Step::Failed{.migration = ask.migration, .reason = "there is no migration of " + ask.migration.text()});
  }
  const std::vector<std::string> backups = state.backups(ask.migration).values();
  int64_t moves = -1;
  if (record->database) moves = state.get(*record->database).value_or(MigrationBRecord{}).moves;
  return StepWork{.migration = ask.migration.text(),
                  .goal = ask.goal,
                  .deployment = record->deployment,
                  .source = record->source,
                  .settings = record->settings,
                  .address = ask.address,
                  .at = ask.at,
                  .takeOver = ask.takeOver.value_or(false),
                  .into = ask.into.value_or(""),
                  .backup = ask.backup.value_or(backups.empty() ? "" : backups.back()),
                  .environment = record->environment,
                  .backedUp = record->backedUp,
                  .moves = moves};
}

Step::Outcome Migration::finish_step(const Step& ask, const Step::Outcome& outcome, State& state) {
  if (const auto* more = get_if<Step::More>(&outcome)) note(state, ask.migration, more->seen);
  if (const auto* done = get_if<Step::Done>(&outcome)) note(state, ask.migration, done->seen);
  bool maybe = ended_of(outcome) == Step::Ended::engine;
  if (const auto* failed = get_if<Step::Failed>(&outcome)) {
    maybe = failed->maybe;
    if (failed->seen) note(state, ask.migration, *failed->seen);
    std::vector<std::string> errors = errors_of(state, ask.migration);
    if (std::ranges::find(errors, failed->reason) == errors.end()) errors.push_back(failed->reason);
    if (state.has(ask.migration)) state.errors(ask.migration).assign(errors);
  }
  auto record = state.get(ask.migration);
  if (maybe && record && record->database && (ask.goal == "contract" || ask.goal == "undo")) {
    edit_database(state, *record->database, [](MigrationBRecord& each) { each.unsure = true; });
  }
  return outcome;
}

}  // namespace sluice::deploy::migration
