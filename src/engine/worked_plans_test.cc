// The engine's worked examples, the other half: guards over what is written, and a plan whose nodes run in parallel,
// break and are undone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace worked_plans_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string text_at(const json::object& from, const char* name) { return std::string(from.at(name).as_string()); }

// ------------------------------------------------------------------------------------------ guards over entries

const std::string kTraffic = R"(concept Traffic [D] {
  state {
    deployments: set D
    entries: D -> list { revision: String, weight: Int }
  }
  actions {
    action set(deployment: D, entries: list { revision: String, weight: Int }) {
      -> ok
      -> notReady(revision: String, message: option String)
    }
    action later(deployment: D, entries: list { revision: String, weight: Int }) {
      runs: effect
      retry: safe
      -> ok
    }
  }
}
)";
const std::string kRevision = R"(concept Revision [V] {
  state {
    revisions: set V
    deployment: V -> String
    lifecycle: V -> "cold" | "ready"
  }
  actions {
    action add(revision: V, deployment: String, lifecycle: "cold" | "ready") {
      -> ok
    }
    action archive(revision: V) {
      -> ok
      -> inUse(revision: V)
    }
    action swap(deployment: String, revision: V) {
      -> ok(deployment: String, entries: list { revision: String, weight: Int })
    }
  }
}
)";
const std::string kSwap = R"(
sync Swap when { Revision/swap: [] => ok[ deployment: ?d; entries: ?e ] } then { Traffic/set: [ deployment: ?d; entries: ?e ] }
)";
const std::string kGuards = R"(
guard OnlyReadyRevisionsGetTraffic
  over    { Traffic.entries: { ?d revision: ?v } }
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } }
  else notReady[ revision: ?v; message: "{{v}} is not a ready revision of {{d}}; next: sluice revisions warm {{v}}" ]
guard RoutedRevisionStays
  before { Revision/archive: [ revision: ?v ] }   require { no Traffic.entries: { revision: ?v } }   else inUse[ revision: ?v ]
)";

class GuardedTraffic : public testing::Test {
 protected:
  GuardedTraffic() {
    auto write_entries = [](const json::object& ask, lang::Rows& rows) {
      std::string owner = text_at(ask, "deployment");
      for (const lang::Row& row : rows.scan("Traffic.entries", lang::child_key(owner), "", 100)) {
        rows.erase("Traffic.entries", row.key);
      }
      rows.put("Traffic", owner, json::object{});
      int place = 0;
      for (const json::value& entry : ask.at("entries").as_array()) {
        rows.put("Traffic.entries", lang::child_key(owner, std::to_string(place++)), entry);
      }
    };
    world.on("Traffic/set").act = [write_entries](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      write_entries(ask, rows);
      return {"ok", {}};
    };
    world.on("Traffic/later").finish = [write_entries](const json::object& ask, const lang::Ending&,
                                                       lang::Rows& rows) -> lang::Ending {
      write_entries(ask, rows);
      return lang::Completion{"ok", {}};
    };
    world.on("Revision/add").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      rows.put("Revision", text_at(ask, "revision"), ask);
      return {"ok", {}};
    };
    world.on("Revision/archive").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      rows.erase("Revision", text_at(ask, "revision"));
      return {"ok", {}};
    };
    world.on("Revision/swap").act = [](const json::object& ask, lang::Rows&) -> lang::Completion {
      return {"ok",
              {{"deployment", ask.at("deployment")},
               {"entries", json::array{json::object{{"revision", ask.at("revision")}, {"weight", 100}}}}}};
    };
    world.run("Revision/add", R"({"revision":"v1","deployment":"d","lifecycle":"ready"})");
    world.run("Revision/add", R"({"revision":"v2","deployment":"d","lifecycle":"cold"})");
  }

  static std::string entries(const std::string& revision) {
    return R"({"deployment":"d","entries":[{"revision":")" + revision + R"(","weight":100}]})";
  }
  std::optional<std::string> entry() { return world.row("Traffic.entries", lang::child_key("d", "0")); }

  World world{{kTraffic, kRevision}, kSwap + kGuards};
};

TEST_F(GuardedTraffic, OnlyReadyRevisionsGetTraffic) {
  Outcome outcome = world.run("Traffic/set", entries("v2"));
  EXPECT_EQ(outcome.end.variant, "notReady");
  EXPECT_EQ(outcome.end.fields["message"], "v2 is not a ready revision of d; next: sluice revisions warm v2");
  EXPECT_THAT(world.steps().back().guards, ElementsAre("OnlyReadyRevisionsGetTraffic"));
  EXPECT_EQ(entry(), std::nullopt);
  EXPECT_EQ(world.run("Traffic/set", entries("v1")).end.variant, "ok");
  EXPECT_EQ(entry(), R"({"revision":"v1","weight":100})");
}

