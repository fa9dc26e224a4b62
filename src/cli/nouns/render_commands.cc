// sluice render: a component's objects in one environment, from files.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/time_zone.h"
#include "base/yaml.h"
#include "base/yaml_emit.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "render/component/component.h"

namespace sluice::cli {
namespace render_commands {

constexpr size_t kMaxFile = size_t{16} << 20;
constexpr int kDeepestFolder = 16;

// The documents of every .yaml and .yml file below a folder, in the order of their paths; or those of one file.
Result<void> gather(Disk& disk, const std::string& path, std::vector<Document>& documents, int depth) {
  auto stat = disk.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder) {
    auto entries = disk.list(path);
    if (!entries) return entries.error();
    for (const auto& entry : *entries) {
      const bool yaml = entry.name.ends_with(".yaml") || entry.name.ends_with(".yml");
      const bool folder = entry.kind == FileKind::folder && !entry.name.starts_with('.') && depth < kDeepestFolder;
      if (!folder && !(entry.kind == FileKind::file && yaml)) continue;
      if (auto read = gather(disk, path + "/" + entry.name, documents, depth + 1); !read) return read;
    }
    return {};
  }
  auto text = read_file(disk, path, kMaxFile);
  if (!text) return text.error();
  auto parsed = parse_yaml_stream(*text, path);
  if (!parsed) return parsed.error();
  for (auto& each : *parsed) documents.push_back(std::move(each));
  return {};
}

Error all_of(const std::vector<Error>& faults) {
  Error error = faults.front();
  error.message.clear();
  error.position.reset();
  error.path.clear();
  for (const auto& fault : faults) error.message += (error.message.empty() ? "" : "\n") + to_string(fault);
  return error;
}

json::value json_of(const component::Explained& explained) {
  json::array written, inputs;
  for (const auto* each : explained.written) {
    json::object line{{"text", each->text}, {"at", each->position ? to_string(*each->position) : ""}};
    if (each->displaced) line["displaced"] = *each->displaced;
    written.push_back(std::move(line));
  }
  for (const auto& input : explained.inputs) {
    json::array origins;
    for (const auto& origin : input.origins) {
      origins.push_back({{"owner", origin.owner},
                         {"value", origin.value},
                         {"at", origin.position ? to_string(*origin.position) : ""}});
    }
    inputs.push_back({{"name", input.name}, {"origins", std::move(origins)}});
  }
  return {{"value", explained.value}, {"written", std::move(written)}, {"inputs", std::move(inputs)}};
}

std::string text_of(const component::Explained& explained, const Terminal& terminal) {
  const auto place = [](const std::optional<Position>& position) {
    return position ? "  " + to_string(*position) : "";
  };
  std::string text = terminal.paint(Style::strong, printable(json::serialize(explained.value))) + "\n";
  if (explained.written.empty()) text += "written in the template as it is\n";
  for (size_t index = explained.written.size(); index-- > 0;) {
    const auto& each = *explained.written[index];
    text += (index + 1 == explained.written.size() ? "from " : "over ") + printable(each.text) + place(each.position);
    if (each.displaced) text += "  (before: " + printable(json::serialize(*each.displaced)) + ")";
    text += "\n";
  }
  for (const auto& input : explained.inputs) {
    for (size_t index = 0; index < input.origins.size(); ++index) {
      const auto& origin = input.origins[index];
      text += "  " + (index == 0 ? input.name + " = " : std::string(input.name.size(), ' ') + " over ") +
              printable(json::serialize(origin.value)) + "  " + origin.owner + place(origin.position) + "\n";
    }
  }
  return text;
}

Result<Code> render(Context& context) {
  if (context.given.text("environment").empty()) {
    return Error{.code = Code::usage,
                 .message = "say for which environment",
                 .next = "sluice render " + context.given.text("component") + " --environment NAME"};
  }
  std::vector<Document> documents;
  if (auto read = gather(context.disk, context.given.text("from"), documents, 0); !read) return read.error();
  const auto kinds = component::read_kinds(std::move(documents));
  if (!kinds.faults.empty()) return all_of(kinds.faults);
  const TimeZones zones(context.disk);
  const auto made = component::render_component(kinds, {.component = context.given.text("component"),
                                                        .environment = context.given.text("environment"),
                                                        .name_space = context.given.text("namespace"),
                                                        .zones = &zones});
  if (!made.faults.empty()) return all_of(made.faults);
  if (const auto wanted = context.given.text("explain"); !wanted.empty()) {
    const size_t colon = wanted.find(':');
    if (colon == std::string::npos || wanted.find('/', colon) != colon + 1) {
      return Error{.code = Code::usage,
                   .message = "say which value of which object",
                   .next = "sluice render … --explain Deployment:/spec/replicas"};
    }
    const auto explained = component::explain(made, wanted.substr(0, colon), wanted.substr(colon + 1));
    if (!explained) return explained.error();
    context.output.print(json_of(*explained), [&](const Terminal& terminal) { return text_of(*explained, terminal); });
    return Code::ok;
  }
  json::array objects;
  std::string text;
  for (const auto& each : made.objects) {
    objects.push_back(each.object);
    text += "---\n" + emit_yaml(each.object);
  }
  context.output.print(json::value(std::move(objects)), [&](const Terminal&) { return text; });
  return Code::ok;
}

}  // namespace render_commands

void add_render_commands(Commands& commands) {
  commands.add({.name = "render",
                .group = Group::build,
                .summary = "Show the Kubernetes objects of a component in an environment",
                .details = "Reads Component, ComponentTypeDefinition, Addon, Workload and EnvSettings from files, and "
                           "prints what they come to. Nothing is applied. --explain says where a value comes from: "
                           "the template or patch that wrote it, and who set the parameters in it.",
                .args = {{.name = "component", .help = "its name"}},
                .options = {{.name = "environment", .value = "NAME", .help = "the environment whose settings hold"},
                            {.name = "from",
                             .value = "PATH",
                             .help = "a file, or a folder with files below it",
                             .kind = Kind::path,
                             .fallback = "."},
                            {.name = "namespace",
                             .value = "NAME",
                             .help = "where the objects belong; the environment's name unless given"},
                            {.name = "explain",
                             .value = "KIND:POINTER",
                             .help = "where one value comes from: Deployment:/spec/replicas"}},
                .example = "sluice render checkout-service --environment production --from examples/checkout",
                .run = render_commands::render});
}

}  // namespace sluice::cli
