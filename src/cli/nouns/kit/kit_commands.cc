// sluice kit: checks, formats, shows, begins and lists kits of concepts and syncs. kit_run.cc runs them.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/nearest.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/nouns/kit/kit_dot.h"
#include "cli/nouns/kit/kit_run.h"
#include "cli/nouns/kit/kit_show.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "deploy/deploy_kit.h"
#include "host/home.h"
#include "host/kit_place.h"
#include "host/kit_watch.h"
#include "lang/check/check.h"
#include "lang/format/format.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/suite_parser.h"
#include "lang/syntax/sync_parser.h"
#include "lang/syntax/text.h"

namespace sluice::cli {
namespace kit_commands {

namespace fs = std::filesystem;
using lang::Diagnostic;

// --------------------------------------------------------------------------------------------------------- check

// The plain form of lang/diagnostic.h, with the place, the severity, the caret and the hint painted.
std::string painted(const Diagnostic& diagnostic, std::string_view source, const Terminal& terminal) {
  std::string plain = lang::render(diagnostic, source);
  if (!terminal.color) return plain;
  bool error = diagnostic.severity == Diagnostic::Severity::error;
  std::string_view word = error ? ": error: " : ": warning: ";
  std::string out;
  for (size_t at = 0; at < plain.size();) {
    size_t end = plain.find('\n', at);
    std::string line = plain.substr(at, end - at);
    size_t split = at == 0 ? line.find(word) : std::string::npos;
    if (split != std::string::npos) {
      out += terminal.paint(Style::strong, line.substr(0, split + 1)) + " " +
             terminal.paint(error ? Style::bad : Style::warning, error ? "error" : "warning") + ": " +
             line.substr(split + word.size());
    } else if (line.find_first_not_of(" \t^") == std::string::npos) {
      out += terminal.paint(Style::accent, line);
    } else if (line.starts_with("  hint: ")) {
      out += terminal.paint(Style::faint, line);
    } else {
      out += line;
    }
    out += '\n';
    at = end + 1;
  }
  return out;
}

outputs::KitCheck shown_of(const lang::Checked& checked) {
  outputs::KitCheck shown{.errors = checked.errors,
                          .warnings = checked.warnings,
                          .concepts = checked.concepts,
                          .syncs = checked.syncs,
                          .guards = checked.guards};
  for (const Diagnostic& each : checked.diagnostics) shown.diagnostics.emplace_back(lang::json_of(each));
  return shown;
}

Code print_check(const lang::Checked& checked, Context& context) {
  context.output.report(to_json(shown_of(checked)), [&](const Terminal& terminal) {
    std::string text;
    for (const Diagnostic& each : checked.diagnostics) {
      auto source = checked.sources.find(each.file);
      if (!text.empty()) text += '\n';
      text += painted(each, source == checked.sources.end() ? "" : source->second, terminal);
    }
    return text;
  });
  if (checked.diagnostics.empty()) context.output.note("The kit has no faults.", Style::good);
  if (!checked.rest.empty()) context.output.note(checked.rest);
  context.output.note(host::summary(checked));
  return checked.kit ? Code::ok : Code::faults_found;
}

Result<Code> check_kit(Context& context) {
  auto found = kit_place_of(context, context.given.text("folder"));
  if (!found) return found.error();
  const host::KitPlace& place = *found;
  if (auto exists = host::must_exist(place); !exists) return exists.error();
  bool strict = context.given.flag("strict");
  if (!context.given.flag("watch")) return print_check(check_kit_at(context, place, strict), context);
  host::StopSignal stop;
  for (;;) {
    std::vector<std::string> folders = {place.folder};
    if (!place.options.overlay_folder.empty()) folders.push_back(place.options.overlay_folder);
    host::KitWatch watch(folders);
    print_check(check_kit_at(context, place, strict), context);
    context.output.note("watching " + place.folder + "; Ctrl-C ends it");
    context.output.flush();
    auto changed = watch.wait(stop.fd());
    if (!changed) return changed.error();
    if (!*changed) return Code::ok;
  }
}

// ----------------------------------------------------------------------------------------------------------- fmt

bool is_source(const std::string& path) { return path.ends_with(".concept") || path.ends_with(".sync"); }

Result<std::vector<std::string>> sources_in(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      if (fs::status(path, failed).type() == fs::file_type::not_found) {
        return Error{.code = Code::not_found,
                     .message = "there is no file or folder " + path,
                     .next = "name a kit's folder, or its .concept and .sync files"};
      }
      if (!is_source(path)) {
        return Error{.code = Code::usage, .message = path + " is neither a folder nor a .concept or .sync file"};
      }
      files.push_back(path);
      continue;
    }
    fs::recursive_directory_iterator entries(path, failed), end;
    for (; !failed && entries != end; entries.increment(failed)) {
      std::string name = entries->path().filename().string();
      if (name.starts_with('.')) entries.disable_recursion_pending();
      std::error_code ignored;
      if (!name.starts_with('.') && is_source(name) && entries->is_regular_file(ignored)) {
        files.push_back(entries->path().lexically_normal().string());
      }
    }
    if (failed) return Error{.message = "cannot read the folder " + path + ": " + failed.message()};
  }
  std::ranges::sort(files);
  return files;
}

