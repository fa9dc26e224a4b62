// sluice artifact: what was built, kept by the hash of what it was built from. Each command is one action of the
// concept Artifact.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/yaml.h"
#include "bundle/archive/inspect.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "deploy/views/queries.h"
#include "host/home.h"
#include "host/kit_place.h"

namespace sluice::cli {
namespace artifact_commands {

constexpr std::string_view kSuiteName = "suite.yaml";
constexpr size_t kMaxSuiteBytes = size_t{1} << 20U;

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& each : texts) array.emplace_back(each);
  return array;
}

// ---------------------------------------------------------------------------------------------------------- build

// What a bundle.yaml says of a build, where there is one and the command line names no command of its own.
struct BuildOfManifest {
  std::string name;
  std::vector<std::string> argv;
  std::string file;  // that `run` starts, if it is one of the folder's own
};

// A kit, a folder with a suite.yaml, is kept as one tar whose bytes depend on its files alone.
Result<std::optional<BuildOfManifest>> build_of_kit(const Context& context, const std::string& folder) {
  using Found = std::optional<BuildOfManifest>;
  const std::string path = folder + "/" + std::string(kSuiteName);
  if (auto there = context.disk.stat(path, FollowLinks::yes); !there || !context.given.texts("command").empty())
    return Found();
  auto text = read_file(context.disk, path, kMaxSuiteBytes);
  auto suite = text ? parse_yaml(*text, path) : text.error();
  if (!suite) return suite.error();
  boost::system::error_code ignored;
  const json::value* name = suite->root.find_pointer("/kit/name", ignored);
  if (name == nullptr || !name->is_string()) {
    return Error{
        .code = Code::invalid, .message = path + " does not name its kit", .next = "sluice kit check " + folder};
  }
  return Found(BuildOfManifest{.name = std::string(name->get_string()),
                               .argv = {"tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0",
                                        "--exclude=./kit.tar", "-cf", "kit.tar", "."},
                               .file = "kit.tar"});
}

Result<std::optional<BuildOfManifest>> build_of_manifest(const Context& context, const std::string& folder) {
  using Found = std::optional<BuildOfManifest>;
  auto kit = build_of_kit(context, folder);
  if (!kit || *kit) return kit;
  auto there = context.disk.stat(folder + "/" + std::string(bundle::kManifestName), FollowLinks::yes);
  if (!there || !context.given.texts("command").empty()) return Found();
  auto manifest = bundle::manifest_of_folder(context.disk, folder);
  if (!manifest) return manifest.error();
  BuildOfManifest found{.name = manifest->name.text, .argv = manifest->build};
  std::string program = manifest->run.empty() ? "" : manifest->run.front();
  if (program.find('/') != std::string::npos && !program.starts_with('/')) {
    found.file = std::filesystem::path(program).lexically_normal().string();
  }
  if (found.argv.empty()) {
    return Error{
        .code = Code::invalid,
        .message = folder + "/" + std::string(bundle::kManifestName) + " has no build, so there is nothing to run",
        .next = "sluice bundles build packs the folder as it is"};
  }
  return Found(std::move(found));
}

// The call's arguments. Paths are made absolute: the flow may go on in another process, from another folder.
Result<json::object> build_input(const Context& context) {
  const Given& given = context.given;
  std::string folder = absolute(given.text("folder"));
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (auto there = context.disk.stat(folder, FollowLinks::yes); !there) return there.error();
  auto manifest = build_of_manifest(context, folder);
  if (!manifest) return manifest.error();
  std::string name = given.has("name") ? given.text("name")
                     : *manifest       ? (*manifest)->name
                                       : std::filesystem::path(folder).filename().string();
  std::vector<std::string> deps;
  for (const std::string& each : given.texts("dep")) deps.push_back(absolute(each));
  json::object input{{"concept", name},
                     {"spec", given.has("spec") ? absolute(given.text("spec")) : ""},
                     {"implementation", folder},
                     {"deps", array_of(deps)}};
  std::vector<std::string> argv = *manifest ? (*manifest)->argv : given.texts("command");
  std::string file = *manifest && !given.has("file") ? (*manifest)->file : given.text("file");
  if (argv.empty() != file.empty()) {
    return Error{.code = Code::usage,
                 .message = argv.empty() ? "--file is what the command leaves, and there is no command"
                                         : "say which file the command leaves",
                 .next = "sluice artifact build DIR --file out -- COMMAND…"};
  }
  if (!argv.empty()) {
    input["command"] =
        json::object{{"argv", array_of(argv)}, {"tools", array_of(given.texts("tool"))}, {"output", file}};
  }
  return input;
}

