// A component is known by the last plan that was executed of the same app in the environment; one that no plan has
// brought there is found by its bundle and its customer.
#include "deploy/views/plan_situation.h"

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>
#include <cmath>
#include <set>

#include "base/basis_points.h"
#include "base/json.h"
#include "base/json_place.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "deploy/app_kit.h"
#include "deploy/routes.h"
#include "deploy/run_settings.h"
#include "deploy/views/leading.h"
#include "deploy_plan.gen.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "migrate/lint.h"
#include "migration.gen.h"
#include "plan/planner.h"
#include "revision.gen.h"
#include "secret.gen.h"
#include "telemetry.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

constexpr std::string_view kLocal = "local";
constexpr std::string_view kLocalDev = "local-dev";
constexpr std::string_view kBuiltInStore = "store";

class Drafter {
 public:
  Drafter(const lang::Snapshot& snapshot, BundleShelf& shelf, const PlanOrder& order)
      : states_(snapshot), shelf_(shelf), order_(order) {}

  DraftedPlan draft() {
    const env::EnvId environment(order_.environment);
    auto env = states_.env().get(environment);
    if (!env) return {.no_environment = "there is no environment " + order_.environment};
    situation_.environment = order_.environment;
    secrets_type_ = env->secretsType.value_or("");
    for (const auto& each : states_.env().packs(environment).values()) situation_.packs[each.slot] = each.kind;
    draft_.seen.push_back({"environment", order_.environment, env->generation});
    if (!order_.destroy.empty()) return draft_removal();
    // What is not among the variables is a secret's, and stays a reference.
    auto variable = [&](const std::string& name) -> std::optional<std::string> {
      auto found = order_.variables.find(name);
      return found == order_.variables.end() ? "${" + name + "}" : found->second;
    };
    plan::ParsedManifest parsed = plan::parse_app_manifest(order_.manifest, order_.file,
                                                           {.environment = order_.environment, .variable = variable});
    if (!parsed.manifest) return {.faults = told(parsed.faults)};
    auto resolved = plan::resolve_overlays(parsed.document, order_.environment);
    if (!resolved.resolved) return {.faults = resolved.unresolved->details};
    const plan::AppManifest& manifest = resolved.resolved->manifest;

    DraftedPlan drafted;
    situation_.only = order_.only;
    if (!order_.kit.empty() && order_.kit != manifest.app.name && !only_of_kit(manifest)) {
      drafted.missing = {"no component of " + manifest.app.name + " is of the kit " + order_.kit};
      return drafted;
    }
    check_health(manifest, parsed.document, drafted.faults);
    if (!drafted.faults.empty()) return drafted;
    remember(manifest.app.name);
    if (!manifest.kits.empty()) see_kits(manifest.app.name);
    read_kits(manifest, parsed.document, drafted.faults);
    if (!drafted.faults.empty()) return drafted;
    if (const auto& said = manifest.migrations) {
      migrations_ = MigrationKeys{said->autoExpand, said->autoMigrate, said->autoContract, said->backupBefore,
                                  said->contractApprovals};
    }
    look_at(manifest.components, drafted.missing);
    look_at(manifest.concepts, drafted.missing);
    if (!drafted.missing.empty()) return drafted;
    check_customers(manifest, parsed.document, drafted.faults);
    check_bundles(manifest, parsed.document, drafted.faults);
    drafted.faults.insert(drafted.faults.end(), faults_of_migrations_.begin(), faults_of_migrations_.end());
    if (!drafted.faults.empty()) return drafted;
    std::set<std::string> taken_over;  // by a component of another name
    for (const DraftComponent& each : draft_.components) taken_over.insert(each.deployment);
    for (const auto& [name, before] : before_) {
      if (situation_.offered.contains(name) || taken_over.contains(before.deployment)) continue;
      const bool named = manifest.components.contains(name) || manifest.concepts.contains(name);
      keep_or_leave(before, named || !situation_.only.empty());
    }
    route_the_unrouted();
    check_routes(manifest, parsed.document, drafted.faults);
    if (!drafted.faults.empty()) return drafted;
    draft_.source = {order_.manifest, order_.file, order_.variables, order_.kits};
    deliver(manifest.rollout);
    return planned(manifest, parsed.document, std::move(drafted));
  }

