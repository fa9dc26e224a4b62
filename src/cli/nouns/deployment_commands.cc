// sluice bundles add, update, remove, list: bundles that are deployed in an environment for a customer.
#include <boost/json.hpp>

#include "base/basis_points.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/fitting_table.h"
#include "cli/losing.h"
#include "cli/staging.h"
#include "deploy/views/documents.h"
#include "deploy/views/objects.h"

namespace sluice::cli {
namespace deployment_commands {

namespace views = deploy::views;

json::array texts_of(const std::vector<std::string>& all) {
  json::array array;
  for (const std::string& each : all) array.emplace_back(each);
  return array;
}

// agency-a:30%,sluice:70%
Result<json::array> shares_of(const std::string& text) {
  json::array shares;
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string one = text.substr(at, comma - at);
    size_t colon = one.rfind(':');
    if (colon == std::string::npos) {
      return Error{.code = Code::usage,
                   .message = "a share is PARTY:SHARE, not '" + printable(one) + "'",
                   .next = "add --revenue-share agency-a:30%,sluice:70%"};
    }
    auto share = parse_basis_points(one.substr(colon + 1));
    if (!share) return Error{.code = Code::usage, .message = one.substr(0, colon) + ": " + share.error().message};
    shares.push_back(json::object{{"partyId", one.substr(0, colon)}, {"basisPoints", *share}});
    at = comma + 1;
  }
  return shares;
}

// What may be left out is left out.
Result<json::object> route_input(const Context& context, bool all) {
  json::object input;
  if (all || context.given.has("host")) input["hosts"] = texts_of(context.given.texts("host"));
  if (all || context.given.has("path")) input["pathPrefixes"] = texts_of(context.given.texts("path"));
  if (all || context.given.has("tenant")) input["tenant"] = context.given.text("tenant");
  if (all || context.given.has("team")) input["team"] = context.given.text("team");
  if (context.given.has("revenue-share")) {
    auto shares = shares_of(context.given.text("revenue-share"));
    if (!shares) return shares.error();
    input["parties"] = *std::move(shares);
  } else if (all) {
    input["parties"] = json::array();
  }
  return input;
}

// What to do instead of adding what is there: of one that is archived nothing can be staged any more.
std::string way_past(Context& context, CommandDoor& door, const std::string& environment, const std::string& id) {
  auto there = door.read<views::DeploymentPage>("deployment", {{"environment", environment}, {"deployment", id}});
  if (there && there->deployment.status == deploy::deployment::DeploymentStatus::archived) {
    return "sluice bundles remove " + environment + " --deployment " + id;
  }
  return "sluice revisions stage " + environment + " " + context.given.text("file") + " --deployment " + id;
}

Result<Code> add(Context& context) {
  const bool from_registry = names_registry(context);
  auto archive = from_registry ? ArchiveToStage{} : archive_to_stage(context);
  if (wants_schema(context)) {
    if (archive && print_questions(context, archive->manifest)) return Code::ok;
    return print_schema(context, "Deployment/add");
  }
  if (!archive) return archive.error();
  auto input = route_input(context, true);
  if (!input) return input.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto meant =
      (*door)->read<views::MeantNames>("names", {{"environment", context.given.text("env")}, {"about", "environment"}});
  if (!meant) return meant.error();
  if (meant->warning) context.output.warn(*meant->warning);
  const std::string& environment = meant->environment;
  if (from_registry) archive = registry_to_stage(context, **door, environment);
  if (!archive) return archive.error();
  if (!archive->manifest.config.empty()) {
    if (auto taken = take_answers(context, *archive, "Deployment/add"); !taken) return taken.error();
    if (auto asked = ask_open(context, **door, environment, *archive); !asked) return asked.error();
  }
  if (auto sound = check_config(*archive, environment, "", archive->config); !sound) return sound.error();
  (*input)["environment"] = environment;
  (*input)["bundle"] = archive->bundle;
  (*input)["customer"] = context.given.text("customer-id");
  expect_generation_as(context, "environmentGeneration", *input);
  auto full = with_answers(context, *std::move(input));
  if (!full) return full.error();
  for (const bundle::Question& each : archive->manifest.config) full->erase(each.name.text);
  auto answer = (*door)->call("Deployment/add", *full);
  if (!answer) return answer.error();
  const std::string id = answer->text("deployment");
  if (answer->code != Code::ok) {
    Error error = (*door)->refusal(*answer);
    if (answer->variant == "exists") error.next = way_past(context, **door, environment, id);
    return error;
  }
  auto made = (*door)->read<views::DeploymentPage>("deployment", {{"environment", environment}, {"deployment", id}});
  if (!made) return Error{.message = "the deployment " + id + " was removed in the meantime"};
  context.output.note("added " + answer->text("bundle") + " for " + answer->text("customer") + " as " + id);
  return stage_archive(context, **door, made->deployment, *archive, "stage");
}

// Which action leads to this status; none: it is that already.
std::string action_to(const std::string& status, const json::value& now) {
  if (now == json::value(status)) return "";
  if (status == "active") return "Deployment/resume";
  return status == "paused" ? "Deployment/pause" : "Deployment/archive";
}

Result<Code> update(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Deployment/update");
  auto input = route_input(context, false);
  if (!input) return input.error();
  if (context.given.has("config-overrides")) (*input)["configOverrides"] = context.given.text("config-overrides");
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto page = (*door)->read<views::DeploymentPage>("deployment", deployment_query(context));
  if (!page) return page.error();
  if (page->warning) context.output.warn(*page->warning);
  const views::DeploymentDocument& deployment = page->deployment;
  const std::string& id = deployment.deployment_id;
  (*input)["deployment"] = id;
  auto full = with_answers(context, *std::move(input));
  if (!full) return full.error();
  // From archived no way leads back.
  if (context.given.text("status") == "archived") {
    const std::string what =
        "archive " + deployment.bundle_id + " for " + deployment.customer_id + " (" + id + ") for good";
    if (context.given.flag("dry-run")) {
      auto would = (*door)->would("Deployment/archive", {{"deployment", id}});
      if (!would) return would.error();
      if (would->code != Code::ok) return refusal_in_words(context, *would);
      return print_loss(context, {.what = what, .loses = {}});
    }
    auto sure = confirmed(context, what);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  } else if (context.given.flag("dry-run")) {
    return print_loss(context, {.what = "update " + deployment.bundle_id + " (" + id + ")", .loses = {}});
  }
  std::optional<host::Answer> last;
  // Until the routers obey it.
  auto change = [&](const std::string& action, const json::object& with, std::string_view part) -> Result<void> {
    auto answer = (*door)->call(action, with, host::WaitFor::all, part);
    if (!answer) return answer.error();
    if (answer->code != Code::ok) return (*door)->refusal(*answer);
    last = *std::move(answer);
    return {};
  };
  if (full->size() > 1) {
    if (auto done = change("Deployment/update", *full, ""); !done) return done.error();
  }
  const std::string action =
      context.given.has("status") ? action_to(context.given.text("status"), to_json(deployment.status)) : "";
  if (!action.empty()) {
    if (auto done = change(action, {{"deployment", id}}, last ? "status" : ""); !done) return done.error();
  }
  if (!last) {
    context.output.note("nothing to change");
    return Code::ok;
  }
  print_done(context, *last, "updated", deployment.bundle_id + " (" + id + ")");
  return Code::ok;
}

std::string title_of(const views::MeantNames& meant) {
  return meant.bundle + " for " + meant.customer + " (" + meant.deployment + ")";
}

Result<ActionCommand::Loss> removal(Context&, CommandDoor& door, const views::MeantNames& meant) {
  auto page = door.read<views::DeploymentPage>("deployment",
                                               {{"environment", meant.environment}, {"deployment", meant.deployment}});
  if (!page) return page.error();
  ActionCommand::Loss loss{.what = "remove the deployment " + title_of(meant) + " with its history", .loses = {}};
  add_count(loss.loses, static_cast<size_t>(page->revisions), "revision");
  add_count(loss.loses, static_cast<size_t>(page->splits), "split");
  add_count(loss.loses, static_cast<size_t>(page->policy_versions), "policy version");
  return loss;
}

std::string routes_text(const views::RouteDocument& route) {
  std::string routes;
  for (const auto& part : {route.hosts, route.path_prefixes}) {
    for (const std::string& one : part) routes += (routes.empty() ? "" : " ") + one;
  }
  if (route.tenant_selector.tenant) routes += " tenant:" + *route.tenant_selector.tenant;
  if (route.tenant_selector.team) routes += " team:" + *route.tenant_selector.team;
  return routes;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::DeploymentDocument>>("deployments",
                                                                   {{"environment", context.given.text("env")}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "DEPLOYMENT", .whole = true}, {"BUNDLE"}, {"CUSTOMER"}, {"STATUS"}, {"ROUTES"}},
                .empty = "Nothing is deployed here."};
    for (const views::DeploymentDocument& each : *all) {
      table.rows.push_back({{each.deployment_id},
                            {each.bundle_id},
                            {each.customer_id},
                            {std::string(to_json(each.status).as_string())},
                            {routes_text(each.route_binding)}});
    }
    return render_fitting(std::move(table), terminal, {"DEPLOYMENT"});
  });
  return Code::ok;
}

