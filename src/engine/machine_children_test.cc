// Child flows of eventual syncs: the parent settles, the child is repeated, and in the end it is a dead letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_children_test {

using testing::ElementsAre;

const std::string kOrder = R"(concept Order [O] {
  state {
    orders: set O
    item: O -> String
    address: O -> String
  }
  actions {
    action place(item: String) {
      -> ok(item: String)
    }
    action move(order: O, address: String) {
      -> ok(order: O)
    }
  }
}
)";
const std::string kMail = R"(concept Mail [M] {
  actions {
    action send(item: String) {
      -> ok(item: String)
      -> busy(item: String)
      -> unknown(item: String)
    }
    action post(item: String) {
      runs: effect
      -> ok(item: String)
    }
  }
}
)";
const std::string kTell = R"(
sync Tell [eventual retry(busy)] when { Order/place: [ item: ?i ] => ok[] } then { Mail/send: [ item: ?i ] }
)";
const std::string kTea = R"({"item":"tea"})";

// A post office that ends in `variant` until it is told otherwise.
struct Post : World {
  explicit Post(const std::string& rules = kTell) : World({kOrder, kMail}, rules) {
    on("Mail/send").act = [this](const json::object& ask, lang::Rows&) -> lang::Completion {
      sent.emplace_back(ask.at("item").as_string());
      if (!fault.empty()) throw std::runtime_error(fault);
      return {variant, ask};
    };
  }
  std::string variant = "busy", fault;
  std::vector<std::string> sent;
};

TEST(MachineChildren, TheParentSettlesWhileItsChildGoesOn) {
  Post world;
  Ulid parent = world.run("Order/place", kTea).flow;
  EXPECT_EQ(world.status(parent), "ok");
  EXPECT_EQ(world.status(world.child()), "running");
  json::object summary = world.summary(world.child());
  EXPECT_EQ(summary["parent"], json::value(sluice::to_string(parent)));
  EXPECT_EQ(summary["sync"], "Tell");
  EXPECT_EQ(summary["caller"], "uid:1000");
  world.variant = "ok";
  world.settle_in_time();
  EXPECT_EQ(world.status(world.child()), "ok");
  EXPECT_THAT(world.journal(), ElementsAre(R"(act Order/place => ok {"item":"tea"})", "child", "dispatch",
                                           R"(act Mail/send => busy {"item":"tea"})", "again by effect", "dispatch",
                                           R"(act Mail/send => ok {"item":"tea"})"));
}

TEST(MachineChildren, PausesDoubleUpToTenMinutesAndEndAfterTwentyAttempts) {
  Post world;
  world.run("Order/place", kTea);
  world.settle_in_time();
  std::vector<int64_t> pauses_s;
  for (const Step& step : world.steps()) {
    if (step.kind == Step::Kind::again) pauses_s.push_back((step.due_ms - step.at_ms) / 1000);
  }
  EXPECT_THAT(pauses_s,
              ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600, 600, 600, 600, 600, 600));
  EXPECT_EQ(world.sent.size(), 20U);
  EXPECT_EQ(world.status(world.child()), "stuck");
}

TEST(MachineChildren, AVariantThatIsNotNamedEndsIt) {
  Post world;
  world.variant = "unknown";
  world.run("Order/place", kTea);
  world.settle_in_time();
  EXPECT_EQ(world.sent.size(), 1U);
  EXPECT_EQ(world.status(world.child()), "failed");
  EXPECT_EQ(world.summary(world.child())["failure"], "Mail/send => unknown");
}

TEST(MachineChildren, WhatSurelyWasNotDoneIsRepeated) {
  Post world;
  world.fault = "out of stamps";
  world.run("Order/place", kTea);
  EXPECT_EQ(world.steps().back().note, "Mail/send => engine.fault: out of stamps");
  world.fault.clear();
  world.variant = "ok";
  world.settle_in_time();
  EXPECT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.status(world.child()), "ok");
}

TEST(MachineChildren, ItIsADeadLetterAfterItsLastAttempt) {
  Post world;
  world.limits.max_child_attempts = 3;
  world.run("Order/place", kTea);
  world.settle_in_time();
  EXPECT_EQ(world.sent.size(), 3U);
  EXPECT_EQ(world.status(world.child()), "stuck");
  EXPECT_EQ(world.summary(world.child())["dead"], "Mail/send => busy");
  EXPECT_EQ(world.steps().back().kind, Step::Kind::dead);
  EXPECT_EQ(world.steps().back().attempt, 3);
}

