// A rule is on the disk before the engine loads it, so that what runs is what a restart finds.
#include "deploy/app_kit_shelf.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxRuleFile = 8 * kMaxAppKitBytes;
constexpr std::string_view kEnding = ".json";

// The name of a concept in the engine: the one under which this very text is known there, else the next that is free.
std::string name_in_engine(const AppConcept& wanted, const std::string& base, const std::vector<KeptRule>& all) {
  size_t taken = 0;
  std::map<std::string, bool> names;
  for (const KeptRule& rule : all) {
    for (const KeptConcept& each : rule.concepts) {
      if (each.name != base && !each.name.starts_with(base + "_")) continue;
      if (each.own != wanted.name) continue;
      if (each.text == wanted.text) return each.name;
      taken += names.emplace(each.name, true).second ? 1 : 0;
    }
  }
  return taken == 0 ? base : base + "_" + std::to_string(taken + 1);
}

}  // namespace

std::vector<KeptRule> AppKitShelf::all(const std::function<void(const std::string&)>& told) const {
  std::vector<KeptRule> found;
  auto entries =
      home_.empty() ? Result<std::vector<FolderEntry>>(std::vector<FolderEntry>()) : disk_.list(home_ + "/app-kits");
  if (!entries) {
    if (entries.error().code != Code::not_found) told(to_string(entries.error()));
    return found;
  }
  for (const FolderEntry& each : *entries) {
    if (!each.name.ends_with(kEnding)) continue;
    const std::string path = home_ + "/app-kits/" + each.name;
    auto text = read_file(disk_, path, kMaxRuleFile);
    auto parsed = text ? parse_json(*text, path) : Result<Document>(text.error());
    auto rule = parsed ? read<KeptRule>(parsed->root) : Result<KeptRule>(parsed.error());
    if (!rule) {
      told("a sync of an app is left out: " + to_string(rule.error()));
      continue;
    }
    found.push_back(*std::move(rule));
  }
  return found;
}

Result<std::string> AppKitShelf::put(const KeptRule& whose, const std::optional<AppRule>& rule) {
  std::lock_guard lock(mutex_);
  if (!load_) return Error{.code = Code::unavailable, .message = "no engine runs yet that could load it"};
  const std::string space = namespace_of(whose.environment, whose.kit);
  const std::string name = space + "_" + whose.rule;
  const std::string folder = home_ + "/app-kits", path = folder + "/" + name + std::string(kEnding);
  const std::vector<KeptRule> kept = all([](const std::string&) {});
  for (const KeptRule& each : kept) {
    if (namespace_of(each.environment, each.kit) != space) continue;
    if (each.environment == whose.environment && each.kit == whose.kit) continue;
    return Error{.code = Code::conflict,
                 .message = "the kits " + whose.kit + " of " + whose.environment + " and " + each.kit + " of " +
                            each.environment + " have the same name in the engine, " + space,
                 .next = "give the kit another name"};
  }
  auto before = std::ranges::find(kept, name, &KeptRule::name);
  KeptRule now = before == kept.end() ? whose : *before;
  now.app = whose.app;
  now.name = name;
  now.text.clear();
  if (rule) {
    std::map<std::string, std::string> names;
    for (const AppConcept& each : rule->concepts) {
      const std::string in_engine = name_in_engine(each, space + "_" + each.name, kept);
      names[each.name] = in_engine;
      if (std::ranges::find(now.concepts, in_engine, &KeptConcept::name) == now.concepts.end()) {
        now.concepts.push_back({in_engine, each.name, each.text});
      }
    }
    now.text = text_in_engine(*rule, name, names);
  } else if (before == kept.end()) {
    return name;
  }
  if (auto made = disk_.make_folder(folder, 0700); !made && made.error().code != Code::conflict) return made.error();
  if (auto written = write_atomically(disk_, path, write(to_json(now)) + "\n", 0600); !written) return written.error();
  auto loaded = load_();
  if (loaded) return name;
  auto undone =
      before == kept.end() ? disk_.remove(path) : write_atomically(disk_, path, write(to_json(*before)) + "\n", 0600);
  if (!undone) return undone.error();
  return loaded.error();
}

void AppKitShelf::load_with(Load load) {
  std::lock_guard lock(mutex_);
  load_ = std::move(load);
}

Result<void> AppKitShelf::load() {
  std::lock_guard lock(mutex_);
  return load_ ? load_() : Result<void>();
}

}  // namespace sluice::deploy
