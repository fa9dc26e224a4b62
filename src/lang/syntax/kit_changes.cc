// What is active: overlays, overrides, what is disabled, and what is not loaded. Then what stands there twice, or in no
// suite.
#include <algorithm>
#include <span>

#include "base/nearest.h"
#include "base/yaml.h"
#include "lang/syntax/kit_loader.h"
#include "lang/syntax/suite_parser.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

std::string folder_of_file(const std::string& file) {
  size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

template <typename Visit>
void named(const Sync& sync, const Visit& visit) {
  for (const Pattern& pattern : sync.when) visit(pattern.concept_.text);
  for (const Condition& condition : sync.where) visit(condition.query.concept_.text);
  for (const Effect& effect : sync.then) visit(effect.concept_.text);
}
template <typename Visit>
void named(const Guard& guard, const Visit& visit) {
  if (guard.before) visit(guard.before->concept_.text);
  if (guard.over) visit(guard.over->concept_.text);
  for (const auto* conditions : {&guard.where, &guard.require}) {
    for (const Condition& condition : *conditions) visit(condition.query.concept_.text);
  }
}

}  // namespace

void KitLoader::read_overlay(const std::string& file) {
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
        if (!is_rule_name(name)) {
          wrong(pointer, std::string(kRuleName));
          continue;
        }
        if (!path.is_string()) {
          wrong(pointer, "the replacement of " + quoted(std::string(name)) + " is a path");
          continue;
        }
        auto position = document->position_of(pointer);
        Mark mark{position->line, position->column};
        std::string replacing(path.get_string());
        if (refuse_outside(file, replacing, mark, name.size())) continue;
        changes_.push_back({std::string(name), file, mark, path_in(folder_of_file(file), replacing), true});
      }
    } else if (key == "disable" && value.is_array()) {
      size_t index = 0;
      for (const json::value& name : value.get_array()) {
        std::string pointer = base + "/" + std::to_string(index++);
        if (!name.is_string()) {
          wrong(pointer, "`disable` lists the names of syncs");
          continue;
        }
        if (!is_rule_name(name.get_string())) {
          wrong(pointer, std::string(kRuleName));
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
std::vector<size_t> KitLoader::syncs_named(const std::string& name) {
  for (; indexed_ < kit_.syncs.size(); ++indexed_) {
    const KitSync& each = kit_.syncs[indexed_];
    by_name_[each.alias].push_back(indexed_);
    if (each.tree.name.text != each.alias) by_name_[each.tree.name.text].push_back(indexed_);
  }
  auto found = by_name_.find(name);
  return found == by_name_.end() ? std::vector<size_t>{} : found->second;
}

// Tells why not.
bool KitLoader::may_change(const Change& change, const std::vector<size_t>& targets) {
  std::string verb = change.replace.empty() ? "disabled" : "overridden";
  if (targets.empty()) {
    if (faulty_) return false;  // it may be one that could not be read
    std::vector<std::string> names;
    for (const KitSync& each : kit_.syncs) names.push_back(each.alias);
    auto near = nearest(change.name, std::span<const std::string>(names));
    error(change.file, change.mark, change.name.size(), "unknown-sync",
          "there is no sync " + quoted(change.name) + " to be " + verb,
          near ? "did you mean " + quoted(*near) + "?" : "sluice kit show lists the syncs");
    return false;
  }
  for (size_t index : targets) {
    if (kit_.syncs[index].tier != Tier::required) continue;
    error(change.file, change.mark, change.name.size(), "required-sync",
          "sync " + quoted(change.name) + " of suite " + quoted(kit_.syncs[index].kit) + " is required: it cannot be " +
              verb,
          "take this entry out");
    return false;
  }
  for (size_t index : targets) {
    auto [first, fresh] = changed_.try_emplace({change.file, index}, &change);
    bool same = fresh || (change.replace.empty() && first->second->replace.empty());
    if (same) continue;
    bool both = change.replace.empty() != first->second->replace.empty();
    error(change.file, change.mark, change.name.size(), "changed-twice",
          "sync " + quoted(change.name) + (both ? " is both overridden and disabled" : " is overridden twice"),
          "keep one of the two; the other is at line " + std::to_string(first->second->mark.line));
    return false;
  }
  return true;
}

void KitLoader::apply(const Change& change) {
  std::vector<size_t> targets = syncs_named(change.name);
  if (!may_change(change, targets)) return;
  if (change.overlay) kit_.overlaid.push_back({change.name, change.file, change.replace});
  for (size_t index : targets) {
    KitSync& each = kit_.syncs[index];
    each.replaced = each.replaced || !change.replace.empty();
    // What was replaced already stays so; an overlay decides anew about all else.
    if (each.active() || (each.replaced && !each.inactive.starts_with("overridden"))) {
      each.inactive = change.replace.empty() ? "disabled in " + change.file : "overridden by " + change.replace;
    }
  }
  if (!change.replace.empty()) replace(change, kit_.syncs[targets.back()]);
}

void KitLoader::replace(const Change& change, const KitSync& target) {
  const Rules* rules = rules_of(change.replace);
  if (rules == nullptr) {
    error(change.file, change.mark, change.name.size(), "missing-file",
          "the replacement of " + quoted(change.name) + " is missing: " + missing_[change.replace].message,
          hint_of(missing_[change.replace]));
    return;
  }
  if (rules->faulty) return;
  std::vector<const Sync*> found;
  for (const auto& rule : rules->tree.rules) {
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
  KitSync replacement = target;
  replacement.replaces = replacement.tree.file + ":" + std::to_string(replacement.tree.name.at.line);
  replacement.tree = *found[0];
  replacement.inactive.clear();
  replacement.replaced = replacement.again = false;
  listed_.try_emplace(found[0], Entry{change.file, change.mark});
  kit_.syncs.push_back(std::move(replacement));
}

void KitLoader::activate() {
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

void KitLoader::tell_duplicates() {
  std::map<std::string, const KitSync*> syncs;
  std::map<std::string, std::string> guards, aliases;
  auto place = [](const std::string& file, const Mark& mark) { return file + ":" + std::to_string(mark.line); };
  for (const KitSync& each : kit_.syncs) {
    if (!each.is_there()) continue;
    auto [first, fresh] = syncs.try_emplace(each.tree.name.text, &each);
    if (fresh) continue;
    const KitSync& other = *first->second;
    error(each.tree.file, each.tree.name.at, each.tree.name.text.size(), "duplicate",
          "a second sync " + quoted(each.tree.name.text),
          "rename or remove one; the first is at " + place(other.tree.file, other.tree.name.at));
  }
  for (const KitGuard& each : kit_.guards) {
    auto [first, fresh] = guards.try_emplace(each.tree.name.text, place(each.tree.file, each.tree.name.at));
    if (!fresh) {
      error(each.tree.file, each.tree.name.at, each.tree.name.text.size(), "duplicate",
            "a second guard " + quoted(each.tree.name.text), "rename or remove one; the first is at " + first->second);
    }
  }
  // A name must lead to one sync, be it its own or an alias.
  for (const auto& [file, mark, alias, sync] : alias_places_) {
    if (alias.empty()) continue;
    auto [first, fresh] = aliases.try_emplace(alias, place(file, mark));
    auto own = syncs.find(alias);
    bool taken = own != syncs.end() && alias != sync;
    if (fresh && !taken) continue;
    error(file, value_after(file, mark, 0, alias), count_code_points(alias), "duplicate",
          "a second sync with the name " + quoted(alias),
          "rename or remove one; the first is at " +
              (fresh ? place(own->second->tree.file, own->second->tree.name.at) : first->second));
  }
}

// A rule that stands in a loaded file and in no suite would be missed silently.
void KitLoader::tell_unlisted() {
  for (const auto& [file, rules] : files_) {
    if (!rules || rules->faulty) continue;
    for (const auto& rule : rules->tree.rules) {
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

}  // namespace sluice::lang