TEST_F(GuardedTraffic, WhicheverActionWritesThem) {
  world.run("Revision/swap", R"({"deployment":"d","revision":"v2"})");
  EXPECT_EQ(world.ends().back(), "act Traffic/set => notReady");
  EXPECT_EQ(entry(), std::nullopt);
  // What has happened is a fact: `finish` is not guarded.
  EXPECT_EQ(world.run("Traffic/later", entries("v2")).end.variant, "ok");
  EXPECT_EQ(entry(), R"({"revision":"v2","weight":100})");
  // A row that stays as it was is not judged again.
  EXPECT_EQ(world.run("Traffic/set", entries("v2")).end.variant, "ok");
}

TEST_F(GuardedTraffic, ARoutedRevisionStays) {
  world.run("Traffic/set", entries("v1"));
  EXPECT_EQ(world.run("Revision/archive", R"({"revision":"v1"})").end,
            (End{"inUse", object(R"({"revision":"v1"})"), false}));
  EXPECT_EQ(world.run("Revision/archive", R"({"revision":"v2"})").end.variant, "ok");
}

TEST_F(GuardedTraffic, FlowsUnderWayAreBoundByTheNewestGuards) {
  world.limits.batch_steps = 1;
  world.restart();
  world.start("Revision/swap", R"({"deployment":"d","revision":"v1"})");
  ASSERT_TRUE(world.reload(
      R"(guard Frozen before { Traffic/set: [ deployment: ?d ] } require { no Revision: { ?v deployment: ?d } }
  else engine.refused[ message: "{{d}} is frozen" ]
)"));
  world.settle();
  EXPECT_EQ(world.journal().back(), R"(act Traffic/set => engine.refused {"message":"d is frozen"})");
}

TEST_F(GuardedTraffic, ExpectedGenerationsAreComparedInTheStep) {
  auto change = [&](uint64_t expected) {
    std::optional<Outcome> told;
    Call call{.action = "Revision/archive", .input = object(R"({"revision":"v1"})"), .caller = world.caller};
    call.expect_generation = expected;
    call.on_end = [&](const Result<Outcome>& outcome) { told = *outcome; };
    world.machine().call(std::move(call));
    world.settle();
    return told->end;
  };
  Ulid changed = world.run("Revision/add", R"({"revision":"v1","deployment":"d","lifecycle":"cold"})").flow;
  std::string at = lang::to_text({world.steps().back().at_ms});
  world.clock.advance_ms(5000);
  End conflict = change(1);
  EXPECT_EQ(conflict.variant, "engine.conflict");
  EXPECT_EQ(conflict.fields, (json::object{{"message", "Revision v1 is at generation 2, not 1"},
                                           {"expected", 1},
                                           {"actual", 2},
                                           {"by", world.caller.name},
                                           {"flow", sluice::to_string(changed)},
                                           {"at", at}}));
  // Written as it was, it has not changed.
  world.run("Revision/add", R"({"revision":"v1","deployment":"d","lifecycle":"cold"})");
  EXPECT_EQ(change(2).variant, "ok");
  EXPECT_EQ(change(2).fields["actual"], 0);  // it is gone
  world.restart();
  world.run("Revision/add", R"({"revision":"v1","deployment":"d","lifecycle":"cold"})");
  EXPECT_EQ(change(1).variant, "ok");
}

// ------------------------------------------------------------------------------------------------- a plan's nodes

const std::string kPlan = R"(concept DeployPlan [D] {
  state {
    plans: set D
    frontier: D -> list { node: String, kind: String, target: String }
    undoable: D -> list { node: String, run: Request }
    components: D -> list { concept: String, instance: String, artifact: String, version: String }
  }
  actions {
    action plan(plan: D) {
      -> ok
    }
    action execute(plan: D) {
      runs: answered
      -> ok
      -> rollbackTriggered
      -> rollbackFailed
      -> alreadyExecuting
    }
    action run(plan: D, node: String, kind: String, target: String) {
      runs: answered
      -> ok(ready: list { node: String, kind: String, target: String }, phase: String)
      -> failed(reason: String, phase: String)
    }
    action rollback(plan: D) {
      runs: answered
      -> ok
      -> partial(stuck: list String)
    }
    action undo(plan: D, node: String, run: Request) {
      runs: answered
      -> ok(ready: list { node: String, run: Request }, phase: String)
      -> stuck(reason: String, phase: String)
    }
  }
}
)";
const std::string kRuntime = R"(concept Runtime [R] {
  actions {
    action deploy(instance: R, artifact: String, version: String) {
      runs: effect
      retry: safe
      reversal: undeploy
      -> ok(instance: R)
      -> deployFailed(reason: String)
    }
    action undeploy(instance: R) {
      runs: effect
      retry: safe
      -> ok
      -> refused(message: String)
    }
  }
}
)";
const std::string kPlanSyncs = R"(
sync StartNodes   when { DeployPlan/execute: [ plan: ?p ] => requested }  where { DeployPlan.frontier: { ?p node: ?n; kind: ?k; target: ?t } }
                  then { DeployPlan/run: [ plan: ?p; node: ?n; kind: ?k; target: ?t ] }
