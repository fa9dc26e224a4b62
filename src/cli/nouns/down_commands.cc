// sluice down, and what stays of it: the data that programs have stored.
#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/deployment_name.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "cli/workflow_progress.h"
#include "deploy/views/objects.h"
#include "deploy/views/stored_data_view.h"

namespace sluice::cli {
namespace down_commands {

namespace views = deploy::views;
using Stored = views::StoredDataDocument;

std::string size_text(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB"};
  size_t unit = 0;
  int64_t tenths = bytes * 10;
  for (; tenths >= 10'000 && unit + 1 < std::size(kUnits); ++unit) tenths /= 1'000;
  std::string number = std::to_string(tenths / 10);
  if (unit > 0) number += "." + std::to_string(tenths % 10);
  return number + " " + std::string(kUnits[unit]);
}

Result<Code> down(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Deployment/down");
  auto home = home_of(context);
  if (!home) return home.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto meant = deployment_named(context, **door);
  if (!meant) return meant.error();
  auto all = (*door)->read<std::vector<Stored>>("stored-data", {{"environment", meant->environment}});
  if (!all) return all.error();
  std::optional<Stored> stored;
  for (const Stored& each : *all) {
    if (each.deployment.value_or("") == meant->deployment) stored = each;
  }
  const bool deletes = context.given.flag("delete-data");
  const std::string title = meant->bundle + " for " + meant->customer + " (" + meant->deployment + ")";
  const std::string data = stored ? "what it has stored, " + size_text(stored->bytes) + " in " + stored->folder : "";
  std::string what = "take down " + title + " in " + meant->environment;
  if (deletes && stored) what += " and delete " + data;
  const json::object input{{"deployment", meant->deployment}, {"deleteData", deletes}};
  if (context.given.flag("dry-run")) {
    auto would = (*door)->would("Deployment/down", input);
    if (!would) return would.error();
    if (would->code != Code::ok) return refusal_in_words(context, *would);
    auto revisions = (*door)->read<std::vector<views::RevisionDocument>>(
        "revisions", {{"environment", meant->environment}, {"deployment", meant->deployment}});
    if (!revisions) return revisions.error();
    std::vector<std::string> loses;
    add_count(loses, revisions->size(), "revision");
    if (deletes && stored) loses.push_back(data);
    return print_loss(context, {.what = what, .loses = loses});
  }
  if (deletes && stored) {
    auto sure = confirmed(context, what);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  }
  WorkflowProgress progress(context, *home);
  auto answer = (*door)->run("Deployment/down", input, [&](const engine::Step& step) { return progress.hear(step); });
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "down", meant->bundle + " (" + meant->deployment + ")");
  if (stored && !deletes) {
    context.output.note(data + ", stays, and the next deployment of " + meant->bundle + " for " + meant->customer +
                        " takes it up again; next: sluice runtime storage remove " + stored->storage);
  }
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- storage

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<Stored>>("stored-data");
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "STORAGE", .whole = true},
                            {"ENVIRONMENT"},
                            {"BUNDLE"},
                            {"CUSTOMER"},
                            {"SIZE", Align::right},
                            {"USED BY"}},
                .empty = "Nothing is stored."};
    for (const Stored& each : *all) {
      table.rows.push_back({{each.storage},
                            {each.environment},
                            {each.bundle},
                            {each.customer},
                            {size_text(each.bytes)},
                            {each.deployment ? *each.deployment : "nobody since " + utc_text(each.since->ms)}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> remove(Context& context, const std::string& name) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<Stored>>("stored-data");
  if (!all) return all.error();
  auto found = std::ranges::find(*all, name, &Stored::storage);
  if (found == all->end()) {
    return Error{.code = Code::not_found,
                 .message = "nothing is stored under the name " + printable(name),
                 .next = "sluice runtime storage list"};
  }
  const std::string whose = found->bundle + " for " + found->customer + " in " + found->environment;
  if (found->deployment) {
    return Error{.code = Code::conflict,
                 .message = name + " is what " + whose + " uses; nothing was deleted",
                 .next = "sluice down " + *found->deployment + " --env " + found->environment + " --delete-data"};
  }
  const std::string size = size_text(found->bytes) + " in " + found->folder;
  const std::string what = "delete what " + whose + " has stored, " + size;
  if (context.given.flag("dry-run")) return print_loss(context, {.what = what, .loses = {size}});
  auto sure = confirmed(context, what);
  if (!sure) return sure.error();
  if (!*sure) return Code::ok;
  auto answer = (*door)->call("Deployment/deleteData", {{"storage", name}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "deleted", "what " + whose + " has stored, " + size_text(found->bytes));
  return Code::ok;
}

Result<Code> storage(Context& context) {
  const bool removes = context.given.text("verb") == "remove", named = context.given.has("name");
  if (removes != named) {
    return Error{.code = Code::usage,
                 .message = removes ? "runtime storage remove needs a name" : "runtime storage list takes no name",
                 .next = "sluice runtime storage list"};
  }
  return removes ? remove(context, context.given.text("name")) : list(context);
}

}  // namespace down_commands

void add_down_commands(Commands& commands) {
  using namespace down_commands;
  commands.add(
      {.name = "down",
       .group = Group::ship,
       .summary = "Remove a deployment and stop everything it runs",
       .details = "It gets no more requests, its revisions are drained and archived, and the deployment is removed. "
                  "The control plane, the router and other deployments continue. Data that its programs have stored is "
                  "kept, and the next deployment of the same bundle for the same customer in the same environment uses "
                  "it again; --delete-data deletes it.",
       .args = {{.name = "deployment", .help = "the bundle's name, or the deployment's id"}},
       .options = losing_options({{.name = "env", .value = "ENV", .help = "the environment", .fallback = "local"},
                                  {.name = "customer-id", .value = "NAME", .help = "the customer it is deployed for"},
                                  {.name = "delete-data", .help = "delete what its programs have stored as well"}}),
       .example = "sluice down hello",
       .action = "Deployment/down",
       .params = {{"deployment", "<deployment>"}, {"deleteData", "--delete-data"}},
       .run = down});
}

void add_storage_commands(Commands& commands) {
  using namespace down_commands;
  commands.add({.name = "runtime storage",
                .summary = "List what programs have stored, or delete what is unused",
                .details =
                    "`remove` deletes what a deployment that is gone has stored. Until then the next deployment of "
                    "the same bundle for the same customer in the same environment takes it up again.",
                .args = {{.name = "verb", .help = "list or remove", .choices = {"list", "remove"}},
                         {.name = "name", .help = "what to delete, by its name in the list", .optional = true}},
                .options = losing_options(),
                .example = "sluice runtime storage list",
                .run = storage});
}

}  // namespace sluice::cli
