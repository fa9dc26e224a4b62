// What plan_bench measures in the engine.
#pragma once

#include "plan/graph.h"

namespace sluice::deploy {

// Nodes that do nothing; each waits for up to two.
plan::Graph nodes_of_nothing(size_t count);

struct PlanTimes {
  double stored_s = 0;    // of DeployPlan/plan, whose graph is made already
  double executed_s = 0;  // of DeployPlan/execute
};
PlanTimes run_plan(const plan::Graph& graph, bool execute);

// Seconds of a whole DeployPlan/plan of so many components that serve already, given by their digests.
double plan_unchanged_s(size_t components);

}  // namespace sluice::deploy
