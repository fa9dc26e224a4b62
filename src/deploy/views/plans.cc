// Whether a plan is stale is found as the guards of DeployPlan/start find it: what it saw is compared with what is
// there.
#include "deploy/views/plans.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/basis_points.h"
#include "base/json.h"
#include "deploy/views/states.h"
#include "deploy_plan.gen.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "rollout.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

using deploy_plan::DeployPlanCurrentPhase;
using deploy_plan::DeployPlanFound;
using deploy_plan::DeployPlanId;

template <class Enum>
std::string word(Enum value) {
  return boost::describe::enum_to_string(value, "");
}

OrNull<std::string> time_of(const std::optional<lang::DateTime>& time) {
  OrNull<std::string> text;
  if (time) text.emplace(lang::to_text(*time));
  return text;
}

void list(const DeployPlanFound& found, ListedPlan& plan) {
  const auto& record = found.record;
  plan.plan_id = found.id.text();
  plan.app = record.suiteName;
  plan.version = record.kitVersion;
  plan.environment_id = record.environment;
  plan.phase = word(record.currentPhase);
  plan.created_at = lang::to_text(record.createdAt);
  plan.created_by = record.createdBy;
  plan.ended_at = time_of(record.endedAt);
  plan.done = record.done;
  const auto& sum = record.summary;
  plan.summary = {sum.create, sum.change, sum.remove, sum.keep, sum.nodes, sum.edges, sum.waves};
  if (!record.reason.empty()) plan.reason.emplace(record.reason);
  plan.origin = record.origin.value_or("manifest");
}

OrNull<std::string> stale(const States& states, const DeployPlanFound& found) {
  auto changed = [](std::string what) {
    OrNull<std::string> text;
    text.emplace(std::move(what));
    return text;
  };
  if (found.record.currentPhase != DeployPlanCurrentPhase::planned) return {};
  for (const auto& each : states.deploy_plan().seen(found.id).values()) {
    if (each.what == deploy_plan::DeployPlanWhat::environment) {
      auto env = states.env().get(env::EnvId(each.key));
      if (!env || env->generation != each.generation) return changed("the environment " + each.key + " was changed");
    } else if (each.what == deploy_plan::DeployPlanWhat::deployment) {
      auto record = states.deployment().get(deployment::DeploymentId(each.key));
      if (!record) return changed("the deployment " + each.key + " was removed");
      if (record->generation != each.generation) return changed(record->bundle + " (" + each.key + ") was changed");
    } else if (each.what == deploy_plan::DeployPlanWhat::absence) {
      for (const auto& there : states.deployment().find_by_environment(found.record.environment)) {
        if (there.record.bundle != each.key || there.record.customer != each.customer.value_or("")) continue;
        if (there.record.status == deployment::DeploymentStatus::archived) continue;
        return changed(each.key + " for " + there.record.customer + " was deployed meanwhile");
      }
    } else if (each.what == deploy_plan::DeployPlanWhat::rule) {
      auto rule = states.deploy_plan().get(deploy_plan::DeployPlanRId(each.key));
      if (rule && rule->generation != each.generation) return changed("another plan has registered " + each.key);
    } else {
      auto split = states.traffic().get(traffic::TrafficId(each.key));
      if (split && split->generation != each.generation) {
        const auto owner = states.deployment().get(deployment::DeploymentId(each.key));
        return changed((split->updatedBy.empty() ? "a rollout or a rollback" : split->updatedBy) +
                       " has changed the traffic of " + (owner ? owner->bundle : each.key) + " at " +
                       lang::to_text(split->updatedAt));
      }
    }
  }
  return {};
}

// Where the rollout of a component is that a plan has begun.
OrNull<std::string> rollout_note(const States& states, const DeployPlanFound& found, const std::string& component) {
  OrNull<std::string> note;
  for (const auto& each : states.deploy_plan().components(found.id).values()) {
    if (each.component != component) continue;
    for (const auto& rollout : states.rollout().find_by_deployment(each.deployment)) {
      if (rollout.record.plan != found.id.text() || rollout.record.endedAt) continue;
      note.emplace(found.record.strategy + " " + word(rollout.record.status) + " at " +
                   print_basis_points(static_cast<int>(rollout.record.weightBps)) + ", step " +
                   std::to_string(rollout.record.step) + " of " +
                   std::to_string(states.rollout().steps(rollout.id).size()) +
                   (rollout.record.reason.empty() ? "" : ": " + rollout.record.reason));
    }
  }
  return note;
}

// The revision that a deploy-concept makes of a component: the newest that the open change with its archive has staged.
OrNull<std::string> revision_made(const States& states, const DeployPlanFound& found, const std::string& component) {
  OrNull<std::string> made;
  for (const auto& each : states.deploy_plan().components(found.id).values()) {
    if (each.component != component) continue;
    const std::string source = each.archive + (each.signature.empty() ? "" : "," + each.signature);
    for (const auto& change : states.deployment().all_c()) {
      const auto& reached = change.record.reached;
      if (change.record.wish.source != source || reached.deployment.empty()) continue;
      int64_t newest = 0;
      for (const auto& revision : states.revision().find_by_deployment(reached.deployment)) {
        if (revision.record.source != source || revision.record.sequence < newest) continue;
        newest = revision.record.sequence;
        made.emplace(revision.id.text());
      }
    }
  }
  return made;
}

// The revision that the plan has brought of a component.
OrNull<std::string> revision_brought(const States& states, const DeployPlanFound& found, const std::string& component) {
  OrNull<std::string> brought;
  for (const auto& each : states.deploy_plan().components(found.id).values()) {
    if (each.component == component && !each.revision.empty()) brought.emplace(each.revision);
  }
  return brought;
}

