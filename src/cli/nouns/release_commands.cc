// sluice apply, get, describe, delete, releases, pins, promote and pipelines: components, from definition to
// production. What may go where is the kit's to say; here files are read, kinds are understood as people write them,
// and answers are printed.
#include <algorithm>
#include <boost/json.hpp>
#include <istream>
#include <iterator>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/yaml_emit.h"
#include "bundle/trust/sidecar.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/opening.h"
#include "deploy/views/releases.h"
#include "render/promote/gzip.h"

namespace sluice::cli {
namespace release_commands {

namespace views = deploy::views;
using views::MeantNames;

constexpr size_t kMaxFile = size_t{16} << 20;
constexpr int kDeepestFolder = 16;
constexpr std::string_view kKinds[] = {"Component",   "ComponentTypeDefinition", "Addon",   "Workload",
                                       "EnvSettings", "DeploymentPipeline",      "Release", "ReleasePin"};

// What follows from a call is brought to its end as well: without a control plane nobody else would go on with it.
host::WaitFor to_the_end(const Context&) { return host::WaitFor::all; }

// ------------------------------------------------------------------------------------------------------------ apply

// The files of a path: itself, or all .yaml and .yml files below it.
Result<void> gather(Context& context, const std::string& path, json::array& documents, int depth) {
  if (path == "-") {
    documents.push_back({{"file", "-"}, {"text", std::string(std::istreambuf_iterator<char>(context.in), {})}});
    return {};
  }
  auto stat = context.disk.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind != FileKind::folder) {
    auto text = read_file(context.disk, path, kMaxFile);
    if (!text) return text.error();
    documents.push_back({{"file", path}, {"text", *text}});
    return {};
  }
  auto entries = context.disk.list(path);
  if (!entries) return entries.error();
  for (const auto& entry : *entries) {
    const bool yaml = entry.name.ends_with(".yaml") || entry.name.ends_with(".yml");
    const bool folder = entry.kind == FileKind::folder && !entry.name.starts_with('.') && depth < kDeepestFolder;
    if (!folder && !(entry.kind == FileKind::file && yaml)) continue;
    if (auto read = gather(context, path + "/" + entry.name, documents, depth + 1); !read) return read;
  }
  return {};
}

Result<json::object> documents_given(Context& context, const MeantNames&) {
  const auto files = context.given.texts("file");
  if (files.empty()) {
    return Error{.code = Code::usage, .message = "say which files", .next = "sluice apply -f FILE"};
  }
  json::array documents;
  for (const std::string& each : files) {
    if (auto read = gather(context, each, documents, 0); !read) return read.error();
  }
  json::object input{{"documents", std::move(documents)}};
  if (context.given.flag("plan")) input["planOnly"] = true;
  return input;
}

Result<Code> tell_changes(Context& context, CommandDoor&, const MeantNames&, const host::Answer& answer) {
  context.output.print(answer.fields.at("changes"), [&](const Terminal& terminal) {
    std::string text;
    for (const json::value& each : answer.fields.at("changes").as_array()) {
      const std::string sign(each.at("sign").as_string());
      if (sign == "=") continue;
      text += terminal.paint(sign == "+" ? Style::good : Style::strong, sign) + " " +
              std::string(each.at("kind").as_string()) + " " + printable(std::string(each.at("name").as_string())) +
              "\n";
    }
    return text.empty() ? std::string("nothing changes\n") : text;
  });
  return Code::ok;
}

// ------------------------------------------------------------------------------------------- get, describe and delete

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A kind as people write it: "components", "pin", "ReleasePin".
Result<std::string> kind_meant(const std::string& given) {
  std::string word = lowered(given);
  for (const std::string& tail : {std::string(""), std::string("s")}) {
    for (const std::string_view kind : kKinds) {
      if (word == lowered(std::string(kind)) + tail) return std::string(kind);
    }
  }
  if (word == "pin" || word == "pins") return std::string("ReleasePin");
  if (word == "type" || word == "types") return std::string("ComponentTypeDefinition");
  if (word == "settings") return std::string("EnvSettings");
  if (word == "pipeline" || word == "pipelines") return std::string("DeploymentPipeline");
  std::string known;
  for (const std::string_view kind : kKinds) known += (known.empty() ? "" : ", ") + std::string(kind);
  return Error{.code = Code::usage, .message = "there is no kind '" + given + "'", .next = "there are " + known};
}

Result<std::vector<views::DefinedObject>> objects_given(Context& context) {
  json::object query;
  if (context.given.has("kind")) {
    auto kind = kind_meant(context.given.text("kind"));
    if (!kind) return kind.error();
    query["kind"] = *kind;
  }
  if (context.given.has("name")) query["name"] = context.given.text("name");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return (*door)->read<std::vector<views::DefinedObject>>("definitions", query);
}

Result<Code> get(Context& context) {
  auto all = objects_given(context);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"KIND"}, {.title = "NAME", .whole = true}, {"SINCE"}}, .empty = "Nothing is applied."};
    for (const auto& each : *all) table.rows.push_back({{each.kind}, {each.name}, {lang::to_text(each.since)}});
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> describe(Context& context) {
  auto all = objects_given(context);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal&) {
    std::string text;
    for (const auto& each : *all) text += "---\n" + emit_yaml(each.document);
    return text;
  });
  return Code::ok;
}

