// sluice env export and apply: an environment as a file, and the other way round. The kit plans and makes the changes
// (Env/apply); here files become bytes in the home, and people hear what is to be changed before it is.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <istream>
#include <iterator>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "base/yaml_emit.h"
#include "bundle/trust/sidecar.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "cli/output_shapes.h"
#include "cli/outputs.h"
#include "cli/workflow_progress.h"
#include "deploy/bundle_shelf.h"

namespace sluice::cli {
namespace env_apply_commands {

constexpr size_t kMaxFile = size_t{4} << 20U;
constexpr std::string_view kFileUri = "file://";
constexpr std::string_view kUri = "bundle_source_uri";
constexpr std::string_view kSha256 = "sha256:";
constexpr size_t kMaxArchive = size_t{2} << 30U;

// As a file beside the environment's is called: HEX.bundle.
std::string archive_name(const std::string& digest) {
  return digest.substr(kSha256.size(), digest.find(',') - kSha256.size()) + ".bundle";
}

bool is_folder(Context& context, const std::string& path) {
  auto stat = context.disk.stat(path, FollowLinks::yes);
  return stat && stat->kind == FileKind::folder;
}

// Writes the document into a folder, and beside it the archives that it names, with their signatures.
Result<Code> export_to(Context& context, const json::value& document, const std::string& folder) {
  auto home = home_of(context);
  if (!home) return home.error();
  if (!is_folder(context, folder)) {
    if (auto made = context.disk.make_folder(folder, 0755); !made) return made.error();
  }
  deploy::BundleShelf shelf(context.disk, (home->root() / "blobs" / "bundles").string());
  std::vector<std::string> archives;
  for (const json::value& each : document.at("bundles").as_array()) {
    const json::value* uri = each.as_object().if_contains(kUri);
    if (uri == nullptr || !uri->is_string() || !uri->get_string().starts_with(kSha256)) continue;
    const std::string digest(uri->get_string());
    auto found = shelf.find(digest);
    if (!found) return found.error();
    const std::string to = folder + "/" + archive_name(digest);
    for (const auto& [from, file] : {std::pair(found->archive, to), {found->sidecar, bundle::sidecar_path(to)}}) {
      auto bytes = read_file(context.disk, from, kMaxArchive);
      if (!bytes && bytes.error().code == Code::not_found && from == found->sidecar) continue;
      if (!bytes) return bytes.error();
      if (auto written = write_atomically(context.disk, file, *bytes, 0644); !written) return written.error();
    }
    archives.push_back(to);
  }
  const std::string file = folder + "/" + std::string(document.at("environment_id").as_string()) + ".yaml";
  if (auto written = write_atomically(context.disk, file, emit_yaml(document), 0644); !written) return written.error();
  context.output.print(to_json(outputs::EnvironmentExported{.file = file, .archives = archives}),
                       [&](const Terminal& terminal) {
                         return terminal.paint(Style::good, "exported") + "  " + file + " with " +
                                host::counted(archives.size(), "archive") + "\n";
                       });
  context.output.note("in another home: sluice env apply -f " + shell_word(file) + " --wait");
  return Code::ok;
}

Result<Code> export_env(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto document = (*door)->view("environment-export", {{"environment", context.given.text("env")}});
  if (!document) return document.error();
  if (context.given.has("to")) return export_to(context, document->document, context.given.text("to"));
  context.output.print(document->document, [&](const Terminal&) { return emit_yaml(document->document); });
  return Code::ok;
}

// The file of --file, or of --answers, which mean the same here.
Result<std::string> file_given(const Context& context) {
  const bool file = context.given.has("file"), answers = context.given.has("answers");
  if (file != answers) return context.given.text(file ? "file" : "answers");
  return Error{.code = Code::usage,
               .message = file ? "--file and --answers are the same; give one" : "say which file",
               .next = "sluice env apply -f env.yaml"};
}

Result<std::string> text_of_file(Context& context, const std::string& name) {
  if (name != "-") return read_file(context.disk, name, kMaxFile);
  std::string text(kMaxFile + 1, '\0');
  context.in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(context.in.gcount()));
  if (text.size() > kMaxFile) return Error{.code = Code::limit, .message = "the input is larger than 4 MiB"};
  return text;
}

// Puts an archive and its signatures into the home: how actions name both. Paths are from the file's own folder.
Result<std::string> put_archive(Context& context, CommandDoor& door, const std::string& file, std::string uri) {
  if (uri.starts_with(kFileUri)) uri = uri.substr(kFileUri.size());
  std::error_code ignored;
  const std::filesystem::path folder =
      file == "-" ? std::filesystem::current_path(ignored) : std::filesystem::absolute(file, ignored).parent_path();
  const std::string path = (folder / uri).lexically_normal().string();
  auto archive = door.put(path);
  if (!archive) return archive.error();
  auto has = context.disk.exists(bundle::sidecar_path(path));
  if (!has) return has.error();
  if (!*has) return archive;
  auto papers = door.put(bundle::sidecar_path(path));
  if (!papers) return papers.error();
  return *archive + "," + *papers;
}

bool lies_beside(Context& context, const std::string& file, const std::string& name) {
  auto there = context.disk.exists((std::filesystem::path(file == "-" ? "" : file).parent_path() / name).string());
  return there && *there;
}

// The document with digests in the place of files. Revisions in it only say where archives may be: those that are not
// there any more stay as they are.
Result<std::string> with_digests(Context& context, CommandDoor& door, const std::string& file, Document document,
                                 std::string text) {
  bool changed = false;
  json::object* root = document.root.if_object();
  for (const char* list : {"bundles", "revisions"}) {
    json::value* all = root != nullptr ? root->if_contains(list) : nullptr;
    if (all == nullptr || !all->is_array()) continue;
    for (json::value& each : all->get_array()) {
      json::value* uri = each.is_object() ? each.get_object().if_contains(kUri) : nullptr;
      if (uri == nullptr || !uri->is_string() || uri->get_string().empty()) continue;
      const std::string source(uri->get_string());
      // What an export has copied lies beside its file.
      const bool copied = source.starts_with(kSha256) && list == std::string_view("bundles") &&
                          lies_beside(context, file, archive_name(source));
      if (source.starts_with(kSha256) && !copied) continue;
      auto put = put_archive(context, door, file, copied ? archive_name(source) : source);
      if (copied && put && !put->starts_with(source.substr(0, source.find(',')))) {
        return Error{.code = Code::verification_failed,
                     .message = archive_name(source) + " is not what its name says; nothing was changed",
                     .next = "copy it again, or remove it"};
      }
      if (!put && put.error().code == Code::not_found && list == std::string_view("revisions")) continue;
      if (!put) return put.error();
      *uri = json::value(*put);
      changed = true;
    }
  }
  return changed ? write(document.root) : std::move(text);
}

std::string text_of(const std::vector<outputs::EnvironmentChange>& changes, const Terminal& terminal) {
  std::string text;
  for (const outputs::EnvironmentChange& each : changes) {
    Style style = each.change == "+" ? Style::good : each.change == "-" ? Style::bad : Style::warning;
    text += terminal.paint(style, each.change) + " " + printable(each.what) + "\n";
  }
  return text;
}

// What was changed before one was refused.
Error refused_half_way(const Context& context, const host::Answer& answer, size_t count) {
  Error error = refusal_in_words(context, answer);
  if (answer.variant != "partial") return error;
  error.message = "'" + answer.text("failed") + "' was refused: " + error.message + "; " +
                  std::to_string(answer.fields.at("changes").as_array().size()) + " of " + std::to_string(count) +
                  " changes were made";
  return error;
}

Result<Code> apply(Context& context) {
  if (context.given.flag("schema")) {
    context.output.print_text(write_pretty(environment_file_schema()));
    return Code::ok;
  }
  auto name = file_given(context);
  if (!name) return name.error();
  auto text = text_of_file(context, *name);
  if (!text) return text.error();
  auto file = parse_yaml(*text, *name);
  if (!file) return file.error();
  auto home = home_of(context);
  if (!home) return home.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const json::value* id = file->root.is_object() ? file->root.get_object().if_contains("environment_id") : nullptr;
  const std::string environment = id != nullptr && id->is_string() ? std::string(id->get_string()) : "";
  // The environment local is made when somebody first looks for it.
  if (environment == "local") (void)(*door)->view("routers", {{"environment", environment}});
  auto document = with_digests(context, **door, *name, *std::move(file), *std::move(text));
  if (!document) return document.error();
  json::object input{{"environment", environment},
                     {"document", *document},
                     {"prune", context.given.flag("prune")},
                     {"wait", context.given.flag("wait")},
                     {"planOnly", true}};
  auto plan = (*door)->call("Env/apply", input, host::WaitFor::answer, "plan");
  if (!plan) return plan.error();
  if (plan->code != Code::ok) return refusal_in_words(context, *plan);
  outputs::EnvironmentApplied shown{.environment = environment};
  for (const json::value& each : plan->fields.at("changes").as_array()) {
    shown.changes.push_back({std::string(each.at("sign").as_string()), std::string(each.at("what").as_string())});
  }
  const size_t count = shown.changes.size();
  context.output.print(to_json(shown), [&](const Terminal& terminal) { return text_of(shown.changes, terminal); });
  if (count == 0) {
    context.output.note(environment + " is as " + *name + " says");
    return Code::ok;
  }
  if (context.given.flag("dry-run") || context.given.flag("exit-code")) {
    context.output.note(std::to_string(count) + " to change; nothing was changed");
    return context.given.flag("exit-code") ? Code::changes_pending : Code::ok;
  }
  if (std::ranges::any_of(shown.changes, [](const auto& each) { return each.change == "-"; })) {
    auto sure = confirmed(context, "take away what " + *name + " does not have from " + environment);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  }
  input["planOnly"] = false;
  WorkflowProgress progress(context, *home);
  auto answer = (*door)->run("Env/apply", input, [&](const engine::Step& step) { return progress.hear(step); });
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refused_half_way(context, *answer, count);
  const size_t made = answer->fields.at("changes").as_array().size();
  context.output.note(std::to_string(made) + (made == 1 ? " change" : " changes") + " made");
  return Code::ok;
}

}  // namespace env_apply_commands

