// One step toward a goal, on the real database: the files from the revision's archive, the database at its address, and
// the tool that knows how. What stands in the database afterwards is what the step saw.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bundle/archive/inspect.h"
#include "bundle/manifest/manifest.h"
#include "deploy/concepts/migration/migration_backup.h"
#include "deploy/concepts/migration/migration_work.h"
#include "deploy/migrate_means.h"
#include "deploy/migration_texts.h"
#include "deploy/stored_data.h"
#include "deploy/views/storage_name.h"
#include "migrate/lint.h"
#include "migrate/runner.h"
#include "process/system.h"

namespace sluice::deploy::migration {
namespace {

namespace tool = sluice::migrate;

constexpr std::chrono::milliseconds kBudget = std::chrono::seconds(5);

// What a step needs of the world.
struct Scene {
  bundle::Migrations settings;
  tool::Migrations migrations;
  tool::Caller caller;
  std::unique_ptr<tool::Database> database;
};

// Empty if it is a file.
Result<std::string> address_of(const StepWork& work, Effect& effect) {
  if (!work.address) return std::string();
  try {
    return effect.open(*work.address);
  } catch (const std::exception&) {
    return Error{.code = Code::unavailable, .message = "Sluice ended before the address was used; try again"};
  }
}

// Without a link on the way: what is below it belongs to its programs, which must not lead Sluice elsewhere.
std::string storage_of(const StepWork& work, Effect& effect) {
  const std::string folder = effect.tool<StoredData>().folder_of(views::storage_name(effect.read(), work.deployment));
  std::error_code failure;
  const auto real = std::filesystem::canonical(folder, failure);
  return failure ? folder : real.string();
}

// A file that is made here belongs to whom the storage belongs to: its programs, which never run as root. Before the
// first of them has run, its folder is still that of Sluice.
Result<void> give_to_programs(const std::string& path, const StepWork& work, Effect& effect) {
  struct stat file {};
  struct stat folder {};
  if (geteuid() != 0 || lstat(path.c_str(), &file) != 0 || file.st_uid != 0) return {};
  if (stat(std::filesystem::path(path).parent_path().c_str(), &folder) == 0 && folder.st_uid != 0) {
    return process::give_to(path, folder.st_uid);
  }
  auto inspected = bundle::inspect_archive(effect.tool<Disk>(), work.source);
  auto manifest =
      inspected ? bundle::manifest_of(*inspected, work.source) : Result<bundle::Manifest>(inspected.error());
  if (!manifest) return manifest.error();
  return process::give_to(path, manifest->user.value_or(bundle::kDefaultUser));
}

Result<std::unique_ptr<tool::Database>> open_database(const StepWork& work, const bundle::Migrations& settings,
                                                      Effect& effect) {
  if (settings.file) {
    const std::string path = storage_of(work, effect) + "/" + settings.file->text;
    auto database = tool::open_sqlite(path, work.goal == "attend" || work.goal == "expand", false);
    if (!database) return database;
    auto given = give_to_programs(path, work, effect);
    if (!given) return given.error();
    return database;
  }
  auto address = address_of(work, effect);
  if (!address) return address.error();
  return tool::open_postgres(*address);
}

Result<Scene> set_scene(const StepWork& work, Effect& effect) {
  auto document = parse_json(work.settings, "settings");
  if (!document) return document.error();
  auto settings = read<bundle::Migrations>(*document);
  if (!settings) return settings.error();
  Scene scene{.settings = *settings};
  auto migrations = migrations_in(effect.tool<Disk>(), work.source, *settings);
  if (!migrations) return migrations.error();
  scene.migrations = *std::move(migrations);
  auto id = effect.tool<MigrateMeans>().sluice();
  if (!id) return id.error();
  scene.caller = {.sluice = *id,
                  .process = effect.tool<MigrateMeans>().process(),
                  .who = effect.cause().caller,
                  .flow = effect.cause().flow};
  auto database = open_database(work, scene.settings, effect);
  if (!database) return database.error();
  scene.database = *std::move(database);
  return scene;
}

std::string in_words(const Error& error) { return to_string(error) + (error.next.empty() ? "" : "; " + error.next); }

bool is_after(const std::string& phase, std::initializer_list<std::string_view> phases) {
  return std::ranges::find(phases, phase) != phases.end();
}

// How far a phase is; what removes nothing is as far as it will come once it is copied.
int rank_of(const std::string& phase, bool contracts) {
  const std::string_view order[] = {tool::kPlanned,   tool::kUndoing, tool::kExpanding, tool::kExpanded,
                                    tool::kMigrating, tool::kPartial, tool::kMigrated,  tool::kContracted};
  const auto found = static_cast<int>(std::ranges::find(order, phase) - std::begin(order));
  return phase == tool::kMigrated && !contracts ? found + 1 : found;
}

Result<Seen> look(const Scene& scene) {
  Seen seen{.phase = std::string(tool::kPlanned), .newest = static_cast<int64_t>(scene.migrations.size())};
  for (const tool::Migration& each : scene.migrations) {
    if (!each.contract.empty()) seen.contracts = each.number;
  }
  auto owner = tool::Ledger::owner(*scene.database);
  if (!owner) return owner.error();
  if (!*owner) return seen;
  seen.database = (*owner)->database;
  tool::Ledger ledger = tool::Ledger::of(*scene.database);
  auto entries = ledger.entries();
  if (!entries) return entries.error();
  std::optional<std::string> behind;
  int least = 0;
  for (const tool::Entry& entry : *entries) {
    seen.moves += entry.moves;
    if (is_after(entry.phase, {tool::kContracted})) seen.removed = std::max(seen.removed, entry.number);
    if (entry.number > seen.newest) continue;
    if (!is_after(entry.phase, {tool::kExpanding, tool::kUndoing})) seen.version = std::max(seen.version, entry.number);
    const auto& migration = scene.migrations[static_cast<size_t>(entry.number - 1)];
    const int rank = rank_of(entry.phase, !migration.contract.empty());
    if (!behind || rank <= least) {
      behind = entry.phase;
      least = rank;
    }
    for (size_t place = 0; place < migration.copy.size(); ++place) {
      auto state = ledger.copy(entry.number, static_cast<int64_t>(place));
      if (!state) return state.error();
      seen.copied += state->copied;
      seen.looked_at += state->seen;
      seen.took_ms += state->took_ms;
      seen.total += std::max(state->total, state->seen);
      seen.failed += state->failed;
    }
    auto failed = ledger.failed(entry.number, 5);
    if (!failed) return failed.error();
    for (const tool::FailedRow& row : *failed)
      seen.errors.push_back(migration.name + " (" + row.key + "): " + row.error);
  }
  // Numbers that are not there yet are planned.
  if (behind && seen.version == seen.newest) seen.phase = *behind;
  return seen;
}

// Nothing is planned over what others have changed since the last phase. What they have only added, as programs do by
// themselves, is in the way of a plan alone.
Result<void> check_drift(const Scene& scene, bool plans) {
  auto found = tool::drift(*scene.database);
  if (!found) return found.error();
  if (!plans) std::erase_if(*found, [](const auto& each) { return each.change == tool::Change::added; });
  if (found->empty()) return {};
  std::string changes;
  for (const tool::Difference& each : *found) changes += (changes.empty() ? "" : ", ") + to_line(each);
  return Error{.code = Code::conflict,
               .message = "others have changed the schema since the last phase: " + changes,
               .next = "put it back as it was, or adopt the database as it is"};
}

// What PostgreSQL locks is told; SQLite has one lock for everything.
std::string in_words(const tool::Impact& impact) {
  const bool tells = !impact.lock.empty() && impact.lock != tool::kWholeDatabase;
  return impact.statement + (tells ? "  (locks: " + impact.lock + ")" : "");
}

// How many rows there are to copy, about; none if it cannot be told, as of a table that this plan makes.
std::optional<int64_t> rows_of(tool::Database& database, const tool::CopyRule& rule) {
  auto table = tool::parse_name(database.engine(), rule.table);
  if (!table) return std::nullopt;
  auto counted = database.value(tool::count_sql(database.engine(), tool::quoted_name(*table)));
  if (!counted) return std::nullopt;
  return std::atoll(counted->value_or("0").c_str());
}

// And how long it takes if it goes as fast as what was copied before.
std::string in_words(std::optional<int64_t> rows, int64_t rate) {
  if (!rows) return "";
  return ", about " + std::to_string(*rows) + (*rows == 1 ? " row" : " rows") +
         (rate > 0 ? ", " + std::to_string((*rows + rate - 1) / rate) + " s at " + std::to_string(rate) +
                         " rows a second, as before"
                   : "");
}

// Looks at statements on the schema that there is now.
Result<tool::Linter> linter_of(const Scene& scene) {
  tool::Linter linter(scene.database->engine());
  auto begun = linter.begin_at(*scene.database);
  if (!begun) return begun.error();
  return linter;
}

struct Planned {
  std::vector<std::string> lines;
  int64_t rows = 0;  // that are to be copied, about
};

// What is still to be done, a line each; it was rehearsed.
Result<Planned> plan_of(const StepWork& work, const Scene& scene, Effect& effect) {
  if (auto same = check_drift(scene, true); !same) return same.error();
  std::map<int64_t, std::string> phases;
  auto owner = tool::Ledger::owner(*scene.database);
  if (!owner) return owner.error();
  if (*owner) {
    auto entries = tool::Ledger::of(*scene.database).entries();
    if (!entries) return entries.error();
    auto same = tool::compare_files(scene.migrations, *entries);
    if (!same) return same.error();
    for (const tool::Entry& each : *entries) phases[each.number] = each.phase;
  }
  auto seen = look(scene);
  if (!seen) return seen.error();
  const int64_t rate = seen->took_ms > 0 ? seen->looked_at * 1000 / seen->took_ms : 0;
  Planned planned;
  std::vector<std::string>& lines = planned.lines;
  auto linter = linter_of(scene);
  if (!linter) return linter.error();
  for (const tool::Migration& each : scene.migrations) {
    const std::string phase = phases.contains(each.number) ? phases[each.number] : std::string(tool::kPlanned);
    const std::vector<tool::Impact> impacts = linter->look(each);
    if (phase == tool::kPlanned) {
      if (auto sound = tool::check(impacts); !sound) return sound.error();
    }
    std::vector<std::string> expands, contracts;
    for (const tool::Impact& impact : impacts) {
      const bool removes = impact.file.ends_with("contract.sql");
      (removes ? contracts : expands).push_back(each.name + (removes ? " contract: " : " expand: ") + in_words(impact));
    }
    if (is_after(phase, {tool::kPlanned, tool::kExpanding})) lines.insert(lines.end(), expands.begin(), expands.end());
    if (!is_after(phase, {tool::kMigrated, tool::kContracted})) {
      for (const tool::CopyRule& rule : each.copy) {
        const auto rows = rows_of(*scene.database, rule);
        planned.rows += rows.value_or(0);
        lines.push_back(each.name + " copy: " + rule.table + in_words(rows, rate));
      }
      lines.push_back(each.name + " check");
    }
    if (phase != tool::kContracted) lines.insert(lines.end(), contracts.begin(), contracts.end());
  }
  if (lines.empty()) return planned;
  auto address = address_of(work, effect);
  if (!address) return address.error();
  auto rehearsed = rehearse(effect, *scene.database, scene.migrations, *address, true);
  if (!rehearsed && rehearsed.error().code != Code::denied) return rehearsed.error();
  if (!rehearsed) lines.push_back("not rehearsed: " + in_words(rehearsed.error()));
  return planned;
}

// What was done, a line each.
Result<std::vector<std::string>> history_of(tool::Database& database) {
  std::vector<std::string> lines;
  auto owner = tool::Ledger::owner(database);
  if (!owner) return owner.error();
  if (!*owner) return lines;
  auto entries = tool::Ledger::of(database).entries();
  if (!entries) return entries.error();
  for (const tool::Entry& each : *entries) {
    lines.push_back(each.name + "  " + each.phase + "  " + each.began + " to " + each.changed + "  by " + each.who +
                    " in " + each.flow);
    for (const auto& [file, digest] : each.files) lines.push_back("  " + file + "  " + digest);
  }
  return lines;
}

Result<void> adopt(const StepWork& work, Scene& scene, Clock& clock) {
  if (work.takeOver) {
    auto taken = tool::Ledger::claim(*scene.database, scene.caller, clock, true);
    if (!taken) return taken.error();
  }
  if (!work.at) return {};
  auto runner = tool::Runner::open(*scene.database, scene.migrations, scene.caller, clock);
  if (!runner) return runner.error();
  return runner->adopt(*work.at);
}

// ---- backups

Result<void> restore(const StepWork& work, const Scene& scene, Effect& effect) {
  if (scene.settings.file) {
    const auto into = JsonScalar<bundle::InnerPath>::parse(work.into);
    if (!into) return into.error();
    const std::string path = storage_of(work, effect) + "/" + into->text;
    auto restored = restore_backup(effect, work.environment, work.backup, "", path);
    if (!restored) return restored;
    return give_to_programs(path, work, effect);
  }
  auto address = address_of(work, effect);
  if (!address) return address.error();
  return restore_backup(effect, work.environment, work.backup, *address, work.into);
}

// Whether this step would begin to change something, and not go on with it.
bool begins_change(const StepWork& work, const Scene& scene, const std::vector<tool::Entry>& entries, bool expands) {
  for (const tool::Migration& each : scene.migrations) {
    const auto entry = std::ranges::find(entries, each.number, &tool::Entry::number);
    const std::string phase = entry == entries.end() ? std::string(tool::kPlanned) : entry->phase;
    if (expands && phase == tool::kPlanned) return true;
    if (work.goal == "contract" && phase == tool::kMigrated && !each.contract.empty()) return true;
    if (work.goal == "undo" && phase != tool::kPlanned && &each == &scene.migrations.back()) return true;
  }
  return false;
}

// In the middle of a phase it is we who have changed what is there.
bool is_settled(const std::vector<tool::Entry>& entries) {
  return std::ranges::none_of(entries, [](const tool::Entry& each) {
    return is_after(each.phase, {tool::kExpanding, tool::kMigrating, tool::kUndoing});
  });
}

// What cannot work is found on a copy, so an expansion that fails half way is rare. Where no copy can be made, the
// database finds it.
Result<void> try_expansion(const StepWork& work, const Scene& scene, const std::vector<tool::Entry>& entries,
                           Effect& effect) {
  auto address = address_of(work, effect);
  if (!address) return address.error();
  auto linter = linter_of(scene);
  if (!linter) return linter.error();
  for (const tool::Migration& each : scene.migrations) {
    if (std::ranges::find(entries, each.number, &tool::Entry::number) != entries.end()) continue;
    auto sound = tool::check(linter->look(each));
    if (!sound) return sound;
  }
  auto rehearsed = rehearse(effect, *scene.database, scene.migrations, *address, false);
  if (!rehearsed && rehearsed.error().code == Code::denied) return {};
  return rehearsed;
}

// What comes before a change: nobody else has changed what is there, and there is a backup, made in a step of its own,
// once for whoever asks for the change. Returns its name; empty if none is to be made.
Result<std::string> back_up_first(const StepWork& work, const Scene& scene, tool::Ledger& ledger, bool expands,
                                  Effect& effect) {
  auto entries = ledger.entries();
  if (!entries) return entries.error();
  if (!begins_change(work, scene, *entries, expands)) return std::string();
  if (is_settled(*entries) && work.goal != "undo") {
    if (auto same = check_drift(scene, false); !same) return same.error();
    if (expands && !work.backedUp) {
      if (auto works = try_expansion(work, scene, *entries, effect); !works) return works.error();
    }
  }
  if (!scene.settings.backupBefore || work.backedUp) return std::string();
  auto schema = tool::describe_schema(*scene.database);
  if (!schema) return schema.error();
  // Nothing is lost of a database without tables.
  if (std::ranges::find(*schema, "table", &tool::SchemaObject::kind) == schema->end()) return std::string();
  auto address = address_of(work, effect);
  if (!address) return address.error();
  return make_backup(effect, work.environment, *scene.database, *address);
}

// A start goes on with what it can; whoever asks for the copy itself hears what is in its way.
bool is_to_be_copied(const std::string& phase, const std::string& goal) {
  if (goal == "attend") return is_after(phase, {tool::kExpanded, tool::kMigrating});
  return !is_after(phase, {tool::kMigrated, tool::kContracted});
}

// What a step leaves behind besides what stands in the database.
struct Made {
  std::string backup;
  std::vector<std::string> errors;  // of checks that returned rows
};

// Whether the goal is reached. Each call of the runner is one small step; as many follow as five seconds take.
Result<bool> advance(const StepWork& work, Scene& scene, Effect& effect, Made& made) {
  Clock& clock = effect.tool<Clock>();
  const int64_t until_ns = clock.monotonic_ns() + std::chrono::nanoseconds(kBudget).count();
  if (work.goal == "adopt") {
    auto adopted = adopt(work, scene, clock);
    if (!adopted) return adopted.error();
    return true;
  }
  auto runner = tool::Runner::open(*scene.database, scene.migrations, scene.caller, clock);
  if (!runner) return runner.error();
  const bool expands = work.goal == "expand" || (work.goal == "attend" && scene.settings.autoExpand);
  const bool copies =
      work.goal == "migrate" || work.goal == "retry" || (work.goal == "attend" && scene.settings.autoMigrate);
  auto first = back_up_first(work, scene, runner->ledger(), expands, effect);
  if (!first) return first.error();
  if (!first->empty()) {
    made.backup = *first;
    return false;
  }
  if (work.goal == "undo") {
    auto undone = runner->undo(static_cast<int64_t>(scene.migrations.size()));
    if (!undone) return undone.error();
    return true;
  }
  auto entries = runner->ledger().entries();
  if (!entries) return entries.error();
  if (auto same = tool::compare_files(scene.migrations, *entries); !same) return same.error();
  std::optional<Result<tool::Linter>> linter;  // of the schema before the first that is planned
  for (const tool::Migration& each : scene.migrations) {
    while (true) {
      auto entry = runner->ledger().entry(each.number);
      if (!entry) return entry.error();
      const std::string phase = *entry ? (*entry)->phase : std::string(tool::kPlanned);
      Result<tool::Progress> progress = tool::Progress{.done = true};
      if (expands && is_after(phase, {tool::kPlanned, tool::kExpanding})) {
        if (phase == tool::kPlanned) {
          if (!linter) linter.emplace(linter_of(scene));
          auto sound = *linter ? tool::check((*linter)->look(each)) : Result<void>(linter->error());
          if (!sound) return sound.error();
        }
        progress = runner->expand(each.number);
      } else if (copies && is_to_be_copied(phase, work.goal)) {
        progress = runner->migrate(each.number, kBudget.count());
        // What failed again is for people; the rows are named in what was seen.
        if (progress && progress->phase == tool::kPartial) {
          if (progress->failed == 0) made.errors = progress->errors;
          break;
        }
      } else if (work.goal == "contract" && phase != tool::kContracted && !each.contract.empty()) {
        progress = runner->contract(each.number);
      } else {
        break;
      }
      if (!progress) return progress.error();
      if (effect.cancelled() || clock.monotonic_ns() >= until_ns) return false;
    }
  }
  return true;
}

// Whether a revision may be started on what there is.
Result<void> check_fit(const StepWork& work, const Scene& scene, const Seen& seen) {
  if (work.goal != "attend") return {};
  if (seen.removed > seen.newest) {
    return Error{.code = Code::conflict,
                 .message = "it needs the schema of migration " + std::to_string(seen.newest) + ", and migration " +
                            std::to_string(seen.removed) + " has removed what was there before"};
  }
  if (seen.version < seen.newest) {
    return Error{.code = Code::conflict,
                 .message = "its database has the schema of migration " + std::to_string(seen.version) +
                            ", and it needs that of " + std::to_string(seen.newest) + "; autoExpand is off"};
  }
  const bool copied = is_after(seen.phase, {tool::kMigrated, tool::kContracted});
  if (!copied) {
    return Error{.code = Code::conflict,
                 .message = "its database is not copied to the new schema: it is " + seen.phase +
                            (scene.settings.autoMigrate ? "" : "; autoMigrate is off") +
                            (seen.errors.empty() ? "" : ": " + seen.errors.front())};
  }
  return {};
}

std::string text_of(const Seen& seen) { return json::serialize(to_json(seen)); }

}  // namespace

Step::Performed Migration::perform_step(const StepWork& work, Effect& effect) {
  const MigrationId id(work.migration);
  auto failed = [&](const Error& error, std::optional<std::string> seen = std::nullopt, bool maybe = false) {
    return Step::Performed(
        Step::Failed{.migration = id, .reason = in_words(error), .seen = std::move(seen), .maybe = maybe});
  };
  auto scene = set_scene(work, effect);
  if (!scene) return failed(scene.error(), std::nullopt, effect.number() > 1);  // an earlier attempt may have done it
  std::vector<std::string> lines;
  Made made;
  bool reached = true;
  std::optional<Error> trouble;
  int64_t to_copy = 0;
  if (work.goal == "look") {
    auto planned = plan_of(work, *scene, effect);
    if (!planned) return failed(planned.error());
    lines = std::move(planned->lines);
    to_copy = planned->rows;
  } else if (work.goal == "history") {
    auto found = history_of(*scene->database);
    if (!found) return failed(found.error());
    lines = *std::move(found);
  } else if (work.goal == "drift") {
    auto found = tool::drift(*scene->database);
    if (!found) return failed(found.error());
    for (const tool::Difference& each : *found) lines.push_back(to_line(each));
  } else if (work.goal == "backup") {
    auto address = address_of(work, effect);
    if (!address) return failed(address.error());
    auto backup = make_backup(effect, work.environment, *scene->database, *address);
    if (!backup) return failed(backup.error());
    made.backup = *backup;
  } else if (work.goal == "restore") {
    auto restored = restore(work, *scene, effect);
    if (!restored) return failed(restored.error());
  } else {
    auto advanced = advance(work, *scene, effect, made);
    if (advanced) {
      reached = *advanced;
    } else if (advanced.error().code == Code::timeout) {
      reached = false;  // another migrator is at work, and it goes on after it
    } else {
      trouble = advanced.error();
    }
  }
  if (trouble && trouble->code == Code::unavailable) {
    // A connection that broke does not say whether what was under way was committed; another one does.
    auto again = open_database(work, scene->settings, effect);
    if (again) scene->database = *std::move(again);
  }
  auto seen = look(*scene);
  if (!seen) return failed(trouble.value_or(seen.error()), std::nullopt, true);
  seen->backup = made.backup;
  seen->total = std::max(seen->total, to_copy);
  for (const std::string& each : made.errors) {
    if (std::ranges::find(seen->errors, each) == seen->errors.end()) seen->errors.push_back(each);
  }
  if (trouble) return failed(*trouble, text_of(*seen));
  if (!reached) return Step::More{.migration = id, .seen = text_of(*seen)};
  if (auto fits = check_fit(work, *scene, *seen); !fits) return failed(fits.error(), text_of(*seen));
  return Step::Done{.migration = id, .seen = text_of(*seen), .lines = std::move(lines)};
}

// The database says whether anything was done since this was begun. Going on from what stands there does nothing twice,
// and what is over already is found to be over; so what cannot be asked now, as while the application holds it, is
// tried.
lang::Probed<Step::Result> Migration::probe_step(const StepWork& work, Effect& effect) {
  auto scene = set_scene(work, effect);
  if (!scene) return lang::NotDone{};
  auto seen = look(*scene);
  if (!seen) return lang::NotDone{};
  if (work.moves < 0 || seen->moves == work.moves || work.goal == "undo") return lang::NotDone{};
  return lang::Done<Step::Result>{Step::More{.migration = MigrationId(work.migration), .seen = text_of(*seen)}};
}

}  // namespace sluice::deploy::migration
