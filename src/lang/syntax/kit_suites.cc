// Suites from the outermost in, and the files that they name.
#include <algorithm>
#include <span>

#include "base/nearest.h"
#include "lang/check/check.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/kit_loader.h"
#include "lang/syntax/suite_parser.h"
#include "lang/syntax/sync_parser.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

constexpr size_t kMaxUses = 100;  // kits that use one another, in a row

}  // namespace

// ------------------------------------------------------------------------------------------------------- suites

std::optional<Suite> KitLoader::read_suite(const std::string& file) {
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

void KitLoader::load_suite(const Suite& suite, const std::string& folder) {
  loading_.push_back(suite.name);
  for (const SuiteScope& scope : suite.scopes) kit_.scopes.push_back({scope, suite.file});
  if (!suite.rights.empty()) kit_.rights[suite.file] = suite.rights;
  for (const SuiteUse& use : suite.uses) load_use(suite, use, folder);
  for (const SuiteConcept& entry : suite.concepts) load_concept(suite, entry, folder);
  for (const SuiteSync& entry : suite.syncs) load_syncs(suite, entry, folder);
  for (const Name& path : suite.guards) {
    if (refuse_outside(suite.file, path.text, path.at, 0)) continue;
    std::string file = path_in(folder, path.text);
    if (!rules_of(file) && missing_.contains(file)) {
      error(suite.file, path.at, count_code_points(path.text), "missing-file", missing_[file].message,
            hint_of(missing_[file]));
    }
    load_guards(suite, file);
  }
  for (const SuiteOverride& each : suite.overrides) {
    const Name& name = each.name;
    if (refuse_outside(suite.file, each.path, name.at, name.text.size())) continue;
    changes_.push_back({name.text, suite.file, name.at, path_in(folder, each.path)});
  }
  for (const Name& name : suite.disable) changes_.push_back({name.text, suite.file, name.at, {}});
  loading_.pop_back();
  loaded_.insert(suite.name);
}

void KitLoader::load_use(const Suite& suite, const SuiteUse& use, const std::string& folder) {
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
  if (!loaded_.contains(use.suite)) find_used(suite, use);
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

// Looks for it in the search path, and loads it; what to do without it.
void KitLoader::find_used(const Suite& suite, const SuiteUse& use) {
  for (const std::string& place : options_.search_path) {
    std::string file = path_in(path_in(place, use.suite), "suite.yaml");
    auto text = read_(file);
    if (!text && text.error().code == Code::not_found) continue;
    if (auto used = read_suite(file)) load_used(suite, use, *used, path_in(place, use.suite));
    return;
  }
  std::string what = "the kit " + quoted(use.suite) + " is not installed";
  if (use.optional) {
    for (const SuiteConcept& entry : use.concepts) kit_.absent.push_back({entry.name, what});
    return;
  }
  std::string places;
  for (const std::string& place : options_.search_path) places += (places.empty() ? "" : ", ") + place;
  error(suite.file, value_after(suite.file, use.at, 0, use.suite), use.suite.size(), "unknown-suite", what,
        "install it, or write `optional: true`" + (places.empty() ? "" : "; looked in " + places));
  for (const SuiteConcept& entry : use.concepts) kit_.broken.push_back(entry.name);
}

// A kit that another one uses. It is known by the name under which it was found, so that must be its own.
void KitLoader::load_used(const Suite& suite, const SuiteUse& use, const Suite& used, const std::string& folder) {
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

// ----------------------------------------------------------------------------------------------------- concepts

void KitLoader::load_concept(const Suite& suite, const SuiteConcept& entry, const std::string& folder) {
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
  if (refuse_outside(suite.file, entry.spec, entry.at, entry.name.size())) {
    kit_.broken.push_back(entry.name);
    return;
  }
  auto where = [&](Diagnostic::Severity severity) {
    return value_after(suite.file, entry.at, entry.name.size(), entry.spec, severity);
  };
  std::string file = path_in(folder, entry.spec);
  auto text = read_(file);
  if (!text) {
    bool missing = text.error().code == Code::not_found;
    if (missing && entry.optional) {
      kit_.absent.push_back({entry.name, "its file is missing: " + file});
      warning(suite.file, where(Diagnostic::Severity::warning), count_code_points(entry.spec), "missing-file",
              "the optional concept " + quoted(entry.name) + " is not loaded: there is no " + file, kMendPath);
    } else {
      error(suite.file, where(Diagnostic::Severity::error), count_code_points(entry.spec), "missing-file",
            missing ? "the concept " + quoted(entry.name) + " has no file " + file : text.error().message,
            missing ? kMendPath : hint_of(text.error()));
      kit_.broken.push_back(entry.name);
    }
    return;
  }
  Diagnostics found;
  Concept tree = parse_whole_parts(*text, file, found);
  if (found.failed()) {
    for (Diagnostic& each : check_parts(tree, *text)) found.add(std::move(each));
    kit_.broken.push_back(entry.name);
  } else if (tree.name != entry.name) {
    error(suite.file, entry.at, entry.name.size(), "wrong-name",
          file + " holds the concept " + quoted(tree.name) + ", not " + quoted(entry.name),
          "write " + quoted(tree.name + ":") + " here, or rename the concept");
    kit_.broken.push_back(entry.name);
  }
  kit_.sources[file] = std::move(*text);
  take(found);
  if (!found.failed()) kit_.concepts.push_back({std::move(tree), entry, suite.name, suite.file});
}

void KitLoader::load_outside(const Suite& suite, const OutsideConcept& given) {
  Diagnostics found;
  Concept tree = parse_whole_parts(given.text, given.file, found);
  kit_.sources[given.file] = given.text;
  take(found);
  if (found.failed()) {
    kit_.broken.push_back(given.name);
    return;
  }
  if (!concept_places_.try_emplace(given.name, given.file).second) {
    error(given.file, tree.at, tree.name.size(), "duplicate", "a second concept " + quoted(given.name),
          "give the pack another name or version");
    return;
  }
  // A scenario names the concept.
  for (Invariant& each : tree.invariants) {
    for (std::vector<Step>* steps : {&each.before, &each.after, &each.then}) {
      for (Step& step : *steps) {
        if (step.concept_ == tree.name) step.concept_ = given.name;
      }
    }
  }
  tree.name = given.name;
  if (!tree.provides.empty()) tree.kind = given.kind;
  SuiteConcept entry{.at = tree.at, .name = given.name, .spec = given.file};
  kit_.concepts.push_back({std::move(tree), std::move(entry), suite.name, suite.file, true});
}

// -------------------------------------------------------------------------------------------------------- rules

// The whole rules of a file, parsed once; nothing if it is missing.
const KitLoader::Rules* KitLoader::rules_of(const std::string& file) {
  auto [known, fresh] = files_.try_emplace(file);
  std::optional<Rules>& rules = known->second;
  if (!fresh) return rules ? &*rules : nullptr;
  auto text = read_(file);
  if (!text) {
    missing_[file] = text.error();
    if (text.error().code == Code::not_found) {
      missing_[file] = Error{.code = Code::not_found, .message = "there is no file " + file};
    }
    return nullptr;
  }
  Diagnostics found;
  rules.emplace().tree = parse_whole_rules(*text, file, found);
  for (const auto& rule : rules->tree.rules) {
    if (const auto* sync = std::get_if<Sync>(&rule)) rules->by_name[sync->name.text].push_back(sync);
  }
  rules->faulty = found.failed();
  faulty_ = faulty_ || rules->faulty;
  kit_.sources[file] = std::move(*text);
  take(found);
  return &*rules;
}

void KitLoader::load_guards(const Suite& suite, const std::string& file) {
  const Rules* rules = rules_of(file);
  if (rules == nullptr || !guarded_.insert(file).second) return;
  for (const auto& rule : rules->tree.rules) {
    if (const auto* guard = std::get_if<Guard>(&rule)) kit_.guards.push_back({*guard, suite.name, {}});
  }
}

void KitLoader::load_syncs(const Suite& suite, const SuiteSync& entry, const std::string& folder) {
  Mark mark = entry.at;
  if (refuse_outside(suite.file, entry.path, mark, 0)) {
    kit_.incomplete = true;
    return;
  }
  std::string file = path_in(folder, entry.path);
  const Rules* rules = rules_of(file);
  if (rules == nullptr) {
    std::string title = entry.name.empty() ? entry.sync.empty() ? entry.path : entry.sync : entry.name;
    bool inactive = entry.tier == Tier::integration && missing_[file].code == Code::not_found;
    auto severity = inactive ? Diagnostic::Severity::warning : Diagnostic::Severity::error;
    tell(severity, suite.file, value_after(suite.file, mark, 0, entry.path, severity), count_code_points(entry.path),
         "missing-file",
         (inactive ? "the integration sync " + quoted(title) + " is inactive: "
                   : "the sync " + quoted(title) + " is missing: ") +
             missing_[file].message,
         hint_of(missing_[file]));
    if (!inactive) {
      kit_.incomplete = true;
      return;
    }
    Sync none;
    none.file = file;
    none.name.text = title;
    kit_.syncs.push_back({none, entry.tier, title, suite.name, "its file is missing"});
    return;
  }
  load_guards(suite, file);
  std::vector<const Sync*> chosen;
  if (auto found = rules->by_name.find(entry.sync); found != rules->by_name.end()) chosen = found->second;
  for (const auto& rule : rules->tree.rules) {
    if (!entry.sync.empty()) break;
    if (const auto* sync = std::get_if<Sync>(&rule)) chosen.push_back(sync);
  }
  if (chosen.empty()) {
    if (rules->faulty) return;  // it may be one with errors, which are told
    std::vector<std::string> names;
    for (const auto& [name, syncs] : rules->by_name) names.emplace_back(name);
    std::ranges::sort(names);
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
  for (const Sync* sync : chosen) add_sync(suite, entry, *sync);
}

void KitLoader::add_sync(const Suite& suite, const SuiteSync& entry, const Sync& sync) {
  KitSync added{sync, entry.tier, entry.name.empty() ? sync.name.text : entry.name, suite.name};
  auto [first, fresh] = listed_.try_emplace(&sync, Entry{suite.file, entry.at});
  if (!fresh) {
    error(suite.file, entry.at, 1, "duplicate", "sync " + quoted(sync.name.text) + " is listed twice",
          "take out one of the two; the first is at " + first->second.suite + ":" +
              std::to_string(first->second.mark.line));
    added.inactive = "it is listed twice";
    added.again = true;
  }
  kit_.syncs.push_back(std::move(added));
  alias_places_.push_back({suite.file, entry.at, entry.name, sync.name.text});
}

}  // namespace sluice::lang
