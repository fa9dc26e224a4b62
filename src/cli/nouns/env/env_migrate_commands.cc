// sluice env migrate-dev: gives up the name dev, which environments had before there was local.
#include <algorithm>
#include <boost/json.hpp>

#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/tool_outputs.h"
#include "host/name_uses_view.h"

namespace sluice::cli {
namespace env_migrate_commands {

namespace views = deploy::views;
using Level = views::UseLevel;

constexpr std::string_view kOldName = "dev";
constexpr int64_t kAliasDays = 90;

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
Result<std::string> apply(Context& context, CommandDoor& door, const host::NameUsesDocument& found, size_t blocking) {
  const std::string old(kOldName);
  const std::string& target = found.environment;
  auto change = [&](const std::string& action, json::object input, std::string_view part) -> Result<void> {
    const json::value name = input.contains("name") ? input.at("name") : json::value(old);
    auto full = part.empty() ? with_answers(context, std::move(input)) : std::move(input);
    if (full && full->contains("name") && full->at("name") != name) {
      return Error{.code = Code::usage, .message = "only the name " + old + " is given up; nothing was changed"};
    }
    if (!full) return full.error();
    auto answer = door.call(action, *full, host::WaitFor::all, part);
    if (!answer) return answer.error();
    if (answer->code != Code::ok) return door.refusal(*answer);
    return {};
  };
  if (blocking > 0) {
    auto kept = change("Env/alias", {{"environment", target}, {"name", old}, {"days", kAliasDays}}, "");
    if (!kept) return kept.error();
    return std::string("aliased");
  }
  if (found.exists) {
    auto sure = confirmed(context, "remove the environment " + old + ", with what " + target + " has already");
    if (!sure) return sure.error();
    if (!*sure) return std::string("checked");
    if (auto done = change("Env/absorb", {{"environment", target}, {"other", old}}, ""); !done) return done.error();
  }
  if (found.aliased) {
    auto gone = change("Env/alias", {{"environment", target}, {"name", old}, {"days", 0}}, found.exists ? "alias" : "");
    if (!gone) return gone.error();
  }
  return std::string(found.exists || found.aliased ? "migrated" : "nothing to do");
}

Result<Code> migrate(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/absorb");
  const bool applies = context.given.flag("apply");
  if (applies == context.given.flag("check")) {
    return Error{.code = Code::usage,
                 .message = "say whether to look or to do it",
                 .next = "sluice env migrate-dev " + context.given.text("env") + " --check"};
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto found = (*door)->read<host::NameUsesDocument>("name-uses",
                                                     {{"name", kOldName}, {"environment", context.given.text("env")}});
  if (!found) return found.error();
  if (found->warning) context.output.warn(*found->warning);
  const std::string& id = found->environment;
  if (id == kOldName) {
    return Error{
        .code = Code::usage, .message = "dev cannot become dev", .next = "sluice env migrate-dev local --check"};
  }
  const auto blocking =
      static_cast<size_t>(std::ranges::count(found->findings, Level::blocking, &views::NameUse::level));
  std::string done = "checked";
  if (applies && !context.given.flag("dry-run")) {
    auto what = apply(context, **door, *found, blocking);
    if (!what) return what.error();
    done = *what;
  }
  context.output.print(to_json(outputs::Migrated{.environment = id,
                                                 .name = std::string(kOldName),
                                                 .clean = blocking == 0,
                                                 .outcome = done,
                                                 .findings = found->findings}),
                       [&](const Terminal& terminal) { return table_of(found->findings, terminal); });
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
       .summary = "Replace the environment name dev with another",
       .details = "Looks for dev in secrets, config, audit records, bundles and deployments, and names each place by "
                  "file and key. A place that is in use now blocks the migration. If nothing blocks it, --apply asks, "
                  "moves the packs and the host's values of dev, and removes dev. Otherwise dev stays and becomes an "
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
