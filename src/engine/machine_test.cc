// What a machine does, seen from outside: calls, steps, follow-ups, answers, effects, timers, restarts.
#include "engine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_test {

using testing::ElementsAre;
using testing::HasSubstr;

// A shop: an order is placed, its payment is asked for, the card is charged, a parcel is sent.
const std::string kShop = R"(concept Shop [O] {
  state {
    orders: set O
    item: O -> String
    status: O -> String
    asked: O -> option Request
  }
  actions {
    action place(item: String) {
      -> ok(item: String)
      -> refused(item: String)
    }
    action pay(item: String) {
      runs: answered
      -> ok(item: String)
      -> declined(item: String)
    }
    action approve(item: String) {
      runs: answered outside
      -> ok(item: String)
      -> no(item: String)
    }
    action note(item: String) {
      -> ok(item: String)
    }
  }
}
)";

const std::string kCard = R"(concept Card [C] {
  actions {
    action charge(item: String) {
      runs: effect
      retry: safe
      -> ok(item: String)
      -> refused(item: String)
    }
    action once(item: String) {
      runs: effect
      -> ok(item: String)
    }
    action look(item: String) {
      runs: effect
      retry: probe
      deadline: 10s
      -> ok(item: String)
    }
  }
}
)";

const std::string kPaying = R"(
sync AskForPayment when { Shop/place: [ item: ?i ] => ok[] } then { Shop/pay: [ item: ?i ] }
sync Charge when { Shop/pay: [ item: ?i ] => requested } then { Card/charge: [ item: ?i ] }
sync Paid when { Card/charge: [ item: ?i ] => ok[] caused by Shop/pay: [] => requested as ?r }
          then { answer ?r => ok[ item: ?i ] }
sync Declined when { Card/charge: [ item: ?i ] => refused[] caused by Shop/pay: [] => requested as ?r }
          then { answer ?r => declined[ item: ?i ] }
)";

TEST(Machine, RunsAFlowToItsEnd) {
  World world({kShop, kCard}, kPaying);
  Outcome outcome = world.run("Shop/place", R"({"item": "tea"})");
  EXPECT_EQ(outcome.end.variant, "ok");
  EXPECT_THAT(world.journal(), ElementsAre(R"(act Shop/place => ok {"item":"tea"})", "begin Shop/pay",
                                           "begin Card/charge", R"(finish Card/charge => ok {"item":"tea"} by effect)",
                                           R"(finish Shop/pay => ok {"item":"tea"} by answer)"));
  EXPECT_EQ(world.status(outcome.flow), "ok");
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(Machine, TellsTheCallerOnlyAfterTheCommit) {
  World world({kShop, kCard}, kPaying);
  bool told = false;
  Call call{.action = "Shop/place", .input = object(R"({"item": "tea"})")};
  call.on_end = [&](const Result<Outcome>& outcome) {
    told = true;
    ASSERT_TRUE(outcome);
    auto snapshot = world.store->read();
    EXPECT_GE((*snapshot)->position(), outcome->position);
  };
  world.machine().call(std::move(call));
  EXPECT_FALSE(told);
  world.turn();
  EXPECT_TRUE(told);
}

TEST(Machine, SettlesAFlowAsFailedByWhatNoSyncMatched) {
  World world({kShop, kCard}, kPaying);
  world.on("Card/charge").perform = [](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
    return lang::Completion{"refused", work.as_object()};
  };
  Ulid flow = world.run("Shop/place", R"({"item": "tea"})").flow;
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.summary(flow)["failure"], "Shop/pay => declined");
}

TEST(Machine, EndsARequestThatNobodyCanAnswerAnyMore) {
  World world({kShop, kCard}, R"(
sync Charge when { Shop/pay: [ item: ?i ] => requested } then { Card/charge: [ item: ?i ] }
sync Paid when { Card/charge: [ item: ?i ] => ok[] caused by Shop/pay: [] => requested as ?r }
          then { answer ?r => ok[ item: ?i ] }
)");
  world.on("Card/charge").perform = [](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
    return lang::Completion{"refused", work.as_object()};
  };
  Outcome outcome = world.run("Shop/pay", R"({"item": "tea"})");
  EXPECT_EQ(outcome.end.variant, "engine.unanswered");
  EXPECT_TRUE(outcome.end.maybe_done);
  EXPECT_EQ(outcome.end.fields["message"],
            "nothing is left that could answer Shop/pay; last was Card/charge => refused; nearest: Paid waits for "
            "`Card/charge: [ item: ?i ] => ok[]`");
  EXPECT_EQ(outcome.end.fields["cause"], "Card/charge => refused");
}

TEST(Machine, LeavesARequestOpenThatIsAnsweredOutside) {
  World world({kShop, kCard}, "sync Nothing when { Shop/place: [] => refused[] } then { Shop/note: [ item: \"x\" ] }");
  Ulid flow = world.start("Shop/approve", R"({"item": "tea"})");
  world.settle();
  EXPECT_EQ(world.status(flow), "waiting");
  world.restart();
  world.settle();
  EXPECT_EQ(world.status(flow), "waiting");
}