Result<Code> build(Context& context) {
  auto input = build_input(context);
  if (!input) return input.error();
  auto place = home_of(context);
  if (!place) return place.error();
  if (auto folder = place->folder("artifacts"); !folder) return folder.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("Artifact/build", *input);
  if (!answer) return answer.error();
  if (answer->variant == "compilationError") {
    for (const std::string& line : answer->texts("errors")) {
      if (line != answer->text("reason")) context.output.note("  " + line);
    }
    return Error{.code = Code::failed,
                 .message = answer->text("concept") + " was not built: " + answer->text("reason"),
                 .next = "sluice flow trace " + to_string(*answer->flow)};
  }
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  json::object shown = answer->fields;
  shown["flow"] = to_string(*answer->flow);
  context.output.print(shown, [&](const Terminal& terminal) {
    bool built = answer->fields.at("built").as_bool();
    return terminal.paint(Style::good, built ? "built" : "kept") + "  " + answer->text("hash") + "  " +
           write(answer->fields.at("sizeBytes")) + " bytes\n";
  });
  return Code::ok;
}

// ------------------------------------------------------------------------------------------------------ list and gc

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

// Enough of a digest to tell artifacts apart; -o json has all of it.
std::string short_digest(const std::string& digest) {
  constexpr size_t kDigits = 12;
  return digest.substr(0, digest.find(':') + 1 + kDigits);
}

// Down to the second.
std::string short_time(const std::string& utc) {
  const size_t point = utc.find('.');
  return point == std::string::npos ? utc : utc.substr(0, point) + "Z";
}

using Artifacts = decltype(deploy::artifact::List::Ok::artifacts);

std::string table_of(const Artifacts& artifacts, const Terminal& terminal) {
  Table table{
      .columns =
          {{.title = "HASH", .whole = true}, {"NAME"}, {"BYTES", Align::right}, {"BUILT"}, {"LAST USED"}, {"HELD BY"}},
      .empty = "Nothing that was built is kept."};
  for (const auto& each : artifacts) {
    table.rows.push_back({{short_digest(each.hash), Style::strong},
                          {joined(each.names)},
                          {std::to_string(each.sizeBytes)},
                          {short_time(utc_text(each.builtAt.ms))},
                          {short_time(utc_text(each.usedAt.ms))},
                          {joined(each.heldBy)}});
  }
  return render(table, terminal);
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string name = context.given.text(context.given.has("kit") ? "kit" : "name");
  auto artifacts = (*door)->read<Artifacts>("artifacts", {{"name", name}});
  if (!artifacts) return artifacts.error();
  if (auto last = context.given.number("last")) {
    std::ranges::stable_sort(*artifacts, std::greater<>(), [](const auto& each) { return each.builtAt.ms; });
    if (artifacts->size() > static_cast<size_t>(*last)) artifacts->resize(static_cast<size_t>(*last));
  }
  context.output.print(to_json(*artifacts), [&](const Terminal& terminal) { return table_of(*artifacts, terminal); });
  return Code::ok;
}

// What --dry-run says: each artifact that would go.
Result<Code> tell_collectable(Context& context, CommandDoor& door, const json::object& input) {
  auto found = door.view("collectable-artifacts", input);
  if (!found) return found.error();
  Loss loss{.action = "Artifact/gc", .input = input, .loses = {}};
  for (const json::value& each : found->document.as_array()) {
    std::string names;
    for (const json::value& name : each.at("names").as_array()) {
      names += (names.empty() ? "" : ", ") + std::string(name.as_string());
    }
    loss.loses.push_back(names + " " + short_digest(std::string(each.at("hash").as_string())) + " (" +
                         write(each.at("sizeBytes")) + " bytes)");
  }
  loss.what = loss.loses.empty() ? "remove no artifact" : "remove " + host::counted(loss.loses.size(), "artifact");
  return tell_loss(context, door, loss);
}

