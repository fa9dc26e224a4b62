// sluice revisions: the versions of a deployment on their way from a file to something that may serve.
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/drain_watch.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "cli/opening.h"
#include "cli/staging.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace revisions_commands {

namespace views = deploy::views;
using deploy::revision::RevisionFound;

std::string name_of(const RevisionFound& found) {
  return found.record.bundle + "@" + std::to_string(found.record.sequence);
}

// What a verb does to one revision that is named.
struct Verb {
  std::string action;
  std::string done;
  std::string loses;  // what is asked before; empty: nothing
};

Result<Code> act(Context& context, const Verb& verb) {
  if (wants_schema(context)) return print_schema(context, verb.action);
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto environment = (*objects)->environment();
  if (!environment) return environment.error();
  auto revision = views::find_revision((*objects)->states(), environment->id.text(), context.given.text("revision"));
  if (!revision) return revision.error();
  const std::string title = name_of(*revision) + " (" + revision->id.text() + ")";
  auto input = with_answers(context, {{"revision", revision->id.text()}});
  if (!input) return input.error();
  if (!verb.loses.empty()) {
    const Loss loss{.action = verb.action, .input = *input, .what = verb.loses + " " + title, .loses = {}};
    if (context.given.flag("dry-run")) return tell_loss(context, **objects, loss);
    auto sure = confirmed(context, loss.what);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  }
  std::optional<DrainWatch> watch;
  if (verb.action == "Revision/drain" || verb.action == "Revision/archive") {
    auto home = home_of(context);
    if (!home) return home.error();
    watch.emplace(context, *home, revision->record.deployment, revision->id.text());
  }
  auto answer = (*objects)->change(verb.action, *input);
  watch.reset();
  if (!answer) return answer.error();
  if (auto settled = (*objects)->settle(); !settled) return settled.error();
  if (answer->code != Code::ok) {
    const bool archived = answer->text("check") == "lifecycle";  // while it was warmed
    return refusal_in_words(*answer, archived ? "sluice revisions list " + environment->id.text() + " --archived"
                                     : answer->variant == "failed" || answer->variant == "unverified"
                                         ? "mend it, then: sluice revisions retry " + environment->id.text() + " " +
                                               context.given.text("revision")
                                         : "");
  }
  if (answer->variant == "notStopped") {
    context.output.note("something of it runs still, and is stopped as soon as that can be: " +
                        answer->text("message"));
  }
  const std::string endpoint = answer->text("endpoint");
  print_done(context, *answer, verb.done, title + (endpoint.empty() ? "" : "  " + endpoint));
  return Code::ok;
}

Result<Code> warm(Context& context) { return act(context, {"Revision/warm", "ready"}); }
Result<Code> drain(Context& context) { return act(context, {"Revision/drain", "drained", "stop"}); }
Result<Code> retry(Context& context) { return act(context, {"Revision/retry", "staged"}); }
Result<Code> archive(Context& context) { return act(context, {"Revision/archive", "archived", "archive for good"}); }

Result<Code> stage(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Revision/stage");
  auto archive = archive_to_stage(context);
  if (!archive) return archive.error();
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto environment = (*objects)->environment();
  if (!environment) return environment.error();
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  views::DeploymentName name{.deployment = context.given.text("deployment"),
                             .bundle = context.given.has("bundle") ? context.given.text("bundle") : "",
                             .customer = context.given.text("customer-id")};
  if (name.deployment.empty() && name.bundle.empty()) name.bundle = archive->bundle;
  auto deployment = views::find_deployment((*objects)->states(), environment->id.text(), name);
  if (!deployment) return deployment.error();
  return stage_archive(context, **objects, *deployment, *archive, "");
}