sync NextNodes    when { DeployPlan/run: [ plan: ?p ] => ok[ ready: ?next ] }  where { each(?next as { node: ?n, kind: ?k, target: ?t }) }
                  then { DeployPlan/run: [ plan: ?p; node: ?n; kind: ?k; target: ?t ] }
sync DeployNode   when { DeployPlan/run: [ plan: ?p; kind: "deploy-concept"; target: ?c ] => requested }
                  where { DeployPlan.components: { ?p concept: ?c; instance: ?i; artifact: ?a; version: ?v } }
                  then { Runtime/deploy: [ instance: ?i; artifact: ?a; version: ?v ] }
sync NodeDeployed when { Runtime/deploy: [] => ok[]  caused by DeployPlan/run: [ kind: "deploy-concept" ] => requested as ?node }
                  then { answer ?node => ok[] }
sync NodeFailed   when { Runtime/deploy: [] => deployFailed[ reason: ?why ]  caused by DeployPlan/run: [] => requested as ?node }
                  then { answer ?node => failed[ reason: ?why ] }
sync PlanComplete when { DeployPlan/run: [] => ok[ phase: "complete" ]  caused by DeployPlan/execute: [] => requested as ?x }  then { answer ?x => ok[] }
sync PlanBroken   when { DeployPlan/run: [ plan: ?p ] => [ phase: "broken" ]  caused by DeployPlan/execute: [] => requested }
                  then { DeployPlan/rollback: [ plan: ?p ] }
sync RolledBack   when { DeployPlan/rollback: [] => ok[]  caused by DeployPlan/execute: [] => requested as ?x } then { answer ?x => rollbackTriggered[] }
sync NotRolledBack when { DeployPlan/rollback: [] => partial[]  caused by DeployPlan/execute: [] => requested as ?x } then { answer ?x => rollbackFailed[] }
sync StartUndo    when { DeployPlan/rollback: [ plan: ?p ] => requested }  where { DeployPlan.undoable: { ?p node: ?n; run: ?run } }
                  then { DeployPlan/undo: [ plan: ?p; node: ?n; run: ?run ] }
sync NextUndo     when { DeployPlan/undo: [ plan: ?p ] => ok[ ready: ?next ] }  where { each(?next as { node: ?n, run: ?run }) }
                  then { DeployPlan/undo: [ plan: ?p; node: ?n; run: ?run ] }
sync UndoNode     when { DeployPlan/undo: [ run: ?run ] => requested } then { Flow/undo: [ request: ?run ] }
sync NodeUndone   when { Flow/undo: [] => ok[]  caused by DeployPlan/undo: [] => requested as ?u } then { answer ?u => ok[] }
sync NodeStuck    when { Flow/undo: [] => stuck[ reason: ?why ]  caused by DeployPlan/undo: [] => requested as ?u } then { answer ?u => stuck[ reason: ?why ] }
sync AllUndone    when { DeployPlan/undo: [] => [ phase: "undone" ]  caused by DeployPlan/rollback: [] => requested as ?x } then { answer ?x => ok[] }
sync PartlyUndone when { DeployPlan/undo: [] => [ phase: "partial" ]  caused by DeployPlan/rollback: [] => requested as ?x } then { answer ?x => partial[] }
)";

// A diamond: a before b and c, both before d. The graph is in the plan's own row, as a real plan keeps it.
class APlan : public testing::Test {
 protected:
  using Row = json::object;
  static Row row(const lang::Rows& rows) { return rows.get("DeployPlan", "p")->as_object(); }
  static json::object node_of(const std::string& name) {
    return {{"node", name}, {"kind", "deploy-concept"}, {"target", "C" + name}};
  }

