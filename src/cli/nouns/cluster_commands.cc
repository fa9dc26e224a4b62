// sluice cluster: templates into a Kubernetes cluster, and back.
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/yaml.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/opening.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/rendered.h"
#include "deploy/views/cluster.h"

namespace sluice::cli {
namespace cluster_commands {

namespace views = deploy::views;
using views::MeantNames;

constexpr size_t kMostValues = 1 << 20;

const Arg kInstance{.name = "instance", .help = "what the deployed thing is called, such as petstore-dev"};
const Arg kTemplates{.name = "templates",
                     .help = "a folder of YAML files, which are sent along; else --repo or --path says where they are",
                     .kind = Kind::path,
                     .optional = true};

std::vector<Option> instance_options(std::vector<Option> own) {
  std::vector<Option> all = {
      {.name = "namespace", .letter = 'n', .value = "NAME", .help = "the namespace; else the instance's name"},
      {.name = "host", .value = "ID", .help = "the hostId, which tells tenants apart", .fallback = "local"},
      {.name = "cluster-id", .value = "ID", .help = "refuse if the deployer's cluster has another id"}};
  for (Option& each : own) all.push_back(std::move(each));
  return all;
}

std::vector<Option> template_options(std::vector<Option> own) {
  std::vector<Option> all = {
      {.name = "values", .value = "FILE", .help = "values for the placeholders, YAML or JSON", .kind = Kind::path},
      {.name = "repo", .value = "URL", .help = "fetch the templates from this repository"},
      {.name = "ref", .value = "REF", .help = "its branch, tag or commit", .fallback = "main"},
      {.name = "path", .value = "PATH", .help = "the folder there, or below the deployer's own templates"}};
  for (Option& each : own) all.push_back(std::move(each));
  return instance_options(std::move(all));
}

json::object instance_of(const Context& context) {
  const std::string instance = context.given.text("instance"), name_space = context.given.text("namespace");
  return {{"hostId", context.given.text("host")},
          {"instanceId", instance},
          {"clusterId", context.given.text("cluster-id")},
          {"namespace", name_space.empty() ? instance : name_space}};
}

Result<std::string> files_in(Context& context, const std::string& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  const std::filesystem::path plain = whole.filename().empty() ? whole.parent_path() : whole;
  auto files = rendering::read_local_templates(context.disk, plain.parent_path().string(), plain.filename().string());
  if (!files) {
    return Error{.code = Code::not_found, .message = folder + " has no templates: " + files.error().message};
  }
  json::array all;
  for (const rendering::TemplateFile& each : *files) all.push_back({{"path", each.path}, {"text", each.text}});
  return write(all);
}

Result<json::object> instance_alone(Context& context, const MeantNames&) { return instance_of(context); }

Result<json::object> with_templates(Context& context, const MeantNames&) {
  json::object input = instance_of(context);
  const std::string folder = context.given.text("templates"), repo = context.given.text("repo");
  if (!folder.empty() && (!repo.empty() || context.given.has("path"))) {
    return Error{.code = Code::usage,
                 .message = "templates come from a folder here, or from --repo and --path, not both"};
  }
  json::object from{{"repoUrl", repo.empty() ? "local" : repo}, {"ref", context.given.text("ref")}};
  if (context.given.has("path")) from["path"] = context.given.text("path");
  input["template"] = std::move(from);
  if (!folder.empty()) {
    auto files = files_in(context, folder);
    if (!files) return files.error();
    input["files"] = *files;
  }
  if (const std::string file = context.given.text("values"); !file.empty()) {
    auto text = read_file(context.disk, file, kMostValues);
    if (!text) return text.error();
    auto values = parse_yaml(*text, file);
    if (!values) return values.error();
    input["values"] = write(values->root);
  }
  return input;
}

template <class More>
auto and_waiting(More more) {
  return [more](Context& context, const MeantNames& meant) -> Result<json::object> {
    auto input = more(context, meant);
    if (input && context.given.flag("no-wait")) (*input)["waitForRollout"] = false;
    if (const auto timeout_ms = context.given.number("timeout"); input && timeout_ms) {
      (*input)["timeoutSeconds"] = *timeout_ms / 1000;
    }
    return input;
  };
}

std::string text_of(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string objects_text(const json::value& resources, const Terminal& terminal) {
  Table table{.columns = {{"KIND"}, {"NAME"}, {"NAMESPACE"}, {"ACTION"}, {"STATE"}, {"MESSAGE"}},
              .empty = "There are no objects."};
  for (const json::value& each : resources.as_array()) {
    table.rows.push_back({{text_of(each, "kind")},
                          {text_of(each, "name")},
                          {text_of(each, "namespace")},
                          {text_of(each, "action")},
                          {text_of(each, "state")},
                          {text_of(each, "message")}});
  }
  return render(table, terminal);
}

json::object shown_of(const host::Answer& answer) {
  json::object shown = answer.fields;
  if (answer.flow) shown["flow"] = to_string(*answer.flow);
  return shown;
}

// What render, dryRun and status answer.
Result<Code> tell_objects(Context& context, CommandDoor&, const MeantNames&, const host::Answer& answer) {
  const json::object shown = shown_of(answer);
  context.output.print(shown, [&](const Terminal& terminal) {
    std::string text = objects_text(shown.at("resources"), terminal);
    if (const std::string hash = text_of(shown, "manifestHash"); !hash.empty()) text += "manifest " + hash + "\n";
    return text;
  });
  if (answer.fields.at("noop").as_bool()) context.output.note("No cluster was asked: the deployer is in noop mode.");
  return Code::ok;
}

Result<Code> tell_diff(Context& context, CommandDoor& door, const MeantNames& meant, const host::Answer& answer) {
  const json::object shown = shown_of(answer);
  const auto count = [&](const char* name) { return std::to_string(shown.at(name).to_number<int64_t>()); };
  context.output.print(shown, [&](const Terminal& terminal) {
    std::string text = printable(text_of(shown, "unifiedDiff"), true);
    for (const json::value& each : shown.at("drift").as_array()) {
      text += terminal.paint(Style::warning, "drift") + "  " + text_of(each, "kind") + "/" + text_of(each, "name") +
              " " + printable(text_of(each, "field")) + " was changed by " + printable(text_of(each, "manager")) + "\n";
    }
    return text + count("added") + " added, " + count("modified") + " modified, " + count("pruned") + " pruned, " +
           count("unchanged") + " unchanged\n";
  });
  if (const std::string why = text_of(shown, "overrideNeeded"); !why.empty()) {
    context.output.warn("A deployment needs --prune-override: " + why);
  }
  (void)door, (void)meant;
  return Code::ok;
}

Result<Code> tell_done(Context& context, CommandDoor& door, const MeantNames&, const host::Answer& answer) {
  const json::object shown = shown_of(answer);
  auto request = door.read<views::ClusterRequestDocument>("cluster-request", {{"requestId", answer.text("requestId")}});
  context.output.print(shown, [&](const Terminal& terminal) {
    std::string text = request ? objects_text(to_json(request->resources), terminal) : "";
    return text + terminal.paint(Style::good, answer.text("status")) + "  request " + answer.text("requestId") + "\n";
  });
  if (request && request->noop) context.output.note("No cluster was asked: the deployer is in noop mode.");
  return Code::ok;
}

std::string next_of(Context& context, const MeantNames&, const host::Answer& answer) {
  const std::string& variant = answer.variant;
  if (variant == "requiresOverride") return "look at it with sluice cluster diff, then repeat with --prune-override";
  if (variant == "fieldConflict") return "sluice cluster diff says who has changed what";
  if (variant == "policyDenied") return "sluice cluster policy test says what the policy denies";
  if (variant == "busy")
    return "sluice cluster list names the request; wait for it, or stop it with sluice cluster cancel";
  if (variant == "notReady" || variant == "kubernetesFailed" || variant == "cancelled") {
    const std::string request = context.given.text("request");
    return request.empty() ? "sluice cluster list names the request, and sluice cluster show how far it came"
                           : "sluice cluster show " + request;
  }
  return "";
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ClusterInstanceDocument>>("cluster",
                                                                        {{"environment", context.given.text("env")}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"INSTANCE"},
                            {"NAMESPACE"},
                            {"HOST"},
                            {"ENVIRONMENT"},
                            {"STATUS"},
                            {"OBJECTS"},
                            {.title = "REQUEST", .whole = true}},
                .empty = "Nothing was deployed to a cluster yet."};
    for (const auto& each : *all) {
      table.rows.push_back({{each.instanceId},
                            {each.namespace_},
                            {each.hostId},
                            {each.environment},
                            {each.status},
                            {std::to_string(each.done) + " of " + std::to_string(each.objects)},
                            {each.requestId}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> show(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto request =
      (*door)->read<views::ClusterRequestDocument>("cluster-request", {{"requestId", context.given.text("request")}});
  if (!request) return request.error();
  context.output.print(to_json(*request), [&](const Terminal& terminal) {
    std::string text =
        request->action + " " + request->instanceId + " in " + request->namespace_ + ": " + request->status + "\n";
    if (!request->message.empty()) text += printable(request->message) + "\n";
    text += objects_text(to_json(request->resources), terminal);
    for (const auto& each : request->events)
      text += utc_text(each.timestamp.ms) + "  " + printable(each.message) + "\n";
    return text;
  });
  return Code::ok;
}

// Whether a policy is one; with an instance and templates, whether it allows what they make.
Result<Code> policy(Context& context) {
  auto* means = concepts_of(context).tools.find<deploy::executor::ClusterMeans>();
  std::string file = context.given.text("file");
  if (file.empty() && means != nullptr) file = means->policy_file();
  auto text = read_file(context.disk, file, kMostValues);
  if (!text) return text.error();
  auto read = kube::read_policy(*text, file);
  if (!read) return read.error();
  json::array denied;
  size_t objects = 0;
  if (const std::string folder = context.given.text("templates"); !folder.empty()) {
    auto files = files_in(context, folder);
    if (!files) return files.error();
    json::value values = json::object();
    if (const std::string given = context.given.text("values"); !given.empty()) {
      auto values_text = read_file(context.disk, given, kMostValues);
      if (!values_text) return values_text.error();
      auto document = parse_yaml(*values_text, given);
      if (!document) return document.error();
      values = document->root;
    }
    auto sent = deploy::executor::read_sent(write(values), "", *files);
    if (!sent) return sent.error();
    auto made = rendering::make_objects(sent->files, sent->values, crypto::Hmac("policy"));
    if (!made) return made.error();
    const std::string name_space = context.given.text("namespace");
    for (rendering::Manifest& each : made->objects) {
      ++objects;
      rendering::place(each.object, name_space, deploy::executor::is_cluster_scoped(kube::ref_of(each.object), {}), {});
      if (std::string why = read->denial_of(each.object); !why.empty()) {
        denied.push_back({{"path", each.path}, {"object", to_string(kube::ref_of(each.object))}, {"why", why}});
      }
    }
  }
  const json::object shown{{"policy", file}, {"clusterId", read->clusterId}, {"objects", objects}, {"denied", denied}};
  context.output.report(shown, [&](const Terminal& terminal) {
    std::string lines;
    for (const json::value& each : denied) {
      lines += terminal.paint(Style::bad, "denied") + "  " + printable(text_of(each, "path")) + ": " +
               printable(text_of(each, "object")) + ": " + printable(text_of(each, "why")) + "\n";
    }
    if (denied.empty()) {
      lines = terminal.paint(Style::good, "good") + "  " + file +
              (objects == 0 ? "" : " allows all " + std::to_string(objects) + " objects") + "\n";
    }
    return lines;
  });
  return denied.empty() ? Code::ok : Code::faults_found;
}

}  // namespace cluster_commands

void add_cluster_commands(Commands& commands) {
  using namespace cluster_commands;
  commands.add_noun(
      {.name = "cluster", .group = Group::operate, .summary = "Bring templates into a Kubernetes cluster"});
  const Option no_wait{.name = "no-wait", .help = "do not wait until the objects are ready"};
  const Option timeout{
      .name = "timeout", .value = "TIME", .help = "how long to wait for each wave", .kind = Kind::duration};
  const ParamWords prune_override{.param = "pruneOverride", .help = "remove more than the policy allows without it"};
  const ParamWords force{.param = "force", .help = "take over fields of other managers, if the policy allows it"};
  const ParamWords request{
      .param = "requestId", .option = "request", .value = "ID", .help = "name the request; else it gets an id"};
  commands.add(command_of({.name = "cluster render",
                           .action = "Cluster/render",
                           .about = About::environment,
                           .summary = "Show which objects templates make, without a cluster",
                           .example = "sluice cluster render local petstore k8s --values values.yaml",
                           .args = {kInstance, kTemplates},
                           .options = template_options({}),
                           .fill = with_templates,
                           .tell = tell_objects}));
  commands.add(command_of({.name = "cluster dry-run",
                           .action = "Cluster/dryRun",
                           .about = About::environment,
                           .summary = "Have the cluster check what would be deployed",
                           .example = "sluice cluster dry-run local petstore k8s --values values.yaml",
                           .words = {force},
                           .args = {kInstance, kTemplates},
                           .options = template_options({}),
                           .fill = with_templates,
                           .tell = tell_objects}));
  commands.add(command_of({.name = "cluster diff",
                           .action = "Cluster/diff",
                           .about = About::environment,
                           .summary = "Compare templates with what the cluster has",
                           .details = "Beside what a deployment would add, modify and prune it names what others have "
                                      "changed since the last one. Values of secrets are not shown.",
                           .example = "sluice cluster diff local petstore k8s --values values.yaml",
                           .args = {kInstance, kTemplates},
                           .options = template_options({}),
                           .fill = with_templates,
                           .tell = tell_diff}));
  commands.add(command_of(
      {.name = "cluster deploy",
       .action = "Cluster/deploy",
       .about = About::environment,
       .summary = "Apply templates in waves, and prune what they dropped",
       .details = "Everything that may be refused is refused before the first object is changed. What the policy of "
                  "the deployer allows is in its deployer.yml.\n\nThe request is kept: if Sluice is killed meanwhile, "
                  "the next command or sluice serve goes on with it.",
       .example = "sluice cluster deploy local petstore k8s --values values.yaml",
       .words = {request,
                 prune_override,
                 force,
                 {.param = "valuesHash", .value = "HASH", .help = "refuse values of another hash"},
                 {.param = "dryRun", .option = "server-dry-run", .help = "stop before anything is changed"}},
       .args = {kInstance, kTemplates},
       .options = template_options({no_wait, timeout}),
       .fill = and_waiting(with_templates),
       .next = next_of,
       .tell = tell_done}));
  commands.add(command_of({.name = "cluster undeploy",
                           .action = "Cluster/undeploy",
                           .about = About::environment,
                           .summary = "Remove everything that an instance consists of",
                           .details = "Its inventory in the cluster says what that is; no template is needed.",
                           .example = "sluice cluster undeploy local petstore",
                           .words = {request, prune_override},
                           .args = {kInstance},
                           .options = instance_options({no_wait, timeout}),
                           .fill = and_waiting(instance_alone),
                           .next = next_of,
                           .tell = tell_done}));
  commands.add(command_of({.name = "cluster rollback",
                           .action = "Cluster/rollback",
                           .about = About::environment,
                           .summary = "Apply again exactly what an earlier request applied",
                           .example = "sluice cluster rollback local petstore",
                           .words = {request,
                                     prune_override,
                                     force,
                                     {.param = "rollbackSnapshotId",
                                      .option = "to",
                                      .value = "REQUEST",
                                      .help = "that of this request; else the one before"}},
                           .args = {kInstance},
                           .options = instance_options({no_wait, timeout}),
                           .fill = and_waiting(instance_alone),
                           .next = next_of,
                           .tell = tell_done}));
  commands.add(command_of({.name = "cluster status",
                           .action = "Cluster/status",
                           .about = About::environment,
                           .summary = "Look at each object of an instance in the cluster",
                           .example = "sluice cluster status local petstore",
                           .args = {kInstance},
                           .options = instance_options({}),
                           .fill = instance_alone,
                           .tell = tell_objects}));
  commands.add(
      {.name = "cluster list",
       .summary = "List instances with their newest requests",
       .options = reading_options({{.name = "env", .value = "NAME", .help = "only those of this environment"}}),
       .example = "sluice cluster list",
       .run = list});
  commands.add({.name = "cluster show",
                .summary = "Show how far a request came",
                .args = {{.name = "request", .help = "its id"}},
                .options = reading_options(),
                .example = "sluice cluster show 01K",
                .run = show});
  commands.add(
      command_of({.name = "cluster cancel",
                  .action = "Cluster/cancel",
                  .summary = "Stop a request between two objects",
                  .details = "What it has applied stays. The next request of the instance goes on from there.",
                  .example = "sluice cluster cancel 01K",
                  .args = {{.name = "operation", .help = "the request's id"}},
                  .fill = [](Context& context, const MeantNames&) -> Result<json::object> {
                    return json::object{{"operation", context.given.text("operation")}};
                  },
                  .done = "cancelled",
                  .what = [](const MeantNames&, const host::Answer& answer) { return answer.text("operation"); }}));
  commands.add(
      {.name = "cluster policy",
       .summary = "Check a deployer's policy, and what it says of templates",
       .details = "The exit code is 1 if it denies an object.",
       .args = {{.name = "verb", .help = "what to do", .choices = {"test"}},
                {.name = "templates",
                 .help = "a folder of YAML files; else the policy alone is read",
                 .kind = Kind::path,
                 .optional = true}},
       .options = {{.name = "file", .value = "FILE", .help = "the policy; else the deployer's", .kind = Kind::path},
                   {.name = "values", .value = "FILE", .help = "values for the placeholders", .kind = Kind::path},
                   {.name = "namespace", .letter = 'n', .value = "NAME", .help = "where they would go"}},
       .example = "sluice cluster policy test",
       .run = policy});
}

}  // namespace sluice::cli
