// Views of plans: one with its changes, its graph and how far it has come, and those of an environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/view.h"
#include "plan/planner.h"

namespace sluice::deploy::views {

// A plan by its id; without one the newest of the environment. Nodes that have not started can be left out.
struct PlanQuery {
  std::string plan;
  std::string environment;
  bool started = false;  // only nodes that have started
  static constexpr std::string_view kDefaulted[] = {"plan", "environment", "started"};
};
BOOST_DESCRIBE_STRUCT(PlanQuery, (), (plan, environment, started))

struct PlansQuery {
  std::string environment;
  static constexpr std::string_view kDefaulted[] = {"environment"};
};
BOOST_DESCRIBE_STRUCT(PlansQuery, (), (environment))

struct PlanNodeDocument {
  int64_t place = 0;
  std::string node;  // "deploy-concept/shop"
  std::string kind;
  std::string target;
  int64_t wave = 0;
  std::vector<int64_t> after;  // what waits for it
  std::string status;          // waiting, running, done, failed, unknown, undoing, undone or stuck
  OrNull<std::string> began_at;
  OrNull<std::string> over_at;
  OrNull<int64_t> took_ms;
  OrNull<std::string> trouble;
  OrNull<std::string> note;             // where it is, while it runs: "canary running at 25%, step 2 of 4"
  OrNull<std::string> revision;         // that it stages and warms, while it runs; that it brought, if it is stuck
  std::vector<std::string> last_lines;  // of a program that did not start
};
BOOST_DESCRIBE_STRUCT(PlanNodeDocument, (),
                      (place, node, kind, target, wave, after, status, began_at, over_at, took_ms, trouble, note,
                       revision, last_lines))

struct PlanSummaryDocument {
  int64_t create = 0;
  int64_t change = 0;
  int64_t remove = 0;
  int64_t keep = 0;
  int64_t nodes = 0;
  int64_t edges = 0;
  int64_t waves = 0;
};
BOOST_DESCRIBE_STRUCT(PlanSummaryDocument, (), (create, change, remove, keep, nodes, edges, waves))

struct ListedPlan {
  std::string plan_id;
  std::string app;
  std::string version;
  std::string environment_id;
  std::string phase;
  std::string created_at;
  std::string created_by;
  OrNull<std::string> ended_at;
  int64_t done = 0;
  PlanSummaryDocument summary;
  OrNull<std::string> reason;  // why it ended, or is about to end, otherwise than it was to
  std::string origin;          // manifest, or up: then the app is the bundle
};
BOOST_DESCRIBE_STRUCT(ListedPlan, (),
                      (plan_id, app, version, environment_id, phase, created_at, created_by, ended_at, done, summary,
                       reason, origin))

struct PlanDocument : ListedPlan {
  std::string strategy;
  std::vector<std::string> steps;  // of a rollout: "5%:300s"
  std::string on_failure;
  std::string concurrency;
  int64_t estimated_ms = 0;
  OrNull<std::string> started_at;
  OrNull<std::string> stale;      // what has changed since it was made
  OrNull<std::string> waits_for;  // the plan that runs before it
  std::vector<std::string> warnings;
  std::vector<plan::Change> changes;
  std::vector<PlanNodeDocument> nodes;
  std::vector<std::string> deployments;  // of its components, those that are there
};
BOOST_DESCRIBE_STRUCT(PlanDocument, (ListedPlan),
                      (strategy, steps, on_failure, concurrency, estimated_ms, started_at, stale, waits_for, warnings,
                       changes, nodes, deployments))

std::vector<lang::View> plan_views();

}  // namespace sluice::deploy::views
