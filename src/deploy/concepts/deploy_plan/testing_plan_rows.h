// Plans in rows of their own, as if they had just been made: what the tests of DeployPlan share.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "deploy/concepts/deploy_plan/deploy_plan_rows.h"
#include "deploy/plan_draft.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deploy_plan {

class PlanRows : public testing::Test {
 protected:
  // A plan with this graph, as if it had just been made.
  DeployPlanId plan_with(const plan::Graph& graph, plan::OnFailure on_failure = plan::OnFailure::rollback,
                         std::vector<DraftComponent> components = {},
                         plan::Concurrency concurrency = plan::Concurrency::queue) {
    const PlanDraft draft{.app = "shop",
                          .version = "1",
                          .strategy = "immediate",
                          .onFailure = on_failure,
                          .concurrency = concurrency,
                          .components = std::move(components),
                          .graph = plan::to_json(graph)};
    State state(harness.rows());
    auto told = DeployPlan::finish_plan({.environment = "local"}, Plan::Ok{.graph = write(to_json(draft))}, state);
    return get_if<Plan::Ok>(&told)->plan;
  }
  static plan::Graph chain(int nodes) {
    plan::GraphMaker maker;
    for (int i = 0; i < nodes; ++i) {
      maker.add(plan::NodeKind::deploy_concept, std::to_string(i));
      if (i > 0) maker.edge(static_cast<uint32_t>(i - 1), static_cast<uint32_t>(i));
    }
    return *std::move(maker).finish().graph;
  }
  // Asks for its execution, which stays open.
  void ask_for(const DeployPlanId& plan, int64_t parallel = 64) {
    State state(harness.rows());
    ASSERT_TRUE(is_open(DeployPlan::begin_execute({.plan = plan, .parallel = parallel}, state)));
  }
  template <class Begun>
  static bool is_open(const Begun& begun) {
    return get_if<lang::Opened>(&begun) != nullptr;
  }
  std::string phase(const DeployPlanId& plan) {
    return boost::describe::enum_to_string(State(harness.rows()).get(plan)->currentPhase, "");
  }

  lang::Harness harness{deploy_plan_binding()};
};

}  // namespace sluice::deploy::deploy_plan
