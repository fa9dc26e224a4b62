// What any engine of concepts and syncs must do, 13 to 19: targets, time, child flows, faults and cycles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"
#include "engine/testing_scenarios.h"

namespace sluice::engine {
namespace scenarios_follow_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Scenario, Scenario13_DynamicTargetsAreOneOfTheirCandidates) {
  const std::string rules = R"(
sync Provision when { Front/go: [ name: ?p ] => ok[] } then { ?p in {Local, Cloud}/provision: [ name: "n" ] }
)";
  World world({kFront, kLocal, kCloud}, rules);
  world.run("Front/go", R"({"name":"Cloud"})");
  EXPECT_THAT(world.ends(), ElementsAre("act Front/go => ok", "act Cloud/provision => ok"));
  Ulid flow = world.run("Front/go", R"({"name":"Moon"})").flow;
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.steps().back().end,
            (End{"engine.unavailable", object(R"({"message": "the concept Moon is not loaded", "concept": "Moon"})"),
                 false}));
  EXPECT_THAT(lang::told(lang::kit_of({kFront, kLocal, kCloud},
                                      "sync P when { Front/go: [ n: ?p ] => ok[] } then { ?p in {Local}/provision: [ "
                                      "name: \"n\" ] }")),
              ElementsAre(HasSubstr("error type-mismatch: `?p` is Int, not the name of a concept")));
}

TEST(Scenario, Scenario14_AnUnboundVariableInThenDoesNotCompile) {
  EXPECT_THAT(
      lang::told(lang::kit_of({kFront, kMail},
                              "sync RollbackOnFailure when { Front/go: [] => ok[] } then { Mail/send: [ to: ?r "
                              "] }")),
      ElementsAre(HasSubstr("error unbound-variable: sync `RollbackOnFailure`: `?r` in then is not bound by any "
                            "pattern or query")));
  EXPECT_THAT(lang::told(lang::kit_of({kFront, kMail},
                                      "sync S when { Front/go: [] => ok[] } then { Mail/send: [ to: ?name ] }")),
              ElementsAre(HasSubstr("it could be bound by `Front/go: [ name: ?name ]` in when")));
}

TEST(Scenario, Scenario15_IdsAndTimesAreThoseOfTheStep) {
  const std::string rules = R"(
sync A when { Front/go: [] => ok[] } where { bind(uuid() as ?id) bind(now() as ?t) } then { Sink/put: [ text: ?id; other: "{{t}}" ] }
sync B when { Front/go: [] => ok[] } where { bind(uuid() as ?id) bind(now() as ?t) } then { Sink/put: [ text: ?id; other: "{{t}}" ] }
)";
  World plain({kFront, kSink}, rules);
  plain.run("Front/go");
  std::vector<std::string> asked = plain.asked("Sink/put");
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_NE(object(asked[0]).at("text"), object(asked[1]).at("text"));
  EXPECT_EQ(object(asked[0]).at("other"), object(asked[1]).at("other"));
  EXPECT_EQ(object(asked[0]).at("other"), json::value(lang::to_text({plain.steps()[0].at_ms})));

  World killed({kFront, kSink}, rules);
  killed.limits.batch_steps = 1;
  killed.start("Front/go");
  killed.clock.advance_ms(5000);
  killed.restart();
  killed.settle();
  EXPECT_EQ(killed.asked("Sink/put"), asked);
  EXPECT_EQ(killed.steps()[1].invocation, plain.steps()[1].invocation);
}

class Eventual : public testing::Test {
 protected:
  Eventual() {
    world.not_loaded = {"Mail"};
    world.on("Mail/open").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      rows.put("Mail", "m" + std::to_string(rows.scan("Mail", "", "", 100).size()), ask);
      return {"ok", {}};
    };
  }

  World world{{kFront, kMail}, R"(
sync Tell [eventual retry(busy)] when { Front/go: [ name: ?n ] => ok[] } where { Mail: { ?m address: ?n } } then { Mail/send: [ to: ?m ] }
)"};
};

TEST_F(Eventual, Scenario16_ATargetThatIsAwayIsServedOnceWhenItComes) {
  world.not_loaded.clear();
  world.run("Mail/open", R"({"address":"ann"})");
  world.not_loaded = {"Mail"};
  world.restart();
  Ulid parent = world.run("Front/go", R"({"name":"ann"})").flow;
  EXPECT_EQ(world.status(parent), "ok");
  EXPECT_EQ(world.status(world.child()), "running");
  EXPECT_THAT(world.ends(), ElementsAre("act Mail/open => ok", "act Front/go => ok", "child", "dispatch",
                                        "act Mail/send => engine.unavailable", "again"));
  world.restart();
  world.settle();
  EXPECT_EQ(world.status(world.child()), "running");
  world.not_loaded.clear();
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.status(world.child()), "ok");
  EXPECT_EQ(world.ends().back(), "act Mail/send => ok");
  std::string bytes = world.bytes();
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.bytes(), bytes);
}

