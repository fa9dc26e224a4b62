// A plan as people read it.
#include "cli/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::cli {
namespace plan_text_test {

using deploy::views::PlanDocument;
using testing::HasSubstr;

PlanDocument document() {
  PlanDocument plan;
  plan.plan_id = "dp-1";
  plan.app = "shop";
  plan.version = "2.0.0";
  plan.environment_id = "local";
  plan.phase = "running";
  plan.strategy = "immediate";
  plan.summary = {.create = 0, .change = 1, .remove = 0, .keep = 1, .nodes = 2, .edges = 1, .waves = 2};
  plan.changes = {{.sign = plan::ChangeSign::change,
                   .component = "web",
                   .kit = "",
                   .fields = {{"version", "1.0.0", "2.0.0"}, {"settings.COLOUR", "", "\"red\""}}},
                  {.sign = plan::ChangeSign::keep, .component = "api", .kit = "", .fields = {}}};
  plan.nodes.resize(2);
  plan.nodes[0].node = "deploy-concept/web";
  plan.nodes[0].kind = "deploy-concept";
  plan.nodes[0].target = "web";
  plan.nodes[0].after = {1};
  plan.nodes[0].status = "done";
  plan.nodes[0].took_ms.emplace(1'250);
  plan.nodes[0].over_at.emplace("2026-01-01T00:00:00Z");
  plan.nodes[1].place = 1;
  plan.nodes[1].node = "traffic-split/web";
  plan.nodes[1].kind = "traffic-split";
  plan.nodes[1].target = "web";
  plan.nodes[1].wave = 1;
  plan.nodes[1].status = "failed";
  plan.nodes[1].trouble.emplace("no room");
  return plan;
}

TEST(PlanText, TheTreeSaysWhatChanges) {
  EXPECT_EQ(plan_tree(document(), Terminal()), R"(Deploy plan dp-1: shop 2.0.0 in local
├─ Components
│  ├─ ~ web
│  │  ├─ version: 1.0.0 → 2.0.0
│  │  └─ settings.COLOUR: nothing → "red"
│  └─ = api (no changes)
├─ Order
│  ├─ 1. deploy-concept/web
│  └─ 2. traffic-split/web
├─ Rollout: immediate
└─ Estimated duration: not known yet

Validation:
  ✔ Manifest and overlays
  ✔ Providers and bundles
  ✔ Transports
  ✔ No circular dependencies

Plan: 0 to create, 1 to change, 0 to remove, 1 unchanged; 2 nodes in 2 waves.
)");
}

TEST(PlanText, NodesSayHowTheyEnded) {
  const PlanDocument plan = document();
  EXPECT_EQ(node_line(plan.nodes[0]), "✔ deploy-concept/web done after 1.3 s");
  EXPECT_EQ(node_line(plan.nodes[1]), "✖ traffic-split/web failed: no room");
  EXPECT_THAT(plan_progress(plan, Terminal()),
              HasSubstr("  ✖ web  1.3 s\n    └─ ✖ traffic-split  no room\n  0 of 2 nodes done\n"));
  EXPECT_THAT(plan_end(plan, Terminal()), HasSubstr("running  dp-1: shop 2.0.0 in local\n"));
  EXPECT_FALSE(is_over(plan));
  EXPECT_EQ(graph_of(plan).edges(), 1U);
}

TEST(PlanText, ALargePlanFitsTheScreen) {
  PlanDocument plan = document();
  plan.nodes.clear();
  auto add = [&](const std::string& target, const std::string& status) {
    auto& node = plan.nodes.emplace_back();
    node.kind = "deploy-concept";
    node.target = target;
    node.status = status;
  };
  for (int i = 0; i < 30; ++i) add("old" + std::to_string(i), "done");
  add("now", "running");
  for (int i = 0; i < 30; ++i) add("next" + std::to_string(i), "waiting");
  const std::string text = plan_progress(plan, Terminal(), 12);
  EXPECT_EQ(std::ranges::count(text, '\n'), 12) << text;
  EXPECT_THAT(text, HasSubstr("  ◌ now  0 of 1 node\n    └─ ◌ deploy-concept\n"));
  EXPECT_THAT(text, HasSubstr("  … 30 done 23 waiting\n"));
}

TEST(PlanText, AFailureShowsWhatTheProgramSaidLast) {
  PlanDocument plan = document();
  for (int i = 0; i < 10; ++i) plan.nodes[1].last_lines.push_back("stderr line " + std::to_string(i));
  const std::string text = plan_end(plan, Terminal());
  EXPECT_THAT(text, HasSubstr("  ✖ traffic-split/web failed: no room\n      stderr line 2\n"));
  EXPECT_THAT(text, HasSubstr("      stderr line 9\n"));
  plan.steps = {"5%:300s", "100%"};
  EXPECT_THAT(plan_tree(plan, Terminal()), HasSubstr("Rollout: immediate (5% → 100%)\n"));
}

}  // namespace plan_text_test
}  // namespace sluice::cli
