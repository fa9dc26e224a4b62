// sluice bundles add, update, remove, list: bundles that are deployed in an environment for a customer.
#include <boost/json.hpp>

#include "base/basis_points.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "cli/staging.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"
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
std::string way_past(Context& context, const Objects& objects, const std::string& deployment) {
  auto record = objects.states().deployment().get(deploy::deployment::DeploymentId(deployment));
  const std::string environment = record ? record->environment : context.given.text("env");
  if (record && record->status == deploy::deployment::DeploymentStatus::archived) {
    return "sluice bundles remove " + environment + " --deployment " + deployment;
  }
  return "sluice revisions stage " + environment + " " + context.given.text("file") + " --deployment " + deployment;
}

Result<Code> add(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Deployment/add");
  auto archive = archive_to_stage(context);
  if (!archive) return archive.error();
  auto input = route_input(context, true);
  if (!input) return input.error();
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto environment = (*objects)->environment();
  if (!environment) return environment.error();
  if (auto sound = check_config(*archive, environment->id.text(), "", archive->config); !sound) return sound.error();
  (*input)["environment"] = environment->id.text();
  (*input)["bundle"] = archive->bundle;
  (*input)["customer"] = context.given.text("customer-id");
  expect_generation_as(context, "environmentGeneration", *input);
  auto full = with_answers(context, *std::move(input));
  if (!full) return full.error();
  auto answer = (*objects)->change("Deployment/add", *full);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    return refusal_in_words(
        *answer, answer->variant == "exists" ? way_past(context, **objects, answer->text("deployment")) : "");
  }
  const deploy::deployment::DeploymentId id(answer->text("deployment"));
  auto record = (*objects)->states().deployment().get(id);
  if (!record) return Error{.message = "the deployment " + id.text() + " was removed meanwhile"};
  context.output.note("added " + record->bundle + " for " + record->customer + " as " + id.text());
  return stage_archive(context, **objects, {id, *record}, *archive, "stage");
}

// An opened deployment of the command line.
struct Named {
  std::unique_ptr<Objects> objects;
  std::string environment;
  deploy::deployment::DeploymentFound deployment;
};
Result<Named> named(Context& context) {
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto environment = (*objects)->environment();
  if (!environment) return environment.error();
  auto deployment = named_deployment(context, **objects, environment->id.text());
  if (!deployment) return deployment.error();
  return Named{*std::move(objects), environment->id.text(), *std::move(deployment)};
}

// Whether the status leads there, and by which action.
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
  auto subject = named(context);
  if (!subject) return subject.error();
  const std::string id = subject->deployment.id.text();
  (*input)["deployment"] = id;
  auto full = with_answers(context, *std::move(input));
  if (!full) return full.error();
  // From archived no way leads back.
  if (context.given.text("status") == "archived") {
    const auto& record = subject->deployment.record;
    const std::string what = "archive " + record.bundle + " for " + record.customer + " (" + id + ") for good";
    if (context.given.flag("dry-run")) {
      return tell_loss(context, *subject->objects, {"Deployment/archive", {{"deployment", id}}, what, {}});
    }
    auto sure = confirmed(context, what);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  } else if (context.given.flag("dry-run")) {
    return print_loss(context, {.what = "update " + subject->deployment.record.bundle + " (" + id + ")"});
  }
  std::optional<Answer> last;
  if (full->size() > 1) {
    auto answer = subject->objects->change("Deployment/update", *full);
    if (!answer) return answer.error();
    if (answer->code != Code::ok) return refusal_in_words(*answer);
    last = *std::move(answer);
  }
  if (context.given.has("status")) {
    json::object document =
        to_json(views::deployment_document(subject->objects->states(), subject->deployment)).as_object();
    std::string action = action_to(context.given.text("status"), document.at("status"));
    if (!action.empty()) {
      auto answer = subject->objects->change(action, {{"deployment", id}}, last ? "status" : "");
      if (!answer) return answer.error();
      if (answer->code != Code::ok) return refusal_in_words(*answer);
      last = *std::move(answer);
    }
  }
  if (!last) {
    context.output.note("nothing to change");
    return Code::ok;
  }
  // Until the routers obey it.
  if (auto settled = subject->objects->settle(); !settled) return settled.error();
  print_done(context, *last, "updated", subject->deployment.record.bundle + " (" + id + ")");
  return Code::ok;
}

