// Views of rollouts: where each of them is, what the judge says, and what it waits for.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "judge/verdict.h"
#include "lang/run/view.h"
#include "rollout.gen.h"

namespace sluice::deploy::views {

struct RolloutsQuery {
  std::string environment;  // empty: all
  bool ended = false;       // these too
  static constexpr std::string_view kDefaulted[] = {"environment", "ended"};
};
BOOST_DESCRIBE_STRUCT(RolloutsQuery, (), (environment, ended))

// A rollout by its id or a beginning of it, or by its revision, BUNDLE@SEQUENCE, or bundle: the newest that there is.
struct RolloutQuery {
  std::string rollout;
  std::string environment;
  static constexpr std::string_view kDefaulted[] = {"rollout", "environment"};
};
BOOST_DESCRIBE_STRUCT(RolloutQuery, (), (rollout, environment))

enum class StepState { passed, current, coming };
BOOST_DESCRIBE_ENUM(StepState, passed, current, coming)

struct StepView {
  int64_t weight_bps = 0;
  int64_t pause_s = 0;
  bool manual = false;
  StepState state = StepState::coming;
};
BOOST_DESCRIBE_STRUCT(StepView, (), (weight_bps, pause_s, manual, state))

// One of the two revisions. What was counted is of the last look.
struct SideView {
  std::string revision;
  std::string name;  // "shop@2"
  std::string lifecycle;
  int64_t replicas = 0;  // that run
  double requests_per_s = 0;
  OrNull<double> error_share;
  OrNull<double> p50_ms;
  OrNull<double> p99_ms;
  std::vector<double> past_requests_per_s;  // the oldest look first
  std::vector<double> past_error_shares;
  std::vector<double> past_p99_ms;
};
BOOST_DESCRIBE_STRUCT(SideView, (),
                      (revision, name, lifecycle, replicas, requests_per_s, error_share, p50_ms, p99_ms,
                       past_requests_per_s, past_error_shares, past_p99_ms))

struct RolloutRouter {
  std::string name;
  bool obeys = false;
  std::string trouble;
};
BOOST_DESCRIBE_STRUCT(RolloutRouter, (), (name, obeys, trouble))

struct RolloutView {
  std::string rollout;
  std::string environment;
  std::string deployment;
  std::string bundle;
  std::string customer;
  std::string strategy;
  rollout::RolloutStatus status = {};
  std::string reason;
  std::string group;
  int64_t attempt = 1;
  int64_t step = 0;
  std::vector<StepView> steps;
  int64_t weight_asked_bps = 0;
  OrNull<int64_t> weight_obeyed_bps;
  OrNull<int64_t> weight_actual_bps;
  SideView canary;
  OrNull<SideView> baseline;
  OrNull<judge::Verdict> verdict;
  std::string waits_for;         // a sentence: what it waits for, and what would end that
  OrNull<int64_t> seconds_left;  // of the step's pause, or of the time after 100 %
  std::vector<RolloutRouter> routers;
  lang::DateTime started_at;
  lang::DateTime stepped_at;
  OrNull<lang::DateTime> ended_at;
  lang::DateTime now;
};
BOOST_DESCRIBE_STRUCT(RolloutView, (),
                      (rollout, environment, deployment, bundle, customer, strategy, status, reason, group, attempt,
                       step, steps, weight_asked_bps, weight_obeyed_bps, weight_actual_bps, canary, baseline, verdict,
                       waits_for, seconds_left, routers, started_at, stepped_at, ended_at, now))

std::vector<lang::View> rollout_views();

// "Its rollout is running at step 1 of 3: …" for a revision whose rollout has not ended; else nothing.
std::string rollout_under_way(const lang::Reading& reading, const std::string& revision);

}  // namespace sluice::deploy::views
