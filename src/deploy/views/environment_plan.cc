// Compares documents: what is, as it would be exported, with what is wanted.
#include "deploy/views/environment_plan.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json.h"
#include "base/json_writer.h"
#include "config.gen.h"
#include "deploy/environment_rules.h"
#include "deploy/host_config.h"
#include "deploy/packs.h"
#include "deploy/views/bundles_plan.h"
#include "deploy/views/documents.h"
#include "deploy/views/environment_file.h"
#include "deployment.gen.h"

namespace sluice::deploy::views {
namespace {

constexpr std::string_view kSchema = "sluice.environment.v1";

class Planner {
 public:
  Planner(const States& states, const Document& file, bool prune) : states_(states), file_(file), prune_(prune) {}

  Result<EnvironmentPlan> run() {
    if (auto sound = check_fields_of<EnvironmentFile>(file_, "", file_.root); !sound) return sound.error();
    auto schema = text_at(file_, "", file_.root, "schema");
    if (!schema) return schema.error();
    if (*schema != kSchema) return wrong(file_, "/schema", "expected sluice.environment.v1");
    auto id = text_at(file_, "", file_.root, "environment_id");
    if (!id) return id.error();
    if (id->empty()) return wrong(file_, "", "expected an environment_id");
    if (std::string fault = fault_of_environment_name(*id); !fault.empty())
      return wrong(file_, "/environment_id", fault);
    plan_.environment = *id;
    record_ = states_.env().get(env::EnvId(*id));
    for (auto step : {&Planner::plan_self, &Planner::plan_packs, &Planner::plan_config}) {
      if (auto done = (this->*step)(); !done) return done.error();
    }
    if (auto done = plan_bundles(states_, file_, prune_, plan_); !done) return done.error();
    return std::move(plan_);
  }

 private:
  void add(char sign, std::string what, std::string action, json::object input) {
    plan_.changes.push_back({sign, std::move(what), std::move(action), std::move(input)});
  }

  Result<void> plan_self() {
    auto name = text_at(file_, "", file_.root, "name");
    if (!name) return name.error();
    auto extends = text_at(file_, "", file_.root, "extends");
    if (!extends) return extends.error();
    env::EnvRecord now = record_.value_or(env::EnvRecord{});
    if (!record_) {
      json::object made{{"environment", plan_.environment}};
      if (!name->empty()) made["name"] = *name;
      // The packs are in the file; what it extends is only said.
      if (!extends->empty()) made["extends"] = *extends;
      if (!extends->empty() && !states_.env().has(env::EnvId(*extends))) {
        return wrong(file_, "/extends", "there is no environment " + *extends);
      }
      add('+', "environment " + plan_.environment, "Env/create", std::move(made));
      now.name = name->empty() ? plan_.environment : *name;
      now.retention = {.archivedMaxAgeDays = 14, .stagedMaxCount = 5};
    }
    // What an environment was made after is its past: no command changes it, so a file cannot either.
    const json::value* said = file_.root.as_object().if_contains("extends");
    if (record_ && said != nullptr && *extends != now.extends.value_or(env::EnvId()).text()) {
      return wrong(file_, "/extends",
                   plan_.environment + " was made after " +
                       (now.extends ? now.extends->text() : std::string("nothing")) + ", and that stays");
    }
    json::object changed{{"environment", plan_.environment}};
    if (!name->empty() && *name != now.name) changed["name"] = *name;
    auto credentials = text_at(file_, "", file_.root, "credentials_ref");
    if (!credentials) return credentials.error();
    if (std::string fault = fault_of_credentials(plan_.environment, *credentials); !fault.empty()) {
      return wrong(file_, "/credentials_ref", fault);
    }
    if (file_.root.as_object().contains("credentials_ref") && *credentials != now.credentialsRef.value_or("")) {
      changed["credentialsRef"] = *credentials;
    }
    if (auto done = plan_revocation(now, changed); !done) return done;
    if (auto done = plan_retention(now, changed); !done) return done;
    std::string what;
    for (const auto& each : changed) {
      if (each.key() != "environment") what += (what.empty() ? "" : ", ") + std::string(each.key());
    }
    if (!what.empty()) add('~', what + " of " + plan_.environment, "Env/update", std::move(changed));
    return {};
  }