// The canonical text, or nothing if the file has errors.
std::optional<std::string> formatted(const std::string& text, const std::string& file, lang::Diagnostics& found) {
  if (file.ends_with(".concept")) {
    auto tree = lang::parse_concept(text, file, found);
    return tree ? std::optional(lang::format(*tree)) : std::nullopt;
  }
  auto tree = lang::parse_sync(text, file, found);
  return tree ? std::optional(lang::format(*tree)) : std::nullopt;
}

Result<Code> format_kit(Context& context) {
  std::vector<std::string> given = context.given.texts("files");
  if (given.empty()) given = {"."};
  auto files = sources_in(given);
  if (!files) return files.error();
  bool only_check = context.given.flag("check");
  Disk& disk = context.disk;
  std::vector<std::string> changed, broken;
  std::vector<json::value> faults;
  std::string shown;  // the faults, as `kit check` shows them
  auto tell = [&](const Diagnostic& fault, std::string_view source) {
    faults.emplace_back(lang::json_of(fault));
    if (!shown.empty()) shown += '\n';
    shown += painted(fault, source, context.output.settings().err);
  };
  for (const std::string& file : *files) {
    lang::Diagnostics found;
    auto text = lang::read_source(file);
    if (!text) {
      broken.push_back(file);
      tell(lang::unreadable(file, text.error()), "");
      continue;
    }
    auto wanted = formatted(*text, file, found);
    if (!wanted) {
      broken.push_back(file);
      for (const Diagnostic& each : found.all()) {
        if (each.severity == Diagnostic::Severity::error) tell(each, *text);
      }
      if (std::string rest = found.rest(); !rest.empty()) shown += file + ": " + rest + "\n";
      continue;
    }
    if (*wanted == *text) continue;
    changed.push_back(file);
    if (only_check) continue;
    auto stat = disk.stat(file, FollowLinks::yes);
    if (!stat) return stat.error();
    // A link stays a link: what it leads to is replaced.
    std::error_code failed;
    std::string target = fs::canonical(file, failed).string();
    if (failed) return Error{.message = "cannot follow " + file + ": " + failed.message()};
    if (auto written = write_atomically(disk, target, *wanted, stat->mode); !written) return written.error();
  }
  if (context.output.settings().format == Format::table) {
    context.output.report({}, [&](const Terminal&) { return shown; });
  }
  context.output.print(
      to_json(outputs::KitFormatted{
          .changed = changed, .broken = broken, .diagnostics = std::move(faults), .files = files->size()}),
      [&](const Terminal&) {
        std::string text;
        for (const std::string& file : changed) text += file + "\n";
        return text;
      });
  context.output.note(changed.empty()
                          ? "Every file that can be read is in its canonical form."
                          : host::counted(changed.size(), "file") + (only_check ? " would change" : " changed") +
                                " of " + std::to_string(files->size()));
  if (broken.size() == 1) return Error{.code = Code::invalid, .message = "1 file has errors and was left as it was"};
  if (!broken.empty()) {
    return Error{.code = Code::invalid,
                 .message = std::to_string(broken.size()) + " files have errors and were left as they were"};
  }
  return only_check && !changed.empty() ? Code::faults_found : Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- show

Error unknown_name(const lang::CheckedKit& kit, const std::string& name) {
  std::vector<std::string> known;
  for (const lang::ConceptSymbol& each : kit.symbols().concepts) known.push_back(each.name);
  for (const lang::KitSync& each : kit.kit().syncs) {
    known.push_back(each.tree.name.text);
    known.push_back(each.alias);
  }
  for (const lang::KitGuard& each : kit.kit().guards) known.push_back(each.tree.name.text);
  auto near = nearest(name, std::span<const std::string>(known));
  return {.code = Code::not_found,
          .message = "the kit has no concept, sync or guard " + name,
          .next = near ? "sluice kit show " + *near : "sluice kit show"};
}

Result<Code> show(Context& context) {
  auto located = kit_place_of(context, context.given.text("kit"));
  if (!located) return located.error();
  const host::KitPlace& place = *located;
  if (auto exists = host::must_exist(place); !exists) return exists.error();
  lang::Checked checked = check_kit_at(context, place);
  if (!checked.kit) return host::kit_has_errors(place, checked);
  const lang::CheckedKit& kit = *checked.kit;
  std::string name = context.given.text("name");
  Focus focus;
  if (!name.empty()) {
    focus.concept_ = kit.symbols().find_concept(name);
    if (!focus.concept_) focus.sync = find_sync(kit.kit(), name);
    if (!focus.concept_ && !focus.sync) focus.guard = find_guard(kit.kit(), name);
    if (focus.on_all()) return unknown_name(kit, name);
  }
  if (context.given.text("output") == "dot") {
    context.output.print_text(kit_dot(kit, focus));
  } else if (focus.concept_) {
    context.output.print(to_json(shown_concept(kit, *focus.concept_)),
                         [&](const Terminal& terminal) { return show_concept(kit, *focus.concept_, terminal); });
  } else if (focus.sync) {
    context.output.print(to_json(shown_sync(kit, *focus.sync)),
                         [&](const Terminal& terminal) { return show_sync(kit, *focus.sync, terminal); });
  } else if (focus.guard) {
    context.output.print(to_json(shown_guard(kit, *focus.guard)),
                         [&](const Terminal& terminal) { return show_guard(kit, *focus.guard, terminal); });
  } else {
    context.output.print(to_json(shown_kit(kit)), [&](const Terminal& terminal) { return show_kit(kit, terminal); });
  }
  return Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- init

struct NewFile {
  std::string_view path, text;
};

constexpr NewFile kNewKit[] = {
    {"suite.yaml", R"(kit:
  name: NAME
  version: 0.1.0
  description: What this kit is for, in a sentence.

concepts:
  Task:
    spec: ./concepts/task.concept
    params:
      T: { as: task-ref }
  Journal:
    spec: ./concepts/journal.concept
    params:
      J: { as: entry-ref }

syncs:
  recommended:
    - path: ./syncs/record.sync
)"},
    {"concepts/task.concept", R"(concept Task [T] {
  purpose { Keep what is to be done until it is done. }

  state {
    tasks: set T
    title: T -> String
    status: T -> "open" | "done"
  }

  actions {
    action add(title: String) {
      -> ok(task: T) { The task is open. }
      -> invalid(message: String) { A task needs a title. }
    }

    action finish(task: T) {
      -> ok(task: T, title: String) { The task is done. }
      -> notFound(task: T) { There is no such task. }
    }
  }

  example "addThenFinish" {
    after add(title: "write") -> ok(task: t)
    then finish(task: t) -> ok(task: t)
  }
}
)"},
    {"concepts/journal.concept", R"(concept Journal [J] {
  purpose { Remember what happened. }

  state {
    entries: set J
    text: J -> String
  }

  actions {
    action append(text: String) {
      -> ok(entry: J) { The entry is kept. }
    }
  }
}
)"},
    {"syncs/record.sync", R"(sync RecordFinished [eventual]
  purpose: "What is done stands in the journal."
  when { Task/finish: [] => ok[ title: ?title ] }
  then { Journal/append: [ text: "finished {{title}}" ] }
)"},
};

