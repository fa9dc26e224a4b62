// A text uses the name if it is the name, or refers into the environment: secret://dev/…, runtime://dev/….
#include "deploy/views/name_search.h"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>

#include "base/json.h"
#include "base/terminal.h"
#include "bundle/archive/inspect.h"
#include "config.gen.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/views/answers.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace {

class Search {
 public:
  Search(const lang::Snapshot& snapshot, Disk& disk, GivenUp names, std::string store)
      : snapshot_(snapshot),
        states_(snapshot),
        disk_(disk),
        name_(std::move(names.name)),
        target_(std::move(names.target)),
        store_(std::move(store)) {}

  std::vector<NameUse> run() {
    search_environments();
    search_deployments();
    search_revisions();
    return std::move(found_);
  }

 private:
  void add(UseLevel level, const std::string& kind, const std::string& key, const std::string& what) {
    add_in(store_, level, kind, key, what);
  }
  void add_in(const std::string& file, UseLevel level, const std::string& kind, const std::string& key,
              const std::string& what) {
    found_.push_back({level, kind, file, key, what});
  }

  bool refers(std::string_view text) const { return text.find("://" + name_ + "/") != std::string_view::npos; }
  bool uses(std::string_view text) const { return text == name_ || refers(text); }

  // Calls back with the JSON pointer and the text of each text below the value that uses the name.
  void each_use(const json::value& root, const std::function<void(const std::string&, const std::string&)>& found) {
    std::vector<std::pair<std::string, const json::value*>> open = {{"", &root}};
    while (!open.empty()) {
      auto [path, value] = open.back();
      open.pop_back();
      if (value->is_string() && uses(value->get_string())) found(path, std::string(value->get_string()));
      if (value->is_object()) {
        for (const auto& each : value->get_object())
          open.emplace_back(path + "/" + std::string(each.key()), &each.value());
      }
      if (value->is_array()) {
        for (size_t i = 0; i < value->get_array().size(); ++i) {
          open.emplace_back(path + "/" + std::to_string(i), &value->get_array()[i]);
        }
      }
    }
  }

  void search_environments() {
    for (const env::EnvFound& each : states_.env().all()) {
      const std::string& id = each.id.text();
      const std::string row = "Env/" + id;
      if (id == name_) add(UseLevel::info, "environment", row, "the environment itself");
      if (each.record.extends && each.record.extends->text() == name_) {
        add(UseLevel::blocking, "environment", row + "/extends", id + " extends it");
      }
      const std::string credentials = each.record.credentialsRef.value_or("");
      if (!credentials.empty() && (id == name_ || refers(credentials))) {
        add(UseLevel::blocking, "secrets", row + "/credentials_ref", credentials);
      }
      for (const auto& value : states_.config().values(config::ConfigId(id)).values()) {
        if (id == name_) {
          add(UseLevel::info, "config", "Config/" + id + "/" + value.key, value.value + lost_to(value));
        } else if (uses(value.value)) {
          add(UseLevel::blocking, "config", "Config/" + id + "/" + value.key, value.value);
        }
      }
      if (id == name_) tell_of_lost_packs();
      for (const PackAnswers& answers : pack_answers(snapshot_, id)) search_answers(answers);
    }
  }

  // What the target says itself stays: what the other says instead goes with it.
  std::string lost_to(const config::ConfigValue& value) const {
    for (const auto& each : states_.config().values(config::ConfigId(target_)).values()) {
      if (each.key == value.key && each.value != value.value) return stays(each.value);
    }
    return "";
  }

  void tell_of_lost_packs() {
    const auto kept = states_.env().packs(env::EnvId(target_)).values();
    for (const env::EnvPack& each : states_.env().packs(env::EnvId(name_)).values()) {
      auto other = std::ranges::find(kept, each.slot, &env::EnvPack::slot);
      if (other == kept.end() || other->kind == each.kind) continue;
      add(UseLevel::info, "environment", "Env/" + name_ + "/packs/" + each.slot, each.kind + stays(other->kind));
    }
  }