  Result<void> plan_revocation(const env::EnvRecord& now, json::object& changed) {
    const json::value* value = file_.root.as_object().if_contains("revocation");
    if (value == nullptr) return {};
    if (auto sound = check_fields_of<FileRevocation>(file_, "/revocation", *value); !sound) return sound;
    if (const json::value* required = value->as_object().if_contains("required")) {
      if (!required->is_bool()) return wrong(file_, "/revocation/required", "expected true or false");
      if (required->get_bool() != now.revocation.required) changed["revocationRequired"] = required->get_bool();
    }
    auto list = text_at(file_, "/revocation", *value, "list_ref");
    if (!list) return list.error();
    if (value->as_object().contains("list_ref") && *list != now.revocation.listRef) changed["revocationList"] = *list;
    return {};
  }

  Result<void> plan_retention(const env::EnvRecord& now, json::object& changed) {
    const json::value* value = file_.root.as_object().if_contains("retention");
    if (value == nullptr) return {};
    if (auto sound = check_fields_of<FileRetention>(file_, "/retention", *value); !sound) return sound;
    for (auto [name, field, is] :
         {std::tuple{"archived_max_age_days", "archivedMaxAgeDays", now.retention.archivedMaxAgeDays},
          {"staged_max_count", "stagedMaxCount", now.retention.stagedMaxCount}}) {
      const json::value* number = value->as_object().if_contains(name);
      if (number == nullptr) continue;
      if (!number->is_int64()) return wrong(file_, std::string("/retention/") + name, "expected a whole number");
      const std::string fault = field == std::string_view("stagedMaxCount")
                                    ? fault_of_staged_count(number->get_int64())
                                    : fault_of_archived_days(number->get_int64());
      if (!fault.empty()) return wrong(file_, std::string("/retention/") + name, fault);
      if (number->get_int64() != is) changed[field] = number->get_int64();
    }
    return {};
  }

  Result<void> plan_config() {
    const json::value* wanted = file_.root.as_object().if_contains("host_config");
    if (wanted == nullptr) return {};
    FieldNames known(host_keys().begin(), host_keys().end());
    known.insert("env_id");
    if (auto sound = check_fields(file_, "/host_config", *wanted, known); !sound) return sound;
    auto whose = text_at(file_, "/host_config", *wanted, "env_id");
    if (!whose) return whose.error();
    if (!whose->empty() && *whose != plan_.environment) {
      return wrong(file_, "/host_config/env_id",
                   "this is the host of " + *whose + ", in the file of " + plan_.environment);
    }
    std::map<std::string, std::string> now;
    for (const auto& each : states_.config().values(config::ConfigId(plan_.environment)).values()) {
      now[each.key] = each.value;
    }
    json::array values, gone;
    std::string what, lost;
    for (std::string_view key : host_keys()) {
      auto text = text_at(file_, "/host_config", *wanted, key);
      if (!text) return text.error();
      const std::string name(key);
      if (auto value = host_value(key, *text); !value) {
        return wrong(file_, "/host_config/" + name, value.error().message);
      }
      if (text->empty() && !(prune_ && now.contains(name))) continue;
      if (now.contains(name) && now[name] == *text) continue;
      (text->empty() ? gone : values).push_back(json::object{{"key", name}, {"value", *text}});
      std::string& said = text->empty() ? lost : what;
      said += (said.empty() ? "" : ", ") + name;
    }
    for (auto [sign, said, list] : {std::tuple{'~', &what, &values}, {'-', &lost, &gone}}) {
      if (list->empty()) continue;
      add(sign, *said + " of " + plan_.environment, "Config/set",
          {{"environment", plan_.environment}, {"values", std::move(*list)}});
    }
    return {};
  }

