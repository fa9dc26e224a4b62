// The manifest of a plan is kept as it was given, with its variables: it can be resolved for any environment.
#include "deploy/views/resolved_manifest.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/plan_draft.h"
#include "deploy_plan.gen.h"
#include "env.gen.h"

namespace sluice::deploy::views {
namespace {

using deploy_plan::DeployPlanCurrentPhase;
using deploy_plan::DeployPlanId;

std::optional<PlanSource> source_of(const States& states, const DeployPlanId& plan) {
  for (const auto& each : states.deploy_plan().papers(plan).values()) {
    if (each.name == kSourcePaper) {
      return sluice::read<PlanSource>(parse_json(each.text, each.name).value().root).value();
    }
  }
  return std::nullopt;
}

std::optional<PlanSource> last_source(const States& states, const std::string& environment) {
  std::optional<deploy_plan::DeployPlanFound> last;
  for (auto& each : states.deploy_plan().find_by_environment(environment)) {
    if (each.record.currentPhase != DeployPlanCurrentPhase::complete) continue;
    if (!last || each.record.number > last->record.number) last = std::move(each);
  }
  return last ? source_of(states, last->id) : std::nullopt;
}

}  // namespace

ResolvedManifest resolve_manifest(const lang::Snapshot& snapshot, const ManifestAsk& ask) {
  const States states(snapshot);
  ResolvedManifest told;
  PlanSource source{.manifest = ask.manifest,
                    .file = ask.file.empty() ? std::string(plan::kAppManifestName) : ask.file,
                    .variables = {}};
  if (ask.manifest.empty()) {
    if (!states.env().has(env::EnvId(ask.environment))) {
      told.not_there = "there is no environment " + ask.environment;
      return told;
    }
    auto kept = ask.plan.empty() ? last_source(states, ask.environment) : source_of(states, DeployPlanId(ask.plan));
    if (!kept) {
      told.not_there = ask.plan.empty() ? "no manifest was executed in " + ask.environment
                                        : "the manifest of " + ask.plan + " is not kept";
      return told;
    }
    source = *std::move(kept);
  }
  auto variable = [&](const std::string& name) -> std::optional<std::string> {
    auto found = source.variables.find(name);
    return found == source.variables.end() ? "${" + name + "}" : found->second;
  };
  plan::ParsedManifest parsed =
      plan::parse_app_manifest(source.manifest, source.file, {.environment = ask.environment, .variable = variable});
  for (const Error& each : parsed.faults) told.faults.push_back(to_string(each));
  if (!parsed.manifest) return told;
  plan::ResolveOutcome outcome = plan::resolve_overlays(parsed.document, ask.environment);
  told.resolved = std::move(outcome.resolved);
  if (!outcome.unresolved) return told;
  auto& details = outcome.unresolved->details;
  switch (outcome.unresolved->fault) {
    case plan::ResolveFault::missing_base:
      told.missing_base = details.front();
      break;
    case plan::ResolveFault::conflicting:
      told.conflicts = std::move(details);
      break;
    case plan::ResolveFault::too_deep:
    case plan::ResolveFault::invalid:
      told.faults = std::move(details);
      break;
  }
  return told;
}

}  // namespace sluice::deploy::views
