// Shares are compared first, then sequences.
#include "deploy/views/leading.h"

#include <utility>

#include "deploy/views/snapshot.h"
#include "deploy_plan.gen.h"
#include "revision.gen.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {

std::string leading_revision(const lang::Snapshot& snapshot, const std::string& deployment) {
  return leading_revision(States(snapshot), deployment);
}

std::string leading_revision(const States& states, const std::string& deployment) {
  std::string leading;
  std::pair<int64_t, int64_t> most{0, 0};
  for (const auto& entry : states.traffic().entries(traffic::TrafficId(deployment)).values()) {
    if (entry.weightBps == 0) continue;
    auto record = states.revision().get(revision::RevisionId(entry.revision));
    const std::pair rank(entry.weightBps, record ? record->sequence : 0);
    if (!leading.empty() && rank < most) continue;
    leading = entry.revision;
    most = rank;
  }
  return leading;
}

// A plan that is being executed counts: its syncs are registered when its components serve.
std::vector<std::string> component_addresses(const lang::Snapshot& snapshot, const std::string& environment,
                                             const std::string& app, const std::string& component) {
  const States states(snapshot);
  int64_t newest = -1;
  std::string revision;
  for (const auto& plan : states.deploy_plan().find_by_environment(environment)) {
    if (plan.record.suiteName != app || plan.record.origin || plan.record.number < newest) continue;
    for (const auto& each : states.deploy_plan().components(plan.id).values()) {
      if (each.component != component || each.leaving || each.deployment.empty()) continue;
      const std::string leading = leading_revision(states, each.deployment);
      if (leading.empty()) continue;
      newest = plan.record.number;
      revision = leading;
    }
  }
  return revision.empty() ? std::vector<std::string>() : replica_addresses(states, revision);
}

int64_t replicas_of_revision(const lang::Snapshot& snapshot, const std::string& revision) {
  return replicas_of_revision(States(snapshot), revision);
}

int64_t replicas_of_revision(const States& states, const std::string& revision) {
  int64_t all = 0;
  for (const auto& each : states.runtime().find_by_concept(revision)) {
    all += static_cast<int64_t>(states.runtime().replicas(each.id).size());
  }
  return all;
}

}  // namespace sluice::deploy::views
