// An analysis is of a revision; its rollout is the one under way.
#include "deploy/views/judged.h"

#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "revision.gen.h"
#include "rollout.gen.h"
#include "router.gen.h"
#include "telemetry.gen.h"

namespace sluice::deploy::views {
namespace {

std::string name_of_revision(const States& states, const std::string& id) {
  auto record = states.revision().get(revision::RevisionId(id));
  return record ? record->bundle + "@" + std::to_string(record->sequence) : id;
}

}  // namespace

std::vector<Judged> judged(const lang::Snapshot& rows) {
  const States states(rows);
  std::vector<Judged> all;
  for (const auto& open : states.telemetry().all_a()) {
    for (const auto& each : states.rollout().find_by_concept(open.record.subject)) {
      if (!each.record.judging && !each.record.watching) continue;
      auto deployment = states.deployment().get(deployment::DeploymentId(each.record.deployment));
      if (!deployment) continue;
      Judged one{.analysis = open.id.text(),
                 .window_s = open.record.window,
                 .since_ms = open.record.since.ms,
                 .again = open.record.again,
                 .criteria = open.record.criteria,
                 .rollout = each.id.text(),
                 .attempt = each.record.attempt,
                 .deployment = each.record.deployment,
                 .canary = each.record.concept_,
                 .baseline = each.record.baseline,
                 .canary_name = name_of_revision(states, each.record.concept_),
                 .baseline_name = name_of_revision(states, each.record.baseline),
                 .weight_bps = each.record.weightBps,
                 .environment = deployment->environment};
      for (const auto& member : states.router().members(router::RouterId(one.environment)).values()) {
        one.routers.push_back({.router = member.router, .name = member.name, .control = member.control});
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace sluice::deploy::views