Result<Code> init(Context& context) {
  std::string name = context.given.text("name");
  if (!lang::is_kit_name(name)) {
    return Error{.code = Code::usage,
                 .message = std::string(lang::kKitName),
                 .next = "sluice kit init order-desk, or another such name"};
  }
  bool write = !context.given.flag("dry-run");
  Disk& disk = context.disk;
  auto taken = disk.exists(name);
  if (!taken) return taken.error();
  if (*taken && write) {
    return Error{.code = Code::conflict, .message = name + " is there already", .next = "choose another name"};
  }
  for (const char* folder : {"", "/concepts", "/syncs"}) {
    if (!write) break;
    if (auto made = disk.make_folder(name + folder, 0777); !made) return made.error();
  }
  std::vector<std::string> files;
  for (const NewFile& file : kNewKit) {
    std::string text(file.text);
    if (size_t at = text.find("NAME"); at != std::string::npos) text.replace(at, 4, name);
    std::string path = name + "/" + std::string(file.path);
    files.push_back(path);
    if (!write) continue;
    if (auto written = write_atomically(disk, path, text, 0644); !written) return written.error();
  }
  context.output.print(to_json(outputs::KitBegun{.kit = name, .files = files}), [&](const Terminal&) {
    std::string text;
    for (const std::string& file : files) text += file + "\n";
    return text;
  });
  context.output.note(write ? "next: sluice kit check " + name : "nothing was written");
  return Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- list

Result<Code> list(Context& context) {
  auto place = host::kits_of_home(home_of(context), context.output);
  if (!place) return place.error();
  const std::string& kits = *place;
  Disk& disk = context.disk;
  Table table{.columns = {{"KIT"}, {"VERSION"}, {"CHECK"}, {"FOLDER"}, {"DESCRIPTION"}}};
  std::vector<outputs::KitListed> found;
  size_t failing = 0;
  auto entries = disk.list(kits);
  if (!entries && entries.error().code != Code::not_found) return entries.error();
  auto add = [&](const std::string& folder, const std::string& name) -> Result<void> {
    auto kit_place = kit_place_of(context, folder);
    if (!kit_place) return kit_place.error();
    lang::Kit kit = lang::load_kit(folder, host::kit_reader(disk, *kit_place), kit_place->options);
    lang::Suite suite = kit.suite;
    // A kit is found by the name of its folder.
    bool misnamed = !suite.name.empty() && suite.name != name;
    lang::Checked checked = lang::check(std::move(kit));
    if (misnamed) checked.errors++;
    if (checked.errors > 0) failing++;
    table.rows.push_back(
        {{name, Style::strong},
         {suite.version},
         checked.errors > 0 ? Cell{host::counted(checked.errors, "error"), Style::bad} : Cell{"ok", Style::good},
         {folder, Style::faint},
         misnamed             ? Cell{"holds the kit " + suite.name + ": give both one name", Style::bad}
         : checked.errors > 0 ? Cell{"fails its check: sluice kit check " + folder, Style::bad}
                              : Cell{suite.description}});
    found.push_back({.name = name,
                     .version = suite.version,
                     .folder = folder,
                     .description = suite.description,
                     .errors = checked.errors,
                     .warnings = checked.warnings});
    return {};
  };
  if (auto added = add(std::string(deploy::kKitFolder), std::string(deploy::kKitName)); !added) return added.error();
  for (const FolderEntry& entry : entries ? *entries : std::vector<FolderEntry>{}) {
    std::string folder = kits + "/" + entry.name;
    auto exists = disk.exists(folder + "/suite.yaml");
    if (!exists || !*exists) continue;
    if (auto added = add(folder, entry.name); !added) return added.error();
  }
  context.output.print(to_json(found), [&](const Terminal& terminal) { return render(table, terminal); });
  if (found.size() == 1)
    context.output.note("No further kits in " + kits + ". Copy one there, or begin one: sluice kit init NAME");
  if (failing > 0) {
    context.output.note(host::counted(failing, "kit") + (failing == 1 ? " fails its" : " fail their") +
                        " check and will not be loaded");
  }
  return Code::ok;
}

}  // namespace kit_commands