std::string title_of(const std::string& bundle, const std::string& customer, const std::string& id) {
  return bundle + " for " + customer + " (" + id + ")";
}

// One that is gone, because this command with its key has removed it.
Result<Code> removed_before(Context& context, const Error& missing) {
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto again = (*objects)->repeated("Deployment/remove", [&](const json::object&, const Answer& answer) {
    auto is = [&](const char* option, const std::string& field) {
      return !context.given.has(option) || context.given.text(option) == field;
    };
    return answer.text("environment") == context.given.text("env") && is("bundle", answer.text("bundle")) &&
           is("customer-id", answer.text("customer")) &&
           answer.text("deployment").starts_with(context.given.text("deployment"));
  });
  if (!again) return again.error();
  if (!*again || (*again)->code != Code::ok) return missing;
  print_done(context, **again, "removed",
             title_of((*again)->text("bundle"), (*again)->text("customer"), (*again)->text("deployment")));
  return Code::ok;
}

Result<Code> remove(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Deployment/remove");
  auto subject = named(context);
  if (!subject && subject.error().code == Code::not_found) return removed_before(context, subject.error());
  if (!subject) return subject.error();
  const auto& record = subject->deployment.record;
  const std::string title = title_of(record.bundle, record.customer, subject->deployment.id.text());
  const views::States& states = subject->objects->states();
  const std::string id = subject->deployment.id.text();
  std::vector<std::string> loses;
  add_count(loses, states.revision().find_by_deployment(id).size(), "revision");
  add_count(loses, views::split_history(states, id).size(), "split");
  add_count(loses, static_cast<size_t>(record.policyVersion), "policy version");
  auto answer = lose(context, *subject->objects,
                     {.action = "Deployment/remove",
                      .input = {{"deployment", id}},
                      .what = "remove the deployment " + title + " with its history",
                      .loses = std::move(loses)});
  if (!answer) return answer.error();
  if (!*answer) return Code::ok;
  if (auto settled = subject->objects->settle(); !settled) return settled.error();
  if ((*answer)->code != Code::ok) return refusal_in_words(**answer);
  print_done(context, **answer, "removed", title);
  return Code::ok;
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
    return render(table, terminal);
  });
  return Code::ok;
}

std::vector<Option> route_options() {
  return {{.name = "host", .value = "NAME", .help = "a host, or *. and a name", .repeated = true},
          {.name = "path", .value = "PREFIX", .help = "a path and all below it", .repeated = true},
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
                  "and paths are refused if requests could mean another deployment as well.\n\nFor instance: sluice "
                  "bundles add prod-eu app.bundle --customer-id cust-acme --host support.acme.example --path /",
       .args = {environment_arg(), {.name = "file", .help = "the archive", .kind = Kind::path}},
       .options = all_of({{.name = "customer-id", .value = "NAME", .help = "whom it is for"}},
                         all_of(route_options(), changing_options(staging_options()))),
       .example = "sluice bundles add local hello.bundle --host hello.example --path /",
       .run = add});
  commands.add(
      {.name = "bundles update",
       .summary = "Change the routes, shares or status of a deployment",
       .details =
           "Other shares are a new version of the revenue policy, signed, if the version before can be "
           "verified. A paused deployment takes no traffic: the router answers 503 with the page that the bundle "
           "names under `paused`. An archived one never will again.",
       .args = {environment_arg()},
       .options = deployment_options(
           all_of(route_options(), losing_options({{.name = "status",
                                                    .value = "STATUS",
                                                    .help = "what it shall be",
                                                    .choices = {"active", "paused", "archived"}},
                                                   {.name = "config-overrides",
                                                    .value = "JSON",
                                                    .help = "config by pack and key, for revisions to come"}}))),
       .example = "sluice bundles update local --bundle hello --host www.hello.example",
       .run = update});
  commands.add({.name = "bundles remove",
                .summary = "Remove a deployment without traffic of which nothing runs",
                .args = {environment_arg()},
                .options = deployment_options(losing_options()),
                .example = "sluice bundles remove local --bundle hello --yes",
                .run = remove});
  commands.add({.name = "bundles list",
                .summary = "List what is deployed in an environment",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice bundles list local",
                .run = list});
}

}  // namespace sluice::cli