void add_nodes(const States& states, const DeployPlanFound& found, bool started, int64_t now_ms, PlanDocument& plan) {
  std::map<int64_t, deploy_plan::DeployPlanNRecord> rows;
  for (auto& each : states.deploy_plan().find_by_of_plan(found.id))
    rows.emplace(each.record.place, std::move(each.record));
  int64_t place = 0;
  for (const auto& block : states.deploy_plan().blocks(found.id).values()) {
    for (const auto& node : block.nodes) {
      auto row = rows.find(place);
      const bool begun = row != rows.end() && row->second.beganAt;
      if (begun || !started) {
        PlanNodeDocument told{.place = place,
                              .node = node.kind + "/" + node.target,
                              .kind = node.kind,
                              .target = node.target,
                              .wave = node.wave,
                              .after = node.after,
                              .status = "waiting"};
        if (row != rows.end()) {
          told.status = word(row->second.status);
          told.began_at = time_of(row->second.beganAt);
          told.over_at = time_of(row->second.overAt);
          if (begun) {
            told.took_ms.emplace((row->second.overAt ? row->second.overAt->ms : now_ms) - row->second.beganAt->ms);
          }
          if (!row->second.trouble.empty()) told.trouble.emplace(row->second.trouble);
          if (told.status == "failed") {
            told.last_lines = states.deploy_plan()
                                  .last_lines(deploy_plan::DeployPlanNId(found.id.text() + "/" + std::to_string(place)))
                                  .values();
          }
          if (told.status == "running" && node.kind == "traffic-split") {
            told.note = rollout_note(states, found, node.target);
          } else if (told.status == "running" && node.kind == "deploy-concept") {
            told.revision = revision_made(states, found, node.target);
          } else if (told.status == "stuck") {
            told.revision = revision_brought(states, found, node.target);
          }
        }
        plan.nodes.push_back(std::move(told));
      }
      place++;
    }
  }
}

Result<DeployPlanFound> find_plan(const States& states, const PlanQuery& query) {
  if (!query.plan.empty()) {
    const DeployPlanId id(query.plan);
    auto record = states.deploy_plan().get(id);
    if (record) return DeployPlanFound{id, *record};
    return Error{.code = Code::not_found, .message = "there is no plan " + query.plan, .next = "view plans"};
  }
  std::optional<DeployPlanFound> newest;
  for (auto& each : states.deploy_plan().find_by_environment(query.environment)) {
    if (!newest ||
        std::pair(each.record.createdAt, each.id.text()) > std::pair(newest->record.createdAt, newest->id.text())) {
      newest = std::move(each);
    }
  }
  if (newest) return *std::move(newest);
  return Error{.code = Code::not_found,
               .message = "there is no plan of " + query.environment,
               .next = "plan a manifest for " + query.environment};
}

Result<PlanDocument> read_plan(const lang::Reading& reading, const PlanQuery& query) {
  const States states(reading.rows);
  auto found = find_plan(states, query);
  if (!found) return found.error();
  PlanDocument plan;
  list(*found, plan);
  plan.strategy = found->record.strategy;
  if (plan.strategy != "immediate") plan.steps = found->record.delivery.steps;
  plan.on_failure = word(found->record.onFailure);
  plan.concurrency = word(found->record.concurrency);
  plan.estimated_ms = found->record.estimatedMs;
  plan.started_at = time_of(found->record.startedAt);
  plan.stale = stale(states, *found);
  if (found->record.currentPhase == DeployPlanCurrentPhase::queued) {
    for (const auto& each : states.deploy_plan().find_by_environment(found->record.environment)) {
      const auto phase = each.record.currentPhase;
      if (each.record.origin) continue;  // an up keeps to its own deployment
      if (phase == DeployPlanCurrentPhase::running || phase == DeployPlanCurrentPhase::undoing ||
          phase == DeployPlanCurrentPhase::broken) {
        plan.waits_for.emplace(each.id.text());
      }
    }
  }
  for (const auto& each : states.deploy_plan().papers(found->id).values()) {
    auto read_into = [&](auto& target) {
      target = sluice::read<std::remove_reference_t<decltype(target)>>(parse_json(each.text, each.name).value().root)
                   .value();
    };
    if (each.name == "changes") read_into(plan.changes);
    if (each.name == "warnings") read_into(plan.warnings);
  }
  add_nodes(states, *found, query.started, reading.now_ms, plan);
  for (const auto& each : states.deploy_plan().components(found->id).values()) {
    if (!each.leaving && !each.deployment.empty()) plan.deployments.push_back(each.deployment);
  }
  return plan;
}

Result<std::vector<ListedPlan>> read_plans(const lang::Reading& reading, const PlansQuery& query) {
  const States states(reading.rows);
  std::vector<ListedPlan> plans;
  for (const auto& each : states.deploy_plan().all()) {
    if (!query.environment.empty() && each.record.environment != query.environment) continue;
    list({each.id, each.record}, plans.emplace_back());
  }
  std::ranges::sort(plans, std::greater<>(),
                    [](const ListedPlan& each) { return std::pair(each.created_at, each.plan_id); });
  return plans;
}

}  // namespace

std::vector<lang::View> plan_views() {
  return {lang::make_view("plan", "A plan, and how far it has come", read_plan),
          lang::make_view("plans", "The plans of an environment", read_plans)};
}

}  // namespace sluice::deploy::views