Result<Code> gc(Context& context) {
  RealClock clock;
  int64_t older_ms = clock.wall_ms() - context.given.number("older-than").value_or(0);
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const json::object input{{"olderThan", utc_text(older_ms)},
                           {"keepVersions", context.given.number("keep").value_or(0)}};
  if (context.given.flag("dry-run")) return tell_collectable(context, **door, input);
  auto answer = (*door)->call("Artifact/gc", input);
  if (!answer) return answer.error();
  if (answer->variant == "busy") {
    return Error{.code = answer->code,
                 .message = "something is being built, so nothing was removed",
                 .next = "wait for it: sluice flow list"};
  }
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  json::object shown = answer->fields;
  shown["flow"] = to_string(*answer->flow);
  context.output.print(shown, [&](const Terminal&) {
    return "removed  " + write(answer->fields.at("removed")) + ", freed " + write(answer->fields.at("freedBytes")) +
           " bytes\n";
  });
  return Code::ok;
}

std::vector<Option> with_call_options(std::vector<Option> options) {
  for (Option& each : call_options()) options.push_back(std::move(each));
  return options;
}

}  // namespace artifact_commands

void add_artifact_commands(Commands& commands) {
  using namespace artifact_commands;
  commands.add_noun(
      {.name = "artifact", .group = Group::build, .summary = "Build things once and keep them by their hash"});
  commands.add(
      {.name = "artifact build",
       .summary = "Build a folder, unless the same was built before",
       .details =
           "Copies the folder, runs the command in the copy, and keeps the file that it produces. The hash covers the "
           "files, the command and the versions of its tools, or the bytes of a tool that is named by its path. If all "
           "of these are unchanged, nothing runs. A symlink that leads out of the folder is refused. A single file "
           "needs no command. A folder with a bundle.yaml takes its name, its command and the file that `run` starts "
           "from there. A kit is kept as one tar.\n\nFor instance: sluice artifact build shop --file shop.tar -- tar "
           "cf "
           "shop.tar main.py",
       .args = {{.name = "folder", .help = "the folder, or the file", .kind = Kind::path},
                {.name = "command", .help = "what to run, after --", .optional = true, .repeated = true}},
       .options = with_call_options(
           {{.name = "file", .value = "FILE", .help = "the file that the command produces, relative to the folder"},
            {.name = "name", .value = "NAME", .help = "what it is a version of; else the folder's name"},
            {.name = "spec",
             .value = "PATH",
             .help = "its specification, which is part of the hash",
             .kind = Kind::path},
            {.name = "dep",
             .value = "PATH",
             .help = "another path that it needs, found in $SLUICE_DEPS",
             .kind = Kind::path,
             .repeated = true},
            {.name = "tool",
             .value = "NAME",
             .help = "a program whose version is part of the hash",
             .repeated = true}}),
       .example = "sluice artifact build tasks/suite.yaml",
       .run = build});
  commands.add({.name = "artifact list",
                .summary = "List what was built and is kept",
                .options = {{.name = "name", .value = "NAME", .help = "only those of this name"},
                            {.name = "kit", .value = "NAME", .help = "only those of this kit"},
                            {.name = "last", .value = "N", .help = "the newest N, newest first", .kind = Kind::count},
                            lock_timeout_option()},
                .example = "sluice artifact list --last 5",
                .run = list});
  commands.add({.name = "artifact gc",
                .summary = "Remove old artifacts that nothing uses",
                .details =
                    "Keeps whatever somebody holds, and the newest of each name; an artifact that was built under two "
                    "names belongs to both. Bytes that several artifacts share are removed with the last of them.",
                .options = with_call_options({{.name = "older-than",
                                               .value = "TIME",
                                               .help = "only those last used longer ago than this",
                                               .kind = Kind::duration,
                                               .fallback = "30d"},
                                              {.name = "keep",
                                               .value = "N",
                                               .help = "how many of each name to keep at least",
                                               .kind = Kind::count,
                                               .fallback = "3"},
                                              {.name = "dry-run", .help = "list what would be removed, and stop"}}),
                .example = "sluice artifact gc --older-than 30d --keep 3",
                .run = gc});
}

}  // namespace sluice::cli