TEST(MachineChildren, WhatMayHaveBeenDoneIsADeadLetterAtOnce) {
  Post world(R"(
sync Tell [eventual] when { Order/place: [ item: ?i ] => ok[] } then { Mail/post: [ item: ?i ] }
)");
  int posted = 0;
  world.on("Mail/post").perform = [&](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    ++posted;
    throw std::runtime_error("the van is gone");
  };
  world.run("Order/place", kTea);
  world.settle_in_time();
  EXPECT_EQ(posted, 1);
  EXPECT_EQ(world.status(world.child()), "stuck");
  EXPECT_EQ(world.summary(world.child())["dead"], "Mail/post => engine.fault: the van is gone");
}

// The operator has looked, and says what became of it.
TEST(MachineChildren, ADeadLetterThatIsResolvedIsNone) {
  for (bool retry : {false, true}) {
    Post world(R"(
sync Tell [eventual] when { Order/place: [ item: ?i ] => ok[] } then { Mail/post: [ item: ?i ] }
)");
    int posted = 0;
    world.on("Mail/post").perform = [&](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      if (++posted == 1) throw std::runtime_error("the van is gone");
      return lang::Completion{"ok", work.as_object()};
    };
    world.run("Order/place", kTea);
    world.settle_in_time();
    Ulid child = world.child();
    ASSERT_EQ(world.status(child), "stuck");
    Ulid invocation;
    for (const Step& step : world.steps()) {
      if (step.flow == child && step.kind == Step::Kind::finish) invocation = step.invocation;
    }
    Decision decision{.kind = retry ? Decision::Kind::retry : Decision::Kind::resolve_as,
                      .flow = child,
                      .invocation = invocation,
                      .as = {"ok", json::parse(kTea).as_object()},
                      .caller = {.name = "uid:0"}};
    ASSERT_TRUE(world.decide(decision));
    world.settle_in_time();
    EXPECT_EQ(world.status(child), "ok") << retry;
    EXPECT_EQ(posted, retry ? 2 : 1);
  }
}

TEST(MachineChildren, ARestartAtAnyPointChangesNothing) {
  for (int restart_at = 0; restart_at < 8; ++restart_at) {
    Post world;
    world.limits.max_child_attempts = 2;
    world.limits.batch_steps = 1;
    world.start("Order/place", kTea);
    for (int i = 0; i < 8; ++i) {
      if (i == restart_at) world.restart();
      world.clock.advance_ms(1000);
      world.turn();
    }
    EXPECT_THAT(world.journal(), ElementsAre(R"(act Order/place => ok {"item":"tea"})", "child", "dispatch",
                                             R"(act Mail/send => busy {"item":"tea"})", "again by effect", "dispatch",
                                             R"(act Mail/send => busy {"item":"tea"})", "dead"))
        << restart_at;
    EXPECT_EQ(world.status(world.child()), "stuck");
  }
}

TEST(MachineChildren, TheWhereRunsAtEachDispatch) {
  Post world(R"(
sync Tell [eventual retry(busy)] when { Order/place: [ item: ?i ] => ok[] }
     where { Order: { ?o item: ?i; address: ?a } } then { Mail/send: [ item: ?a ] }
)");
  auto live_at = [&](const std::string& order, const std::string& address) {
    world.run("Order/move", R"({"order":")" + order + R"(","address":")" + address + "\"}");
  };
  world.on("Order/move").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    rows.put("Order", ask.at("order").as_string(), json::object{{"item", "tea"}, {"address", ask.at("address")}});
    return {"ok", ask};
  };
  live_at("o1", "hill");
  world.run("Order/place", kTea);
  EXPECT_THAT(world.sent, ElementsAre("hill"));
  live_at("o1", "lake");
  world.variant = "ok";
  world.settle_in_time();
  EXPECT_THAT(world.sent, ElementsAre("hill", "lake"));
}

TEST(MachineChildren, WhatIsDoneIsNotRepeatedWithTheRest) {
  Post world(R"(
sync Tell [eventual retry(busy)] when { Order/place: [ item: ?i ] => ok[] }
     then { Mail/send: [ item: ?i ] Mail/send: [ item: "bill" ] }
)");
  world.on("Mail/send").act = [&](const json::object& ask, lang::Rows&) -> lang::Completion {
    world.sent.emplace_back(ask.at("item").as_string());
    return {world.sent.size() == 1 ? "busy" : "ok", ask};
  };
  world.run("Order/place", kTea);
  EXPECT_THAT(world.sent, ElementsAre("tea", "bill"));
  world.restart();
  world.settle_in_time();
  EXPECT_THAT(world.sent, ElementsAre("tea", "bill", "tea"));
  EXPECT_EQ(world.status(world.child()), "ok");
}

