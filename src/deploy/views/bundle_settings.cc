// Settings are resolved as staging resolves them (deploy/pack_config.h), without touching an archive.
#include "deploy/views/bundle_settings.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "config.gen.h"
#include "deploy/host_config.h"
#include "deploy/views/documents.h"
#include "deploy/views/leading.h"
#include "deploy/views/names.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace {

using revision::RevisionFound;
using revision::RevisionLifecycle;

json::object answers_in(const States& states, const std::string& environment, const std::string& bundle) {
  json::object answers;
  for (const auto& each : states.config().answers(config::ConfigId(environment)).values()) {
    if (each.bundle != bundle) continue;
    if (auto value = parse_json(each.value)) answers[each.name] = value->root;
  }
  return answers;
}

bool is_usable(const RevisionFound& found) {
  const RevisionLifecycle now = found.record.lifecycle;
  return now == RevisionLifecycle::staged || now == RevisionLifecycle::warming || now == RevisionLifecycle::ready;
}

std::optional<RevisionFound> base_of(const States& states, const std::string& deployment) {
  const std::string leading = leading_revision(states, deployment);
  std::optional<RevisionFound> base;
  for (const RevisionFound& each : states.revision().find_by_deployment(deployment)) {
    if (each.id.text() == leading) return each;
    if (each.record.lifecycle == RevisionLifecycle::archived || each.record.bundleDigest.empty()) continue;
    if (!base || each.record.sequence > base->record.sequence) base = each;
  }
  return base;
}

std::optional<HeldSettings> held(const States& states, const std::string& deployment) {
  const auto base = base_of(states, deployment);
  const auto owner = states.deployment().get(deployment::DeploymentId(deployment));
  if (!base || !owner) return std::nullopt;
  HeldSettings held{.revision = base->id.text(),
                    .sequence = base->record.sequence,
                    .wanted = base->id.text(),
                    .wanted_sequence = base->record.sequence};
  if (!base->record.asks) return held;
  auto asks = read_asks(*base->record.asks);
  if (!asks) return held;
  held.asks = *asks;
  auto now = resolve_config(*asks, {base->record.environment, base->record.config, owner->configOverrides,
                                    answers_in(states, base->record.environment, asks->bundle)});
  if (!now) {
    held.problem = now.error().message;
    held.wanted.clear();
    return held;
  }
  held.now = *std::move(now);
  const std::string digest = config_digest(*held.now);
  if (digest == base->record.configDigest) return held;
  held.wanted.clear();
  held.wanted_sequence = 0;
  for (const RevisionFound& each : states.revision().find_by_deployment(deployment)) {
    if (!is_usable(each) || each.record.configDigest != digest || each.record.treeDigest != base->record.treeDigest ||
        each.record.sequence <= held.wanted_sequence) {
      continue;
    }
    held.wanted = each.id.text();
    held.wanted_sequence = each.record.sequence;
  }
  return held;
}

std::optional<std::string> found_in(const States& states, const std::string& environment, const std::string& key,
                                    std::string* producer = nullptr) {
  for (const auto& each : states.config().discovered(config::ConfigId(environment)).values()) {
    if (each.key != key) continue;
    if (producer != nullptr) *producer = each.producer;
    return each.value;
  }
  return std::nullopt;
}

// A member of one of the three spaces of a revision's config.
json::value member(const json::value& config, const char* space, const std::string& name) {
  const json::object* whole = config.if_object();
  const json::value* inner = whole == nullptr ? nullptr : whole->if_contains(space);
  const json::value* value = inner == nullptr || !inner->is_object() ? nullptr : inner->get_object().if_contains(name);
  return value == nullptr ? json::value() : *value;
}

class Explaining {
 public:
  Explaining(const States& states, std::string environment, const HeldSettings& held, DeploymentSettings& view)
      : states_(states), environment_(std::move(environment)), held_(held), view_(view) {
    auto record = states.revision().get(revision::RevisionId(held.revision));
    auto config = parse_json(record ? record->packConfig : "");
    if (config) running_ = config->root;
  }

  void explain() {
    for (const auto& [name, value] : config_document(states_, environment_).host_config) {
      if (name == "env_id") continue;
      view_.settings.push_back({.name = "host." + name,
                                .value = json::value(value),
                                .owner = SettingOwner::host,
                                .from = "the operator of " + environment_});
    }
    if (!held_.now || !held_.asks) return;
    for (const auto& [name, value] : held_.now->non_secret) add(std::string(name), value);
    for (const auto& [name, reference] : held_.now->runtime_refs) add_found(name, reference);
    for (const auto& [name, reference] : held_.now->secret_refs) {
      view_.settings.push_back({.name = name,
                                .value = json::value(reference),
                                .running = member(running_, "secret_refs", name),
                                .owner = SettingOwner::secrets,
                                .from = "the secrets of " + environment_});
    }
  }