 private:
  // All of an app goes.
  DraftedPlan draft_removal() {
    DraftedPlan drafted;
    remember(order_.destroy);
    for (const auto& [name, before] : before_) keep_or_leave(before, false);
    take_out_kits(order_.destroy);
    if (situation_.leaving.empty() && situation_.kits.empty()) {
      drafted.missing = {"no plan has brought anything of " + order_.destroy + " to " + order_.environment};
      return drafted;
    }
    plan::AppManifest nothing;
    nothing.app = {order_.destroy, version_before_};
    return planned(nothing, Document(), std::move(drafted));
  }

  DraftedPlan planned(const plan::AppManifest& manifest, const Document& document, DraftedPlan drafted) {
    see_telemetry(manifest.app.name);
    plan::Planned planned = plan::make_plan(manifest, document, situation_);
    drafted.missing = std::move(planned.missing);
    drafted.missing.insert(drafted.missing.end(), missing_of_kits_.begin(), missing_of_kits_.end());
    drafted.cycle = std::move(planned.cycle);
    drafted.mismatches = std::move(planned.mismatches);
    if (!drafted.missing.empty() || !drafted.cycle.empty() || !drafted.mismatches.empty()) return drafted;
    draft_.app = manifest.app.name;
    draft_.version = manifest.app.version;
    draft_.onFailure = manifest.onFailure;
    draft_.concurrency = manifest.concurrency;
    draft_.changes = std::move(planned.changes);
    draft_.warnings = std::move(planned.warnings);
    warn_of_secrets();
    draft_.observed = std::move(planned.observed);
    draft_.graph = plan::to_json(planned.graph);
    keep_rules(planned.graph);
    see();
    drafted.draft = std::move(draft_);
    return drafted;
  }

  // What the app's last manifest has said of telemetry here, unless somebody has said otherwise since.
  void see_telemetry(const std::string& app) {
    for (const auto& each : states_.telemetry().all()) {
      const telemetry::TelemetryRecord& config = each.record;
      if (config.origin != app || config.scope != order_.environment) continue;
      situation_.observed.push_back({.provider = boost::describe::enum_to_string(config.provider, ""),
                                     .endpoint = config.endpoint,
                                     .samplingRate = config.samplingRate,
                                     .key = config.key,
                                     .propagation = config.propagation.value_or("w3c"),
                                     .conceptSpans = config.conceptSpans.value_or(true),
                                     .syncSpans = config.syncSpans.value_or(true),
                                     .markers = config.marked.value_or(true)});
    }
    std::ranges::sort(situation_.observed, {}, &plan::Observed::provider);
  }

  // How traffic-split nodes shift traffic, in the words of Rollout/begin.
  void deliver(const std::optional<plan::Rollout>& rollout) {
    draft_.strategy = rollout ? rollout->strategy : "immediate";
    if (!rollout) return;
    for (const plan::RolloutStep& each : rollout->steps) {
      draft_.steps.push_back(print_basis_points(static_cast<int>(std::lround(each.weight * 100))) +
                             (each.pause ? ":" + std::to_string(*each.pause) + "s" : ""));
      draft_.pauses_s += each.pause.value_or(0);
    }
    draft_.autoRollback = rollout->autoRollback.value_or(true);
    draft_.after = rollout->after.value_or(0);
    if (rollout->batch) draft_.batch = *rollout->batch;
    if (rollout->pause) draft_.batchPause = *rollout->pause;
    if (rollout->analysis) draft_.criteria = write(to_json(*rollout->analysis));
  }

  // ---- what the strict reader of the manifest does not know

  static std::string told_at(const Document& document, const plan::AppManifest& manifest, const std::string& component,
                             const std::string& field, const std::string& message) {
    std::string path = manifest.components.contains(component) ? "/components" : "/concepts";
    append_pointer_token(path, component);
    auto place = document.position_of(path + field);
    if (!place) place = document.position_of(path);
    return (place ? to_string(*place) + ": " : "") + message;
  }

  void check_health(const plan::AppManifest& manifest, const Document& document, std::vector<std::string>& faults) {
    for (const auto* components : {&manifest.components, &manifest.concepts}) {
      for (const auto& [name, component] : *components) {
        if (!component.health) continue;
        auto sound = read_run_settings(json::object{{"health", *component.health}});
        if (sound) continue;
        faults.push_back(told_at(document, manifest, name, sound.error().path,
                                 sound.error().path + " of " + name + ": " + sound.error().message));
      }
    }
  }

