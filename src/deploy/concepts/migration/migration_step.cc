// One step toward a goal, on the real database: the files from the revision's archive, the database at its address, and
// the tool that knows how. What stands in the database afterwards is what the step saw.
#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/manifest/manifest.h"
#include "deploy/concepts/migration/migration_work.h"
#include "deploy/migrate_means.h"
#include "deploy/stored_data.h"
#include "deploy/views/storage_name.h"
#include "migrate/runner.h"

namespace sluice::deploy::migration {
namespace {

namespace tool = sluice::migrate;

constexpr std::chrono::milliseconds kBudget = std::chrono::seconds(5);
constexpr size_t kMaxTextBytes = 4 << 20;

// What a step needs of the world.
struct Scene {
  bundle::Migrations settings;
  tool::Migrations migrations;
  std::unique_ptr<tool::Database> database;
  tool::Caller caller;
};

// Texts below the folder, from the archive that the revision was staged of.
Result<tool::Texts> texts_of(Disk& disk, const std::string& archive, const std::string& folder) {
  auto reader = bundle::open_archive(disk, archive);
  if (!reader) return reader.error();
  tool::Texts texts;
  while (true) {
    auto entry = (*reader)->next();
    if (!entry) return entry.error();
    if (!*entry) return texts;
    const std::string below = folder + "/";
    if ((*entry)->kind != bundle::EntryKind::file || !(*entry)->path.starts_with(below)) continue;
    std::string text;
    while (true) {
      auto piece = (*reader)->read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      text.append(*piece);
      if (text.size() > kMaxTextBytes) {
        return Error{.code = Code::limit, .message = (*entry)->path + " is too large for a migration"};
      }
    }
    texts[(*entry)->path.substr(below.size())] = std::move(text);
  }
}

Result<Scene> set_scene(const StepWork& work, Effect& effect) {
  auto document = parse_json(work.settings, "settings");
  if (!document) return document.error();
  auto settings = read<bundle::Migrations>(*document);
  if (!settings) return settings.error();
  Scene scene{.settings = *settings};
  auto texts = texts_of(effect.tool<Disk>(), work.source, settings->folder.text);
  if (!texts) return texts.error();
  if (texts->empty()) {
    return Error{.code = Code::invalid, .message = "the bundle has nothing in its folder " + settings->folder.text};
  }
  auto migrations = tool::read_migrations(settings->file ? tool::Engine::sqlite : tool::Engine::postgres, *texts);
  if (!migrations) return migrations.error();
  scene.migrations = *std::move(migrations);
  auto id = effect.tool<MigrateMeans>().sluice();
  if (!id) return id.error();
  scene.caller = {.sluice = *id, .who = "sluice", .flow = effect.id()};
  if (settings->file) {
    const std::string storage =
        effect.tool<StoredData>().folder_of(views::storage_name(effect.read(), work.deployment));
    const std::string path = storage + "/" + settings->file->text;
    const bool makes = work.goal == "attend" || work.goal == "expand";
    auto database = tool::open_sqlite(path, makes);
    if (!database) return database.error();
    scene.database = *std::move(database);
    return scene;
  }
  if (!work.address) return Error{.code = Code::invalid, .message = "nobody said where the database is"};
  std::string address;
  try {
    address = effect.open(*work.address);
  } catch (const std::exception&) {
    return Error{.code = Code::unavailable, .message = "Sluice ended before the address was used; try again"};
  }
  auto database = tool::open_postgres(address);
  if (!database) return database.error();
  scene.database = *std::move(database);
  return scene;
}

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
    if (!behind || rank < least) {
      behind = entry.phase;
      least = rank;
    }
    for (size_t place = 0; place < migration.copy.size(); ++place) {
      auto state = ledger.copy(entry.number, static_cast<int64_t>(place));
      if (!state) return state.error();
      seen.copied += state->copied;
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

// What is still to be done, a line each.
Result<std::vector<std::string>> plan_of(const Scene& scene) {
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
  std::vector<std::string> lines;
  for (const tool::Migration& each : scene.migrations) {
    const std::string phase = phases.contains(each.number) ? phases[each.number] : std::string(tool::kPlanned);
    const bool copied = is_after(phase, {tool::kMigrated, tool::kContracted});
    if (is_after(phase, {tool::kPlanned, tool::kExpanding})) {
      for (const tool::Statement& statement : each.expand) lines.push_back(each.name + " expand: " + statement.text);
    }
    if (!copied) {
      for (const tool::CopyRule& rule : each.copy) lines.push_back(each.name + " copy: " + rule.table);
      if (lines.empty() || each.copy.empty()) lines.push_back(each.name + " check");
    }
    if (phase != tool::kContracted) {
      for (const tool::Statement& statement : each.contract)
        lines.push_back(each.name + " contract: " + statement.text);
    }
  }
  return lines;
}

// Whether the goal is reached. Each call of the runner is one small step; as many follow as five seconds take.
Result<bool> advance(const StepWork& work, Scene& scene, Effect& effect) {
  Clock& clock = effect.tool<Clock>();
  const int64_t until_ns = clock.monotonic_ns() + std::chrono::nanoseconds(kBudget).count();
  auto runner = tool::Runner::open(*scene.database, scene.migrations, scene.caller, clock);
  if (!runner) return runner.error();
  const bool expands = work.goal == "expand" || (work.goal == "attend" && scene.settings.autoExpand);
  const bool copies =
      work.goal == "migrate" || work.goal == "retry" || (work.goal == "attend" && scene.settings.autoMigrate);
  if (work.goal == "undo") {
    auto undone = runner->undo(static_cast<int64_t>(scene.migrations.size()));
    if (!undone) return undone.error();
    return true;
  }
  auto entries = runner->ledger().entries();
  if (!entries) return entries.error();
  if (auto same = tool::compare_files(scene.migrations, *entries); !same) return same.error();
  for (const tool::Migration& each : scene.migrations) {
    while (true) {
      auto entry = runner->ledger().entry(each.number);
      if (!entry) return entry.error();
      const std::string phase = *entry ? (*entry)->phase : std::string(tool::kPlanned);
      Result<tool::Progress> progress = tool::Progress{.done = true};
      if (expands && is_after(phase, {tool::kPlanned, tool::kExpanding})) {
        progress = runner->expand(each.number);
      } else if (copies && (is_after(phase, {tool::kExpanded, tool::kMigrating}) ||
                            (phase == tool::kPartial && work.goal != "attend"))) {
        progress = runner->migrate(each.number, kBudget.count());
        // What failed again is for people; the rows are named in what was seen.
        if (progress && progress->phase == tool::kPartial) break;
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

std::string in_words(const Error& error) { return to_string(error) + (error.next.empty() ? "" : "; " + error.next); }

std::string text_of(const Seen& seen) { return json::serialize(to_json(seen)); }

}  // namespace

Step::Performed Migration::perform_step(const StepWork& work, Effect& effect) {
  const MigrationId id(work.migration);
  auto failed = [&](const Error& error, std::optional<std::string> seen = std::nullopt) -> Step::Performed {
    return Step::Failed{.migration = id, .reason = in_words(error), .seen = std::move(seen)};
  };
  auto scene = set_scene(work, effect);
  if (!scene) return failed(scene.error());
  std::vector<std::string> lines;
  bool reached = true;
  std::optional<Error> trouble;
  if (work.goal == "look") {
    auto planned = plan_of(*scene);
    if (!planned) return failed(planned.error());
    lines = *std::move(planned);
  } else if (work.goal == "drift") {
    auto found = tool::drift(*scene->database);
    if (!found) return failed(found.error());
    for (const tool::Difference& each : *found) lines.push_back(to_line(each));
  } else {
    auto advanced = advance(work, *scene, effect);
    if (!advanced) {
      trouble = advanced.error();
    } else {
      reached = *advanced;
    }
  }
  auto seen = look(*scene);
  if (!seen) return failed(trouble.value_or(seen.error()));
  if (trouble) return failed(*trouble, text_of(*seen));
  if (!reached) return Step::More{.migration = id, .seen = text_of(*seen)};
  if (auto fits = check_fit(work, *scene, *seen); !fits) return failed(fits.error(), text_of(*seen));
  return Step::Done{.migration = id, .seen = text_of(*seen), .lines = std::move(lines)};
}

// The database says whether anything was done since this was begun.
lang::Probed<Step::Result> Migration::probe_step(const StepWork& work, Effect& effect) {
  auto scene = set_scene(work, effect);
  if (!scene) return lang::Unsure{};
  auto seen = look(*scene);
  if (!seen) return lang::Unsure{};
  // Going on from what stands there does nothing twice; what is over already is found to be over.
  if (work.moves < 0 || seen->moves == work.moves || work.goal == "undo") return lang::NotDone{};
  return lang::Done<Step::Result>{Step::More{.migration = MigrationId(work.migration), .seen = text_of(*seen)}};
}

}  // namespace sluice::deploy::migration