Result<Code> list(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  const views::States& states = (*objects)->states();
  auto environment = (*objects)->environment();
  if (!environment) return environment.error();
  bool one = context.given.has("deployment") || context.given.has("bundle") || context.given.has("customer-id");
  std::string wanted;
  if (one) {
    auto deployment = named_deployment(context, **objects, environment->id.text());
    if (!deployment) return deployment.error();
    wanted = deployment->id.text();
  }
  std::vector<RevisionFound> found = context.given.flag("archived")
                                         ? states.revision().find_by_environment(environment->id.text())
                                         : views::live_revisions_in(states, environment->id.text());
  std::erase_if(found, [&](const RevisionFound& each) { return one && each.record.deployment != wanted; });
  json::array all;
  for (const RevisionFound& each : found) all.push_back(to_json(views::revision_document(each)));
  context.output.print(all, [&](const Terminal& terminal) {
    Table table{
        .columns =
            {{.title = "REVISION", .whole = true}, {"NAME"}, {"VERSION"}, {"LIFECYCLE"}, {"ENDPOINT"}, {"PROBLEM"}},
        .empty = "There are no revisions."};
    for (const json::value& each : all) {
      auto text = [&](const char* name) {
        return each.at(name).is_string() ? std::string(each.at(name).as_string()) : "";
      };
      std::string lifecycle = text("lifecycle"), problem;
      if (each.at("failure").is_object()) problem = std::string(each.at("failure").at("check").as_string());
      std::string version;
      if (!each.at("pack_list").as_array().empty()) {
        version = std::string(each.at("pack_list").as_array().front().at("version").as_string());
      }
      Style style = lifecycle == "ready" ? Style::good : lifecycle == "failed" ? Style::bad : Style::plain;
      table.rows.push_back({{text("revision_id")},
                            {text("bundle_id") + "@" + write(each.at("sequence"))},
                            {version},
                            {lifecycle, style},
                            {text("endpoint")},
                            {problem}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Arg revision_arg() { return {.name = "revision", .help = "its id, a beginning of it, or BUNDLE@SEQUENCE"}; }

}  // namespace revisions_commands

void add_revisions_commands(Commands& commands) {
  using namespace revisions_commands;
  commands.add_noun(
      {.name = "revisions", .group = Group::operate, .summary = "Stage, warm, drain and archive versions"});
  commands.add(
      {.name = "revisions list",
       .summary = "List the revisions of an environment, or of one deployment",
       .args = {environment_arg()},
       .options = deployment_options(reading_options({{.name = "archived", .help = "those that are archived too"}})),
       .example = "sluice revisions list local",
       .run = list});
  commands.add({.name = "revisions stage",
                .summary = "Make a revision of an archive",
                .details = "Takes the archive into the home, fixes its config, and verifies who signed it. Nothing "
                           "runs yet.",
                .args = {environment_arg(), {.name = "file", .help = "the archive", .kind = Kind::path}},
                .options = deployment_options(changing_options(staging_options())),
                .example = "sluice revisions stage local hello.bundle",
                .run = stage});
  commands.add({.name = "revisions warm",
                .summary = "Start a staged revision, and look whether it may serve",
                .details = "Four checks decide: signature-status, route-table, runtime-config and provider-health. The "
                           "first that fails is kept with the revision, and the exit code is 7.",
                .args = {environment_arg(), revision_arg()},
                .options = changing_options(),
                .example = "sluice revisions warm local hello@1",
                .run = warm});
  commands.add({.name = "revisions drain",
                .summary = "Stop a revision that gets no traffic",
                .details = "Routers send it nothing new and tell its WebSockets to go; requests under way finish "
                           "within its drain time. How many those are is shown. Then it is stopped.",
                .args = {environment_arg(), revision_arg()},
                .options = losing_options(),
                .example = "sluice revisions drain local hello@1 --yes",
                .run = drain});
  commands.add({.name = "revisions retry",
                .summary = "Stage again what has failed, or was drained",
                .args = {environment_arg(), revision_arg()},
                .options = changing_options(),
                .example = "sluice revisions retry local hello@1",
                .run = retry});
  commands.add({.name = "revisions archive",
                .summary = "End a revision that gets no traffic, for good",
                .args = {environment_arg(), revision_arg()},
                .options = losing_options(),
                .example = "sluice revisions archive local hello@2 --yes",
                .run = archive});
}

}  // namespace sluice::cli