  // Nobody can be asked for a customer while the plan runs.
  void check_customers(const plan::AppManifest& manifest, const Document& document, std::vector<std::string>& faults) {
    for (const DraftComponent& each : draft_.components) {
      if (!each.customer.empty() || !each.deployment.empty()) continue;
      const std::string& bundle = situation_.offered.at(each.component).bundle;
      std::string customers;
      for (const auto& other : states_.deployment().find_by_environment(order_.environment)) {
        if (other.record.bundle == bundle) customers += (customers.empty() ? "" : ", ") + other.record.customer;
      }
      if (customers.empty() && order_.environment == kLocal) continue;
      const std::string why = customers.empty()
                                  ? "outside local " + each.component + " runs for a customer"
                                  : bundle + " runs in " + order_.environment + " for several customers: " + customers;
      faults.push_back(told_at(document, manifest, each.component, "", why + "; `customer` says for which"));
    }
  }

  // A bundle runs once for a customer.
  void check_bundles(const plan::AppManifest& manifest, const Document& document, std::vector<std::string>& faults) {
    std::map<std::string, std::string> owners;
    for (const DraftComponent& each : draft_.components) {
      const std::string bundle = situation_.offered.at(each.component).bundle;
      auto [owner, free] =
          owners.emplace(each.deployment.empty() ? bundle + " " + each.customer : each.deployment, each.component);
      if (free) continue;
      faults.push_back(
          told_at(document, manifest, each.component, "",
                  each.component + " and " + owner->second + " are the same bundle for the same customer"));
    }
  }

  // The only component without routes takes every request, unless another one does; of several each has a host of its
  // own.
  void route_the_unrouted() {
    std::vector<DraftComponent*> unrouted;
    for (DraftComponent& each : draft_.components) {
      if (!each.leaving && each.deployment.empty() && each.pathPrefixes.empty()) unrouted.push_back(&each);
    }
    bool taken = unrouted.size() > 1;
    auto takes_all = [](const auto& hosts, const auto& paths) {
      return hosts.empty() && std::ranges::find(paths, "/") != paths.end();
    };
    for (const DraftComponent& each : draft_.components) taken = taken || takes_all(each.hosts, each.pathPrefixes);
    for (const auto& each : states_.deployment().find_by_environment(order_.environment)) {
      taken = taken || takes_all(each.record.route.hosts, each.record.route.pathPrefixes);
    }
    for (DraftComponent* each : unrouted) {
      plan::Offered& offered = situation_.offered.at(each->component);
      if (taken) offered.hosts = {offered.bundle + ".localhost"};
      offered.path_prefixes = {"/"};
      each->hosts = offered.hosts;
      each->pathPrefixes = offered.path_prefixes;
    }
  }

  // No two components, and no component and another deployment, have the same route while the plan runs.
  void check_routes(const plan::AppManifest& manifest, const Document& document, std::vector<std::string>& faults) {
    std::map<Route, std::string> owners;
    std::map<std::string, const DraftComponent*> own;
    for (const DraftComponent& each : draft_.components) {
      if (!each.deployment.empty()) own.emplace(each.deployment, &each);
    }
    std::map<std::string, deployment::DeploymentRoute> now;
    for (const auto& each : states_.deployment().find_by_environment(order_.environment)) {
      auto component = own.find(each.id.text());
      if (component != own.end()) now.emplace(each.id.text(), each.record.route);
      if (component != own.end() && !component->second->leaving) continue;
      if (each.record.status == deployment::DeploymentStatus::archived) continue;
      const std::string owner = each.record.bundle + " for " + each.record.customer +
                                (component == own.end() ? "" : ", which this plan removes when all else is done");
      const auto& route = each.record.route;
      for (const Route& one : routes_of({route.hosts, route.pathPrefixes, route.tenant, route.team})) {
        owners.emplace(one, owner);
      }
    }
    for (const DraftComponent& each : draft_.components) {
      if (each.leaving) continue;
      auto there = now.find(each.deployment);
      RouteBinding wanted{each.hosts, each.pathPrefixes, "", ""};
      if (there != now.end()) {
        const auto& route = there->second;
        if (wanted.path_prefixes.empty()) wanted = {route.hosts, route.pathPrefixes, "", ""};
        wanted.tenant = route.tenant;
        wanted.team = route.team;
      }
      auto binding = normal_binding(wanted);
      if (!binding) {
        faults.push_back(told_at(document, manifest, each.component, "/routes", binding.error().message));
        continue;
      }
      for (const Route& one : routes_of(*binding)) {
        auto [owner, free] = owners.emplace(one, each.component);
        if (free) continue;
        faults.push_back(told_at(document, manifest, each.component, "/routes",
                                 "the route " + (one.host.empty() ? "any host" : one.host) + " " + one.prefix + " of " +
                                     each.component + " is that of " + owner->second + " as well"));
      }
    }
  }