  Result<void> plan_packs() {
    const json::value* wanted = file_.root.as_object().if_contains("packs");
    if (wanted == nullptr) return {};
    if (!wanted->is_array()) return wrong(file_, "/packs", "expected a list");
    std::map<std::string, env::EnvPack> now;
    // A new one begins with the packs of what it extends.
    auto base = text_at(file_, "", file_.root, "extends");
    if (!base) return base.error();
    const std::string source = record_ || base->empty() ? plan_.environment : *base;
    for (env::EnvPack& each : states_.env().packs(env::EnvId(source)).values()) now[each.slot] = each;
    std::set<std::string> named;
    for (size_t i = 0; i < wanted->get_array().size(); ++i) {
      const json::value& each = wanted->get_array()[i];
      const std::string path = "/packs/" + std::to_string(i);
      if (auto sound = check_fields_of<FilePack>(file_, path, each); !sound) {
        return sound;
      }
      json::object input{{"environment", plan_.environment}};
      std::map<std::string, std::string> texts;
      for (auto [name, field] :
           {std::pair{"slot", "slot"}, {"kind", "kind"}, {"pack_ref", "packRef"}, {"answers_ref", "answersRef"}}) {
        auto text = text_at(file_, path, each, name);
        if (!text) return text.error();
        texts[name] = *text;
        if (!text->empty()) input[field] = *text;
      }
      if (!is_slot(texts["slot"])) return wrong(file_, path + "/slot", "there is no such slot");
      if (auto kind = parse_descriptor(texts["kind"]); !kind) return wrong(file_, path + "/kind", kind.error().message);
      if (!named.insert(texts["slot"]).second) return wrong(file_, path + "/slot", "the slot is named twice");
      auto bound = now.find(texts["slot"]);
      if (bound == now.end()) {
        add('+', texts["kind"] + " for " + texts["slot"], "Env/bind", std::move(input));
      } else if (bound->second.kind != texts["kind"] ||
                 (!texts["pack_ref"].empty() && bound->second.packRef != texts["pack_ref"]) ||
                 (!texts["answers_ref"].empty() && bound->second.answersRef != texts["answers_ref"])) {
        add('~', bound->second.kind + " -> " + texts["kind"] + " for " + texts["slot"], "Env/rebind", std::move(input));
      }
    }
    for (const auto& [slot, pack] : now) {
      if (!prune_ || named.contains(slot)) continue;
      add('-', pack.kind + " for " + slot, "Env/unbind", {{"environment", plan_.environment}, {"slot", slot}});
    }
    return {};
  }

  const States& states_;
  const Document& file_;
  const bool prune_;
  std::optional<env::EnvRecord> record_;
  EnvironmentPlan plan_;
};

}  // namespace

ExportedEnvironment exported_environment(const States& states, const env::EnvFound& found) {
  EnvironmentDocument document = environment_document(states, found);
  ExportedEnvironment exported{.environment_id = document.environment_id,
                               .name = document.name,
                               .extends = document.extends,
                               .host_config = std::move(document.host_config),
                               .credentials_ref = document.credentials_ref,
                               .revocation = document.revocation,
                               .retention = document.retention};
  for (const PackDocument& each : document.packs) {
    exported.packs.push_back({each.slot, each.kind, each.pack_ref, each.answers_ref});
  }
  for (const auto& each : states.deployment().find_by_environment(found.id.text())) {
    exported.bundles.push_back(exported_bundle(states, each));
  }
  return exported;
}

Result<EnvironmentPlan> plan_environment(const States& states, const Document& file, bool prune) {
  return Planner(states, file, prune).run();
}

}  // namespace sluice::deploy::views