std::vector<Option> route_options() {
  return {
      {.name = "host", .value = "NAME", .help = "a host name, or *.NAME for all of its subdomains", .repeated = true},
      {.name = "path", .value = "PREFIX", .help = "a path and everything below it", .repeated = true},
      {.name = "tenant", .value = "NAME", .help = "only requests of this tenant"},
      {.name = "team", .value = "NAME", .help = "only requests of this team of the tenant"},
      {.name = "revenue-share", .value = "SHARES", .help = "who earns what: agency-a:30%,sluice:70%"}};
}

std::vector<Option> all_of(std::vector<Option> some, std::vector<Option> more) {
  for (Option& each : more) some.push_back(std::move(each));
  return some;
}

}  // namespace deployment_commands

void add_deployment_commands(Commands& commands) {
  using namespace deployment_commands;
  commands.add(
      {.name = "bundles add",
       .summary = "Deploy a bundle in an environment for a customer",
       .details = "Makes the deployment and stages its first revision. Outside local the customer must be named. Hosts "
                  "and paths are refused if a request could match another deployment as well.\n\nFor instance: sluice "
                  "bundles add prod-eu app.bundle --customer-id cust-acme --host support.acme.example --path /",
       .args = {environment_arg(),
                {.name = "file", .help = "the archive, or oci://HOST/REPOSITORY:TAG", .kind = Kind::path}},
       .options = all_of({{.name = "customer-id", .value = "NAME", .help = "the customer that it is for"}},
                         all_of(route_options(), changing_options(staging_options()))),
       .example = "sluice bundles add local hello.bundle --host hello.example --path /",
       .run = add});
  commands.add(
      {.name = "bundles update",
       .summary = "Change the routes, shares or status of a deployment",
       .details = "Changing the shares makes a new, signed version of the revenue policy, if the previous version can "
                  "be verified. A paused deployment takes no traffic: the router answers 503 with the page that the "
                  "bundle names under `paused`. An archived deployment never takes traffic again.",
       .args = {environment_arg()},
       .options = deployment_options(
           all_of(route_options(), losing_options({{.name = "status",
                                                    .value = "STATUS",
                                                    .help = "the new status",
                                                    .choices = {"active", "paused", "archived"}},
                                                   {.name = "config-overrides",
                                                    .value = "JSON",
                                                    .help = "config by pack and key, for revisions to come"}}))),
       .example = "sluice bundles update local --bundle hello --host www.hello.example",
       .run = update});
  commands.add(
      command_of({.name = "bundles remove",
                  .action = "Deployment/remove",
                  .about = About::deployment,
                  .summary = "Remove a deployment that gets no traffic and runs nothing",
                  .example = "sluice bundles remove local --bundle hello --yes",
                  .loses = removal,
                  .wait = [](const Context&) { return host::WaitFor::all; },
                  .done = "removed",
                  .what = [](const views::MeantNames& meant, const host::Answer&) { return title_of(meant); }}));
  commands.add({.name = "bundles list",
                .summary = "List what is deployed in an environment",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice bundles list local",
                .run = list});
}

}  // namespace sluice::cli