TEST(Machine, AnswersAnotherFlowsRequest) {
  World world({kShop, kCard}, R"(
sync Approve when { Shop/place: [ item: ?i ] => ok[] } where { Shop: { ?o item: ?i; asked: ?r } }
             then { answer ?r => ok[ item: ?i ] }
)");
  world.on("Shop/approve").begin = [](const json::object& ask, lang::Rows& rows) -> lang::BegunAction {
    rows.put("Shop", "o1", json::object{{"item", ask.at("item")}, {"asked", rows.request().text()}});
    return lang::Started{};
  };
  Ulid asking = world.start("Shop/approve", R"({"item": "tea"})");
  Ulid answering = world.start("Shop/place", R"({"item": "tea"})");
  world.settle();
  EXPECT_EQ(world.status(asking), "ok");
  EXPECT_EQ(world.status(answering), "ok");
  EXPECT_EQ(world.steps().back().by, "answer:" + sluice::to_string(answering));
}

TEST(Machine, GoesOnAfterARestartAtEveryPoint) {
  World plain({kShop, kCard}, kPaying);
  plain.run("Shop/place", R"({"item": "tea"})");
  std::vector<std::string> expected = plain.journal();
  for (int kill_after = 1; kill_after < 6; ++kill_after) {
    World world({kShop, kCard}, kPaying);
    world.limits.batch_steps = 1;
    world.start("Shop/place", R"({"item": "tea"})");
    for (int i = 1; i < kill_after; ++i) {
      world.turn();
      if (i == 3) world.queue.run();
    }
    world.restart();
    world.settle_in_time();
    std::vector<std::string> journal = world.journal();
    std::erase_if(journal, [](const std::string& line) { return line.starts_with("again "); });
    EXPECT_EQ(journal, expected) << kill_after;
    EXPECT_EQ(world.machine().open_flows(), 0U);
  }
}

TEST(Machine, TriesAgainWhatPromisedToHaveDoneNothing) {
  World world({kShop, kCard}, kPaying);
  int attempts = 0;
  world.on("Card/charge").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
    EXPECT_EQ(attempt.number(), ++attempts);
    if (attempts < 3) return lang::Again{"busy", 0};
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Card/charge", R"({"item": "tea"})");
  world.settle();
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(world.status(flow), "running");
  world.clock.advance_ms(199);
  world.settle();
  EXPECT_EQ(attempts, 1);
  world.clock.advance_ms(1);
  world.settle();
  EXPECT_EQ(attempts, 2);
  world.clock.advance_ms(400);
  world.settle();
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(Machine, GivesUpAfterFiveAttempts) {
  World world({kShop, kCard}, kPaying);
  world.on("Card/charge").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    return lang::Again{"busy", 0};
  };
  world.start("Card/charge", R"({"item": "tea"})");
  world.settle_in_time();
  ASSERT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.ended[0]->end.variant, "engine.unavailable");
  EXPECT_FALSE(world.ended[0]->end.maybe_done);
}

TEST(Machine, NeverRepeatsAnEffectThatMustNotBe) {
  World world({kShop, kCard}, kPaying);
  Ulid flow = world.start("Card/once", R"({"item": "tea"})");
  EXPECT_EQ(world.queue.size(), 1U);
  world.restart();
  world.settle();
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_THAT(world.journal().back(), HasSubstr("finish Card/once => engine.unknown"));
}

