// sluice migrate: databases whose schema changes while old and new revisions use them.
#include <boost/json.hpp>

#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "migrate/lint.h"

namespace sluice::cli {
namespace migrate_commands {

using deploy::views::MeantNames;

std::string name_of(const MeantNames& meant, const host::Answer&) { return meant.revisions.front().name; }

std::string number(const json::object& fields, const char* name) { return std::to_string(fields.at(name).as_int64()); }

// Lines of an answer, as they are.
void print_lines(Context& context, const json::object& fields, const char* lines, const std::string& none) {
  std::string text;
  for (const json::value& each : fields.at(lines).as_array()) text.append(each.as_string()).append("\n");
  context.output.print(fields, [&](const Terminal&) { return text.empty() ? none + "\n" : text; });
}

Result<Code> tell_plan(Context& context, CommandDoor&, const MeantNames& meant, const host::Answer& answer) {
  const std::string& name = meant.revisions.front().name;
  if (answer.variant == "noMigrationNeeded") {
    context.output.print(answer.fields,
                         [&](const Terminal&) { return name + " needs nothing: its database has its schema\n"; });
    return Code::ok;
  }
  context.output.print(answer.fields, [&](const Terminal&) {
    std::string text = name + "  " + number(answer.fields, "fromVersion") + " to " +
                       number(answer.fields, "toVersion") + ", " + answer.text("phase") + "\n";
    for (const json::value& each : answer.fields.at("steps").as_array())
      text.append("  ").append(each.as_string()).append("\n");
    return text;
  });
  return Code::ok;
}

std::string after_incompatible(Context& context, const MeantNames& meant, const host::Answer& answer) {
  if (answer.variant != "incompatible") return "";
  return "correct the bundle and deploy it again, or look at the database: sluice migrate drift " +
         context.given.text("env") + " " + meant.revisions.front().name;
}

Result<Code> tell_drift(Context& context, CommandDoor&, const MeantNames&, const host::Answer& answer) {
  print_lines(context, answer.fields, "differences", "The schema is as the last phase left it.");
  return Code::ok;
}

Result<Code> tell_history(Context& context, CommandDoor&, const MeantNames&, const host::Answer& answer) {
  print_lines(context, answer.fields, "entries", "Nothing was done to the database.");
  return Code::ok;
}

Result<Code> tell_status(Context& context, CommandDoor&, const MeantNames& meant, const host::Answer& answer) {
  context.output.print(answer.fields, [&](const Terminal&) {
    std::string text = meant.revisions.front().name + "  " + answer.text("phase") + ", migration " +
                       number(answer.fields, "fromVersion") + " of " + number(answer.fields, "toVersion") + "\n";
    if (answer.fields.at("recordsTotal").as_int64() > 0) {
      text += "  rows copied " + number(answer.fields, "recordsMigrated") + " of about " +
              number(answer.fields, "recordsTotal") + ", failed " + number(answer.fields, "recordsFailed") + "; " +
              number(answer.fields, "rowsPerSecond") + " rows/s";
      const json::value* left = answer.fields.if_contains("secondsLeft");
      if (left != nullptr && left->is_int64()) text += ", about " + std::to_string(left->as_int64()) + " s left";
      text += "\n";
    }
    if (answer.fields.at("paused").as_bool()) text += "  paused\n";
    for (const json::value& each : answer.fields.at("backups").as_array())
      text.append("  backup ").append(each.as_string()).append("\n");
    for (const json::value& each : answer.fields.at("errors").as_array())
      text.append("  ").append(each.as_string()).append("\n");
    return text;
  });
  return Code::ok;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("Migration/list", {{"environment", context.given.text("env")}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "MIGRATION", .whole = true}, {"REVISION"}, {"SCHEMA"}, {"PHASE"}, {"ROWS"}},
                .empty = "There are no migrations."};
    for (const json::value& each : answer->fields.at("migrations").as_array()) {
      const json::object& row = each.as_object();
      table.rows.push_back({{std::string(row.at("migration").as_string())},
                            {std::string(row.at("name").as_string())},
                            {number(row, "fromVersion") + " of " + number(row, "toVersion")},
                            {std::string(row.at("phase").as_string())},
                            {number(row, "recordsMigrated") + " of " + number(row, "recordsTotal")}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> lint(Context& context) {
  const auto engine =
      context.given.text("database") == "postgres" ? migrate::Engine::postgres : migrate::Engine::sqlite;
  auto texts = migrate::read_texts(context.disk, context.given.text("folder"));
  if (!texts) return texts.error();
  auto migrations = migrate::read_migrations(engine, *texts);
  if (!migrations) return migrations.error();
  std::vector<migrate::Impact> all;
  bool sound = true;
  migrate::Linter linter(engine);
  for (const migrate::Migration& each : *migrations) {
    for (migrate::Impact& impact : linter.look(each)) {
      sound = sound && impact.findings.empty();
      all.push_back(std::move(impact));
    }
  }
  context.output.print(to_json(all), [&](const Terminal&) {
    std::string text;
    for (const migrate::Impact& each : all) {
      if (context.given.flag("all")) text += to_line(each) + "\n";
      for (const migrate::Finding& finding : each.findings) text += to_line(finding) + "\n";
    }
    return sound ? text + "Nothing in these migrations breaks the version before.\n" : text;
  });
  return sound ? Code::ok : Code::faults_found;
}

ActionCommand::Loss lost(const std::string& what, const std::string& loses) { return {.what = what, .loses = {loses}}; }

}  // namespace migrate_commands

void add_migrate_commands(Commands& commands) {
  using namespace migrate_commands;
  commands.add_noun({.name = "migrate",
                     .group = Group::operate,
                     .summary = "Change the schema of databases while old and new revisions use them"});
  auto about = [](ActionCommand command) {
    command.about = About::revision;
    command.param = "migration";  // a migration is called by the revision that needs it
    if (!command.what) command.what = name_of;
    return command_of(std::move(command));
  };
  commands.add(about({.name = "migrate plan",
                      .action = "Migration/plan",
                      .summary = "Show what leads to the schema that a revision needs",
                      .example = "sluice migrate plan local shop@2",
                      .next = after_incompatible,
                      .tell = tell_plan}));
  commands.add(about({.name = "migrate expand",
                      .action = "Migration/expand",
                      .summary = "Add the new side of the schema beside the old one",
                      .example = "sluice migrate expand local shop@2",
                      .done = "expanded"}));
  commands.add(about({.name = "migrate run",
                      .action = "Migration/migrate",
                      .summary = "Copy what was there before the new side was added",
                      .example = "sluice migrate run local shop@2",
                      .done = "migrated"}));
  commands.add(about({.name = "migrate pause",
                      .action = "Migration/pause",
                      .summary = "Stop copying after the batch that is under way",
                      .example = "sluice migrate pause local shop@2",
                      .done = "paused"}));
  commands.add(about({.name = "migrate resume",
                      .action = "Migration/resume",
                      .summary = "Go on copying where it was paused",
                      .example = "sluice migrate resume local shop@2",
                      .done = "migrated"}));
  commands.add(about({.name = "migrate retry",
                      .action = "Migration/retry",
                      .summary = "Copy the rows again that could not be copied",
                      .example = "sluice migrate retry local shop@2",
                      .done = "migrated"}));
  commands.add(about(
      {.name = "migrate contract",
       .action = "Migration/contract",
       .summary = "Remove the old side of the schema",
       .details = "It is refused while a revision that needs the old side is warming, ready or draining, of whichever "
                  "deployment. Afterwards no such revision is started or given traffic.",
       .example = "sluice migrate contract local shop@2 --yes",
       .loses = [](Context&, CommandDoor&, const MeantNames& meant) -> Result<ActionCommand::Loss> {
         return lost("remove the old side of the schema of " + meant.revisions.front().name,
                     "what only older revisions can read");
       },
       .done = "contracted"}));
  commands.add(
      about({.name = "migrate undo",
             .action = "Migration/undo",
             .summary = "Remove the new side of the newest migration",
             .details = "It is refused while a revision that needs the new side is warming, ready or draining.",
             .example = "sluice migrate undo local shop@2 --yes",
             .loses = [](Context&, CommandDoor&, const MeantNames& meant) -> Result<ActionCommand::Loss> {
               return lost("remove the new side of the schema of " + meant.revisions.front().name,
                           "what only new revisions have written there");
             },
             .done = "undone"}));
  commands.add(about({.name = "migrate drift",
                      .action = "Migration/drift",
                      .summary = "Show what others changed in the schema since the last phase",
                      .example = "sluice migrate drift local shop@2",
                      .tell = tell_drift}));
  commands.add(about({.name = "migrate history",
                      .action = "Migration/history",
                      .summary = "Show what was done to a database, when and by whom",
                      .example = "sluice migrate history local shop@2",
                      .tell = tell_history}));
  commands.add(
      about({.name = "migrate adopt",
             .action = "Migration/adopt",
             .summary = "Take over a database that is there",
             .details = "Nothing is run: what stands in the database is taken to be the migrations up to --at, "
                        "complete. With --take-over it is taken from the Sluice that it belonged to.",
             .example = "sluice migrate adopt local shop@2 --at 1",
             .words = {{.param = "at", .help = "the newest migration that the database has already"},
                       {.param = "takeOver", .help = "take it from another Sluice"}},
             .done = "adopted"}));
  commands.add(about({.name = "migrate backup",
                      .action = "Migration/backup",
                      .summary = "Make a backup of a database, encrypted, and prove it",
                      .example = "sluice migrate backup local shop@2",
                      .done = "backed up"}));
  commands.add(
      about({.name = "migrate restore",
             .action = "Migration/restore",
             .summary = "Restore a backup beside its database",
             .details = "Never over a database: the file, or the database on the same server, must not be there.",
             .example = "sluice migrate restore local shop@2 --into data/old.db",
             .words = {{.param = "into", .help = "a file of the storage, or the name of a database"},
                       {.param = "backup", .help = "which one; else the newest"}},
             .done = "restored"}));
  commands.add(about({.name = "migrate status",
                      .action = "Migration/status",
                      .summary = "Show how far a migration has come",
                      .example = "sluice migrate status local shop@2",
                      .tell = tell_status}));
  commands.add(
      {.name = "migrate lint",
       .summary = "Look for what an expansion must not do",
       .details = "Each statement of an expand.sql that breaks the version before, or that the application would "
                  "have to wait for, is named with what to write instead. With --all, each statement is shown with the "
                  "strongest lock that it takes on what was there before. It asks no database.",
       .args = {{.name = "folder", .help = "the folder of the migrations", .kind = Kind::path}},
       .options = reading_options({{.name = "database",
                                    .value = "KIND",
                                    .help = "whose words they are written in",
                                    .choices = {"sqlite", "postgres"},
                                    .fallback = "sqlite"},
                                   {.name = "all", .help = "show every statement, and what it locks"}}),
       .example = "sluice migrate lint migrations --database postgres",
       .run = lint});
  commands.add({.name = "migrate list",
                .summary = "List the migrations of an environment",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice migrate list local",
                .run = list});
}

}  // namespace sluice::cli
