// The way back is that of Traffic/rollback: the split before the last change.
#include "cli/up_split.h"

#include <algorithm>
#include <set>

#include "deploy/views/documents.h"
#include "traffic.gen.h"

namespace sluice::cli {
namespace {

constexpr int64_t kWhole_bps = 10'000;

std::set<std::string> served_before(const deploy::views::States& states, const std::string& deployment) {
  std::set<std::string> revisions;
  const auto past = states.traffic().past(deploy::traffic::TrafficId(deployment)).values();
  if (past.empty()) return revisions;
  for (const auto& entry : past.back().entries) {
    if (entry.weightBps > 0) revisions.insert(entry.revision);
  }
  return revisions;
}

}  // namespace

Weights split_of(const deploy::views::States& states, const std::string& deployment) {
  Weights weights;
  for (const auto& entry : states.traffic().entries(deploy::traffic::TrafficId(deployment)).values()) {
    if (entry.weightBps > 0) weights.emplace_back(entry.revision, entry.weightBps);
  }
  return weights;
}

bool is_same_split(Weights one, Weights other) {
  std::ranges::sort(one);
  std::ranges::sort(other);
  return one == other;
}

Weights wanted_split(const Weights& now, const std::string& revision, std::optional<int64_t> canary_bps) {
  if (!canary_bps || now.empty()) return {{revision, kWhole_bps}};
  int64_t others = 0;
  for (const auto& [id, weight] : now) others += id == revision ? 0 : weight;
  if (others == 0) return now;  // it has everything already
  Weights wanted = {{revision, *canary_bps}};
  int64_t left = kWhole_bps - *canary_bps;
  for (const auto& [id, weight] : now) {
    if (id == revision) continue;
    const int64_t share = weight * (kWhole_bps - *canary_bps) / others;
    wanted.emplace_back(id, share);
    left -= share;
  }
  wanted[1].second += left;
  return wanted;
}

std::vector<deploy::revision::RevisionFound> left_behind(const deploy::views::States& states,
                                                         const std::string& deployment, const std::string& newest) {
  std::set<std::string> stay = {newest};
  for (const auto& [revision, weight] : split_of(states, deployment)) stay.insert(revision);
  const std::set<std::string> before = served_before(states, deployment);
  std::vector<deploy::revision::RevisionFound> old;
  bool has_way_back = false;
  for (const auto& each : deploy::views::live_revisions_of(states, deployment)) {
    if (each.record.lifecycle != deploy::revision::RevisionLifecycle::ready || stay.contains(each.id.text())) continue;
    if (before.contains(each.id.text())) {
      has_way_back = true;
    } else {
      old.push_back(each);
    }
  }
  if (!has_way_back && !old.empty()) old.pop_back();
  return old;
}

}  // namespace sluice::cli