// What it is to do is not lost: it is kept until the sync can be asked again, or an operator decides.
TEST(MachineChildren, AWhereThatFindsTooManyRowsIsAskedAgainAndThenADeadLetter) {
  Post world(R"(
sync Tell [eventual] when { Order/place: [] => ok[] } where { Order: { ?o item: ?i } } then { Mail/send: [ item: ?i ] }
)");
  world.variant = "ok";
  int64_t count = 10'001;
  world.on("Order/place").act = [&](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    for (int64_t i = 0; i < count; ++i) rows.put("Order", "o" + std::to_string(i), json::object{{"item", "tea"}});
    return {"ok", ask};
  };
  world.on("Order/move").act = [&](const json::object&, lang::Rows& rows) -> lang::Completion {
    rows.erase("Order", "o0");
    return {"ok", {{"order", "o0"}}};
  };
  const std::string why = "sync `Tell`: it reads more than 10000 rows of Order";
  world.run("Order/place", kTea);
  EXPECT_EQ(world.status(world.child()), "running");
  EXPECT_EQ(world.steps().back().note, why);
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.status(world.child()), "stuck");
  EXPECT_EQ(world.summary(world.child())["dead"], json::value(why));
  EXPECT_EQ(world.steps().back().attempt, 20);
  EXPECT_THAT(world.sent, testing::IsEmpty());
  world.run("Order/move", R"({"order":"o0","address":"x"})");
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::retry, .flow = world.child()}));
  world.settle_in_time();
  EXPECT_EQ(world.status(world.child()), "ok");
  EXPECT_THAT(world.sent, ElementsAre("tea"));
}

TEST(MachineChildren, OneThatStandsStillIsStillAFollowUpAndMayBeMoved) {
  const std::string rest = "sync Post when { Order/move: [ address: ?a ] => ok[] } then { Mail/post: [ item: ?a ] }\n";
  for (bool dead : {false, true}) {
    Post world(kTell + rest);
    Ulid parent = world.run("Order/place", kTea).flow;
    if (dead) world.settle_in_time();
    Ulid child = world.child();
    // A newer kit in which Mail/post takes something else: the set that the child goes on under does not fit.
    std::string changed = kMail;
    changed.replace(changed.find("post(item: String)"), 18, "post(text: String)");
    world.use({kOrder, changed}, kTell);
    world.restart();
    world.settle_in_time();
    EXPECT_EQ(world.status(child), "stuck");
    json::object summary = world.summary(child);
    EXPECT_TRUE(summary.contains("standstill"));
    EXPECT_EQ(summary["parent"], json::value(sluice::to_string(parent)));
    EXPECT_EQ(summary["sync"], "Tell");
    EXPECT_EQ(summary.contains("dead"), dead);
    auto moved = world.decide({.kind = Decision::Kind::move, .flow = child});
    ASSERT_TRUE(moved) << to_string(moved.error());
    world.variant = "ok";
    if (dead) {
      EXPECT_EQ(world.status(child), "stuck");
      ASSERT_TRUE(world.decide({.kind = Decision::Kind::retry, .flow = child}));
    }
    world.settle_in_time();
    EXPECT_EQ(world.status(child), "ok");
    EXPECT_EQ(world.sent.back(), "tea");
  }
}

// Nor may one be moved to rules that do not say what it is to do.
TEST(MachineChildren, OneThatStandsStillIsNotMovedToAKitWithoutItsSync) {
  Post world(kTell + "sync Post when { Order/move: [ address: ?a ] => ok[] } then { Mail/post: [ item: ?a ] }\n");
  world.run("Order/place", kTea);
  Ulid child = world.child();
  std::string changed = kMail;
  changed.replace(changed.find("post(item: String)"), 18, "post(text: String)");
  world.use({kOrder, changed}, "");
  world.restart();
  world.settle_in_time();
  auto moved = world.decide({.kind = Decision::Kind::move, .flow = child});
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().message,
            "flow " + sluice::to_string(child) + " is to do what sync Tell says, which this kit does not have");
  EXPECT_EQ(world.status(child), "stuck");
}

}  // namespace machine_children_test
}  // namespace sluice::engine