void add_env_apply_commands(Commands& commands) {
  using namespace env_apply_commands;
  commands.add(
      {.name = "env export",
       .summary = "Print an environment as a file that can be applied again",
       .details = "Bundles are named by the digests of the archives that serve, which the home keeps. With "
                  "--to the file is written into a folder, as ENV.yaml, and beside it the archives with "
                  "their signatures, where `env apply` in another home finds them. Secrets and what "
                  "programs have stored are not part of it.",
       .args = {environment_arg()},
       .options = reading_options(
           {{.name = "to", .value = "FOLDER", .help = "write it there, with the archives", .kind = Kind::path}}),
       .example = "sluice env export local",
       .run = export_env});
  commands.add(
      {.name = "env apply",
       .summary = "Make an environment match a file",
       .details = "First says what it will change: + added, ~ changed, - removed. The file is a sluice.environment.v1; "
                  "its generations, times and splits are ignored. Everything is checked before the first change. A "
                  "bundle is staged, warmed and given all requests if the archive that its bundle_source_uri names, or "
                  "its config, differs from what serves; with --wait the command ends when that is done.\n\n--answers "
                  "is --file, and --schema prints what both take.",
       .options = losing_options({{.name = "file",
                                   .letter = 'f',
                                   .value = "FILE",
                                   .help = "the environment, as env export prints it; - is the input",
                                   .kind = Kind::path},
                                  {.name = "prune", .help = "remove what the file does not list"},
                                  {.name = "wait", .help = "return when everything in the file is serving"},
                                  {.name = "exit-code", .help = "only plan; exit with 3 if there are changes"}}),
       .example = "sluice env apply -f env.yaml",
       .run = apply});
}

}  // namespace sluice::cli
