// Plans, their turns and their ends; what nodes really do is in plan_sync_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "deploy/concepts/deploy_plan/testing_plan_rows.h"

namespace sluice::deploy::deploy_plan {

void prepare(lang::Harness&) {}

namespace deploy_plan_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(PlanRows, ExecuteSaysWhyNot) {
  EXPECT_EQ(harness.invoke(Execute{.plan = DeployPlanId("none")}).as<Execute::Notfound>().plan.text(), "none");
  const DeployPlanId id = plan_with(chain(1));
  EXPECT_THAT(harness.invoke(Execute{.plan = id, .parallel = 0}).as<Execute::NotExecutable>().message,
              HasSubstr("1 to 1000"));
  ask_for(id);
  EXPECT_THAT(harness.invoke(Execute{.plan = id}).as<Execute::AlreadyExecuting>().message,
              HasSubstr("is being executed"));
}

TEST_F(PlanRows, ExecuteEndsAsItsNodesDo) {
  const DeployPlanId id = plan_with(chain(2));
  harness.answer_with(Execute::Stale{.plan = id, .message = "changed"});
  EXPECT_EQ(harness.invoke(Execute{.plan = id}).as<Execute::Stale>().message, "changed");
  EXPECT_EQ(phase(id), "planned") << "somebody may look at it, and plan again";
  harness.answer_with(lang::Completion{"partial", {}});
  harness.invoke(Execute{.plan = id}).as<Execute::Partial>();
  EXPECT_EQ(phase(id), "partial");
  const DeployPlanId other = plan_with(chain(2));
  harness.answer_with(lang::Completion{"rollbackFailed", {}});
  harness.invoke(Execute{.plan = other}).as<Execute::RollbackFailed>();
  EXPECT_EQ(phase(other), "stuck");
  const DeployPlanId lost = plan_with(chain(2));
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  EXPECT_EQ(harness.invoke(Execute{.plan = lost}).as<Execute::Partial>().reason, "nobody answered");
}

TEST_F(PlanRows, ValidateComparesSchemas) {
  EXPECT_EQ(harness.invoke(Validate{.plan = DeployPlanId("none")}).as<Validate::Notfound>().plan.text(), "none");
  harness.invoke(Validate{.plan = plan_with(chain(1))}).as<Validate::Ok>();
  auto with = [&](int64_t before, int64_t now) {
    return plan_with(chain(1), plan::OnFailure::rollback,
                     {{.component = "Theme", .specVersion = now, .specBefore = before}});
  };
  auto needed = harness.invoke(Validate{.plan = with(1, 2)}).as<Validate::MigrationRequired>();
  EXPECT_THAT(needed.concepts, ElementsAre("Theme"));
  EXPECT_THAT(needed.toVersions, ElementsAre(2));
  EXPECT_THAT(harness.invoke(Validate{.plan = with(2, 1)}).as<Validate::SchemaIncompatible>().details,
              ElementsAre("Theme: from @version(2) back to @version(1)"));
  const DeployPlanId withheld = with(1, 2);
  harness.invoke(Withhold{.plan = withheld}).as<Withhold::Ok>();
  EXPECT_EQ(phase(withheld), "invalid");
  EXPECT_THAT(harness.invoke(Execute{.plan = withheld}).as<Execute::NotExecutable>().message,
              HasSubstr("its bundle brings no migrations"));
}

TEST_F(PlanRows, PlansOfOneEnvironmentTakeTurns) {
  const DeployPlanId first = plan_with(chain(1)), second = plan_with(chain(1));
  ask_for(first);
  harness.invoke(AwaitTurn{.plan = first}).as<AwaitTurn::Ok>();
  ask_for(second);
  State state(harness.rows());
  EXPECT_TRUE(is_open(DeployPlan::begin_await_turn({.plan = second}, state)));
  EXPECT_FALSE(state.get(second)->due);
  (void)DeployPlan::finish_execute({.plan = first}, Execute::Ok{}, state);
  EXPECT_TRUE(state.get(second)->due);
}

TEST_F(PlanRows, ASupersedingPlanCancelsTheOthers) {
  const DeployPlanId first = plan_with(chain(1));
  const DeployPlanId second = plan_with(chain(1), plan::OnFailure::rollback, {}, plan::Concurrency::supersede);
  ask_for(first);
  harness.invoke(AwaitTurn{.plan = first}).as<AwaitTurn::Ok>();
  ask_for(second);
  State state(harness.rows());
  EXPECT_TRUE(state.get(first)->cancelling);
  EXPECT_EQ(state.get(first)->reason, second.text() + " has taken its place");
}

TEST_F(PlanRows, CancelSaysWhatItMet) {
  EXPECT_EQ(harness.invoke(Cancel{.plan = DeployPlanId("none")}).as<Cancel::Notfound>().plan.text(), "none");
  const DeployPlanId id = plan_with(chain(1));
  EXPECT_EQ(harness.invoke(Cancel{.plan = id}).as<Cancel::Ok>().phase, "planned");
  EXPECT_EQ(harness.invoke(Cancel{.plan = id}).as<Cancel::Over>().phase, "cancelled");
  const DeployPlanId queued = plan_with(chain(1));
  ask_for(queued);
  harness.invoke(Cancel{.plan = queued, .keep = true}).as<Cancel::Ok>();
  harness.invoke(AwaitTurn{.plan = queued}).as<AwaitTurn::Cancelled>();
  State state(harness.rows());
  auto told = DeployPlan::finish_execute({.plan = queued}, Execute::Cancelled{.plan = queued}, state);
  EXPECT_NE(get_if<Execute::Cancelled>(&told), nullptr);
  EXPECT_EQ(phase(queued), "cancelled");
}

TEST_F(PlanRows, RollbackSaysWhatItMet) {
  EXPECT_EQ(harness.invoke(Rollback{.plan = DeployPlanId("none")}).as<Rollback::Notfound>().plan.text(), "none");
  const DeployPlanId id = plan_with(chain(1));
  EXPECT_THAT(harness.invoke(Rollback{.plan = id}).as<Rollback::NotExecuted>().message,
              HasSubstr("has nothing to undo"));
  State state(harness.rows());
  state.edit(id, [](DeployPlanRecord& record) { record.currentPhase = DeployPlanCurrentPhase::complete; });
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  EXPECT_EQ(harness.invoke(Rollback{.plan = id}).as<Rollback::Partial>().reason, "nobody answered");
  harness.invoke(UndoNext{.plan = id}).as<UndoNext::Nothing>();
}

TEST_F(PlanRows, APlanThatDidNothingKeepsNoOtherFromBeingRolledBack) {
  State state(harness.rows());
  auto executed = [&](const DeployPlanId& plan, int64_t number) {
    state.edit(plan, [&](DeployPlanRecord& record) {
      record.currentPhase = DeployPlanCurrentPhase::complete;
      record.number = number;
    });
  };
  const DeployPlanId id = plan_with(chain(1));
  executed(id, 1);
  executed(plan_with(plan::Graph{.first_after = {0}, .first_before = {0}}), 2);
  EXPECT_TRUE(is_open(DeployPlan::begin_rollback({.plan = id}, state)));
  executed(id, 1);
  executed(plan_with(chain(1)), 3);
  EXPECT_FALSE(is_open(DeployPlan::begin_rollback({.plan = id}, state)));
}

TEST_F(PlanRows, OnlyTheLastUnexecutedPlansAreKept) {
  const DeployPlanId first = plan_with(chain(1)), executed = plan_with(chain(1));
  ask_for(executed);
  for (int i = 0; i < 20; ++i) plan_with(chain(1));
  State state(harness.rows());
  EXPECT_FALSE(state.has(first));
  EXPECT_EQ(state.blocks(first).size(), 0U);
  EXPECT_TRUE(state.has(executed));
  EXPECT_EQ(state.find_by_environment("local").size(), 21U);
}

TEST_F(PlanRows, AnUpIsAPlanOfOneComponent) {
  auto ask = [](int number) {
    return Raise{.change = "c" + std::to_string(number),
                 .environment = "local",
                 .bundle = "shop",
                 .customer = "acme",
                 .manifest = "name: shop\nversion: 1." + std::to_string(number) + ".0\nrun: [./shop]\n",
                 .archive = "sha256:a",
                 .by = "anna"};
  };
  auto raise = [&](int number) {
    harness.answer_with(lang::Completion{"ok", {}});
    return harness.invoke(ask(number)).as<Raise::Ok>().plan;
  };
  const DeployPlanId first = raise(0);
  EXPECT_EQ(phase(first), "complete");
  State state(harness.rows());
  EXPECT_EQ(state.get(first)->kitVersion, "1.0.0");
  EXPECT_EQ(state.get(first)->summary.nodes, 3);
  for (int i = 1; i <= 100; ++i) raise(i);
  EXPECT_EQ(state.find_by_environment("local").size(), 100U);
  EXPECT_FALSE(state.has(first));

  ASSERT_TRUE(is_open(DeployPlan::begin_raise(ask(101), state)));
  auto found = state.find_by_environment("local");
  auto open = std::ranges::find_if(found, [](const auto& each) { return each.record.change == "c101"; });
  ASSERT_NE(open, found.end());
  EXPECT_EQ(phase(open->id), "running");
  const DeployPlanId plan = plan_with(chain(1));
  ask_for(plan);
  harness.invoke(AwaitTurn{.plan = plan}).as<AwaitTurn::Ok>();  // no plan waits for an up
}

TEST_F(PlanRows, AnUpThatNobodyAnswersIsNoPlanThatRuns) {
  harness.end_with({.outcome = lang::EngineOutcome::cancelled, .message = "stopped by anna"});
  auto failed = harness.invoke(Raise{.change = "c", .environment = "local", .bundle = "shop"}).as<Raise::Failed>();
  EXPECT_EQ(failed.reason, "stopped by anna");
  EXPECT_EQ(phase(failed.plan), "cancelled");
}

TEST_F(PlanRows, ACancelledExecutionHasDoneNothing) {
  const DeployPlanId id = plan_with(chain(1));
  harness.answer_with(Execute::Cancelled{.plan = id});
  harness.invoke(Execute{.plan = id}).as<Execute::Cancelled>();
}

TEST_F(PlanRows, StatusTellsHowFarItIs) {
  EXPECT_EQ(harness.invoke(Status{.plan = DeployPlanId("none")}).as<Status::Notfound>().plan.text(), "none");
  auto ok = harness.invoke(Status{.plan = plan_with(chain(2))}).as<Status::Ok>();
  EXPECT_EQ(ok.phase, "planned");
  EXPECT_EQ(ok.progress, 0);
  harness.invoke(Start{.plan = plan_with(plan::Graph{.first_after = {0}, .first_before = {0}})}).as<Start::Nothing>();
  harness.invoke(Start{.plan = DeployPlanId("none")}).as<Start::Stale>();
}

}  // namespace deploy_plan_test
}  // namespace sluice::deploy::deploy_plan