// An object's own action forgets it.
Result<Code> remove(Context& context) {
  auto kind = kind_meant(context.given.text("kind"));
  if (!kind) return kind.error();
  const std::string name = context.given.text("name");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  std::string action = "Definition/remove";
  json::object input{{"kind", *kind}, {"name", name}};
  if (*kind == "Release") {
    action = "Release/remove";
    input = {{"release", name}};
  } else if (*kind == "DeploymentPipeline") {
    action = "Pipeline/remove";
    input = {{"pipeline", name}};
  } else if (*kind == "ReleasePin" || *kind == "EnvSettings") {
    auto found = (*door)->read<std::vector<views::DefinedObject>>("definitions", {{"kind", *kind}, {"name", name}});
    if (!found) return found.error();
    const json::value& spec = found->front().document.at("spec");
    const std::string environment(spec.at("environment").as_string());
    const bool pin = *kind == "ReleasePin";
    const std::string component(pin ? spec.at("component").as_string()
                                    : spec.at("owner").at("componentName").as_string());
    action = pin ? "Pin/remove" : "Settings/remove";
    input = pin ? json::object{{"pin", component + "/" + environment}}
                : json::object{{"component", component}, {"environment", environment}};
  }
  auto answer = (*door)->call(action, input, host::WaitFor::all);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "deleted", *kind + " " + name);
  return Code::ok;
}

// --------------------------------------------------------------------------------------------------------- releases

std::string places_of(const views::ReleaseDocument& release) {
  std::string text;
  for (const auto& each : release.pinned) text += (text.empty() ? "" : ", ") + each.environment;
  return text;
}

