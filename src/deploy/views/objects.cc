// Each view finds what is meant, then tells it as its document.
#include "deploy/views/objects.h"

#include <algorithm>

#include "base/disk.h"
#include "base/json.h"
#include "deploy/views/answers.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/environment_file.h"
#include "deploy/views/environment_plan.h"
#include "deploy/views/names.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "router.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

Result<deployment::DeploymentFound> meant_deployment(const States& states, const DeploymentQuery& query) {
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  return find_deployment(states, environment->id.text(), {query.deployment, query.bundle, query.customer});
}

Result<std::vector<ListedEnvironment>> read_environments(const lang::Reading& reading, const AllQuery&) {
  const States states(reading.rows);
  std::vector<ListedEnvironment> all;
  for (const env::EnvFound& each : states.env().all()) {
    all.push_back({.environment_id = each.id.text(),
                   .name = each.record.name,
                   .packs = static_cast<int64_t>(states.env().packs(each.id).values().size()),
                   .deployments = static_cast<int64_t>(states.deployment().find_by_environment(each.id.text()).size()),
                   .health = health_of(examine_all(
                       reading.rows, [&]() -> Disk& { return reading.tools.get<Disk>(); }, each.id.text())),
                   .last_doctor_status = each.record.health.lastDoctorStatus,
                   .generation = each.record.generation});
  }
  return all;
}

Result<EnvironmentDocument> read_environment(const lang::Reading& reading, const EnvironmentQuery& query) {
  const States states(reading.rows);
  auto found = find_environment(states, query.environment);
  if (!found) return found.error();
  return environment_document(states, *found);
}

Result<std::vector<DeploymentDocument>> read_deployments(const lang::Reading& reading, const EnvironmentQuery& query) {
  const States states(reading.rows);
  auto found = find_environment(states, query.environment);
  if (!found) return found.error();
  std::vector<DeploymentDocument> all;
  for (const auto& each : states.deployment().find_by_environment(found->id.text())) {
    all.push_back(deployment_document(states, each));
  }
  return all;
}

Result<DeploymentPage> read_deployment(const lang::Reading& reading, const DeploymentQuery& query) {
  const States states(reading.rows);
  auto found = meant_deployment(states, query);
  if (!found) return found.error();
  const std::string& id = found->id.text();
  DeploymentPage page{.deployment = deployment_document(states, *found),
                      .revisions = static_cast<int64_t>(states.revision().find_by_deployment(id).size()),
                      .splits = static_cast<int64_t>(split_history(states, id).size()),
                      .policy_versions = found->record.policyVersion};
  if (auto warning = alias_warning(states, query.environment)) page.warning = *warning;
  return page;
}

Result<std::vector<RevisionDocument>> read_revisions(const lang::Reading& reading, const RevisionsQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const bool one = !query.deployment.empty() || !query.bundle.empty() || !query.customer.empty();
  std::vector<revision::RevisionFound> found;
  if (one) {
    auto deployment = find_deployment(states, environment->id.text(), {query.deployment, query.bundle, query.customer});
    if (!deployment) return deployment.error();
    found = query.archived ? states.revision().find_by_deployment(deployment->id.text())
                           : live_revisions_of(states, deployment->id.text());
  } else if (query.archived) {
    for (const auto& each : states.deployment().find_by_environment(environment->id.text())) {
      std::ranges::move(states.revision().find_by_deployment(each.id.text()), std::back_inserter(found));
    }
  } else {
    found = live_revisions_in(states, environment->id.text());
  }
  std::ranges::sort(found, {},
                    [](const auto& each) { return std::pair(each.record.deployment, each.record.sequence); });
  std::vector<RevisionDocument> all;
  for (const auto& each : found) all.push_back(revision_document(each));
  return all;
}

Result<OrNull<SplitDocument>> read_traffic(const lang::Reading& reading, const DeploymentQuery& query) {
  const States states(reading.rows);
  auto deployment = meant_deployment(states, query);
  if (!deployment) return deployment.error();
  return split_document(states, *deployment);
}

Result<std::vector<PastSplitDocument>> read_traffic_history(const lang::Reading& reading,
                                                            const DeploymentQuery& query) {
  const States states(reading.rows);
  auto deployment = meant_deployment(states, query);
  if (!deployment) return deployment.error();
  return split_history(states, deployment->id.text());
}

Result<WayBackView> read_way_back(const lang::Reading& reading, const WayBackQuery& query) {
  const States states(reading.rows);
  auto deployment = meant_deployment(states, {query.environment, query.deployment, query.bundle, query.customer});
  if (!deployment) return deployment.error();
  auto shares = [&](const auto& entries) {
    std::vector<ShareView> all;
    for (const auto& each : entries) {
      ShareView share{.revision_id = each.revision, .weight_bps = each.weightBps};
      if (auto record = states.revision().get(revision::RevisionId(each.revision))) {
        share.name = record->bundle + "@" + std::to_string(record->sequence);
        share.lifecycle = record->lifecycle;
      }
      all.push_back(std::move(share));
    }
    return all;
  };
  const traffic::TrafficId id(deployment->id.text());
  const auto past = states.traffic().past(id).values();
  WayBackView view{.deployment_id = id.text(),
                   .steps_there = static_cast<int64_t>(past.size()),
                   .now = shares(states.traffic().entries(id).values())};
  if (query.steps >= 1 && query.steps <= view.steps_there) {
    view.becomes = shares(past[past.size() - static_cast<size_t>(query.steps)].entries);
  }
  return view;
}