  // False: the kit has no component.
  bool only_of_kit(const plan::AppManifest& manifest) {
    for (const auto* components : {&manifest.components, &manifest.concepts}) {
      for (const auto& [name, component] : *components) {
        if (component.kit == order_.kit) situation_.only.push_back(name);
      }
    }
    return !situation_.only.empty();
  }

  static std::vector<std::string> told(const std::vector<Error>& faults) {
    std::vector<std::string> all;
    for (const Error& each : faults) all.push_back(to_string(each));
    return all;
  }

  // What the last plan of the app has left here, by component, and what plans after it did that ended half way.
  void remember(const std::string& app) {
    using Phase = deploy_plan::DeployPlanCurrentPhase;
    std::map<int64_t, deploy_plan::DeployPlanFound> plans;
    for (auto& each : states_.deploy_plan().find_by_environment(order_.environment)) {
      const auto& [id, record] = each;
      const bool did = record.currentPhase == Phase::complete || record.currentPhase == Phase::partial ||
                       record.currentPhase == Phase::stuck;
      if (did && record.suiteName == app && !record.origin) plans.emplace(record.number, std::move(each));
    }
    for (const auto& [number, plan] : plans) {
      const bool whole = plan.record.currentPhase == Phase::complete;
      if (whole) before_.clear();
      if (whole || version_before_.empty()) version_before_ = plan.record.kitVersion;
      for (auto& each : states_.deploy_plan().components(plan.id).values()) {
        if (!each.leaving && (whole || !each.deployment.empty())) before_.emplace(each.component, std::move(each));
      }
    }
  }

  // What the last plans of other apps have brought here.
  void see_kits(const std::string& app) {
    std::map<std::string, int64_t> newest;
    for (const auto& each : states_.deploy_plan().find_by_environment(order_.environment)) {
      const auto& record = each.record;
      if (record.suiteName == app || record.origin) continue;
      if (record.currentPhase != deploy_plan::DeployPlanCurrentPhase::complete) continue;
      std::set<std::string> names;
      for (const auto& component : states_.deploy_plan().components(each.id).values()) {
        if (component.leaving) continue;
        names.insert(record.suiteName);
        if (!component.kit.empty()) names.insert(component.kit);
      }
      for (const std::string& name : names) {
        if (record.number < newest[name]) continue;
        newest[name] = record.number;
        situation_.deployed[name] = record.kitVersion;
      }
    }
  }

  // ---- the kits that the app brings

  // What is wrong with a manifest's kit, at the place where the manifest names it.
  static std::string told_of_kit(const Document& document, size_t index, const std::string& message) {
    auto place = document.position_of("/kits/" + std::to_string(index));
    return (place ? to_string(*place) + ": " : "") + message;
  }

  static std::map<std::string, std::string> files_of(const std::string& text) {
    std::map<std::string, std::string> files;
    auto parsed = text.size() > kMaxAppKitBytes ? Result<Document>(Error{}) : parse_json(text, "kit");
    if (!parsed || !parsed->root.is_object()) return files;
    for (const auto& each : parsed->root.get_object()) {
      if (each.value().is_string()) files[std::string(each.key())] = std::string(each.value().get_string());
    }
    return files;
  }

  void read_kits(const plan::AppManifest& manifest, const Document& document, std::vector<std::string>& faults) {
    take_out_kits(manifest.app.name);
    for (size_t i = 0; i < manifest.kits.size(); ++i) {
      const plan::Kit& kit = manifest.kits[i];
      if (!kit.path) continue;
      auto given = order_.kits.find(kit.name);
      if (given == order_.kits.end()) {
        missing_of_kits_.push_back(
            told_of_kit(document, i, "there are no files of the kit " + kit.name + " (" + *kit.path + ")"));
        continue;
      }
      ReadAppKit found = read_app_kit(*kit.path, files_of(given->second), kit.overrides);
      if (found.kit && found.kit->name != kit.name) {
        found.faults.push_back("it calls itself " + found.kit->name);
      }
      if (kit.version && found.kit && found.kit->version != *kit.version) {
        found.faults.push_back("it is version " + found.kit->version + ", not " + *kit.version);
      }
      for (const std::string& each : found.faults) {
        faults.push_back(told_of_kit(document, i, "the kit " + kit.name + ": " + each));
      }
      if (!found.faults.empty()) continue;
      plan::KitOffer& offer = offer_of(kit.name);
      offer.version = found.kit->version;
      for (const AppRule& each : found.kit->rules) {
        plan::KitRule rule{.name = each.name, .integration = each.integration, .digest = digest_of(each)};
        for (const AppConcept& named : each.concepts) {
          rule.concepts.push_back(named.name);
          if (manifest.concepts.contains(named.name)) continue;
          missing_of_kits_.push_back(told_of_kit(document, i,
                                                 "the kit " + kit.name + ": its sync " + each.name + " names " +
                                                     named.name + ", and nothing under concepts: serves that"));
        }
        draft_.rules.push_back({.target = kit.name + "." + each.name,
                                .kit = kit.name,
                                .rule = each.name,
                                .digest = rule.digest,
                                .spec = write(to_json(each))});
        offer.rules.push_back(std::move(rule));
      }
    }
  }

