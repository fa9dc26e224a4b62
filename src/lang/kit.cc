// Loading: suites from the outermost in, their files once each, then overrides, disabling and activation.
#include "lang/kit.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/nearest.h"
#include "base/yaml.h"
#include "lang/concept_parser.h"
#include "lang/suite_parser.h"
#include "lang/sync_parser.h"
#include "lang/text.h"

namespace sluice::lang {
namespace {

constexpr size_t kMaxUses = 100;  // kits that use one another, in a row
constexpr const char* kMendPath = "mend the path, or take the entry out";

std::string hint_of(const Error& error) { return error.next.empty() ? kMendPath : error.next; }

std::string quoted(std::string_view word) { return "`" + std::string(word) + "`"; }

std::string joined(const std::string& folder, std::string path) {
  while (path.starts_with("./")) path.erase(0, 2);
  if (path.starts_with('/') || folder.empty() || folder == ".") return path;
  return folder.ends_with('/') ? folder + path : folder + "/" + path;
}

std::string folder_of_file(const std::string& file) {
  size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

Mark mark_of(std::string_view text, size_t at) {
  Mark mark{1, 1};
  for (char c : text.substr(0, at)) {
    bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    mark.column += continues ? 0 : 1;
    if (c == '\n') mark = {mark.line + 1, 1};
  }
  return mark;
}

// What one suite or overlay wants to be different.
struct Change {
  std::string name;
  std::string file;  // where it is said
  Mark mark;
  std::string replace;  // the replacing .sync; empty: disable
  bool overlay = false;
};

// Whether a path could lead out of the folder that it is relative to.
bool leads_out(std::string_view path) {
  if (path.starts_with('/')) return true;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

class Loader {
 public:
  Loader(const ReadText& read, const KitOptions& options) : read_(read), options_(options) {}

  Kit load(const std::string& folder) {
    kit_.folder = folder;
    auto suite = read_suite(joined(folder, "suite.yaml"));
    if (suite) {
      kit_.suite = *suite;
      load_suite(*suite, folder);
      for (const std::string& overlay : options_.overlays) read_overlay(overlay);
      if (!options_.overlay_folder.empty() && is_kit_name(suite->name)) {
        read_overlay(joined(joined(options_.overlay_folder, suite->name), "overrides.yaml"));
      }
      for (Change& change : changes_) apply(change);
      activate();
      tell_duplicates();
      tell_unlisted();
    }
    return std::move(kit_);
  }

 private:
  void tell(Diagnostic::Severity severity, const std::string& file, Mark mark, size_t length, std::string rule,
            std::string text, std::string hint) {
    if (severity == Diagnostic::Severity::error && file.ends_with(".sync")) kit_.incomplete = true;
    kit_.found.add({.severity = severity,
                    .file = file,
                    .mark = mark,
                    .length = static_cast<uint32_t>(std::max<size_t>(1, length)),
                    .text = std::move(text),
                    .hint = std::move(hint),
                    .rule = std::move(rule)});
  }
  void error(const std::string& file, Mark mark, size_t length, std::string rule, std::string text, std::string hint) {
    tell(Diagnostic::Severity::error, file, mark, length, std::move(rule), std::move(text), std::move(hint));
  }
  void warning(const std::string& file, Mark mark, size_t length, std::string rule, std::string text,
               std::string hint) {
    tell(Diagnostic::Severity::warning, file, mark, length, std::move(rule), std::move(text), std::move(hint));
  }
  void take(const Diagnostics& found) {
    kit_.found.add(found);
    if (found.failed()) kit_.incomplete = true;
  }

  // Where a value stands after the key or the entry that is marked; the mark itself if it is written otherwise there.
  Mark value_after(const std::string& file, Mark mark, size_t skip, std::string_view value) const {
    auto source = kit_.sources.find(file);
    if (source == kit_.sources.end() || value.empty()) return mark;
    std::string_view text = source->second;
    size_t begin = 0;
    for (uint32_t line = 1; line < mark.line && begin != std::string_view::npos; ++line) {
      begin = text.find('\n', begin);
      if (begin != std::string_view::npos) ++begin;
    }
    if (begin == std::string_view::npos) return mark;
    size_t at = text.find(value, std::min(text.size(), begin + mark.column - 1 + skip));
    return at == std::string_view::npos ? mark : mark_of(text, at);
  }

  // Tells of a path that leads out of the folder of the file that names it, and where; true if it does.
  template <typename Where>
  bool refuse_outside(const std::string& file, const std::string& path, const Where& where) {
    if (!leads_out(path)) return false;
    error(file, where(), count_code_points(path), "outside-folder",
          quoted(path) + " leads out of the folder of " + file,
          "copy the file into the folder; what another kit has comes with `uses`");
    return true;
  }

  // ------------------------------------------------------------------------------------------------- suites

  std::optional<Suite> read_suite(const std::string& file) {
    auto text = read_(file);
    if (!text) {
      error(file, {1, 1}, 1, "missing-file", text.error().message,
            text.error().code == Code::not_found ? "a kit is a folder with a suite.yaml"
            : text.error().next.empty()          ? "make it a text file that you may read"
                                                 : text.error().next);
      return std::nullopt;
    }
    Diagnostics found;
    auto suite = parse_suite(*text, file, found);
    kit_.sources[file] = std::move(*text);
    take(found);
    return suite;
  }

  void load_suite(const Suite& suite, const std::string& folder) {
    loading_.push_back(suite.name);
    for (const SuiteScope& scope : suite.scopes) kit_.scopes.push_back({scope, suite.file});
    for (const SuiteUse& use : suite.uses) load_use(suite, use, folder);
    for (const SuiteConcept& entry : suite.concepts) load_concept(suite, entry, folder);
    for (const SuiteSync& entry : suite.syncs) load_syncs(suite, entry, folder);
    for (const Name& path : suite.guards) {
      auto where = [&] { return path.at; };
      if (refuse_outside(suite.file, path.text, where)) continue;
      std::string file = joined(folder, path.text);
      if (!rules_of(file) && missing_.contains(file)) {
        error(suite.file, path.at, count_code_points(path.text), "missing-file", missing_[file].message,
              hint_of(missing_[file]));
      }
      load_guards(suite, file);
    }
    for (const SuiteOverride& each : suite.overrides) {
      const Name& name = each.name;
      auto where = [&] { return value_after(suite.file, name.at, name.text.size(), each.path); };
      if (refuse_outside(suite.file, each.path, where)) continue;
      changes_.push_back({name.text, suite.file, name.at, joined(folder, each.path)});
    }
    for (const Name& name : suite.disable) changes_.push_back({name.text, suite.file, name.at, {}});
    loading_.pop_back();
    loaded_.insert(suite.name);
  }

  void load_use(const Suite& suite, const SuiteUse& use, const std::string& folder) {
    auto place = [&] { return value_after(suite.file, use.at, 0, use.suite); };
    if (!is_kit_name(use.suite)) {
      error(suite.file, place(), use.suite.size(), "unknown-suite", quoted(use.suite) + " is no name of a kit",
            "write the kit's name; where kits are found is not the suite's to say");
      for (const SuiteConcept& entry : use.concepts) kit_.broken.push_back(entry.name);
      return;
    }
    auto cycle = std::ranges::find(loading_, use.suite);
    if (cycle != loading_.end()) {
      std::string path;
      for (auto each = cycle; each != loading_.end(); ++each) path += *each + " → ";
      error(suite.file, place(), use.suite.size(), "uses-cycle",
            "suites use one another in a circle: " + path + use.suite, "take out one of these `uses`");
      return;
    }
    std::string found;
    if (!loaded_.contains(use.suite)) {
      for (const std::string& place : options_.search_path) {
        std::string file = joined(joined(place, use.suite), "suite.yaml");
        auto text = read_(file);
        if (!text && text.error().code == Code::not_found) continue;
        found = joined(place, use.suite);
        if (auto used = read_suite(file)) load_used(suite, use, *used, found);
        break;
      }
      if (found.empty()) {
        std::string what = "the kit " + quoted(use.suite) + " is not installed";
        if (use.optional) {
          for (const SuiteConcept& entry : use.concepts) kit_.absent.push_back({entry.name, what});
        } else {
          std::string places;
          for (const std::string& place : options_.search_path) places += (places.empty() ? "" : ", ") + place;
          error(suite.file, place(), use.suite.size(), "unknown-suite", what,
                "install it, or write `optional: true`" + (places.empty() ? "" : "; looked in " + places));
          for (const SuiteConcept& entry : use.concepts) kit_.broken.push_back(entry.name);
        }
      }
    }
    for (const SuiteConcept& entry : use.concepts) {
      for (KitConcept& each : kit_.concepts) {
        if (each.tree.name == entry.name && !entry.params.empty()) each.entry.params = entry.params;
      }
      bool known =
          std::ranges::any_of(kit_.concepts, [&](const KitConcept& each) { return each.tree.name == entry.name; });
      bool told = std::ranges::find(kit_.broken, entry.name) != kit_.broken.end() ||
                  std::ranges::any_of(kit_.absent, [&](const AbsentConcept& each) { return each.name == entry.name; });
      if (!known && !told) {
        error(suite.file, entry.at, entry.name.size(), "unknown-concept",
              "the kit " + quoted(use.suite) + " has no concept " + quoted(entry.name),
              "take it out, or name one that it has");
      }
    }
    for (SuiteSync entry : use.syncs) {
      entry.tier = Tier::integration;
      load_syncs(suite, entry, folder);
    }
  }

  // A kit that another one uses. It is known by the name under which it was found, so that must be its own.
  void load_used(const Suite& suite, const SuiteUse& use, const Suite& used, const std::string& folder) {
    auto place = [&] { return value_after(suite.file, use.at, 0, use.suite); };
    if (used.name == use.suite && loading_.size() < kMaxUses) return load_suite(used, folder);
    if (used.name != use.suite) {
      error(suite.file, place(), use.suite.size(), "wrong-name",
            used.file + " holds the kit " + quoted(used.name) + ", not " + quoted(use.suite),
            "give the folder and the kit the same name");
    } else {
      error(suite.file, place(), use.suite.size(), "uses-depth",
            "kits use one another more than " + std::to_string(kMaxUses) + " deep", "use it from a kit further out");
    }
    for (const SuiteConcept& entry : used.concepts) kit_.broken.push_back(entry.name);
    for (const SuiteConcept& entry : use.concepts) kit_.broken.push_back(entry.name);
  }

  // ----------------------------------------------------------------------------------------------- concepts

  void load_concept(const Suite& suite, const SuiteConcept& entry, const std::string& folder) {
    auto [first, fresh] = concept_places_.try_emplace(entry.name, suite.file + ":" + std::to_string(entry.at.line));
    if (!fresh) {
      error(suite.file, entry.at, entry.name.size(), "duplicate", "a second concept " + quoted(entry.name),
            "rename or remove one; the first is at " + first->second);
      return;
    }
    if (entry.optional && options_.load && std::ranges::find(*options_.load, entry.name) == options_.load->end()) {
      kit_.absent.push_back({entry.name, "it is optional and was not asked for"});
      return;
    }
    auto where = [&] { return value_after(suite.file, entry.at, entry.name.size(), entry.spec); };
    if (refuse_outside(suite.file, entry.spec, where)) {
      kit_.broken.push_back(entry.name);
      return;
    }
    std::string file = joined(folder, entry.spec);
    auto text = read_(file);
    if (!text) {
      bool missing = text.error().code == Code::not_found;
      if (missing && entry.optional) {
        kit_.absent.push_back({entry.name, "its file is missing: " + file});
        warning(suite.file, where(), count_code_points(entry.spec), "missing-file",
                "the optional concept " + quoted(entry.name) + " is not loaded: there is no " + file, kMendPath);
      } else {
        error(suite.file, where(), count_code_points(entry.spec), "missing-file",
              missing ? "the concept " + quoted(entry.name) + " has no file " + file : text.error().message,
              missing ? kMendPath : hint_of(text.error()));
        kit_.broken.push_back(entry.name);
      }
      return;
    }
    Diagnostics found;
    auto tree = parse_concept(*text, file, found);
    kit_.sources[file] = std::move(*text);
    take(found);
    if (!tree) {
      kit_.broken.push_back(entry.name);
      return;
    }
    if (tree->name != entry.name) {
      error(suite.file, entry.at, entry.name.size(), "wrong-name",
            file + " holds the concept " + quoted(tree->name) + ", not " + quoted(entry.name),
            "write " + quoted(tree->name + ":") + " here, or rename the concept");
      kit_.broken.push_back(entry.name);
    }
    kit_.concepts.push_back({std::move(*tree), entry, suite.name, suite.file});
  }

  // -------------------------------------------------------------------------------------------------- rules

  // The whole rules of a file, parsed once; nothing if it is missing.
  const SyncFile* rules_of(const std::string& file) {
    auto known = files_.find(file);
    if (known == files_.end()) {
      auto text = read_(file);
      std::optional<SyncFile> tree;
      if (text) {
        Diagnostics found;
        tree = parse_whole_rules(*text, file, found);
        if (found.failed()) faulty_.insert(file);
        kit_.sources[file] = std::move(*text);
        take(found);
      } else {
        missing_[file] = text.error();
        if (text.error().code == Code::not_found) {
          missing_[file] = Error{.code = Code::not_found, .message = "there is no file " + file};
        }
      }
      known = files_.emplace(file, std::move(tree)).first;
    }
    return known->second ? &*known->second : nullptr;
  }

  void load_guards(const Suite& suite, const std::string& file) {
    const SyncFile* rules = rules_of(file);
    if (rules == nullptr || !guarded_.insert(file).second) return;
    for (const auto& rule : rules->rules) {
      if (const auto* guard = std::get_if<Guard>(&rule)) kit_.guards.push_back({*guard, suite.name, {}});
    }
  }

  void load_syncs(const Suite& suite, const SuiteSync& entry, const std::string& folder) {
    Mark mark = entry.at;
    auto where = [&] { return value_after(suite.file, mark, 0, entry.path); };
    if (refuse_outside(suite.file, entry.path, where)) {
      kit_.incomplete = true;
      return;
    }
    std::string file = joined(folder, entry.path);
    std::string title = entry.name.empty() ? entry.sync.empty() ? entry.path : entry.sync : entry.name;
    const SyncFile* rules = rules_of(file);
    if (rules == nullptr) {
      if (entry.tier == Tier::integration && missing_[file].code == Code::not_found) {
        warning(suite.file, where(), count_code_points(entry.path), "missing-file",
                "the integration sync " + quoted(title) + " is inactive: " + missing_[file].message,
                hint_of(missing_[file]));
        Sync none;
        none.file = file;
        none.name.text = title;
        kit_.syncs.push_back({none, entry.tier, title, suite.name, "its file is missing"});
      } else {
        error(suite.file, where(), count_code_points(entry.path), "missing-file",
              "the sync " + quoted(title) + " is missing: " + missing_[file].message, hint_of(missing_[file]));
        kit_.incomplete = true;
      }
      return;
    }
    load_guards(suite, file);
    std::vector<const Sync*> chosen;
    std::vector<std::string> names;
    for (const auto& rule : rules->rules) {
      const auto* sync = std::get_if<Sync>(&rule);
      if (sync == nullptr) continue;
      names.push_back(sync->name.text);
      if (entry.sync.empty() || entry.sync == sync->name.text) chosen.push_back(sync);
    }
    if (chosen.empty()) {
      if (faulty_.contains(file)) return;  // it may be one with errors, which are told
      auto near = nearest(entry.sync, std::span<const std::string>(names));
      const std::string& value = entry.sync.empty() ? entry.path : entry.sync;
      error(suite.file, value_after(suite.file, mark, 0, value), count_code_points(value), "unknown-sync",
            entry.sync.empty() ? file + " holds no sync" : file + " holds no sync " + quoted(entry.sync),
            near ? "did you mean " + quoted(*near) + "?" : "mend the path or the name, or take the entry out");
      return;
    }
    if (chosen.size() > 1 && !entry.name.empty()) {
      error(suite.file, value_after(suite.file, mark, 0, entry.name), count_code_points(entry.name), "ambiguous-alias",
            quoted(entry.name) + " names one sync, but " + file + " holds " + std::to_string(chosen.size()),
            "say which with " + quoted("sync: " + chosen[0]->name.text));
      return;
    }
    for (const Sync* sync : chosen) {
      listed_.insert(sync);
      std::string alias = entry.name.empty() ? sync->name.text : entry.name;
      kit_.syncs.push_back({*sync, entry.tier, alias, suite.name, {}, false, {}, suite.file, mark});
      alias_places_.push_back({suite.file, mark, entry.name});
    }
  }

  // A rule that stands in a loaded file and in no suite would be missed silently.
  void tell_unlisted() {
    for (const auto& [file, rules] : files_) {
      if (!rules || faulty_.contains(file)) continue;
      for (const auto& rule : rules->rules) {
        if (const auto* guard = std::get_if<Guard>(&rule); guard != nullptr && !guarded_.contains(file)) {
          warning(file, guard->name.at, guard->name.text.size(), "unlisted-sync",
                  "guard " + quoted(guard->name.text) + " is not loaded: what replaces a sync brings no guards",
                  "list a file with the guard under `guards` of a suite");
        }
        const auto* sync = std::get_if<Sync>(&rule);
        if (sync == nullptr || listed_.contains(sync)) continue;
        warning(file, sync->name.at, sync->name.text.size(), "unlisted-sync",
                "sync " + quoted(sync->name.text) + " is not loaded: no suite lists it",
                "add it to suite.yaml with its tier");
      }
    }
  }

  // ------------------------------------------------------------------------------------------ what is active

  void read_overlay(const std::string& file) {
    auto text = read_(file);
    if (!text) {
      if (text.error().code != Code::not_found)
        error(file, {1, 1}, 1, "missing-file", text.error().message,
              text.error().next.empty() ? "make it a text file that you may read, or remove it" : text.error().next);
      return;
    }
    kit_.sources[file] = *text;
    auto document = parse_yaml(*text, file);
    if (!document) {
      const auto& position = document.error().position;
      std::string next = document.error().next;
      error(file, position ? Mark{position->line, position->column} : Mark{1, 1}, 1, "syntax", document.error().message,
            next.empty() ? "write it as YAML: `key: value`, lists as `- item`" : next);
      return;
    }
    auto wrong = [&](std::string_view pointer, std::string what) {
      auto position = document->position_of(pointer);
      error(file, position ? Mark{position->line, position->column} : Mark{1, 1}, 1, "overlay", std::move(what),
            "an overlay has `overrides: { Name: file.sync }` and `disable: [ Name ]`");
    };
    if (document->root.is_null()) return;
    if (!document->root.is_object()) return wrong("", "an overlay is a map");
    for (const auto& [key, value] : document->root.get_object()) {
      std::string base = "/" + std::string(key);
      if (key == "overrides" && value.is_object()) {
        for (const auto& [name, path] : value.get_object()) {
          std::string pointer = base + "/" + std::string(name);
          if (!path.is_string()) {
            wrong(pointer, "the replacement of " + quoted(std::string(name)) + " is a path");
            continue;
          }
          auto position = document->position_of(pointer);
          Mark mark{position->line, position->column};
          std::string replacing(path.get_string());
          auto where = [&] { return value_after(file, mark, name.size(), replacing); };
          if (refuse_outside(file, replacing, where)) continue;
          changes_.push_back({std::string(name), file, mark, joined(folder_of_file(file), replacing), true});
        }
      } else if (key == "disable" && value.is_array()) {
        size_t index = 0;
        for (const json::value& name : value.get_array()) {
          std::string pointer = base + "/" + std::to_string(index++);
          if (!name.is_string()) {
            wrong(pointer, "`disable` lists the names of syncs");
            continue;
          }
          auto position = document->position_of(pointer);
          changes_.push_back({std::string(name.get_string()), file, Mark{position->line, position->column}, {}, true});
        }
      } else {
        wrong(base, "an overlay has no " + quoted(std::string(key)) + " of this shape");
      }
    }
  }

  // By alias or by the sync's own name, ascending.
  std::vector<size_t> syncs_named(const std::string& name) {
    for (; indexed_ < kit_.syncs.size(); ++indexed_) {
      const KitSync& each = kit_.syncs[indexed_];
      by_name_[each.alias].push_back(indexed_);
      if (each.tree.name.text != each.alias) by_name_[each.tree.name.text].push_back(indexed_);
    }
    auto found = by_name_.find(name);
    return found == by_name_.end() ? std::vector<size_t>{} : found->second;
  }

  void apply(const Change& change) {
    std::string verb = change.replace.empty() ? "disabled" : "overridden";
    std::vector<size_t> targets = syncs_named(change.name);
    if (targets.empty()) {
      if (!faulty_.empty()) return;  // it may be one that could not be read
      std::vector<std::string> names;
      for (const KitSync& each : kit_.syncs) names.push_back(each.alias);
      auto near = nearest(change.name, std::span<const std::string>(names));
      error(change.file, change.mark, change.name.size(), "unknown-sync",
            "there is no sync " + quoted(change.name) + " to be " + verb,
            near ? "did you mean " + quoted(*near) + "?" : "sluice kit show lists the syncs");
      return;
    }
    for (size_t index : targets) {
      if (kit_.syncs[index].tier == Tier::required) {
        error(change.file, change.mark, change.name.size(), "required-sync",
              "sync " + quoted(change.name) + " of suite " + quoted(kit_.syncs[index].kit) +
                  " is required: it cannot be " + verb,
              "take this entry out");
        return;
      }
    }
    for (size_t index : targets) {
      auto [first, fresh] = changed_.try_emplace({change.file, index}, &change);
      bool same = fresh || (change.replace.empty() && first->second->replace.empty());
      if (same) continue;
      bool both = change.replace.empty() != first->second->replace.empty();
      error(change.file, change.mark, change.name.size(), "changed-twice",
            "sync " + quoted(change.name) + (both ? " is both overridden and disabled" : " is overridden twice"),
            "keep one of the two; the other is at line " + std::to_string(first->second->mark.line));
      return;
    }
    if (change.overlay) kit_.overlaid.push_back({change.name, change.file, change.replace});
    for (size_t index : targets) {
      KitSync& each = kit_.syncs[index];
      each.replaced = each.replaced || !change.replace.empty();
      // What was replaced already stays so; an overlay decides anew about all else.
      if (each.active() || (each.replaced && !each.inactive.starts_with("overridden"))) {
        each.inactive = change.replace.empty() ? "disabled in " + change.file : "overridden by " + change.replace;
      }
    }
    if (change.replace.empty()) return;
    const SyncFile* rules = rules_of(change.replace);
    if (rules == nullptr) {
      error(change.file, change.mark, change.name.size(), "missing-file",
            "the replacement of " + quoted(change.name) + " is missing: " + missing_[change.replace].message,
            hint_of(missing_[change.replace]));
      return;
    }
    if (faulty_.contains(change.replace)) return;
    std::vector<const Sync*> found;
    for (const auto& rule : rules->rules) {
      if (const auto* sync = std::get_if<Sync>(&rule)) found.push_back(sync);
    }
    if (found.size() > 1) {
      std::erase_if(found, [&](const Sync* sync) { return sync->name.text != change.name; });
    }
    if (found.size() != 1) {
      error(change.file, change.mark, change.name.size(), "unknown-sync",
            change.replace + " does not say which sync replaces " + quoted(change.name),
            "keep one sync in the file, or name it " + quoted(change.name));
      return;
    }
    KitSync replacement = kit_.syncs[targets.back()];
    replacement.replaces = replacement.tree.file + ":" + std::to_string(replacement.tree.name.at.line);
    replacement.tree = *found[0];
    replacement.inactive.clear();
    replacement.replaced = false;
    listed_.insert(found[0]);
    kit_.syncs.push_back(std::move(replacement));
  }

  template <typename Visit>
  static void named(const Sync& sync, const Visit& visit) {
    for (const Pattern& pattern : sync.when) visit(pattern.concept_.text);
    for (const Condition& condition : sync.where) visit(condition.query.concept_.text);
    for (const Effect& effect : sync.then) visit(effect.concept_.text);
  }
  template <typename Visit>
  static void named(const Guard& guard, const Visit& visit) {
    if (guard.before) visit(guard.before->concept_.text);
    if (guard.over) visit(guard.over->concept_.text);
    for (const auto* conditions : {&guard.where, &guard.require}) {
      for (const Condition& condition : *conditions) visit(condition.query.concept_.text);
    }
  }

  void activate() {
    // A concept that a kit would bring which is not installed may be one of this kit.
    std::unordered_set<std::string> loaded;
    for (const KitConcept& each : kit_.concepts) loaded.insert(each.tree.name);
    std::erase_if(kit_.absent, [&](const AbsentConcept& each) { return loaded.contains(each.name); });
    std::unordered_set<std::string> absent;
    for (const AbsentConcept& each : kit_.absent) absent.insert(each.name);
    auto first_absent = [&](const auto& rule) {
      std::string found;
      named(rule, [&](const std::string& name) {
        if (found.empty() && absent.contains(name)) found = name;
      });
      return found;
    };
    for (KitSync& each : kit_.syncs) {
      std::string missing = each.active() ? first_absent(each.tree) : "";
      if (missing.empty()) continue;
      if (each.tier == Tier::required) {
        error(each.tree.file, each.tree.name.at, each.tree.name.text.size(), "required-sync",
              "sync " + quoted(each.tree.name.text) + " of suite " + quoted(each.kit) + " is required, but names " +
                  quoted(missing) + ", which is not loaded",
              "load the concept, or list the sync as recommended");
      }
      each.inactive = quoted(missing) + " is not loaded";
    }
    for (KitGuard& each : kit_.guards) {
      std::string missing = first_absent(each.tree);
      if (missing.empty()) continue;
      each.inactive = quoted(missing) + " is not loaded";
      warning(each.tree.file, each.tree.name.at, each.tree.name.text.size(), "inactive-guard",
              "guard " + quoted(each.tree.name.text) + " is inactive: " + each.inactive,
              "load the concept if the guard is wanted");
    }
  }

  void tell_duplicates() {
    std::map<std::string, const KitSync*> syncs;
    std::map<std::string, std::string> guards, aliases;
    auto place = [](const std::string& file, const Mark& mark) { return file + ":" + std::to_string(mark.line); };
    for (const KitSync& each : kit_.syncs) {
      if (each.tree.when.empty() || each.replaced) continue;
      auto [first, fresh] = syncs.try_emplace(each.tree.name.text, &each);
      if (fresh) continue;
      const KitSync& other = *first->second;
      std::string here = place(each.tree.file, each.tree.name.at), there = place(other.tree.file, other.tree.name.at);
      if (here == there && !each.suite.empty()) {
        error(each.suite, each.entry, 1, "duplicate", "sync " + quoted(each.tree.name.text) + " is listed twice",
              "take out one of the two; the first is at " + place(other.suite, other.entry));
        continue;
      }
      error(each.tree.file, each.tree.name.at, each.tree.name.text.size(), "duplicate",
            "a second sync " + quoted(each.tree.name.text), "rename or remove one; the first is at " + there);
    }
    for (const KitGuard& each : kit_.guards) {
      auto [first, fresh] = guards.try_emplace(each.tree.name.text, place(each.tree.file, each.tree.name.at));
      if (!fresh) {
        error(each.tree.file, each.tree.name.at, each.tree.name.text.size(), "duplicate",
              "a second guard " + quoted(each.tree.name.text),
              "rename or remove one; the first is at " + first->second);
      }
    }
    for (const auto& [file, mark, alias] : alias_places_) {
      if (alias.empty()) continue;
      auto [first, fresh] = aliases.try_emplace(alias, place(file, mark));
      if (!fresh) {
        error(file, value_after(file, mark, 0, alias), count_code_points(alias), "duplicate",
              "a second sync with the name " + quoted(alias), "rename or remove one; the first is at " + first->second);
      }
    }
  }

  struct AliasPlace {
    std::string file;
    Mark mark;
    std::string alias;
  };

  const ReadText& read_;
  const KitOptions& options_;
  Kit kit_;
  std::vector<std::string> loading_;  // suites on the way in, outermost first
  std::unordered_set<std::string> loaded_, guarded_;
  std::map<std::string, std::string> concept_places_;
  std::map<std::string, std::optional<SyncFile>> files_;
  std::map<std::string, Error> missing_;    // why a file could not be read
  std::unordered_set<std::string> faulty_;  // files with rules that could not be read
  std::unordered_set<const Sync*> listed_;
  std::vector<AliasPlace> alias_places_;
  std::vector<Change> changes_;
  std::unordered_map<std::string, std::vector<size_t>> by_name_;  // the first `indexed_` syncs
  size_t indexed_ = 0;
  std::map<std::pair<std::string, size_t>, const Change*> changed_;  // by file and sync
};

}  // namespace

Kit load_kit(const std::string& folder, const ReadText& read, const KitOptions& options) {
  return Loader(read, options).load(folder);
}

std::string_view tier_name(Tier tier) {
  switch (tier) {
    case Tier::required:
      return "required";
    case Tier::recommended:
      return "recommended";
    case Tier::integration:
      return "integration";
  }
  return "";
}

}  // namespace sluice::lang
