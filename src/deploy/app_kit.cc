// A kit is read by the loader and the checker of every kit; what else a kit beside Sluice's own must keep to is looked
// for in its rules afterwards.
#include "deploy/app_kit.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "lang/check/check.h"
#include "lang/format/format.h"
#include "lang/syntax/kit.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::deploy {
namespace {

constexpr std::string_view kTimer = "Timer";  // the concept of the engine that an app may use
constexpr std::string_view kOverlay = "deploy.overrides.yaml";

class AppKitReader {
 public:
  AppKitReader(const lang::Kit& kit, ReadAppKit& into) : kit_(kit), into_(into) {
    for (const lang::KitConcept& each : kit.concepts) own_.insert(each.tree.name);
  }

  void look() {
    for (const lang::KitConcept& each : kit_.concepts) look_at(each.tree);
    for (const lang::KitGuard& each : kit_.guards) {
      refuse(each.tree.file, each.tree.at, "a guard binds every flow of the engine, so an app's kit has none");
    }
    for (const lang::KitSync& each : kit_.syncs) {
      if (each.active() && each.is_there()) look_at(each.tree);
    }
  }

  // The concepts that a sync names.
  static std::set<std::string> named(const lang::Sync& sync) {
    std::set<std::string> names;
    for (const lang::Pattern& each : sync.when) names.insert(each.concept_.text);
    for (const lang::Effect& each : sync.then) names.insert(each.concept_.text);
    names.erase(std::string(kTimer));
    return names;
  }

 private:
  void refuse(const std::string& file, const Mark& at, const std::string& what) {
    into_.faults.push_back(file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what);
  }

  void look_at(const lang::Concept& tree) {
    if (!tree.provides.empty()) {
      refuse(tree.file, tree.at, "an app's concept provides nothing for another one");
    }
    for (const lang::Action& each : tree.actions) {
      if (each.runs == lang::Runs::effect || each.runs == lang::Runs::query) continue;
      refuse(tree.file, each.at, "a component serves effects and queries, and the action " + each.name + " is neither");
    }
  }

  void name(const lang::Sync& sync, const lang::Name& name) {
    if (name.text == kTimer || own_.contains(name.text)) return;
    const bool open = name.text.starts_with("?");
    refuse(sync.file, name.at,
           open ? "a sync of an app's kit names its concepts; " + name.text + " could be one of Sluice's own"
                : "the kit has no concept " + name.text + ", and its rules may name no other");
  }

  void look_at(const lang::Sync& sync) {
    for (const lang::Pattern& each : sync.when) name(sync, each.concept_);
    for (const lang::Condition& each : sync.where) {
      if (each.kind != lang::Condition::Kind::query && each.kind != lang::Condition::Kind::no) continue;
      refuse(sync.file, each.at,
             "the component keeps the state of " + each.query.concept_.text +
                 ", so a where cannot read it; take it from a completion");
    }
    for (const lang::Effect& each : sync.then) {
      if (each.kind == lang::Effect::Kind::answer) {
        refuse(sync.file, each.at, "a sync of an app's kit answers no requests");
      } else {
        name(sync, each.concept_);
      }
    }
  }

  const lang::Kit& kit_;
  ReadAppKit& into_;
  std::set<std::string> own_;
};

std::string canonical_text(const lang::Sync& sync) {
  lang::SyncFile file;
  file.rules.emplace_back(sync);
  return lang::format(file);
}

std::string camel(const std::string& name) {
  std::string all;
  bool begins = true;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) all += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = !letter;
  }
  return all.empty() || (all.front() >= '0' && all.front() <= '9') ? "N" + all : all;
}

}  // namespace

std::string kept_override(const std::string& path) {
  return "deploy.overrides/" + std::filesystem::path(path).lexically_normal().string();
}

ReadAppKit read_app_kit(const std::string& folder, const std::map<std::string, std::string>& files,
                        const std::map<std::string, std::string>& overrides) {
  ReadAppKit found;
  const std::string below = folder.ends_with("/") ? folder : folder + "/";
  const std::string overlay = below + std::string(kOverlay);
  json::object replaced;
  for (const auto& [sync, path] : overrides) replaced[sync] = kept_override(path);
  const std::string overlay_text = write(json::object{{"overrides", std::move(replaced)}});
  const lang::ReadText read = [&](const std::string& path) -> Result<std::string> {
    if (path == overlay) return overlay_text;
    auto file = path.starts_with(below) ? files.find(path.substr(below.size())) : files.end();
    if (file == files.end()) return Error{.code = Code::not_found, .message = "there is no file " + path};
    return file->second;
  };
  lang::KitOptions options;
  if (!overrides.empty()) options.overlays.push_back(overlay);
  lang::Kit kit = lang::load_kit(below.substr(0, below.size() - 1), read, options);
  for (lang::KitConcept& each : kit.concepts) {
    for (lang::Action& action : each.tree.actions) {
      if (action.runs == lang::Runs::pure) action.runs = lang::Runs::effect;
    }
  }
  const std::string name = kit.suite.name, version = kit.suite.version;
  lang::Kit kept = kit;
  const lang::Checked checked = lang::check(std::move(kit));
  for (const lang::Diagnostic& each : checked.diagnostics) {
    if (each.severity != lang::Diagnostic::Severity::error) continue;
    found.faults.push_back(each.file + ":" + std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column) +
                           ": " + each.text);
  }
  if (!checked.kit && found.faults.empty()) found.faults.push_back(folder + " is no kit that can be loaded");
  if (!found.faults.empty()) return found;
  AppKitReader(kept, found).look();
  if (!found.faults.empty()) return found;
  found.kit = AppKit{.name = name, .version = version};
  for (const lang::KitSync& each : kept.syncs) {
    if (!each.active() || !each.is_there()) continue;
    AppRule rule{.name = each.tree.name.text,
                 .integration = each.tier == lang::Tier::integration,
                 .text = canonical_text(each.tree)};
    for (const std::string& concept_ : AppKitReader::named(each.tree)) {
      auto tree = std::ranges::find(kept.concepts, concept_, [](const auto& one) { return one.tree.name; });
      rule.concepts.push_back({concept_, kept.sources.at(tree->tree.file)});
    }
    found.kit->rules.push_back(std::move(rule));
  }
  std::ranges::sort(found.kit->rules, {}, &AppRule::name);
  return found;
}

std::string digest_of(const AppRule& rule) { return "sha256:" + crypto::to_hex(crypto::sha256(write(to_json(rule)))); }

std::string namespace_of(const std::string& environment, const std::string& kit) {
  return camel(environment) + "_" + camel(kit);
}

std::string text_in_engine(const AppRule& rule, const std::string& name,
                           const std::map<std::string, std::string>& names) {
  lang::Diagnostics found;
  auto file = lang::parse_sync(rule.text, rule.name, found);
  if (!file) return "";
  auto translate = [&](lang::Name& one) {
    if (auto known = names.find(one.text); known != names.end()) one.text = known->second;
  };
  for (auto& each : file->rules) {
    auto& sync = std::get<lang::Sync>(each);
    sync.name.text = name;
    for (lang::Pattern& pattern : sync.when) translate(pattern.concept_);
    for (lang::Effect& effect : sync.then) translate(effect.concept_);
  }
  return lang::format(*file);
}

}  // namespace sluice::deploy