  plan::KitOffer& offer_of(const std::string& kit) {
    auto found = std::ranges::find(situation_.kits, kit, &plan::KitOffer::name);
    if (found != situation_.kits.end()) return *found;
    situation_.kits.push_back({.name = kit});
    return situation_.kits.back();
  }

  // What runs of the app's kits; nothing is offered of them yet.
  void take_out_kits(const std::string& app) {
    for (const auto& [id, record] : states_.deploy_plan().all_r()) {
      if (record.space != order_.environment || record.ofApp != app || !record.active) continue;
      offer_of(record.ofKit).active[record.rule] = record.digest;
    }
  }

  // Of the rules those that have a node: the others run already. A node without one takes it out.
  void keep_rules(const plan::Graph& graph) {
    std::vector<DraftRule> kept;
    for (uint32_t node = 0; node < graph.size(); ++node) {
      const plan::NodeKind kind = graph.nodes[node].kind;
      if (kind != plan::NodeKind::register_sync && kind != plan::NodeKind::register_integration) continue;
      const std::string target = graph.target_of(node);
      auto found = std::ranges::find(draft_.rules, target, &DraftRule::target);
      const size_t dot = target.find('.');
      kept.push_back(found != draft_.rules.end()
                         ? *found
                         : DraftRule{.target = target, .kit = target.substr(0, dot), .rule = target.substr(dot + 1)});
    }
    draft_.rules = std::move(kept);
  }

  // Whether the deployment is there, and is the one of this customer if one is named.
  bool is_for(const std::string& deployment, const std::string& customer) {
    auto record = states_.deployment().get(deployment::DeploymentId(deployment));
    return record && (customer.empty() || record->customer == customer);
  }

  std::string deployment_of(const std::string& component, const std::string& bundle, const std::string& customer) {
    if (auto before = before_.find(component); before != before_.end()) {
      if (is_for(before->second.deployment, customer)) return before->second.deployment;
    }
    std::vector<std::string> found;
    for (const auto& each : states_.deployment().find_by_environment(order_.environment)) {
      if (each.record.bundle != bundle || each.record.status == deployment::DeploymentStatus::archived) continue;
      if (!customer.empty() && each.record.customer != customer) continue;
      if (customer.empty() && order_.environment == kLocal && each.record.customer == kLocalDev) return each.id.text();
      found.push_back(each.id.text());
    }
    return found.size() == 1 ? found.front() : "";
  }

  // What runs of a deployment; without a revision if none gets anything.
  plan::Running running(const std::string& deployment) {
    plan::Running there{.deployment = deployment};
    auto record = states_.deployment().get(deployment::DeploymentId(deployment));
    if (!record) return there;
    there.hosts = record->route.hosts;
    there.path_prefixes = record->route.pathPrefixes;
    there.revision = leading_revision(states_, deployment);
    auto revision =
        there.revision.empty() ? std::nullopt : states_.revision().get(revision::RevisionId(there.revision));
    if (!revision) {
      there.revision.clear();
      return there;
    }
    there.version = revision->version;
    for (const auto& each : states_.revision().secret_versions(revision::RevisionId(there.revision)).values()) {
      there.secrets[each.variable] = version_text(each.version);
    }
    there.archive = revision->bundleDigest;
    there.tree = revision->treeDigest;
    if (auto config = parse_json(revision->config, "config"); config && config->root.is_object()) {
      const json::object& asked = config->root.get_object();
      if (const json::value* each = asked.if_contains("non_secret")) there.settings = *each;
      if (const json::value* each = asked.if_contains("runtime_refs")) there.runtime_refs = *each;
    }
    const RunSettings runs = run_settings_of(revision->config);
    there.replicas = runs.replicas;
    there.health = runs.health;
    if (record->replicas) there.scaled = static_cast<uint32_t>(*record->replicas);
    int sharing = 0;
    for (const auto& each : states_.traffic().entries(traffic::TrafficId(deployment)).values()) {
      sharing += each.weightBps > 0 ? 1 : 0;
    }
    there.shares = sharing > 1;
    return there;
  }