  APlan() {
    world.on("DeployPlan/plan").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
      rows.put("DeployPlan", "p", object(R"({"next":{"a":["b","c"],"b":["d"],"c":["d"],"d":[]},
          "waits":{"a":0,"b":1,"c":1,"d":2},"running":0,"done":0,"runs":{},"broken":false,"stuck":[],"undos":0})"));
      rows.put("DeployPlan.frontier", lang::child_key("p", "0"), node_of("a"));
      for (std::string name : {"a", "b", "c", "d"}) {
        rows.put("DeployPlan.components", lang::child_key("p", name),
                 json::object{{"concept", "C" + name}, {"instance", "i" + name}, {"artifact", "x"}, {"version", "1"}});
      }
      return {"ok", {}};
    };
    world.on("DeployPlan/run").begin = [](const json::object& ask, lang::Rows& rows) -> lang::BegunAction {
      Row plan = row(rows);
      plan["running"] = plan["running"].as_int64() + 1;
      plan["runs"].as_object()[text_at(ask, "node")] = json::value(rows.request().text());
      rows.put("DeployPlan", "p", plan);
      return lang::Started{};
    };
    world.on("DeployPlan/run").finish = [](const json::object& ask, const lang::Ending& ending,
                                           lang::Rows& rows) -> lang::Ending {
      Row plan = row(rows);
      const auto* completion = std::get_if<lang::Completion>(&ending);
      bool ok = completion != nullptr && completion->variant == "ok";
      plan["running"] = plan["running"].as_int64() - 1;
      if (!ok) plan["broken"] = true;
      bool broken = plan["broken"].as_bool();
      json::array ready;
      if (ok) plan["done"] = plan["done"].as_int64() + 1;
      for (const json::value& next : plan["next"].as_object()[text_at(ask, "node")].as_array()) {
        json::value& waits = plan["waits"].as_object()[next.as_string()];
        if (ok) waits = waits.as_int64() - 1;
        if (ok && waits == 0 && !broken) ready.push_back(node_of(std::string(next.as_string())));
      }
      if (!ok) plan["runs"].as_object().erase(text_at(ask, "node"));
      std::string phase = "running";
      if (plan["done"] == 4) phase = "complete";
      if (broken && plan["running"] == 0) phase = "broken";
      rows.put("DeployPlan", "p", plan);
      if (ok) return lang::Completion{"ok", {{"ready", ready}, {"phase", phase}}};
      std::string reason = completion != nullptr ? text_at(completion->fields, "reason") : "unanswered";
      return lang::Completion{"failed", {{"reason", reason}, {"phase", phase}}};
    };
    // Undone from the leaves: a node is ready when all that came after it are undone.
    auto undoable = [](const Row& plan) {
      json::array ready;
      for (const auto& [name, request] : plan.at("runs").as_object()) {
        bool leaf = true;
        for (const json::value& next : plan.at("next").as_object().at(name).as_array()) {
          leaf = leaf && !plan.at("runs").as_object().contains(next.as_string());
        }
        if (leaf) ready.push_back(json::object{{"node", name}, {"run", request}});
      }
      return ready;
    };
    world.on("DeployPlan/rollback").begin = [undoable](const json::object&, lang::Rows& rows) -> lang::BegunAction {
      int place = 0;
      Row plan = row(rows);
      for (const json::value& each : undoable(plan)) {
        rows.put("DeployPlan.undoable", lang::child_key("p", std::to_string(place++)), each);
      }
      plan["undos"] = place;
      rows.put("DeployPlan", "p", plan);
      return lang::Started{};
    };
    world.on("DeployPlan/undo").finish = [undoable](const json::object& ask, const lang::Ending& ending,
                                                    lang::Rows& rows) -> lang::Ending {
      Row plan = row(rows);
      bool ok = std::get<lang::Completion>(ending).variant == "ok";
      json::array before = undoable(plan);
      json::array ready;
      int64_t undos = plan["undos"].as_int64() - 1;
      if (ok) {
        plan["runs"].as_object().erase(text_at(ask, "node"));
        for (const json::value& each : undoable(plan)) {
          if (std::ranges::find(before, each) == before.end()) ready.push_back(each);
        }
      } else {
        plan["stuck"].as_array().push_back(ask.at("node"));
      }
      undos += static_cast<int64_t>(ready.size());
      plan["undos"] = undos;
      rows.put("DeployPlan", "p", plan);
      std::string phase = undos > 0 ? "undoing" : plan["stuck"].as_array().empty() ? "undone" : "partial";
      if (ok) return lang::Completion{"ok", {{"ready", ready}, {"phase", phase}}};
      return lang::Completion{"stuck",
                              {{"reason", std::get<lang::Completion>(ending).fields.at("reason")}, {"phase", phase}}};
    };
    world.on("Runtime/deploy").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      deployed.push_back(text_at(work.as_object(), "instance"));
      if (deployed.back() == failing) return lang::Completion{"deployFailed", {{"reason", "no room"}}};
      return lang::Completion{"ok", {{"instance", work.at("instance")}}};
    };
    world.on("Runtime/undeploy").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      undeployed.push_back(text_at(work.as_object(), "instance"));
      if (undeployed.back() == stuck) return lang::Completion{"refused", {{"message", "it is in use"}}};
      return lang::Completion{"ok", {}};
    };
    world.run("DeployPlan/plan", R"({"plan":"p"})");
  }

  World world{{kPlan, kRuntime}, kPlanSyncs};
  std::vector<std::string> deployed, undeployed;
  std::string failing, stuck;
  const std::string ask = R"({"plan":"p"})";
};