 private:
  void add(const std::string& name, const json::value& value) {
    const auto from = held_.now->from.find(name);
    const SettingFrom origin = from == held_.now->from.end() ? SettingFrom::bundle : from->second;
    view_.settings.push_back({.name = name,
                              .value = value,
                              .running = member(running_, "non_secret", name),
                              .owner = origin == SettingFrom::bundle ? SettingOwner::bundle : SettingOwner::setup,
                              .from = origin == SettingFrom::bundle        ? "the default of " + view_.revision
                                      : origin == SettingFrom::environment ? "the answer of " + environment_
                                                                           : "the answer of the deployment"});
  }

  void add_found(const std::string& name, const std::string& reference) {
    std::string producer = "nobody yet";
    auto key = discovered_key(reference, environment_);
    auto value = key ? found_in(states_, environment_, *key, &producer) : std::nullopt;
    view_.settings.push_back({.name = name,
                              .value = value ? json::value(*value) : json::value(),
                              .running = member(running_, "runtime_refs", name),
                              .owner = SettingOwner::runtime,
                              .from = reference + ", found out by " + producer});
  }

  const States& states_;
  std::string environment_;
  const HeldSettings& held_;
  DeploymentSettings& view_;
  json::value running_;
};

Result<BundleQuestions> read_questions(const lang::Reading& reading, const QuestionsQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const std::string& where = environment->id.text();
  auto asks = asks_of_bundle(reading.rows, where, query.bundle);
  if (!asks) {
    return Error{.code = Code::not_found,
                 .message = "no revision of " + query.bundle + " was staged in " + where,
                 .next = "view deployments environment=" + where};
  }
  return BundleQuestions{.bundle = query.bundle,
                         .questions = asks->questions,
                         .answers = environment_answers(reading.rows, where, query.bundle)};
}

}  // namespace

json::object environment_answers(const lang::Snapshot& snapshot, const std::string& environment,
                                 const std::string& bundle) {
  return answers_in(States(snapshot), environment, bundle);
}

json::object environment_answers(const States& states, const std::string& environment, const std::string& bundle) {
  return answers_in(states, environment, bundle);
}

std::optional<Asks> asks_of_bundle(const lang::Snapshot& snapshot, const std::string& environment,
                                   const std::string& bundle) {
  const States states(snapshot);
  std::optional<RevisionFound> newest;
  for (const auto& owner : states.deployment().find_by_environment(environment)) {
    if (owner.record.bundle != bundle) continue;
    for (const RevisionFound& each : states.revision().find_by_deployment(owner.id.text())) {
      if (!each.record.asks || each.record.lifecycle == RevisionLifecycle::archived) continue;
      if (!newest || each.record.createdAt.ms >= newest->record.createdAt.ms) newest = each;
    }
  }
  if (!newest) return std::nullopt;
  auto asks = read_asks(*newest->record.asks);
  if (!asks) return std::nullopt;
  return *asks;
}

std::optional<std::string> found_by(const lang::Snapshot& snapshot, const std::string& reference) {
  constexpr std::string_view kScheme = "runtime://";
  const size_t slash = reference.find('/', kScheme.size());
  if (!reference.starts_with(kScheme) || slash == std::string::npos) return std::nullopt;
  const std::string environment = reference.substr(kScheme.size(), slash - kScheme.size());
  auto key = discovered_key(reference, environment);
  return key ? found_in(States(snapshot), environment, *key) : std::nullopt;
}

std::optional<HeldSettings> settings_of(const lang::Snapshot& snapshot, const std::string& deployment) {
  return held(States(snapshot), deployment);
}

Result<std::vector<DeploymentSettings>> read_settings(const lang::Reading& reading, const SettingsQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const std::string& where = environment->id.text();
  std::vector<deployment::DeploymentFound> meant;
  if (query.deployment.empty() && query.bundle.empty() && query.customer.empty()) {
    for (const auto& each : states.deployment().find_by_environment(where)) meant.push_back(each);
  } else {
    auto one = find_deployment(states, where, {query.deployment, query.bundle, query.customer});
    if (!one && !query.deployment.empty()) one = find_deployment(states, where, {"", query.deployment, query.customer});
    if (!one) return one.error();
    meant.push_back(*std::move(one));
  }
  std::vector<DeploymentSettings> all;
  for (const deployment::DeploymentFound& each : meant) {
    const auto settings = held(states, each.id.text());
    if (!settings) continue;
    DeploymentSettings view{.deployment_id = each.id.text(),
                            .bundle = each.record.bundle,
                            .customer = each.record.customer,
                            .revision = each.record.bundle + "@" + std::to_string(settings->sequence),
                            .pending = settings->wanted.empty()};
    if (!settings->problem.empty()) view.problem = settings->problem;
    if (!settings->wanted.empty() && settings->wanted != settings->revision) {
      view.staged_as = each.record.bundle + "@" + std::to_string(settings->wanted_sequence);
    }
    Explaining(states, where, *settings, view).explain();
    all.push_back(std::move(view));
  }
  return all;
}

std::vector<lang::View> settings_views() {
  return {lang::make_view("settings", "What deployments are set to, and where each value comes from", read_settings),
          lang::make_view("questions", "What a bundle asks, and what the environment answers", read_questions)};
}

}  // namespace sluice::deploy::views