  void look_at(const std::map<std::string, plan::Component>& components, std::vector<std::string>& missing) {
    std::map<std::string_view, const GivenBundle*> bundles;
    for (const GivenBundle& each : order_.bundles) bundles.emplace(each.component, &each);
    for (const auto& [name, component] : components) {
      auto found = bundles.find(name);
      if (found == bundles.end()) continue;  // the planner says so
      const GivenBundle* given = found->second;
      plan::Offered offered{
          .archive = given->archive, .signature = given->signature, .spec_version = given->spec_version};
      DraftComponent draft{.component = name,
                           .kit = component.kit.value_or(""),
                           .archive = given->archive,
                           .signature = given->signature,
                           .customer = component.customer.value_or(""),
                           .needs = component.needs,
                           .specVersion = given->spec_version.value_or(0)};
      // What serves already needs no look into its archive.
      std::optional<plan::Running> there;
      std::optional<bundle::Migrations> migrations;
      if (auto before = before_.find(name); before != before_.end()) {
        plan::Running known =
            is_for(before->second.deployment, draft.customer) ? running(before->second.deployment) : plan::Running();
        if (!known.revision.empty() && known.archive == given->archive) {
          offered.version = known.version;
          offered.tree = known.tree;
          offered.hosts = known.hosts;
          offered.path_prefixes = known.path_prefixes;
          there = std::move(known);
        }
        draft.specBefore = before->second.specVersion;
      }
      if (!there) {
        auto seen = shelf_.look(source_of(*given));
        if (!seen) {
          missing.push_back(name + ": " + to_string(seen.error()));
          continue;
        }
        fill(offered, *seen);
        look_for_secrets(name, offered, seen->manifest);
        if (seen->manifest.migrations) migrations = *seen->manifest.migrations;
        if (!offered.storages.empty()) {
          draft.bundle = offered.bundle;
          draft.storages = offered.storages;
        }
        const std::string deployment = deployment_of(name, offered.bundle, draft.customer);
        if (!deployment.empty()) there = running(deployment);
        if (migrations) look_at_migrations(draft, offered, *given, *migrations, deployment);
      }
      const plan::WantedRoutes routes = plan::routes_of(component, offered);
      draft.hosts = routes.hosts;
      draft.pathPrefixes = routes.path_prefixes;
      draft.version = offered.version;
      RunSettings runs{.replicas = component.replicas, .health = component.health, .migrations = migrations_};
      draft.running = write(to_json(runs));
      json::object settings, refs;
      for (const auto& [key, value] : component.settings) settings[key] = value;
      for (const auto& [key, ref] : component.runtimeRefs) refs[key] = ref;
      if (there) {
        draft.deployment = there->deployment;
        draft.revision = there->revision;
        auto deployed = states_.deployment().get(deployment::DeploymentId(draft.deployment));
        if (deployed && draft.customer.empty()) draft.customer = deployed->customer;
        for (const json::value* old : {&there->settings, &there->runtime_refs}) {
          if (!old->is_object()) continue;
          for (const auto& each : old->get_object()) {
            const std::string key(each.key());
            if (!settings.contains(key) && !refs.contains(key)) draft.unset.push_back(key);
          }
        }
        if (draft.specBefore > 0) there->spec_version = draft.specBefore;
        situation_.running.emplace(name, *std::move(there));
      }
      draft.settings = write(settings);
      draft.runtimeRefs = write(refs);
      situation_.offered.emplace(name, std::move(offered));
      draft_.components.push_back(std::move(draft));
    }
  }

  // Versions of variables and files are as long as digests; their beginnings tell them apart.
  static std::string version_text(const std::string& version) {
    constexpr size_t kShown = 12;
    return "version " + (version.size() <= kShown ? version : version.substr(0, kShown) + "…");
  }