TEST_F(Eventual, Scenario16_ItsWhereRunsAtEveryDispatch) {
  world.not_loaded.clear();
  bool busy = true;
  world.on("Mail/send").act = [&](const json::object&, lang::Rows&) -> lang::Completion {
    return {busy ? "busy" : "ok", {}};
  };
  world.run("Mail/open", R"({"address":"ann"})");
  world.run("Front/go", R"({"name":"ann"})");
  world.run("Mail/open", R"({"address":"ann"})");
  busy = false;
  world.settle_in_time();
  EXPECT_THAT(world.fired(), ElementsAre("Tell 0", "Tell 1", "Tell 2"));  // opened, dispatched, dispatched again
  EXPECT_THAT(world.asked("Mail/send"), ElementsAre(R"({"to":"m0"})", R"({"to":"m0"})", R"({"to":"m1"})"));
  EXPECT_EQ(world.status(world.child()), "ok");
}

TEST_F(Eventual, Scenario16_TriesTwentyTimesThenWaitsForADecision) {
  world.not_loaded.clear();
  int sent = 0;
  bool busy = true;
  world.on("Mail/send").act = [&](const json::object&, lang::Rows&) -> lang::Completion {
    ++sent;
    return {busy ? "busy" : "ok", {}};
  };
  world.run("Mail/open", R"({"address":"ann"})");
  world.run("Front/go", R"({"name":"ann"})");
  EXPECT_EQ(sent, 1);
  world.clock.advance_ms(999);
  world.settle();
  EXPECT_EQ(sent, 1);
  world.clock.advance_ms(1);
  world.settle();
  EXPECT_EQ(sent, 2);
  world.pass(1);
  EXPECT_EQ(sent, 2);
  world.pass(1);
  EXPECT_EQ(sent, 3);
  world.settle_in_time();
  EXPECT_EQ(sent, 20);
  EXPECT_EQ(world.status(world.child()), "stuck");
  Step dead = world.steps().back();
  EXPECT_EQ(dead.kind, Step::Kind::dead);
  EXPECT_EQ(dead.note, "Mail/send => busy");
  EXPECT_EQ(world.summary(dead.flow)["dead"], "Mail/send => busy");
  // 1 + 2 + 4 + … + 512, then ten minutes each.
  EXPECT_EQ(dead.at_ms - world.steps()[1].at_ms, (1023 + 9 * 600) * 1000);

  world.restart();
  world.settle_in_time();
  EXPECT_EQ(sent, 20);
  busy = false;
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::retry, .flow = dead.flow}));
  world.settle_in_time();
  EXPECT_EQ(sent, 21);
  EXPECT_EQ(world.status(world.child()), "ok");
}

TEST_F(Eventual, Scenario16_ADroppedLetterIsGone) {
  world.not_loaded.clear();
  world.on("Mail/send").act = [](const json::object&, lang::Rows&) { return lang::Completion{"busy", {}}; };
  world.run("Mail/open", R"({"address":"ann"})");
  world.run("Front/go", R"({"name":"ann"})");
  world.settle_in_time();
  Ulid flow = world.steps().back().flow;
  EXPECT_EQ(world.decide({.kind = Decision::Kind::drop, .flow = world.steps()[0].flow}).error().code, Code::conflict);
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::drop, .flow = flow}));
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.steps().back().caller, world.caller);
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(Scenario, Scenario16_WhatMayHaveBeenDoneIsNotRepeated) {
  World world({kFront, kMail}, R"(
sync Tell [eventual] when { Front/go: [ name: ?n ] => ok[] } then { Mail/once: [ to: ?n ] }
)");
  world.start("Front/go", R"({"name":"ann"})");
  world.turn();
  EXPECT_EQ(world.queue.size(), 1U);
  world.restart();
  world.settle_in_time();
  EXPECT_THAT(world.ends(), ElementsAre("act Front/go => ok", "child", "dispatch", "begin Mail/once",
                                        "started Mail/once", "finish Mail/once => engine.unknown", "dead"));
  EXPECT_EQ(world.status(world.child()), "stuck");
}

TEST(Scenario, Scenario17_AMissingConceptEndsOneFollowUpAndNoOther) {
  World world({kFront, kMail, kSink}, R"(
sync A when { Front/go: [] => ok[] } then { Mail/send: [ to: "ann" ] }
sync B when { Front/go: [] => ok[] } then { Sink/put: [ text: "here" ] }
sync C when { Mail/send: [] => engine.unavailable[ message: ?m ] } then { Sink/put: [ text: ?m ] }
)");
  world.not_loaded = {"Mail"};
  world.run("Front/go");
  EXPECT_THAT(world.ends(), ElementsAre("act Front/go => ok", "act Mail/send => engine.unavailable",
                                        "act Sink/put => ok", "act Sink/put => ok"));
  EXPECT_EQ(world.asked("Sink/put").back(), R"({"text":"the concept Mail is not loaded"})");
}