// A deployment that is not named is the one that the first revision is of, if that means one.
Result<MeantNames> read_names(const lang::Reading& reading, const NamesQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const std::string& where = environment->id.text();
  MeantNames meant{.environment = where, .secrets_provider = environment->record.secretsType.value_or("")};
  if (auto warning = alias_warning(states, query.environment)) meant.warning = *warning;
  if (query.about == NamesAbout::environment) return meant;
  DeploymentName name{query.deployment, query.bundle, query.customer};
  // Of one customer's revision its name says the bundle.
  if (name.deployment.empty() && name.bundle.empty() && !name.customer.empty() && !query.revisions.empty()) {
    name.bundle = bundle_in(query.revisions.front());
  }
  const bool named = !query.deployment.empty() || !query.bundle.empty() || !query.customer.empty();
  if (!named && !query.revisions.empty()) {
    auto first = find_revision(states, where, query.revisions.front());
    if (first) name.deployment = first->record.deployment;
    // Which deployment is meant depends on a revision that is not there: that is what is wrong.
    if (!first && states.deployment().find_by_environment(where).size() != 1) return first.error();
  }
  if (query.about == NamesAbout::deployment || named) {
    auto deployment = find_deployment(states, where, name);
    if (!deployment) return deployment.error();
    meant.deployment = deployment->id.text();
    meant.bundle = deployment->record.bundle;
    meant.customer = deployment->record.customer;
  }
  for (const std::string& each : query.revisions) {
    auto revision = find_revision(states, where, each, meant.deployment);
    if (!revision) return revision.error();
    meant.revisions.push_back({.revision = revision->id.text(),
                               .name = name_of(*revision),
                               .deployment = revision->record.deployment,
                               .lifecycle = revision->record.lifecycle});
  }
  return meant;
}

// Host, setup and runtime: what the operator set, packs were set up with, and the deployer found out.
Result<ConfigDocument> read_config(const lang::Reading& reading, const EnvironmentQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  ConfigDocument document = config_document(states, environment->id.text());
  Disk* disk = reading.tools.find<Disk>();
  for (const PackAnswers& each : pack_answers(reading.rows, environment->id.text())) {
    AnsweredPackDocument pack{
        .slot = each.slot, .kind = each.kind, .answers_ref = each.file, .answers = json::object()};
    auto answers =
        disk != nullptr ? read_answers(*disk, each.file) : Result<Document>(Error{.message = "there is no disk"});
    if (answers) {
      pack.answers = answers->root;
    } else {
      pack.problem = to_string(answers.error());
    }
    document.setup.push_back(std::move(pack));
  }
  // Answers to questions are kept with the binding itself; of what is secret it has a reference.
  for (const env::EnvPack& each : states.env().packs(environment->id).values()) {
    auto answers = each.answers ? parse_json(*each.answers) : Result<Document>(Error{});
    if (answers) document.setup.push_back({.slot = each.slot, .kind = each.kind, .answers = answers->root});
  }
  auto settings = read_settings(reading, {.environment = environment->id.text()});
  if (!settings) return settings.error();
  document.deployments = *std::move(settings);
  return document;
}

Result<ExportedEnvironment> read_export(const lang::Reading& reading, const EnvironmentQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  return exported_environment(states, *environment);
}

Result<RoutersView> read_routers(const lang::Reading& reading, const EnvironmentQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const router::RouterId id(environment->id.text());
  RoutersView view{.environment = id.text()};
  const auto table = states.router().get(id);
  if (table) view.generation = table->generation;
  for (const auto& each : states.router().members(id).values()) {
    view.members.push_back({.name = each.name,
                            .acknowledged = each.acknowledged,
                            .obeys = table && each.acknowledged >= table->generation && each.trouble.empty(),
                            .trouble = each.trouble});
  }
  return view;
}

}  // namespace

std::vector<lang::View> object_views() {
  return {lang::make_view("environments", "All environments", read_environments),
          lang::make_view("environment", "An environment with all that is in it", read_environment),
          lang::make_view("environment-export", "An environment as a file that can be applied again", read_export),
          lang::make_view("deployments", "The deployments of an environment", read_deployments),
          lang::make_view("deployment", "A deployment, and how much belongs to it", read_deployment),
          lang::make_view("revisions", "Revisions of an environment or of one deployment", read_revisions),
          lang::make_view("traffic", "Which revision of a deployment gets which share", read_traffic),
          lang::make_view("traffic-history", "All splits of a deployment, with who changed them, when and why",
                          read_traffic_history),
          lang::make_view("way-back", "What a rollback of a deployment would lead to", read_way_back),
          lang::make_view("config", "What was set, set up, and found out about an environment", read_config),
          lang::make_view("names", "What the names of a deployment and of revisions mean", read_names),
          lang::make_view("routers", "How far the routers of an environment are with the newest table", read_routers)};
}

}  // namespace sluice::deploy::views