TEST(Machine, AsksBeforeItRepeats) {
  World world({kShop, kCard}, kPaying);
  int probes = 0;
  world.on("Card/look").probe = [&](const json::value& work, lang::Attempt&) -> lang::ProbedAction {
    ++probes;
    return lang::Done<lang::Completion>{{"ok", work.as_object()}};
  };
  int performed = 0;
  world.on("Card/look").perform = [&](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
    ++performed;
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Card/look", R"({"item": "tea"})");
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(probes, 1);
  EXPECT_EQ(performed, 0);
}

TEST(Machine, EndsAnEffectAtItsDeadlineAndRecordsWhatComesLater) {
  World world({kShop, kCard}, kPaying);
  bool cancelled = false;
  world.on("Card/look").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
    cancelled = attempt.cancelled();
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Card/look", R"({"item": "tea"})");
  world.clock.advance_ms(10'000);
  world.turn();
  EXPECT_EQ(world.status(flow), "failed");
  world.settle();
  EXPECT_TRUE(cancelled);
  EXPECT_THAT(world.journal(),
              ElementsAre("begin Card/look",
                          R"(finish Card/look => engine.timeout {"message":"its deadline passed"} maybe by deadline)",
                          R"(late => ok {"item":"tea"} by effect)"));
  EXPECT_EQ(world.status(flow), "failed");
}

TEST(Machine, StopsPoisonAfterThreeCrashes) {
  World world({kShop, kCard}, kPaying);
  Ulid flow = world.start("Card/charge", R"({"item": "tea"})");
  for (int crash = 0; crash < 3; ++crash) {
    EXPECT_EQ(world.status(flow), "running");
    world.restart();
    world.clock.advance_ms(10'000);
    world.turn();
    world.turn();
  }
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_THAT(world.journal().back(), HasSubstr("engine.unknown"));
}

TEST(Machine, TurnsWhatAHandlerThrowsIntoAFault) {
  World world({kShop, kCard}, kPaying);
  world.on("Shop/place").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
    rows.put("Shop", "o1", json::object{{"item", "tea"}});
    throw std::runtime_error("out of tea");
  };
  Outcome outcome = world.run("Shop/place", R"({"item": "tea"})");
  EXPECT_EQ(outcome.end, (End{"engine.fault", object(R"({"message": "out of tea"})"), false}));
  EXPECT_EQ(world.row("Shop", "o1"), std::nullopt);
}

TEST(Machine, WaitsAndSupersedes) {
  World world({kShop, kCard}, R"(
sync Wait when { Shop/pay: [ item: ?i ] => requested } then { Timer/wait: [ name: "soak"; seconds: 30 ] }
sync Again when { Shop/note: [ item: ?i ] => ok[] } then { Timer/wait: [ name: "soak"; seconds: 60 ] }
sync Done when { Timer/wait: [ name: "soak" ] => ok[] caused by Shop/pay: [ item: ?i ] => requested as ?r }
          then { answer ?r => ok[ item: ?i ] }
)");
  Ulid flow = world.start("Shop/pay", R"({"item": "tea"})");
  world.settle();
  EXPECT_EQ(world.status(flow), "waiting");
  world.pass(29);
  EXPECT_EQ(world.status(flow), "waiting");
  world.restart();
  world.pass(1);
  EXPECT_EQ(world.status(flow), "ok");
}

// Equal sync and binding make a cycle: what the `then` leaves out counts all the same.
TEST(Machine, ALoopWhoseBindingChangesIsNoCycle) {
  const std::string counter = R"(concept Counter [C] {
  actions {
    action tick() {
      -> ok(n: Int)
      -> done(n: Int)
    }
  }
}
)";
  auto last = [&](const std::string& rules) {
    World world({counter}, rules);
    int64_t n = 0;
    world.on("Counter/tick").act = [&](const json::object&, lang::Rows&) {
      ++n;
      return lang::Completion{n == 5 ? "done" : "ok", {{"n", n}}};
    };
    world.start("Counter/tick");
    world.settle();
    return world.journal().back();
  };
  EXPECT_EQ(last("sync Again when { Counter/tick: [] => ok[ n: ?n ] } then { Counter/tick: [] }"),
            R"(act Counter/tick => done {"n":5})");
  EXPECT_EQ(last("sync Again when { Counter/tick: [] => ok[] } then { Counter/tick: [] }"),
            R"(act Counter/tick => engine.limit {"message":"a cycle: Again → Again"})");
}

TEST(Machine, FindsACycleOfPureActions) {
  World world({kShop, kCard}, R"(
sync There when { Shop/place: [ item: ?i ] => ok[] } then { Shop/note: [ item: ?i ] }
sync Back when { Shop/note: [ item: ?i ] => ok[] } then { Shop/place: [ item: ?i ] }
)");
  Ulid flow = world.run("Shop/place", R"({"item": "tea"})").flow;
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_THAT(world.journal().back(), HasSubstr("engine.limit {\"message\":\"a cycle: There → Back → There\"}"));
}

TEST(Machine, JoinsCallsByTheirKey) {
  World world({kShop, kCard}, kPaying);
  Ulid first = world.start("Card/charge", R"({"item": "tea"})", "k1");
  Ulid second = world.start("Card/charge", R"({"item": "tea"})", "k1");
  EXPECT_EQ(first, second);
  world.settle();
  ASSERT_EQ(world.ended.size(), 2U);
  Ulid third = world.start("Card/charge", R"({"item": "tea"})", "k1");
  EXPECT_EQ(first, third);
  ASSERT_EQ(world.ended.size(), 3U);
  EXPECT_EQ(world.ended[2]->end.variant, "ok");
  Result<Ulid> other = first;
  Call call{.action = "Card/charge", .input = object(R"({"item": "rum"})"), .caller = world.caller, .key = "k1"};
  call.on_start = [&](const Result<Ulid>& started) { other = started; };
  world.machine().call(std::move(call));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::conflict);
}

TEST(Machine, WritesTheSameBytesFromTheSameSeed) {
  auto bytes = [] {
    World world({kShop, kCard}, kPaying);
    for (int i = 0; i < 5; ++i) world.start("Shop/place", R"({"item": "tea"})");
    world.settle();
    return world.bytes();
  };
  EXPECT_EQ(bytes(), bytes());
}

}  // namespace machine_test
}  // namespace sluice::engine