  // Only the built-in store is known without asking somebody.
  void look_for_secrets(const std::string& component, plan::Offered& offered, const bundle::Manifest& manifest) {
    std::vector<std::string> variables;
    for (const bundle::VariableName& each : manifest.secrets) variables.push_back(each.text);
    for (const bundle::Question& each : manifest.config) {
      if (each.secret && each.required) variables.push_back(bundle::secret_variable(each));
    }
    for (const std::string& variable : variables) {
      const std::string name = offered.bundle + "/" + variable;
      auto row = states_.secret().get(secret::SecretId(order_.environment + "/" + name));
      const bool is_there = row && row->version && row->provider == secrets_type_;
      if (is_there) offered.secrets[variable] = version_text(*row->version);
      if (is_there || secrets_type_ != kBuiltInStore) continue;
      offered.secrets[variable] = plan::kMissingSecret;
      missing_secrets_[component].push_back(component + " needs the secret " + name + ", which nobody has put into " +
                                            order_.environment + " yet");
    }
  }

  // The newest migration that is known to be expanded in the database of a deployment.
  int64_t newest_expanded(const std::string& deployment) const {
    int64_t newest = 0;
    if (deployment.empty()) return newest;
    for (const auto& [id, record] : states_.migration().all()) {
      if (record.deployment == deployment) newest = std::max(newest, record.fromVersion);
    }
    return newest;
  }

  // What is still to be done to its database, and what must not be. Whether it fits is seen when it is started.
  void look_at_migrations(DraftComponent& draft, plan::Offered& offered, const GivenBundle& given,
                          const bundle::Migrations& own, const std::string& deployment) {
    const std::string& component = draft.component;
    auto migrations = shelf_.migrations(source_of(given), own);
    if (!migrations) {
      faults_of_migrations_.push_back(component + ": " + to_string(migrations.error()));
      return;
    }
    const auto newest = static_cast<int64_t>(migrations->size());
    if (given.spec_version && *given.spec_version != newest) {
      faults_of_migrations_.push_back(component + ": its concept is @version(" + std::to_string(*given.spec_version) +
                                      "), and its newest migration is " + std::to_string(newest));
    }
    draft.specBefore = draft.specVersion;
    const bundle::Migrations settings = migrations_over(own, migrations_);
    const int64_t expanded = newest_expanded(deployment);
    const auto engine = own.file ? migrate::Engine::sqlite : migrate::Engine::postgres;
    migrate::Linter linter(engine);
    for (const migrate::Migration& each : *migrations) {
      const std::vector<migrate::Impact> impacts = linter.look(each);
      if (each.number <= expanded) continue;
      if (auto sound = migrate::check(impacts); !sound) {
        faults_of_migrations_.push_back(component + ": " + to_string(sound.error()));
      }
      offered.migrations[each.name] = text_of(each, settings) + history_of(each, deployment);
      size_t digits = 1;  // so that they stand in order
      for (const migrate::Impact& impact : impacts) digits = std::max(digits, std::to_string(impact.line).size());
      for (const migrate::Impact& impact : impacts) {
        const std::string line = std::to_string(impact.line);
        const std::string locks = impact.lock.empty() ? "" : "  (locks: " + impact.lock + ")";
        offered.migrations[impact.file + ":" + std::string(digits - line.size(), '0') + line] =
            impact.statement + locks;
      }
    }
  }

  // How long copying took in the database of this deployment, as the newest of its migrations has it.
  std::string history_of(const migrate::Migration& migration, const std::string& deployment) const {
    if (migration.copy.empty() || deployment.empty()) return "";
    int64_t rows = 0, took_ms = 0;
    for (const auto& [id, record] : states_.migration().all()) {
      if (record.deployment != deployment || record.recordsSeen < rows) continue;
      rows = record.recordsSeen;
      took_ms = record.tookMs;
    }
    if (rows == 0 || took_ms == 0) return "";
    return "; copying " + std::to_string(rows) + " rows took " + std::to_string((took_ms + 999) / 1000) + " s before";
  }

  static std::string text_of(const migrate::Migration& migration, const bundle::Migrations& settings) {
    auto statements = [](size_t count) { return std::to_string(count) + (count == 1 ? " statement" : " statements"); };
    std::string text = "expands with " + statements(migration.expand.size());
    for (const migrate::CopyRule& rule : migration.copy) text += ", copies " + rule.table;
    if (!migration.contract.empty()) {
      text += settings.autoContract ? "; going back loses nothing until the old side goes, when nobody needs it"
                                    : "; going back loses nothing: both sides stay until it is contracted";
    }
    if (!settings.autoExpand) return text + "; waits until somebody expands it";
    if (!settings.autoMigrate && !migration.copy.empty()) text += "; waits until somebody copies";
    return text;
  }

