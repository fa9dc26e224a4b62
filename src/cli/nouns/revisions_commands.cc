// sluice revisions: the versions of a deployment on their way from a file to something that may serve.
#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/drain_watch.h"
#include "cli/fitting_table.h"
#include "cli/next_command.h"
#include "cli/opening.h"
#include "cli/staging.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace revisions_commands {

namespace views = deploy::views;
using views::MeantNames;

std::string title_with_endpoint(const MeantNames& meant, const host::Answer& answer) {
  const auto& revision = meant.revisions.front();
  const std::string endpoint = answer.text("endpoint");
  return revision.name + " (" + revision.revision + ")" + (endpoint.empty() ? "" : "  " + endpoint);
}

std::string after_refusal(Context& context, const MeantNames& meant, const host::Answer& answer) {
  if (answer.text("check") == "lifecycle") return "sluice revisions list " + meant.environment + " --archived";
  if (answer.variant != "failed" && answer.variant != "unverified") return "";
  const std::string revision = context.given.text("revision");
  // What has the signature of a trusted key by now has it in another archive.
  if (answer.variant == "unverified" || answer.text("check") == "signature-status") {
    return "trust its key and run sluice revisions retry " + meant.environment + " " + revision +
           ", or stage an archive that a trusted key has signed: sluice revisions stage " + meant.environment + " FILE";
  }
  std::string first = next_in_message(answer.text("message"), context.commands, context.given);
  if (first.empty()) first = "sluice why " + meant.revisions.front().revision;
  return first + ", and then: sluice revisions retry " + meant.environment + " " + revision;
}

// Says how much of it is under way while it drains.
std::shared_ptr<void> watch_drain(Context& context, const MeantNames& meant) {
  auto home = home_of(context);
  if (!home) return nullptr;
  const auto& revision = meant.revisions.front();
  return std::make_shared<DrainWatch>(context, *home, revision.deployment, revision.revision);
}

Result<Code> tell_stopped(Context& context, CommandDoor&, const MeantNames& meant, const host::Answer& answer) {
  if (answer.variant == "notStopped") {
    context.output.note("something of it still runs, and is stopped as soon as that is possible: " +
                        answer.text("message"));
  }
  tell_cut(context, meant.revisions.front().name, answer.fields);
  print_done(context, answer, answer.action == "Revision/drain" ? "drained" : "archived",
             title_with_endpoint(meant, answer));
  return Code::ok;
}

std::function<Result<ActionCommand::Loss>(Context&, CommandDoor&, const MeantNames&)> losing(const std::string& verb) {
  return [verb](Context&, CommandDoor&, const MeantNames& meant) -> Result<ActionCommand::Loss> {
    ActionCommand::Loss loss{.what = verb + " " + meant.revisions.front().name + " (" +
                                     meant.revisions.front().revision + ")"};
    if (verb != "stop") loss.loses.push_back("the way back to it");
    return loss;
  };
}

host::WaitFor for_all(const Context&) { return host::WaitFor::all; }

Result<Code> stage(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Revision/stage");
  const bool from_registry = names_registry(context);
  auto archive = from_registry ? ArchiveToStage{} : archive_to_stage(context);
  if (!archive) return archive.error();
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  if (from_registry) archive = registry_to_stage(context, **door, context.given.text("env"));
  if (!archive) return archive.error();
  json::object query = deployment_query(context);
  if (!context.given.has("deployment") && !context.given.has("bundle")) query["bundle"] = archive->bundle;
  auto page = (*door)->read<views::DeploymentPage>("deployment", query);
  if (!page) return page.error();
  if (page->warning) context.output.warn(*page->warning);
  return stage_archive(context, **door, page->deployment, *archive, "");
}

