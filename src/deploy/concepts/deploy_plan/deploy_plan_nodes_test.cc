// A plan's counts: what runs next, what ends it, and what is undone, against a model of random graphs with random
// failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "deploy/concepts/deploy_plan/testing_plan_rows.h"

namespace sluice::deploy::deploy_plan {
namespace deploy_plan_nodes_test {

using NodeRun = Run;  // a test has a Run of its own

// What a random run must agree with.
struct Model {
  const plan::Graph& graph;
  std::set<uint32_t> running, done, failed, undone, stuck;

  void check_begins(uint32_t node) {
    for (uint32_t each : graph.before_of(node)) EXPECT_TRUE(done.contains(each)) << "an edge was not respected";
    EXPECT_TRUE(running.insert(node).second);
    EXPECT_FALSE(done.contains(node) || failed.contains(node)) << "a node ran twice";
  }
  void check_undoes(uint32_t node) {
    EXPECT_TRUE(done.contains(node)) << "only what was done is undone";
    for (uint32_t each : graph.after_of(node)) {
      EXPECT_TRUE(!done.contains(each) || undone.contains(each)) << "in reverse order";
    }
    EXPECT_TRUE(running.insert(node).second);
  }
};

TEST_F(PlanRows, RandomGraphsWithRandomFailures) {
  for (unsigned seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    plan::GraphMaker maker;
    const uint32_t count = 1 + random() % 30;
    for (uint32_t i = 0; i < count; ++i) maker.add(plan::NodeKind::deploy_concept, std::to_string(i));
    for (uint32_t i = 0; i < count * 2; ++i) {
      uint32_t from = random() % count, to = random() % count;
      if (from != to) maker.edge(std::min(from, to), std::max(from, to));
    }
    const plan::Graph graph = *std::move(maker).finish().graph;
    const DeployPlanId id = plan_with(graph);
    ask_for(id, 1 + random() % 8);
    const bool breaks = random() % 3 == 0;
    Model model{graph, {}, {}, {}, {}, {}};
    State state(harness.rows());
    (void)DeployPlan::begin_await_turn({.plan = id}, state);
    auto begin = [&](const std::vector<DeployPlanReadyItem>& ready) {
      for (const DeployPlanReadyItem& each : ready) {
        model.check_begins(static_cast<uint32_t>(each.place));
        (void)DeployPlan::begin_run({.plan = id, .place = each.place, .kind = each.kind, .target = each.target}, state);
      }
    };
    auto started = DeployPlan::start({.plan = id}, state);
    begin(get_if<Start::Ok>(&started)->ready);
    std::string phase = "running";
    while (!model.running.empty()) {
      auto chosen = std::next(model.running.begin(), static_cast<long>(random() % model.running.size()));
      const uint32_t node = *chosen;
      model.running.erase(chosen);
      const bool fails = breaks && random() % 6 == 0;
      (fails ? model.failed : model.done).insert(node);
      NodeRun::Outcome how = NodeRun::Ok{};
      if (fails) how = NodeRun::Failed{.reason = "no"};
      auto told = DeployPlan::finish_run(
          {.plan = id, .place = node, .kind = "deploy-concept", .target = graph.target_of(node)}, how, state);
      if (const auto* ok = get_if<NodeRun::Ok>(&told)) {
        EXPECT_TRUE(model.failed.empty() || ok->ready.empty()) << "nothing starts after a failure";
        begin(ok->ready);
        phase = ok->phase;
      } else {
        phase = get_if<NodeRun::Failed>(&told)->phase;
      }
      EXPECT_EQ(phase == "running", !model.running.empty());
    }
    if (model.failed.empty()) {
      EXPECT_EQ(model.done.size(), count);
      EXPECT_EQ(phase, "complete");
    } else {
      ASSERT_EQ(phase, "broken");
      (void)DeployPlan::begin_rollback({.plan = id}, state);
      auto undo = [&](const std::vector<DeployPlanUndoableItem>& undoable) {
        for (const DeployPlanUndoableItem& each : undoable) model.check_undoes(static_cast<uint32_t>(each.place));
      };
      auto next = DeployPlan::undo_next({.plan = id}, state);
      if (const auto* ok = get_if<UndoNext::Ok>(&next)) undo(ok->undoable);
      while (!model.running.empty()) {
        auto chosen = std::next(model.running.begin(), static_cast<long>(random() % model.running.size()));
        const uint32_t node = *chosen;
        model.running.erase(chosen);
        const bool sticks = random() % 10 == 0;
        (sticks ? model.stuck : model.undone).insert(node);
        Undo::Outcome how = Undo::Ok{};
        if (sticks) how = Undo::Stuck{.reason = "stuck"};
        auto told = DeployPlan::finish_undo({.plan = id, .place = node}, how, state);
        if (const auto* ok = get_if<Undo::Ok>(&told)) {
          undo(ok->undoable);
          phase = ok->phase;
        } else {
          phase = get_if<Undo::Stuck>(&told)->phase;
          undo(get_if<Undo::Stuck>(&told)->undoable);
        }
      }
      if (model.stuck.empty()) {
        EXPECT_EQ(model.undone, model.done) << "exactly what was done is undone";
      }
      if (!model.done.empty()) {
        EXPECT_EQ(phase, model.stuck.empty() ? "undone" : "partial");
      }
    }
    // What is there makes the next one slower.
    for (const DeployPlanNFound& each : state.find_by_of_plan(id)) state.erase(each.id);
    state.blocks(id).clear();
    state.papers(id).clear();
    state.erase(id);
  }
}

TEST_F(PlanRows, ATwelveHundredNodeFrontierStartsInBatches) {
  plan::GraphMaker maker;
  for (int i = 0; i < 1'200; ++i) maker.add(plan::NodeKind::deploy_concept, std::to_string(i));
  const DeployPlanId id = plan_with(*std::move(maker).finish().graph);
  ask_for(id, 100);
  State state(harness.rows());
  (void)DeployPlan::begin_await_turn({.plan = id}, state);
  auto started = DeployPlan::start({.plan = id}, state);
  EXPECT_EQ(get_if<Start::Ok>(&started)->ready.size(), 100U);
  (void)DeployPlan::begin_run({.plan = id, .place = 0, .kind = "deploy-concept", .target = "0"}, state);
  auto told =
      DeployPlan::finish_run({.plan = id, .place = 0, .kind = "deploy-concept", .target = "0"}, NodeRun::Ok{}, state);
  EXPECT_EQ(get_if<NodeRun::Ok>(&told)->ready.size(), 1U);
}

TEST_F(PlanRows, NodesEndAndAreUndone) {
  const DeployPlanId id = plan_with(chain(2));
  ask_for(id);
  EXPECT_EQ(harness.invoke(Start{.plan = id}).as<Start::Ok>().ready.size(), 1U);
  const NodeRun first{.plan = id, .place = 0, .kind = "deploy-concept", .target = "0"};
  harness.answer_with(lang::Completion{"ok", {{"deployment", "d1"}, {"revision", "r1"}}});
  EXPECT_EQ(harness.invoke(first).as<NodeRun::Ok>().ready.size(), 1U);
  const NodeRun second{.plan = id, .place = 1, .kind = "deploy-concept", .target = "1"};
  harness.answer_with(lang::Completion{"failed", {{"reason", "no room"}}});
  auto failed = harness.invoke(second).as<NodeRun::Failed>();
  EXPECT_EQ(failed.phase, "broken");
  EXPECT_EQ(State(harness.rows()).get(id)->reason, "deploy-concept/1: no room");
  EXPECT_EQ(harness.invoke(UndoNext{.plan = id}).as<UndoNext::Ok>().undoable.size(), 1U);
  harness.answer_with(lang::Completion{"stuck", {{"reason", "in use"}}});
  EXPECT_EQ(harness.invoke(Undo{.plan = id, .place = 0}).as<Undo::Stuck>().phase, "partial");
  harness.invoke(UndoNext{.plan = id}).as<UndoNext::Ok>();
  harness.answer_with(lang::Completion{"ok", {}});
  EXPECT_EQ(harness.invoke(Undo{.plan = id, .place = 0}).as<Undo::Ok>().phase, "undone");
}

}  // namespace deploy_plan_nodes_test
}  // namespace sluice::deploy::deploy_plan
