// State says where a rollout is and where it is to go; what the routers count is JudgeWatch's.
#include "deploy/views/rollouts.h"

#include <algorithm>

#include "base/basis_points.h"
#include "base/duration.h"
#include "base/json_writer.h"
#include "deploy/judge_watch.h"
#include "deploy/views/names.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "revision.gen.h"
#include "router.gen.h"
#include "runtime.gen.h"

namespace sluice::deploy::views {
namespace {

using rollout::RolloutFound;
using rollout::RolloutRecord;
using rollout::RolloutStatus;

std::optional<double> share_of(double part, double all) {
  if (all <= 0) return std::nullopt;
  return part / all;
}

SideView side_view(const States& states, const std::string& revision_id) {
  SideView side{.revision = revision_id, .name = revision_id, .lifecycle = "gone"};
  auto record = states.revision().get(revision::RevisionId(revision_id));
  if (!record) return side;
  side.name = record->bundle + "@" + std::to_string(record->sequence);
  for (const auto& each : states.runtime().find_by_concept(revision_id)) {
    side.replicas += static_cast<int64_t>(states.runtime().replicas(each.id).values().size());
  }
  side.lifecycle = boost::describe::enum_to_string(record->lifecycle, "");
  return side;
}

void put_looks(SideView& side, const RolloutSeen& seen, SideSeen RolloutSeen::Look::*which) {
  for (const RolloutSeen::Look& each : seen.looks) {
    const SideSeen& one = each.*which;
    side.past_requests_per_s.push_back(one.requests_per_s);
    side.past_error_shares.push_back(share_of(one.failed, one.requests).value_or(0));
    side.past_p99_ms.push_back(one.p99_ms.value_or(0));
  }
  if (seen.looks.empty()) return;
  const SideSeen& last = seen.looks.back().*which;
  side.requests_per_s = last.requests_per_s;
  if (auto share = share_of(last.failed, last.requests)) side.error_share = *share;
  if (last.p50_ms) side.p50_ms = *last.p50_ms;
  if (last.p99_ms) side.p99_ms = *last.p99_ms;
}

std::string seconds_text(int64_t seconds) {
  return print_duration(std::chrono::seconds(std::max<int64_t>(seconds, 0)));
}

// The routers that do not obey yet, each with what is known of it.
std::string behind(const RolloutView& view) {
  std::string text;
  for (const auto& each : view.routers) {
    if (each.obeys) continue;
    text += (text.empty() ? "" : ", ") + each.name + (each.trouble.empty() ? "" : " (" + each.trouble + ")");
  }
  return text;
}

std::string waits_for(const RolloutView& view, const RolloutRecord& record, const std::string& ahead) {
  const std::string at = "at " + print_basis_points(static_cast<int>(view.weight_asked_bps));
  switch (record.status) {
    case RolloutStatus::queued:
      return "waits until " + (ahead.empty() ? "the rollout before it" : ahead) + " has ended";
    case RolloutStatus::due:
      return "is about to begin";
    case RolloutStatus::paused:
      return "paused " + at + ": " + record.reason + "; resume, advance or abort it";
    case RolloutStatus::returning:
      return "traffic is on its way back: " + record.reason;
    case RolloutStatus::stuck:
      return record.reason + "; retry or abort it";
    case RolloutStatus::watching:
      if (!record.reason.empty()) return "has all traffic, and is worse: " + record.reason + "; abort it to go back";
      return "has all traffic; judging goes on for " + seconds_text(view.seconds_left.value_or(0));
    case RolloutStatus::complete:
    case RolloutStatus::aborted:
    case RolloutStatus::superseded:
      return record.reason;
    case RolloutStatus::running:
      break;
  }
  if (!record.reason.empty()) return record.reason;
  if (record.scaling && record.shifted != record.step) return "replicas are being started or stopped " + at;
  if (!record.judging) {
    const std::string late = behind(view);
    if (late.empty()) return "the routers are told " + at;
    return "waits " + at + " until these routers acknowledge: " + late +
           "; one that does not answer is left out after its lease: start it again or retire it";
  }
  if (view.seconds_left.value_or(0) > 0) return "stays " + at + " for another " + seconds_text(*view.seconds_left);
  if (view.verdict && view.verdict->verdict == judge::Outcome::insufficientData) return view.verdict->sentence;
  return "the judge looks " + at;
}

RolloutView view_of(const lang::Reading& reading, const States& states, const RolloutFound& found) {
  const RolloutRecord& record = found.record;
  RolloutView view{.rollout = found.id.text(),
                   .deployment = record.deployment,
                   .strategy = std::string(to_json(record.strategy).as_string()),
                   .status = record.status,
                   .reason = record.reason,
                   .group = record.group,
                   .attempt = record.attempt,
                   .step = record.step,
                   .weight_asked_bps = record.weightBps,
                   .canary = side_view(states, record.concept_),
                   .started_at = record.startedAt,
                   .stepped_at = record.steppedAt,
                   .now = {reading.now_ms}};
  if (record.endedAt) view.ended_at = *record.endedAt;
  if (auto deployment = states.deployment().get(deployment::DeploymentId(record.deployment))) {
    view.environment = deployment->environment;
    view.bundle = deployment->bundle;
    view.customer = deployment->customer;
  }
  if (!record.baseline.empty()) view.baseline = side_view(states, record.baseline);
  int64_t number = 0;
  for (const auto& each : states.rollout().steps(found.id).values()) {
    ++number;
    view.steps.push_back({.weight_bps = each.weightBps,
                          .pause_s = each.pauseSeconds,
                          .manual = each.manual,
                          .state = number < record.step    ? StepState::passed
                                   : number == record.step ? StepState::current
                                                           : StepState::coming});
  }
  const int64_t passed_s = (reading.now_ms - record.steppedAt.ms) / 1'000;
  if (record.status == RolloutStatus::running) view.seconds_left = std::max<int64_t>(record.pauseSeconds - passed_s, 0);
  if (record.status == RolloutStatus::watching) {
    view.seconds_left = std::max<int64_t>(record.afterSeconds - passed_s, 0);
  }
  const router::RouterId environment(view.environment);
  const auto table = states.router().get(environment);
  for (const auto& each : states.router().members(environment).values()) {
    view.routers.push_back(
        {.name = each.name, .obeys = table && each.acknowledged >= table->generation, .trouble = each.trouble});
  }
  if (const auto* watch = reading.tools.find<JudgeWatch>()) {
    if (auto seen = watch->seen(found.id.text())) {
      // A rollout that has ended was acknowledged, but not by a router that did not answer; what was seen is of the
      // last look before.
      if (!record.endedAt) {
        if (seen->obeyed_bps) view.weight_obeyed_bps = *seen->obeyed_bps;
      } else if (!view.routers.empty() && behind(view).empty()) {
        view.weight_obeyed_bps = record.weightBps;
      }
      if (seen->verdict) view.verdict = *seen->verdict;
      put_looks(view.canary, *seen, &RolloutSeen::Look::canary);
      if (view.baseline) put_looks(*view.baseline, *seen, &RolloutSeen::Look::baseline);
      const double all = view.canary.requests_per_s + (view.baseline ? view.baseline->requests_per_s : 0);
      if (auto share = share_of(view.canary.requests_per_s, all); share && !record.endedAt) {
        view.weight_actual_bps = static_cast<int64_t>(*share * kAllBasisPoints + 0.5);
      }
    }
  }
  std::string ahead;
  for (const RolloutFound& each : states.rollout().find_by_deployment(record.deployment)) {
    if (each.record.number < record.number && !each.record.endedAt)
      ahead = side_view(states, each.record.concept_).name;
  }
  view.waits_for = waits_for(view, record, ahead);
  return view;
}

std::vector<RolloutFound> newest_first(const States& states) {
  std::vector<RolloutFound> all;
  for (const RolloutFound& each : states.rollout().all()) all.push_back(each);
  std::ranges::sort(all, std::ranges::greater(), [](const RolloutFound& each) { return each.record.number; });
  return all;
}

Result<std::vector<RolloutView>> read_rollouts(const lang::Reading& reading, const RolloutsQuery& query) {
  const States states(reading.rows);
  std::vector<RolloutView> all;
  for (const RolloutFound& each : newest_first(states)) {
    if (!query.ended && each.record.endedAt) continue;
    RolloutView view = view_of(reading, states, each);
    if (query.environment.empty() || view.environment == query.environment) all.push_back(std::move(view));
  }
  return all;
}

Result<RolloutView> read_rollout(const lang::Reading& reading, const RolloutQuery& query) {
  const States states(reading.rows);
  const auto all = newest_first(states);
  auto of_environment = [&](const RolloutFound& each) {
    auto deployment = states.deployment().get(deployment::DeploymentId(each.record.deployment));
    return query.environment.empty() || (deployment && deployment->environment == query.environment);
  };
  auto is_meant = [&](const RolloutFound& each) {
    if (query.rollout.empty() || each.id.text().starts_with(query.rollout)) return true;
    auto record = states.revision().get(revision::RevisionId(each.record.concept_));
    if (!record) return each.record.deployment == query.rollout;
    return query.rollout == record->bundle || each.record.deployment == query.rollout ||
           query.rollout == record->bundle + "@" + std::to_string(record->sequence) ||
           each.record.concept_ == query.rollout;
  };
  for (const RolloutFound& each : all) {
    if (of_environment(each) && is_meant(each)) return view_of(reading, states, each);
  }
  return Error{
      .code = Code::not_found,
      .message = query.rollout.empty() ? "there was no rollout yet" : "there is no rollout of " + query.rollout,
      .next = "view rollouts"};
}

}  // namespace

std::string rollout_under_way(const lang::Reading& reading, const std::string& revision) {
  const States states(reading.rows);
  for (const RolloutFound& each : states.rollout().find_by_concept(revision)) {
    if (each.record.endedAt) continue;
    const RolloutView view = view_of(reading, states, each);
    return "Its rollout is " + std::string(to_json(view.status).as_string()) + " at step " + std::to_string(view.step) +
           " of " + std::to_string(view.steps.size()) + ": " + view.waits_for +
           (view.waits_for.ends_with('.') ? "" : ".");
  }
  return "";
}

std::vector<lang::View> rollout_views() {
  return {lang::make_view("rollouts", "Where the rollouts are, the newest first", read_rollouts),
          lang::make_view("rollout", "Where a rollout is, what the judge says and what it waits for", read_rollout)};
}

}  // namespace sluice::deploy::views