  std::string stays(const std::string& kept) const { return ", lost: " + target_ + " has " + kept + ", which stays"; }

  void search_answers(const PackAnswers& answers) {
    auto document = read_answers(disk_, answers.file);
    if (!document) {
      add_in(answers.file, UseLevel::blocking, "config", "/", "cannot be read: " + document.error().message);
      return;
    }
    each_use(document->root, [&](const std::string& path, const std::string& text) {
      add_in(answers.file, UseLevel::blocking, "config", path, text);
    });
  }

  void search_deployments() {
    for (const auto& each : states_.deployment().all()) {
      const std::string row = "Deployment/" + each.id.text();
      if (each.record.environment == name_) {
        bool archived = each.record.status == deployment::DeploymentStatus::archived;
        add(UseLevel::blocking, "environment", row + "/environment",
            each.record.bundle + " for " + each.record.customer + " is deployed there" +
                (archived ? ", and archived" : ""));
      }
      if (each.record.configOverrides.empty()) continue;
      auto overrides = parse_json(each.record.configOverrides);
      if (!overrides) continue;
      each_use(overrides->root, [&](const std::string& path, const std::string& text) {
        add(UseLevel::blocking, "config", row + "/config_overrides" + path, text);
      });
    }
  }

  void search_revisions() {
    for (const auto& each : states_.revision().all()) {
      const revision::RevisionRecord& record = each.record;
      const bool archived = record.lifecycle == revision::RevisionLifecycle::archived;
      const std::string row = "Revision/" + each.id.text();
      if (record.environment == name_) {
        add(archived ? UseLevel::info : UseLevel::blocking, "environment", row + "/environment",
            record.bundle + "@" + std::to_string(record.sequence) + " is " +
                std::string(revision::name_of(record.lifecycle)) + " there");
      }
      auto config = parse_json(record.packConfig);
      if (config) {
        each_use(config->root, [&](const std::string& path, const std::string& text) {
          const bool secret = path.starts_with("/secret_refs/");
          add(archived ? UseLevel::info : UseLevel::blocking, secret ? "secrets" : "config", row + path, text);
        });
      }
      if (!archived && !record.artifact.empty()) search_manifest(record);
    }
  }

  // What a bundle takes for granted: values of its variables, and what it would answer by itself.
  void search_manifest(const revision::RevisionRecord& record) {
    const std::string file = record.artifact + "/" + std::string(bundle::kManifestName);
    auto inspected = bundle::inspect_archive(disk_, record.artifact);
    auto manifest =
        inspected ? bundle::manifest_of(*inspected, record.artifact) : Result<bundle::Manifest>(inspected.error());
    if (!manifest) {
      add_in(file, UseLevel::blocking, "bundles", "/", "cannot be read: " + manifest.error().message);
      return;
    }
    for (const auto& [variable, text] : manifest->env) {
      if (uses(text)) add_in(file, UseLevel::blocking, "bundles", "/env/" + variable, text);
    }
    for (size_t i = 0; i < manifest->config.size(); ++i) {
      const auto& answer = manifest->config[i].default_;
      if (!answer || !answer->is_string() || !uses(answer->get_string())) continue;
      add_in(file, UseLevel::blocking, "bundles", "/config/" + std::to_string(i) + "/default",
             std::string(answer->get_string()));
    }
  }

  const lang::Snapshot& snapshot_;
  const States states_;
  Disk& disk_;
  const std::string name_;
  const std::string target_;
  const std::string store_;
  std::vector<NameUse> found_;
};

}  // namespace

std::vector<NameUse> uses_of_environment(const lang::Snapshot& snapshot, Disk& disk, const GivenUp& names,
                                         const std::string& store) {
  return Search(snapshot, disk, names, store).run();
}

}  // namespace sluice::deploy::views