TEST(Scenario, Scenario18_AThrownExceptionIsAFaultOfItsOwn) {
  World world({kFront, kMail, kSink}, R"(
sync A when { Front/go: [ name: ?n ] => ok[] } then { Mail/send: [ to: ?n ]  Sink/put: [ text: "sibling" ] }
sync C when { Mail/send: [ to: "heard" ] => engine.fault[ message: ?m ] } then { Sink/put: [ text: ?m ] }
)");
  world.on("Mail/send").act = [](const json::object&, lang::Rows&) -> lang::Completion {
    throw std::runtime_error("no stamps");
  };
  Ulid unheard = world.run("Front/go", R"({"name":"x"})").flow;
  EXPECT_EQ(world.status(unheard), "failed");
  EXPECT_EQ(world.summary(unheard)["failure"], "Mail/send => engine.fault");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"sibling"})"));
  EXPECT_EQ(world.ends().back(), "act Sink/put => ok");
  Ulid heard = world.run("Front/go", R"({"name":"heard"})").flow;
  EXPECT_EQ(world.status(heard), "ok");
  EXPECT_EQ(world.asked("Sink/put").back(), R"({"text":"no stamps"})");
}

TEST(Scenario, Scenario19_CyclesAreFoundAndGrowthIsBounded) {
  World same({kFront, kSink}, R"(
sync There when { Front/go: [ name: ?n ] => ok[] } then { Sink/put: [ text: ?n ] }
sync Back when { Sink/put: [ text: ?n ] => ok[] } then { Front/go: [ name: ?n ] }
)");
  Ulid flow = same.run("Front/go", R"({"name":"a"})").flow;
  EXPECT_EQ(same.summary(flow)["failure"], "Sink/put => engine.limit");
  EXPECT_EQ(same.steps().back().end->fields["message"], "a cycle: There → Back → There");

  const std::string count = "sync Count when { Front/up: [] => ok[ n: ?n ] } then { Front/up: [ n: ?n ] }";
  auto up = [](int64_t last) {
    return [last](const json::object& ask, lang::Rows&) -> lang::Completion {
      int64_t n = ask.at("n").as_int64();
      if (n >= last) return {"done", {}};
      return {"ok", {{"n", n + 1}}};
    };
  };
  World ten({kFront, kSink}, count);
  ten.on("Front/up").act = up(10);
  ten.run("Front/up", R"({"n":0})");
  EXPECT_EQ(ten.steps().size(), 11U);
  EXPECT_EQ(ten.ends().back(), "act Front/up => done");

  World growing({kFront, kSink}, count);
  growing.limits.cascade_actions = 500;
  growing.on("Front/up").act = up(1'000'000);
  Ulid grown = growing.run("Front/up", R"({"n":0})").flow;
  EXPECT_EQ(growing.status(grown), "failed");
  EXPECT_EQ(growing.steps().size(), 501U);
  EXPECT_EQ(growing.steps().back().end->fields["message"], "more than 500 actions follow from one event");

  World raised({kFront, kSink}, count);
  raised.limits.cascade_actions = 500;
  raised.cascade_limit = 600;
  raised.load(count);
  raised.on("Front/up").act = up(1'000'000);
  raised.run("Front/up", R"({"n":0})");
  EXPECT_EQ(raised.steps().size(), 601U);

  World loop({kFront, kSink}, R"(
sync There [loop] when { Front/go: [ name: ?n ] => ok[] } then { Sink/put: [ text: ?n ] }
sync Back when { Sink/put: [ text: ?n ] => ok[] } then { Front/go: [ name: ?n ] }
)");
  loop.limits.cascade_actions = 100;
  loop.run("Front/go", R"({"name":"a"})");
  EXPECT_EQ(loop.steps().size(), 101U);
}

TEST(Scenario, Scenario19_ACascadeEndsWhereTheWorldComesIn) {
  World world({kFront, kMail}, R"(
sync There when { Front/go: [ name: ?n ] => ok[] } then { Mail/post: [ to: ?n ] }
sync Back when { Mail/post: [ to: ?n ] => ok[] } then { Front/go: [ name: ?n ] }
)");
  world.limits.cascade_actions = 5;
  Ulid flow = world.start("Front/go", R"({"name":"a"})");
  for (int i = 0; i < 40; ++i) {
    world.turn();
    world.queue.run();
  }
  EXPECT_EQ(world.status(flow), "running");
  EXPECT_GT(world.steps().size(), 60U);
}

}  // namespace scenarios_follow_test
}  // namespace sluice::engine