Result<Code> list(Context& context) {
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::RevisionDocument>>(
      "revisions", to_json(views::RevisionsQuery{.environment = context.given.text("env"),
                                                 .deployment = context.given.text("deployment"),
                                                 .bundle = context.given.text("bundle"),
                                                 .customer = context.given.text("customer-id"),
                                                 .archived = context.given.flag("archived")})
                       .as_object());
  if (!all) return all.error();
  std::map<std::string, std::string> customers;  // by deployment
  if (context.output.settings().format == Format::table) {
    auto deployments = (*door)->read<std::vector<views::DeploymentDocument>>(
        "deployments", {{"environment", context.given.text("env")}});
    if (!deployments) return deployments.error();
    for (const auto& each : *deployments) customers[each.deployment_id] = each.customer_id;
  }
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "REVISION", .whole = true},
                            {.title = "NAME", .whole = true},
                            {"CUSTOMER"},
                            {"VERSION"},
                            {"LIFECYCLE"},
                            {"ENDPOINT"},
                            {"PROBLEM"}},
                .empty = "There are no revisions."};
    for (const views::RevisionDocument& each : *all) {
      using deploy::revision::RevisionLifecycle;
      const Style style = each.lifecycle == RevisionLifecycle::ready    ? Style::good
                          : each.lifecycle == RevisionLifecycle::failed ? Style::bad
                                                                        : Style::plain;
      table.rows.push_back({{each.revision_id},
                            {each.bundle_id + "@" + std::to_string(each.sequence)},
                            {customers[each.deployment_id]},
                            {each.pack_list.empty() ? "" : each.pack_list.front().version},
                            {std::string(deploy::revision::name_of(each.lifecycle)), style},
                            {each.endpoint.value_or("")},
                            {each.failure ? each.failure->check : ""}});
    }
    return render_fitting(std::move(table), terminal, {"REVISION", "ENDPOINT"});
  });
  return Code::ok;
}

}  // namespace revisions_commands

void add_revisions_commands(Commands& commands) {
  using namespace revisions_commands;
  commands.add_noun({.name = "revisions", .group = Group::ship, .summary = "Stage, warm, drain and archive versions"});
  commands.add({.name = "revisions list",
                .summary = "List the revisions of an environment, or of one deployment",
                .args = {environment_arg()},
                .options = deployment_options(reading_options({{.name = "archived", .help = "include archived ones"}})),
                .example = "sluice revisions list local",
                .run = list});
  std::vector<Option> options = staging_options();
  options.push_back(unset_option());
  commands.add(
      {.name = "revisions stage",
       .summary = "Make a revision of an archive",
       .details =
           "Copies the archive into the home, resolves its config, and verifies its signature. Nothing runs yet. "
           "The settings of the revision with most traffic hold for it, too, but for those that --set changes "
           "and --unset takes back.",
       .args = {environment_arg(),
                {.name = "file", .help = "the archive, or oci://HOST/REPOSITORY:TAG", .kind = Kind::path}},
       .options = deployment_options(changing_options(std::move(options))),
       .example = "sluice revisions stage local hello.bundle",
       .run = stage});
  commands.add(command_of({.name = "revisions warm",
                           .action = "Revision/warm",
                           .about = About::revision,
                           .summary = "Start a staged revision, and check whether it may serve",
                           .details = "Four checks decide: signature-status, route-table, runtime-config and "
                                      "provider-health. The first that fails is kept with the revision, and the exit "
                                      "code is 7.",
                           .example = "sluice revisions warm local hello@1",
                           .wait = for_all,
                           .done = "ready",
                           .what = title_with_endpoint,
                           .next = after_refusal}));
  commands.add(
      command_of({.name = "revisions drain",
                  .action = "Revision/drain",
                  .about = About::revision,
                  .summary = "Stop a revision that gets no traffic",
                  .details = "Routers send it no new requests and close its WebSockets; requests in flight finish "
                             "within its drain time, and the command shows how many are left. Then it is stopped.",
                  .example = "sluice revisions drain local hello@1",
                  .loses = losing("stop"),
                  .asks = false,
                  .wait = for_all,
                  .meanwhile = watch_drain,
                  .next = after_refusal,
                  .tell = tell_stopped}));
  commands.add(command_of({.name = "revisions retry",
                           .action = "Revision/retry",
                           .about = About::revision,
                           .summary = "Stage a failed or drained revision again",
                           .example = "sluice revisions retry local hello@1",
                           .wait = for_all,
                           .done = "staged",
                           .what = title_with_endpoint,
                           .next = after_refusal}));
  commands.add(command_of({.name = "revisions archive",
                           .action = "Revision/archive",
                           .about = About::revision,
                           .summary = "Retire a revision that gets no traffic, permanently",
                           .example = "sluice revisions archive local hello@2 --yes",
                           .loses = losing("archive for good"),
                           .wait = for_all,
                           .meanwhile = watch_drain,
                           .next = after_refusal,
                           .tell = tell_stopped}));
}

}  // namespace sluice::cli
