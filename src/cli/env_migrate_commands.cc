// sluice env migrate-dev: gives up the name dev, which environments had before there was local.
#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "cli/opening.h"
#include "deploy/views/name_search.h"
#include "engine/record_reader.h"
#include "engine/step.h"
#include "env.gen.h"
#include "host/home.h"

namespace sluice::cli {
namespace env_migrate_commands {

namespace views = deploy::views;
using Level = views::NameUse::Level;

constexpr std::string_view kOldName = "dev";
constexpr int64_t kAliasDays = 90;

// Records that name the environment. They stay what they are: a journal is never rewritten.
Result<void> add_audit_labels(store::Store& store, const std::string& file, std::vector<views::NameUse>& uses) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  std::optional<Error> failed;
  engine::RecordReader records(**snapshot);
  auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    auto record = records.read(row);
    if (record && record->find(R"("caller":")") == std::string_view::npos) return true;
    auto step = record ? engine::read_step(*record) : Result<engine::Step>(record.error());
    if (!step) {
      failed = step.error();
      return false;
    }
    if (!step->root || step->kind == engine::Step::Kind::child) return true;
    const json::value* environment = step->root->input.if_contains("environment");
    if (environment == nullptr || !environment->is_string() || environment->get_string() != kOldName) return true;
    uses.push_back({.level = Level::info,
                    .kind = "audit",
                    .file = file,
                    .key = "journal/" + std::to_string(step->seq),
                    .what = step->action + " by " + step->caller.name + " at " + utc_text(step->at_ms)});
    return true;
  });
  if (!read) return read.error();
  if (failed) return *failed;
  return {};
}

std::string table_of(const std::vector<views::NameUse>& uses, const Terminal& terminal) {
  Table table{.columns = {{"LEVEL"}, {"IN"}, {"FILE"}, {.title = "KEY", .whole = true}, {"WHAT"}},
              .empty = "Nothing uses the name dev."};
  for (const views::NameUse& each : uses) {
    bool blocks = each.level == Level::blocking;
    table.rows.push_back({{blocks ? "blocking" : "info", blocks ? Style::bad : Style::plain},
                          {each.kind},
                          {each.file},
                          {each.key},
                          {each.what}});
  }
  return render(table, terminal);
}

// What has come of it, in the words of the answer.
Result<std::string> apply(Context& context, Objects& objects, const std::string& target, size_t blocking) {
  const std::string old(kOldName);
  const bool there = objects.states().env().has(deploy::env::EnvId(old));
  auto change = [&](const std::string& action, json::object input, std::string_view part) -> Result<void> {
    const json::value name = input.contains("name") ? input.at("name") : json::value(old);
    auto full = part.empty() ? with_answers(context, std::move(input)) : std::move(input);
    if (full && full->contains("name") && full->at("name") != name) {
      return Error{.code = Code::usage, .message = "only the name " + old + " is given up; nothing was changed"};
    }
    if (!full) return full.error();
    auto answer = objects.change(action, *full, part);
    if (!answer) return answer.error();
    if (answer->code != Code::ok) return refusal_in_words(*answer);
    return {};
  };
  if (blocking > 0) {
    auto kept = change("Env/alias", {{"environment", target}, {"name", old}, {"days", kAliasDays}}, "");
    if (!kept) return kept.error();
    return std::string("aliased");
  }
  if (there) {
    auto sure = confirmed(context, "remove the environment " + old + ", with what " + target + " has already");
    if (!sure) return sure.error();
    if (!*sure) return std::string("checked");
    if (auto done = change("Env/absorb", {{"environment", target}, {"other", old}}, ""); !done) return done.error();
    if (auto settled = objects.settle(); !settled) return settled.error();
  }
  bool aliased = false;
  for (const auto& each : objects.states().env().other_names(deploy::env::EnvId(target)).values()) {
    aliased = aliased || each.name == old;
  }
  if (aliased) {
    auto gone = change("Env/alias", {{"environment", target}, {"name", old}, {"days", 0}}, there ? "alias" : "");
    if (!gone) return gone.error();
  }
  return std::string(there || aliased ? "migrated" : "nothing to do");
}

Result<Code> migrate(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/absorb");
  const bool applies = context.given.flag("apply");
  if (applies == context.given.flag("check")) {
    return Error{.code = Code::usage,
                 .message = "say whether to look or to do it",
                 .next = "sluice env migrate-dev " + context.given.text("env") + " --check"};
  }
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto target = (*objects)->environment();
  if (!target) return target.error();
  const std::string& id = target->id.text();
  if (id == kOldName) {
    return Error{
        .code = Code::usage, .message = "dev cannot become dev", .next = "sluice env migrate-dev local --check"};
  }
  auto place = home_of(context);
  if (!place) return place.error();
  const std::string file = (place->root() / "store" / "store.db").string();
  auto uses = views::uses_of_environment((*objects)->snapshot(), context.disk, {std::string(kOldName), id}, file);
  if (auto read = add_audit_labels((*objects)->store(), file, uses); !read) return read.error();
  const auto blocking =
      static_cast<size_t>(std::ranges::count(uses, Level::blocking, [](const auto& each) { return each.level; }));
  std::string done = "checked";
  if (applies && !context.given.flag("dry-run")) {
    auto what = apply(context, **objects, id, blocking);
    if (!what) return what.error();
    done = *what;
  }
  json::array all;
  for (const views::NameUse& each : uses) all.push_back(views::json_of(each));
  context.output.print(json::object{{"environment", id},
                                    {"name", kOldName},
                                    {"clean", blocking == 0},
                                    {"outcome", done},
                                    {"findings", std::move(all)}},
                       [&](const Terminal& terminal) { return table_of(uses, terminal); });
  if (done == "aliased") {
    context.output.note("dev is still used, so it stays; it means " + id + " where it is gone, with a warning, for " +
                        std::to_string(kAliasDays) + " days");
  } else if (done != "checked") {
    context.output.note(done == "migrated" ? "dev is gone; what " + id + " did not have is there now"
                                           : "there is no dev to migrate");
  } else {
    context.output.note(blocking == 0 ? "safe to migrate: sluice env migrate-dev " + id + " --apply"
                                      : "not safe to migrate: " + std::to_string(blocking) + " uses block it");
  }
  return blocking == 0 ? Code::ok : Code::faults_found;
}

}  // namespace env_migrate_commands

void add_env_migrate_commands(Commands& commands) {
  using namespace env_migrate_commands;
  commands.add(
      {.name = "env migrate-dev",
       .summary = "Give up the environment name dev for another",
       .details =
           "Looks for dev in secrets, config, records of the audit, bundles and what is deployed, and "
           "names each place by file and key. What blocks is used now. --apply moves the packs and the "
           "host's values of dev, and removes it, if nothing blocks, and asks before; else dev stays, and becomes an "
           "alias that warns for 90 days. The exit code is 1 while something blocks.",
       .args = {environment_arg()},
       .options = changing_options({{.name = "check", .help = "only look"},
                                    {.name = "apply", .help = "do it, if it is safe"},
                                    {.name = "dry-run", .help = "with --apply: only look"},
                                    {.name = "yes", .letter = 'y', .help = "do not ask"}}),
       .example = "sluice env migrate-dev local --check",
       .run = migrate});
}

}  // namespace sluice::cli