void add_kit_commands(Commands& commands) {
  using namespace kit_commands;
  commands.add_noun(
      {.name = "kit", .group = Group::build, .summary = "Check, show and run kits of concepts and syncs"});
  commands.add(
      {.name = "kit check",
       .summary = "Check a kit completely, without running it",
       .details = "Every concept, action, variant, field, type and variable is checked, and what follows from "
                  "what. Errors make the exit code 1; warnings do not.",
       .args = {{.name = "folder", .help = "the kit's folder, or its name", .kind = Kind::path, .optional = true}},
       .options = {{.name = "strict", .help = "make misaligned parameters errors"},
                   {.name = "watch", .help = "check again whenever a file changes"}},
       .example = "sluice kit check tasks",
       .run = check_kit});
  commands.add({.name = "kit fmt",
                .summary = "Write .concept and .sync files in their canonical form",
                .details = "Prints the files that changed. A file with errors is left as it was.",
                .args = {{.name = "files",
                          .help = "files, or folders with everything below them",
                          .kind = Kind::path,
                          .optional = true,
                          .repeated = true}},
                .options = {{.name = "check", .help = "change nothing; exit with 1 if a file would change"}},
                .example = "sluice kit fmt --check tasks",
                .run = format_kit});
  commands.add({.name = "kit show",
                .summary = "Show a kit or a part of it, and which rules connect it",
                .details = "For an overridden sync it shows the active one and names the one it replaces. "
                           "With --output dot it prints a picture for Graphviz, of the whole kit or of what is named "
                           "and all that it touches.",
                .args = {{.name = "name", .help = "a concept, a sync or a guard", .optional = true}},
                .options = {{.name = "kit",
                             .value = "FOLDER",
                             .help = "the kit's folder, or its name",
                             .kind = Kind::path,
                             .fallback = "."}},
                .formats = {"dot"},
                .example = "sluice kit show Task --kit tasks",
                .run = show});
  commands.add(kit_run_command());
  commands.add({.name = "kit init",
                .summary = "Create a kit in a new folder",
                .args = {{.name = "name", .help = "the kit's name, and its folder's"}},
                .options = {{.name = "dry-run", .help = "say what would be written, and write nothing"}},
                .example = "sluice kit init tasks --dry-run",
                .run = init});
  commands.add(
      {.name = "kit list",
       .summary = "List the built-in kit and the installed ones",
       .details =
           "Every kit is checked. A kit with errors is marked with the command that shows them; nothing loads it.",
       .example = "sluice kit list",
       .run = list});
}

}  // namespace sluice::cli
