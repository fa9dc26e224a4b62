// What the handlers of DeployPlan share: the graph in its blocks, the nodes that have started, and the queue of plans.
//
// The graph is written once, in blocks of 64 nodes, so that a node that ends reads its own block and those of what
// follows from it, never the whole. Only nodes that have started, or that wait for fewer than at first, have rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deploy/plan_draft.h"
#include "deploy_plan.gen.h"

namespace sluice::deploy::deploy_plan {

inline constexpr int64_t kBlockNodes = 64;
inline constexpr int64_t kParallel = 64;
inline constexpr int64_t kMostParallel = 1'000;
inline constexpr std::string_view kOriginUp = "up";  // of a plan that an up has made for itself

DeployPlanNId node_id(const DeployPlanId& plan, int64_t place);
// The node at a place. One that is not there is a bug, and throws.
class Blocks {
 public:
  Blocks(const State& state, const DeployPlanId& plan) : state_(state), plan_(plan) {}
  const DeployPlanNode& at(int64_t place);

 private:
  const State& state_;
  const DeployPlanId& plan_;
  std::map<int64_t, DeployPlanBlock> read_;
};

// "deploy-concept/shop"
std::string name_of(const std::string& kind, const std::string& target);
// The names of the plan's nodes that stand so, in the order of their places.
std::vector<std::string> nodes_that(const State& state, const DeployPlanId& plan,
                                    std::initializer_list<DeployPlanStatus> statuses);

// What the plan was made of; none of one that removes an app.
std::optional<PlanSource> source_of(const State& state, const DeployPlanId& plan);

// Whether it was made by an up, not of a manifest: what runs is of no app then.
inline bool is_of_up(const DeployPlanRecord& plan) { return plan.origin.has_value(); }

// Whether it is being executed or undone.
bool is_active(const DeployPlanRecord& plan);
// Whether other plans of the environment wait for it: those of ups keep to their own deployment.
bool holds_environment(const DeployPlanRecord& plan);
// Lets the plan run that is next in the environment.
void release(State& state, const std::string& environment);

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end != nullptr ? end->message : "";
}

}  // namespace sluice::deploy::deploy_plan
