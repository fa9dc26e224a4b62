// Shares are compared first, then sequences.
#include "deploy/views/leading.h"

#include <utility>

#include "revision.gen.h"
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

}  // namespace sluice::deploy::views