Result<Code> list_releases(Context& context) {
  json::object query;
  if (context.given.has("component")) query["component"] = context.given.text("component");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ReleaseDocument>>("releases", query);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "RELEASE", .whole = true}, {"COMPONENT"}, {"STATUS"}, {"PINNED IN"}, {"CREATED"}},
                .empty = "There are no releases."};
    for (const auto& each : *all) {
      table.rows.push_back({{each.release},
                            {each.component},
                            {!each.rejected.empty() ? "rejected"
                             : each.ready           ? "ready"
                                                    : "not ready"},
                            {places_of(each)},
                            {lang::to_text(each.created_at)}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> show_release(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string name = context.given.text("release");
  auto all = (*door)->read<std::vector<views::ReleaseDocument>>("releases", {{"release", name}});
  if (!all) return all.error();
  if (all->empty()) {
    return Error{.code = Code::not_found, .message = "there is no release " + name, .next = "sluice releases list"};
  }
  context.output.print(to_json(all->front()), [&](const Terminal&) { return emit_yaml(to_json(all->front())); });
  return Code::ok;
}

Result<Code> diff_releases(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ReleaseDifference>>(
      "release-diff", {{"left", context.given.text("left")}, {"right", context.given.text("right")}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal&) {
    std::string text;
    for (const auto& each : *all) {
      text += each.part + " " + each.pointer + "\n  - " + write(each.left) + "\n  + " + write(each.right) + "\n";
    }
    return text.empty() ? std::string("they are the same\n") : text;
  });
  return Code::ok;
}

// A definition as others pack it: {compressed: base64 of gzip}.
json::value packed_content(const json::value& content) {
  return json::object{{"compressed", promote::gzip(write(content))}};
}

// What OpenChoreo reads: with --gzip, or from 20 kB on, each content is packed.
Result<Code> export_release(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto found = (*door)->read<std::vector<views::DefinedObject>>(
      "definitions", {{"kind", "Release"}, {"name", context.given.text("release")}});
  if (!found) return found.error();
  json::object document = found->front().document.as_object();
  document.erase("status");
  json::object& spec = document.at("spec").as_object();
  bool any = false;
  const auto pack = [&](json::value& reference) {
    json::value* content = reference.is_object() ? reference.as_object().if_contains("content") : nullptr;
    if (content == nullptr || content->is_null()) return;
    const bool is_packed = content->is_object() && content->as_object().contains("compressed");
    if (is_packed || (!context.given.flag("gzip") && write(*content).size() < promote::kPackedFrom)) return;
    *content = packed_content(*content);
    any = true;
  };
  for (const char* each : {"component", "componentTypeDefinition"}) {
    if (json::value* reference = spec.if_contains(each)) pack(*reference);
  }
  if (json::value* addons = spec.if_contains("addons"); addons != nullptr && addons->is_array()) {
    for (json::value& each : addons->as_array()) pack(each);
  }
  if (any) {
    json::value& metadata = document["metadata"];
    if (!metadata.as_object()["annotations"].is_object()) metadata.as_object()["annotations"] = json::object{};
    metadata.as_object()["annotations"].as_object()["openchoreo.dev/compression"] = "gzip";
  }
  context.output.print(document, [&](const Terminal&) { return emit_yaml(document); });
  return Code::ok;
}

Result<Code> release_history(Context& context) {
  json::object query;
  for (const char* each : {"component", "environment"}) {
    if (context.given.has(each)) query[each] = context.given.text(each);
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ReleaseEvent>>("release-history", query);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"AT"},
                            {.title = "COMPONENT", .whole = true},
                            {"ENVIRONMENT"},
                            {.title = "RELEASE", .whole = true},
                            {"WHAT"},
                            {"BY"}},
                .empty = "Nothing has run yet."};
    for (const auto& each : *all) {
      table.rows.push_back({{lang::to_text(each.at)},
                            {each.component},
                            {each.environment},
                            {each.release},
                            {each.kind == "ran" ? "entry " + std::to_string(each.entry) : "rejected: " + each.reason},
                            {each.by}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<json::object> release_wanted(Context& context, const MeantNames&) {
  json::object input{{"component", context.given.text("component")}};
  if (context.given.has("name")) input["name"] = context.given.text("name");
  if (context.given.has("image")) input["image"] = context.given.text("image");
  return input;
}

// The bundle's bytes go into the home with its signatures, and their digests are the image.
Result<void> with_bundle(Context& context, CommandDoor& door, const MeantNames&, json::object& input) {
  if (!context.given.has("bundle")) return {};
  const std::string path = context.given.text("bundle");
  auto image = door.put(path);
  if (!image) return image.error();
  input["image"] = *image;
  auto is_signed = context.disk.exists(bundle::sidecar_path(path));
  if (!is_signed) return is_signed.error();
  if (!*is_signed) return {};
  auto papers = door.put(bundle::sidecar_path(path));
  if (!papers) return papers.error();
  input["image"] = *image + "," + *papers;
  return {};
}

std::string release_made(const MeantNames&, const host::Answer& answer) {
  const std::string image = answer.text("image");
  return answer.text("release") + (answer.fields.at("fresh").as_bool() ? "" : ", which was there already") +
         (image.find("sha256:") != std::string::npos
              ? ""
              : "; no registry gave a digest for " + printable(image) + ", so it runs in local alone");
}

Result<json::object> release_meant(Context& context, const MeantNames&) {
  return json::object{{"release", context.given.text("release")}};
}

Result<Code> tell_needless(Context& context, CommandDoor&, const MeantNames&, const host::Answer& answer) {
  context.output.print(answer.fields, [&](const Terminal&) {
    const std::string done = answer.fields.at("dryRun").as_bool() ? "would go  " : "gone  ";
    std::string text;
    for (const json::value& each : answer.fields.at("needless").as_array()) {
      text += done + printable(std::string(each.at("release").as_string())) + "\n";
    }
    return text.empty() ? std::string("every release is needed\n") : text;
  });
  return Code::ok;
}

std::string which_release(const MeantNames&, const host::Answer& answer) { return answer.text("release"); }

// ------------------------------------------------------------------------------------------------- pins and promote

Result<Code> list_pins(Context& context) {
  json::object query;
  for (const char* each : {"component", "environment"}) {
    if (context.given.has(each)) query[each] = context.given.text(each);
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::PinDocument>>("pins", query);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "COMPONENT", .whole = true},
                            {"ENVIRONMENT"},
                            {.title = "RELEASE", .whole = true},
                            {"READY"},
                            {"REASON"},
                            {"MESSAGE"}},
                .empty = "Nothing is pinned."};
    for (const auto& each : *all) {
      table.rows.push_back({{each.component},
                            {each.environment},
                            {each.release},
                            {each.ready ? "yes" : "no"},
                            {each.reason},
                            {each.message}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> pin_history(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string pin = context.given.text("component") + "/" + context.given.text("environment");
  auto all = (*door)->read<std::vector<views::LockDocument>>("pin-history", {{"pin", pin}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"ENTRY"}, {.title = "RELEASE", .whole = true}, {"RENDERED"}, {"SINCE"}},
                .empty = "It has run nothing yet."};
    for (const auto& each : *all) {
      table.rows.push_back({{std::to_string(each.number)},
                            {each.release},
                            {each.rendered_digest.substr(0, 19)},
                            {lang::to_text(each.at)}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

json::object one_pin(const Context& context, const char* state) {
  json::object pin{{"component", context.given.text("component")},
                   {"environment", context.given.text("environment")},
                   {"release", context.given.text("release")},
                   {"state", state}};
  if (context.given.has("drift")) pin["drift"] = context.given.text("drift");
  return pin;
}

std::string pins_in_words(const host::Answer& answer) {
  std::string text;
  for (const json::value& each : answer.fields.at("pins").as_array()) {
    text += (text.empty() ? "" : ", ") + std::string(each.at("component").as_string()) + " in " +
            std::string(each.at("environment").as_string()) + " to " + std::string(each.at("release").as_string());
    const json::value* waits = each.as_object().if_contains("waits");
    if (waits != nullptr && waits->is_string()) text += " (waits: " + printable(std::string(waits->as_string())) + ")";
  }
  return text;
}

Result<Code> set_pin(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const json::object pin = one_pin(context, context.given.flag("undeploy") ? "Undeploy" : "Active");
  const bool overrides = context.given.has("override");
  json::object input{{"pins", json::array{pin}}};
  if (overrides) {
    input["reason"] = context.given.text("override");
  } else {
    input["wait"] = true;
  }
  auto answer = (*door)->call(overrides ? "Pin/override" : "Pin/set", input, host::WaitFor::all);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  const std::string pins = pins_in_words(*answer);
  if (context.given.flag("undeploy")) {
    print_done(context, *answer, "undeployed",
               context.given.text("component") + " in " + context.given.text("environment"));
    return Code::ok;
  }
  print_done(context, *answer, "pinned",
             !pins.empty() ? pins
                           : context.given.text("component") + " in " + context.given.text("environment") + " to " +
                                 context.given.text("release") + ", as it was already");
  return Code::ok;
}

Result<Code> plan_promotion(Context& context, CommandDoor& door, const json::object& query) {
  auto all = door.read<std::vector<views::PlannedPromotion>>("promotion-plan", query);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    std::string text;
    for (const auto& each : *all) {
      text += terminal.paint(Style::strong, printable(each.component)) + "  " +
              (each.before.empty() ? "nothing" : each.before) + " -> " + each.release + "\n";
      if (!each.fault.empty()) text += "  cannot run there: " + printable(each.fault) + "\n";
      for (const auto& difference : each.differences) {
        text += "  " + difference.object + " " + difference.pointer + ": " + printable(write(difference.now)) + " -> " +
                printable(write(difference.then)) + "\n";
      }
    }
    return text;
  });
  const bool fault = std::ranges::any_of(*all, [](const auto& each) { return !each.fault.empty(); });
  return fault ? Code::gate_rejected : Code::ok;
}

Result<Code> promote(Context& context) {
  if (!context.given.has("from") || !context.given.has("to")) {
    return Error{.code = Code::usage,
                 .message = "say from which environment to which",
                 .next = "sluice promote --from dev --to staging"};
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  json::array components;
  for (const std::string& each : context.given.texts("component")) components.emplace_back(each);
  json::object input{
      {"components", components}, {"fromEnv", context.given.text("from")}, {"toEnv", context.given.text("to")}};
  if (context.given.flag("plan")) return plan_promotion(context, **door, input);
  std::string action = "Pin/promote";
  if (context.given.has("override")) {
    auto planned = (*door)->read<std::vector<views::PlannedPromotion>>("promotion-plan", input);
    if (!planned) return planned.error();
    json::array pins;
    for (const auto& each : *planned) {
      pins.push_back({{"component", each.component},
                      {"environment", context.given.text("to")},
                      {"release", each.release},
                      {"state", "Active"}});
    }
    action = "Pin/override";
    input = {{"pins", std::move(pins)}, {"reason", context.given.text("override")}};
  }
  auto answer = (*door)->call(action, input, host::WaitFor::all);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "promoted", pins_in_words(*answer));
  return Code::ok;
}

Result<json::object> pin_meant(Context& context, const MeantNames&) {
  json::object input{{"pin", context.given.text("component") + "/" + context.given.text("environment")}};
  if (takes(context.given, "to") && context.given.has("to")) input["to"] = *context.given.number("to");
  return input;
}

std::string which_pins(const MeantNames&, const host::Answer& answer) { return pins_in_words(answer); }

std::string which_pin(const MeantNames&, const host::Answer& answer) { return answer.text("pin"); }

// -------------------------------------------------------------------------------------------------------- pipelines

Result<Code> list_pipelines(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::PipelineDocument>>("pipelines");
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "PIPELINE", .whole = true}, {"STATUS"}, {"PATHS"}},
                .empty = "There are no pipelines."};
    for (const auto& each : *all) {
      std::string paths;
      for (const auto& path : each.paths) paths += (paths.empty() ? "" : ", ") + path;
      table.rows.push_back({{each.pipeline}, {each.stopped ? "stopped: " + each.reason : "open"}, {paths}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<json::object> pipeline_meant(Context& context, const MeantNames&) {
  return json::object{{"pipeline", context.given.text("pipeline")}};
}

std::string which_pipeline(const MeantNames&, const host::Answer& answer) { return answer.text("pipeline"); }

}  // namespace release_commands

void add_release_commands(Commands& commands) {
  using namespace release_commands;
  const Arg kind{.name = "kind", .help = "Component, Release, ReleasePin, …"};
  const Arg component{.name = "component", .help = "the component"};
  const Arg environment{.name = "environment", .help = "the environment"};
  const Arg release{.name = "release", .help = "the release"};
  const Arg pipeline{.name = "pipeline", .help = "the pipeline"};
  const Option overriding{.name = "override", .value = "REASON", .help = "although a rule says no, as an admin"};

  Command apply =
      command_of({.name = "apply",
                  .action = "Definition/apply",
                  .summary = "Keep what files say: components, releases, pins, pipelines",
                  .details = "All files are read before anything is kept. Pins move last, under the rules of "
                             "their pipeline.",
                  .example = "sluice apply -f examples/checkout",
                  .options = {{.name = "file",
                               .letter = 'f',
                               .value = "PATH",
                               .help = "a file, a folder with files below it, or - for the input",
                               .kind = Kind::path,
                               .repeated = true},
                              {.name = "plan", .help = "only say what would change"}},
                  .fill = documents_given,
                  .wait = to_the_end,
                  .tell = tell_changes});
  apply.group = Group::promote;
  commands.add(std::move(apply));
  commands.add({.name = "get",
                .group = Group::promote,
                .summary = "List what was applied",
                .args = {{.name = "kind", .help = "only this kind", .optional = true},
                         {.name = "name", .help = "only this one", .optional = true}},
                .options = reading_options(),
                .example = "sluice get components",
                .run = get});
  commands.add({.name = "describe",
                .group = Group::promote,
                .summary = "Show an object with its status, as YAML",
                .args = {kind, {.name = "name", .help = "its name"}},
                .options = reading_options(),
                .example = "sluice describe pin checkout-dev",
                .run = describe});
  commands.add({.name = "delete",
                .group = Group::promote,
                .summary = "Forget an object that was applied",
                .details = "A release that is pinned, and a pin that runs something, stay.",
                .args = {kind, {.name = "name", .help = "its name"}},
                .options = changing_options(),
                .example = "sluice delete component checkout",
                .run = remove});

  commands.add_noun({.name = "releases", .group = Group::promote, .summary = "Cut, compare and forget releases"});
  commands.add({.name = "releases list",
                .summary = "List releases, the newest first",
                .options = reading_options({{.name = "component", .value = "NAME", .help = "only of this component"}}),
                .example = "sluice releases list",
                .run = list_releases});
  commands.add({.name = "releases show",
                .summary = "Show what a release consists of and where it is pinned",
                .args = {release},
                .options = reading_options(),
                .example = "sluice releases show checkout-20261119-1",
                .run = show_release});
  commands.add({.name = "releases diff",
                .summary = "Show what two releases say otherwise",
                .args = {{.name = "left", .help = "a release"}, {.name = "right", .help = "another one"}},
                .options = reading_options(),
                .example = "sluice releases diff checkout-20261119-1 checkout-20261119-2",
                .run = diff_releases});
  commands.add(
      {.name = "releases history",
       .summary = "List what ran where, and what was rejected, the newest first",
       .args = {{.name = "component", .help = "only of this one", .optional = true}},
       .options = reading_options({{.name = "environment", .value = "NAME", .help = "only in this environment"}}),
       .example = "sluice releases history checkout",
       .run = release_history});
  commands.add({.name = "releases export",
                .summary = "Print a release as others read it, to be applied elsewhere",
                .args = {release},
                .options = reading_options({{.name = "gzip", .help = "pack each definition, also a small one"}}),
                .example = "sluice releases export checkout-20261119-1",
                .run = export_release});
  commands.add(command_of({.name = "releases create",
                           .action = "Release/create",
                           .summary = "Cut a release of what is defined of a component",
                           .example = "sluice releases create checkout",
                           .args = {component},
                           .options = {{.name = "name", .value = "NAME", .help = "what to call it"},
                                       {.name = "image", .value = "IMAGE", .help = "in place of that of the Workload"},
                                       {.name = "bundle",
                                        .value = "FILE",
                                        .help = "a bundle's archive, in place of the image of the Workload",
                                        .kind = Kind::path}},
                           .fill = release_wanted,
                           .prepare = with_bundle,
                           .wait = to_the_end,
                           .done = "released",
                           .what = release_made}));
  commands.add(command_of({.name = "releases reject",
                           .action = "Release/reject",
                           .summary = "Let a release be promoted no further",
                           .example = "sluice releases reject checkout-20261119-1 --reason 'loses orders'",
                           .args = {release},
                           .fill = release_meant,
                           .done = "rejected",
                           .what = which_release}));
  commands.add(command_of({.name = "releases gc",
                           .action = "Release/gc",
                           .summary = "Forget releases that nothing needs",
                           .example = "sluice releases gc --dry-run",
                           .words = {{.param = "dryRun", .help = "only say which"}},
                           .wait = to_the_end,
                           .tell = tell_needless}));

  commands.add_noun({.name = "pins", .group = Group::promote, .summary = "Show and set what environments run"});
  commands.add(
      {.name = "pins list",
       .summary = "List which release each environment runs",
       .options = reading_options({{.name = "component", .value = "NAME", .help = "only of this component"},
                                   {.name = "environment", .value = "NAME", .help = "only in this environment"}}),
       .example = "sluice pins list",
       .run = list_pins});
  commands.add({.name = "pins set",
                .summary = "Pin a release, under the rules of its pipeline",
                .args = {component, environment, release},
                .options = changing_options(
                    {overriding,
                     {.name = "undeploy", .help = "let it run no more"},
                     {.name = "drift", .value = "WHAT", .help = "report what others change, or correct it"}}),
                .example = "sluice pins set checkout dev checkout-20261119-1",
                .run = set_pin});
  commands.add({.name = "pins history",
                .summary = "List what a component has run in an environment",
                .args = {component, environment},
                .options = reading_options(),
                .example = "sluice pins history checkout dev",
                .run = pin_history});
  commands.add(command_of({.name = "pins rollback",
                           .action = "Pin/rollback",
                           .summary = "Go back to what a component ran before, with its settings",
                           .example = "sluice pins rollback checkout dev",
                           .args = {component, environment},
                           .options = {{.name = "to",
                                        .value = "ENTRY",
                                        .help = "an entry of its history; the one before unless given",
                                        .kind = Kind::count}},
                           .fill = pin_meant,
                           .wait = to_the_end,
                           .done = "back",
                           .what = which_pins}));
  commands.add(command_of({.name = "pins sync",
                           .action = "Pin/reconcile",
                           .summary = "Make what runs be what a pin says, now",
                           .example = "sluice pins sync checkout dev",
                           .args = {component, environment},
                           .fill = pin_meant,
                           .wait = to_the_end,
                           .done = "synced",
                           .what = which_pin}));

  commands.add({.name = "promote",
                .group = Group::promote,
                .summary = "Bring what an environment runs to the next one",
                .details = "All components move in one step or none does. If one of them does not become ready, all go "
                           "back. The release has to be ready in the source, and the pipeline to have the path.",
                .args = {{.name = "component",
                          .help = "only these; all of the source unless given",
                          .optional = true,
                          .repeated = true}},
                .options = changing_options({{.name = "from", .value = "ENV", .help = "the environment that runs it"},
                                             {.name = "to", .value = "ENV", .help = "the environment that gets it"},
                                             {.name = "plan", .help = "only show what would change"},
                                             overriding}),
                .example = "sluice promote checkout --from dev --to staging",
                .run = promote});

  commands.add_noun({.name = "pipelines", .group = Group::promote, .summary = "Stop and resume promotions"});
  commands.add({.name = "pipelines list",
                .summary = "List pipelines and their paths",
                .options = reading_options(),
                .example = "sluice pipelines list",
                .run = list_pipelines});
  commands.add(command_of({.name = "pipelines stop",
                           .action = "Pipeline/stop",
                           .summary = "Let nothing be promoted until it is resumed",
                           .example = "sluice pipelines stop main --reason 'an incident'",
                           .args = {pipeline},
                           .fill = pipeline_meant,
                           .done = "stopped",
                           .what = which_pipeline}));
  commands.add(command_of({.name = "pipelines resume",
                           .action = "Pipeline/resume",
                           .summary = "Let promotions through again",
                           .example = "sluice pipelines resume main",
                           .args = {pipeline},
                           .fill = pipeline_meant,
                           .done = "resumed",
                           .what = which_pipeline}));
}

}  // namespace sluice::cli
