// The views of plans: what they tell of one, and when it is stale.
#include "deploy/views/plans.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "deploy/testing_views.h"
#include "deploy_plan.gen.h"

namespace sluice::deploy::views {
namespace plans_test {

class PlanViews : public testing::Test {
 protected:
  PlanViews() {
    rows.environment("local", {.name = "Local", .generation = 3});
    deploy_plan::State state(rows.rows);
    state.put(id, {.suiteName = "shop",
                   .kitVersion = "1",
                   .environment = "local",
                   .summary = {.nodes = 2},
                   .currentPhase = deploy_plan::DeployPlanCurrentPhase::planned});
    state.blocks(id).push(
        {.nodes = {{.kind = "deploy-concept", .target = "web", .after = {1}},
                   {.kind = "traffic-split", .target = "web", .wave = 1, .waits = 1, .before = {0}}}});
    state.seen(id).push({.what = deploy_plan::DeployPlanWhat::environment, .key = "local", .generation = 3});
    state.papers(id).push({.name = "changes", .text = "[]"});
    state.papers(id).push({.name = "warnings", .text = R"(["careful"])"});
  }
  Result<json::value> read(const std::string& name, const json::object& query) {
    const auto views = plan_views();
    return std::ranges::find(views, name, &lang::View::name)->read(reading, query);
  }

  const deploy_plan::DeployPlanId id{"dp-1"};
  RowsInMemory rows;
  lang::Tools tools;
  lang::Reading reading{.rows = rows, .tools = tools};
};

TEST_F(PlanViews, APlanWithItsNodes) {
  const json::value plan = read("plan", {{"plan", "dp-1"}}).value();
  EXPECT_EQ(plan.at("nodes").as_array().size(), 2U);
  EXPECT_EQ(plan.at("nodes").at(1).at("node"), "traffic-split/web");
  EXPECT_EQ(plan.at("warnings").at(0), "careful");
  EXPECT_TRUE(plan.at("stale").is_null());
  EXPECT_EQ(read("plan", {{"environment", "local"}}).value().at("plan_id"), "dp-1");
  EXPECT_TRUE(read("plan", {{"plan", "dp-1"}, {"started", true}}).value().at("nodes").as_array().empty());
  EXPECT_EQ(read("plan", {{"plan", "dp-2"}}).error().code, Code::not_found);
  EXPECT_EQ(read("plans", {{"environment", "prod"}}).value().as_array().size(), 0U);
}

TEST_F(PlanViews, ItIsStaleOnceSomethingHasChanged) {
  rows.environment("local", {.name = "Local", .generation = 4});
  EXPECT_EQ(read("plan", {{"plan", "dp-1"}}).value().at("stale"), "the environment local was changed");
}

}  // namespace plans_test
}  // namespace sluice::deploy::views
