// A PlanDraft is what DeployPlan/plan has found out before a row is written: what changes, the graph, what the nodes
// need to know of each component, and what all of it was read from. It travels as JSON in the action's own answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "plan/planner.h"

namespace sluice::deploy {

// What a plan was made of, as it was given: from it another one can be made, also for another environment.
struct PlanSource {
  std::string manifest;
  std::string file;
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> kits = {};  // files of those with a path, as JSON
  static constexpr std::string_view kDefaulted[] = {"kits"};
};
BOOST_DESCRIBE_STRUCT(PlanSource, (), (manifest, file, variables, kits))
inline constexpr std::string_view kSourcePaper = "source";  // its name in DeployPlan.papers

// A component as its nodes need it.
struct DraftComponent {
  std::string component;
  std::string kit;
  std::string archive;
  std::string signature;
  std::string customer;
  std::string settings = "{}";
  std::string runtimeRefs = "{}";
  std::vector<std::string> unset;
  std::vector<std::string> hosts;
  std::vector<std::string> pathPrefixes;
  std::vector<std::string> needs;
  std::string deployment;  // empty: it is made by the plan
  std::string revision;    // that serves now
  std::string version;
  int64_t specVersion = 0;
  int64_t specBefore = 0;
  bool leaving = false;
  std::optional<std::string> running;  // how it runs (run_settings.h), as JSON
  std::optional<std::string> bundle;   // its name, of one whose bundle stores something
  std::optional<std::vector<std::string>> storages;
};
BOOST_DESCRIBE_STRUCT(DraftComponent, (),
                      (component, kit, archive, signature, customer, settings, runtimeRefs, unset, hosts, pathPrefixes,
                       needs, deployment, revision, version, specVersion, specBefore, leaving, running, bundle,
                       storages))

// A sync of a kit as its node needs it.
struct DraftRule {
  std::string target;  // of the node: shop.Reserve
  std::string kit;
  std::string rule;
  std::string digest;
  std::string spec;  // app_kit.h's AppRule, as JSON; empty: it is taken out
};
BOOST_DESCRIBE_STRUCT(DraftRule, (), (target, kit, rule, digest, spec))

// A row that the plan was made from, at this generation. Of an absence the key is a bundle that was not deployed for
// the customer.
struct DraftSeen {
  std::string what;  // environment, deployment, traffic, rule or absence
  std::string key;
  int64_t generation = 0;
  std::optional<std::string> customer = {};
};
BOOST_DESCRIBE_STRUCT(DraftSeen, (), (what, key, generation, customer))

struct PlanDraft {
  std::string app;
  std::string version;
  std::string strategy;
  // Of each traffic-split, as Rollout/begin takes them.
  std::vector<std::string> steps;
  std::string criteria;
  bool autoRollback = true;
  int64_t after = 0;
  std::optional<int64_t> batch;       // of rolling
  std::optional<int64_t> batchPause;  // seconds
  int64_t pauses_s = 0;               // of all steps together
  PlanSource source;
  plan::OnFailure onFailure = plan::OnFailure::rollback;
  plan::Concurrency concurrency = plan::Concurrency::queue;
  std::vector<plan::Change> changes;
  std::vector<std::string> warnings;
  std::vector<plan::Observed> observed;
  std::vector<DraftComponent> components;
  std::vector<DraftRule> rules;
  std::vector<DraftSeen> seen;
  json::value graph;  // plan/graph.h
};
BOOST_DESCRIBE_STRUCT(PlanDraft, (),
                      (app, version, strategy, steps, criteria, autoRollback, after, batch, batchPause, pauses_s,
                       source, onFailure, concurrency, changes, warnings, observed, components, rules, seen, graph))

}  // namespace sluice::deploy