TEST_F(APlan, RunsADiamondInParallelAndItsEndOnce) {
  world.start("DeployPlan/execute", ask);
  EXPECT_EQ(world.queue.size(), 1U);
  world.queue.run();
  world.turn();
  EXPECT_EQ(world.queue.size(), 2U);  // b and c, side by side
  world.queue.run();
  world.turn();
  EXPECT_EQ(world.queue.size(), 1U);  // d waits for both
  world.settle();
  EXPECT_THAT(deployed, testing::AnyOf(ElementsAre("ia", "ib", "ic", "id"), ElementsAre("ia", "ic", "ib", "id")));
  EXPECT_EQ(world.asked("DeployPlan/run").size(), 4U);
  ASSERT_EQ(world.ended.size(), 2U);
  EXPECT_EQ(world.ended[1]->end.variant, "ok");
  EXPECT_EQ(world.status(world.ended[1]->flow), "ok");
}

TEST_F(APlan, ABrokenPlanIsUndoneFromItsLeaves) {
  failing = "id";
  for (bool restarts : {false, true}) {
    deployed.clear();
    undeployed.clear();
    world.run("DeployPlan/plan", ask);
    Outcome outcome;
    if (restarts) {
      Ulid flow = world.start("DeployPlan/execute", ask);
      for (int i = 0; i < 40 && world.status(flow) == "running"; ++i) {
        world.restart();
        world.clock.advance_ms(1000);
        world.turn();
        world.queue.run();
        world.turn();
      }
      outcome.end = *world.step_of("DeployPlan/execute").end;
      EXPECT_EQ(world.status(flow), "failed");
    } else {
      outcome = world.run("DeployPlan/execute", ask);
    }
    EXPECT_EQ(outcome.end.variant, "rollbackTriggered");
    ASSERT_EQ(undeployed.size(), 3U);
    EXPECT_EQ(undeployed.back(), "ia");
    EXPECT_THAT(undeployed, UnorderedElementsAre("ib", "ic", "ia"));
  }
}

TEST_F(APlan, AStuckNodeKeepsWhatItDependsOn) {
  failing = "id";
  stuck = "ib";
  EXPECT_EQ(world.run("DeployPlan/execute", ask).end.variant, "rollbackFailed");
  EXPECT_THAT(undeployed, UnorderedElementsAre("ib", "ic"));
  Step stuck_undo;
  for (const Step& step : world.steps()) {
    if (step.action == "Flow/undo" && step.end && step.end->variant == "stuck") stuck_undo = step;
  }
  ASSERT_TRUE(stuck_undo.end);
  EXPECT_EQ(stuck_undo.end->fields["reason"], "Runtime/undeploy => refused: it is in use");
  EXPECT_THAT(write(stuck_undo.end->fields.at("stuck")), HasSubstr("Runtime/deploy "));
}

TEST_F(APlan, ItBreaksOnceNothingRunsAnyMore) {
  failing = "ib";
  Outcome outcome = world.run("DeployPlan/execute", ask);
  EXPECT_EQ(outcome.end.variant, "rollbackTriggered");
  EXPECT_EQ(world.asked("DeployPlan/rollback").size(), 1U);
  EXPECT_THAT(undeployed, ElementsAre("ic", "ia"));
}

}  // namespace worked_plans_test
}  // namespace sluice::engine
