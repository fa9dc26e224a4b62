// Shares are compared first, then sequences.
#include "deploy/views/leading.h"

#include <utility>

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