  // What is deployed without a secret that it needs does not start.
  void warn_of_secrets() {
    for (const plan::Change& each : draft_.changes) {
      if (each.sign != plan::ChangeSign::create && each.sign != plan::ChangeSign::change) continue;
      auto missing = missing_secrets_.find(each.component);
      if (missing == missing_secrets_.end()) continue;
      draft_.warnings.insert(draft_.warnings.end(), missing->second.begin(), missing->second.end());
    }
  }

  static std::string source_of(const GivenBundle& given) {
    return given.archive + (given.signature.empty() ? "" : "," + given.signature);
  }

  static void fill(plan::Offered& offered, const SeenBundle& seen) {
    offered.bundle = seen.manifest.name.text;
    offered.version = seen.manifest.version.text;
    offered.tree = seen.tree;
    offered.transport = seen.manifest.listen == bundle::Listen::unix ? plan::Transport::unix : plan::Transport::http;
    for (const bundle::Storage& each : seen.manifest.storage) offered.storages.push_back(each.name.text);
    bool any_host = false;
    for (const bundle::Route& route : seen.manifest.routes) {
      any_host = any_host || !route.host;
      if (route.host) add(offered.hosts, route.host->text);
      add(offered.path_prefixes, route.path.text);
    }
    if (any_host) offered.hosts.clear();
  }

  static void add(std::vector<std::string>& to, const std::string& text) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  }

  // A component that the plan does not look at stays as it was; one that leaves is kept with all that brings it back.
  void keep_or_leave(const deploy_plan::DeployPlanComponent& before, bool stays) {
    if (!states_.deployment().has(deployment::DeploymentId(before.deployment))) return;
    auto draft = sluice::read<DraftComponent>(to_json(before)).value();
    draft.leaving = !stays;
    if (!stays) {
      situation_.leaving.push_back({.component = before.component,
                                    .deployment = before.deployment,
                                    .version = before.version,
                                    .needs = before.needs});
    }
    draft_.components.push_back(std::move(draft));
  }

  // What the plan stands on: the deployments that it changes and their splits, and the rules.
  void see() {
    for (const DraftRule& each : draft_.rules) {
      const deploy_plan::DeployPlanRId id(namespace_of(order_.environment, each.kit) + "_" + each.rule);
      auto record = states_.deploy_plan().get(id);
      draft_.seen.push_back({"rule", id.text(), record ? record->generation : 0});
    }
    std::set<std::string> changed;
    for (const plan::Change& each : draft_.changes) {
      if (each.sign != plan::ChangeSign::keep) changed.insert(each.component);
    }
    for (const DraftComponent& each : draft_.components) {
      if (!changed.contains(each.component)) continue;
      if (each.deployment.empty()) {
        see_absence(each);
        continue;
      }
      if (auto record = states_.deployment().get(deployment::DeploymentId(each.deployment))) {
        draft_.seen.push_back({"deployment", each.deployment, record->generation});
      }
      if (auto split = states_.traffic().get(traffic::TrafficId(each.deployment))) {
        draft_.seen.push_back({"traffic", each.deployment, split->generation});
      }
    }
  }

  // What the plan is to make is not there yet.
  void see_absence(const DraftComponent& component) {
    auto offered = situation_.offered.find(component.component);
    if (offered == situation_.offered.end() || offered->second.bundle.empty()) return;
    const bool locals = component.customer.empty() && order_.environment == kLocal;
    draft_.seen.push_back({.what = "absence",
                           .key = offered->second.bundle,
                           .customer = locals ? std::string(kLocalDev) : component.customer});
  }

  const States states_;
  BundleShelf& shelf_;
  const PlanOrder& order_;
  std::map<std::string, deploy_plan::DeployPlanComponent> before_;
  std::string version_before_;
  plan::Situation situation_;
  PlanDraft draft_;
  std::optional<MigrationKeys> migrations_;  // of the manifest
  std::vector<std::string> missing_of_kits_;
  std::vector<std::string> faults_of_migrations_;
  std::string secrets_type_;
  std::map<std::string, std::vector<std::string>> missing_secrets_;  // what to tell, by component
};

}  // namespace

DraftedPlan draft_plan(const lang::Snapshot& snapshot, BundleShelf& shelf, const PlanOrder& order) {
  return Drafter(snapshot, shelf, order).draft();
}

}  // namespace sluice::deploy::views
