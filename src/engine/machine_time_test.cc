// What becomes of timers, records, keys and retention when the system's clock is set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/journal/audit.h"
#include "engine/journal/journal_search.h"
#include "engine/journal/retention.h"
#include "engine/machine.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_time_test {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kWork = R"(concept Work [W] {
  state { rows: set W; name: W -> String }
  actions {
    action go(name: String) { -> ok(name: String) }
    action rested(name: String) { -> ok(name: String) }
    action slow(name: String) {
      runs: effect
      retry: safe
      deadline: 60s
      -> ok(name: String)
    }
  }
}
)";
const std::string kRules = R"(
sync Rest when { Work/go: [ name: "rest" ] => ok[] } then { Timer/wait: [ name: "rest"; seconds: 2 ] }
sync Rested when { Timer/wait: [ name: "rest" ] => ok[] } then { Work/rested: [ name: "rest" ] }
)";
const std::string kRest = R"({"name": "rest"})";
const std::string kOther = R"({"name": "other"})";

constexpr int64_t kMinute_ms = 60'000;
constexpr int64_t kHour_ms = 60 * kMinute_ms;
constexpr int64_t kYear_ms = 365 * 24 * kHour_ms;

struct Clocked : World {
  Clocked() : World({kWork}, kRules) { boot.id = "b1"; }
  void set_clock(int64_t by_ms) { clock.set_wall_ms(clock.wall_ms() + by_ms); }
  std::optional<json::value> jump() {
    auto text = row(kClockRelation, kJumpKey);
    return text ? std::optional(parse_json(*text, "")->root) : std::nullopt;
  }
  Result<uint64_t> correct() { return decide({.kind = Decision::Kind::correct_clock}); }
  int64_t last_at_ms() { return steps().back().at_ms; }
};

TEST(FirstWeek22, ATimerFiresAlthoughTheClockWasSetBack) {
  Clocked world;
  world.run("Work/go", kRest);
  world.set_clock(-2 * kHour_ms);
  world.pass(1);
  EXPECT_NE(world.ends().back(), "act Work/rested => ok");
  world.pass(1);
  EXPECT_EQ(world.ends().back(), "act Work/rested => ok");
}

TEST(FirstWeek22, ATimerFiresAlthoughTheClockWasSetBackAndTheProcessRestarted) {
  for (std::string boot : {"b1", "b2"}) {
    Clocked world;
    world.run("Work/go", kRest);
    world.set_clock(-2 * kHour_ms);
    world.boot.id = boot;
    world.restart();
    world.pass(2);
    EXPECT_EQ(world.ends().back(), "act Work/rested => ok") << boot;
  }
}

TEST(FirstWeek22, AClockSetForwardEndsNoDuration) {
  Clocked world;
  world.run("Work/go", kRest);
  world.start("Work/slow", kOther);
  world.turn();
  world.set_clock(2 * kYear_ms);
  world.turn();
  EXPECT_EQ(world.ends().back(), "clock");  // no deadline has passed, no timer has fired
  world.settle();
  EXPECT_EQ(world.ends().back(), "finish Work/slow => ok");
  world.pass(2);
  EXPECT_EQ(world.ends().back(), "act Work/rested => ok");
}

TEST(FirstWeek22, OneActionInTheFutureDoesNotStampLaterRecords) {
  Clocked world;
  world.run("Work/go", kOther);
  int64_t before_ms = world.last_at_ms();
  world.stop();
  world.set_clock(2 * kYear_ms);
  world.clock.advance_ms(kMinute_ms);
  Ulid flow = world.run("Work/go", kOther).flow;  // as a command does
  EXPECT_EQ(world.last_at_ms(), before_ms + kMinute_ms);
  EXPECT_EQ(flow.wall_ms(), world.last_at_ms());  // ids carry recorded time, by which the journal is searched
  EXPECT_TRUE(find_begin(**world.store->read(), flow)->has_value());
  world.stop();
  world.set_clock(-2 * kYear_ms);
  world.clock.advance_ms(kMinute_ms);
  world.run("Work/go", kOther);
  EXPECT_EQ(world.last_at_ms(), world.clock.wall_ms());
}

TEST(FirstWeek22, RecordedTimeIsMonotonicAndCatchesUpByABoundedSlew) {
  Clocked world;
  world.run("Work/go", kOther);
  std::vector<int64_t> by_ms = {-2 * kHour_ms, kYear_ms, -kYear_ms, 90 * kMinute_ms};
  for (int64_t by : by_ms) {
    world.set_clock(by);
    for (int i = 0; i < 20; ++i) {
      int64_t before_ms = world.last_at_ms();
      world.pass(30);
      world.run("Work/go", kOther);
      int64_t passed_ms = world.last_at_ms() - before_ms;
      EXPECT_GE(passed_ms, 15'000);
      EXPECT_LE(passed_ms, 60'000 + EngineTime::kJump_ms);
    }
  }
  world.pass(5 * kHour_ms / 1000);
  world.run("Work/go", kOther);
  EXPECT_EQ(world.last_at_ms(), world.clock.wall_ms());
}

TEST(FirstWeek22, AJumpIsRecordedAndKeptWhereViewsFindIt) {
  Clocked world;
  world.run("Work/go", kOther);
  EXPECT_FALSE(world.jump());
  world.set_clock(2 * kHour_ms);
  world.settle();
  Step told = world.steps().back();
  EXPECT_EQ(told.kind, Step::Kind::clock);
  EXPECT_EQ(told.note, "the system's clock went forward by 2 h");
  EXPECT_EQ(told.wall_ms, world.clock.wall_ms());
  EXPECT_THAT(world.logged, testing::Contains("the system's clock went forward by 2 h"));
  EXPECT_EQ(world.jump()->at("by_ms"), 2 * kHour_ms);
  EXPECT_EQ(world.jump()->at("over"), false);
  world.pass(3 * kHour_ms / 1000);
  EXPECT_EQ(world.steps().back().note, "recorded time agrees with the system's clock again");
  EXPECT_EQ(world.jump()->at("over"), true);
  EXPECT_FALSE(verify(**world.store->read(), {}, {})->fault);
}

TEST(FirstWeek22, AJumpThatCouldNotBeWrittenIsToldLater) {
  Clocked world;
  auto failing = std::make_shared<FailingStore>();
  world.store = failing;
  world.run("Work/go", kOther);
  failing->fails = [](int) { return true; };
  world.set_clock(2 * kHour_ms);
  EXPECT_FALSE(world.machine().turn());
  failing->fails = nullptr;
  world.settle();
  EXPECT_EQ(world.ends().back(), "clock");
  EXPECT_EQ(world.jump()->at("over"), false);
}

TEST(FirstWeek22, AFewMinutesAreNoJump) {
  Clocked world;
  world.run("Work/go", kOther);
  world.set_clock(4 * kMinute_ms);
  world.run("Work/go", kOther);
  EXPECT_EQ(world.last_at_ms(), world.clock.wall_ms());
  EXPECT_THAT(world.ends(), ElementsAre("act Work/go => ok", "act Work/go => ok"));
}

TEST(FirstWeek22, AJumpExpiresNoKey) {
  for (std::string boot : {"b1", "b2"}) {
    Clocked world;
    Ulid first = world.start("Work/go", kOther, "key");
    world.settle();
    world.stop();
    world.set_clock(2 * kYear_ms);
    world.boot.id = boot;
    world.ended.clear();
    world.start("Work/go", kOther, "key");
    world.settle();
    ASSERT_EQ(world.ended.size(), 1U);
    EXPECT_EQ(world.ended[0]->flow, first) << boot;
    EXPECT_TRUE(world.machine().time().holds_retention()) << boot;
  }
}

// A store in which recorded time is two years ahead, as versions without a slew have left some.
struct Poisoned : Clocked {
  Poisoned() {
    clock.advance_ms(1000);
    set_clock(2 * kYear_ms);
    settled = run("Work/go", kOther).flow;
    open = start("Work/go", kRest);
    settle();
    stop();
    set_clock(-2 * kYear_ms);
    boot.id = "b2";
  }
  Ulid settled, open;
};

TEST(FirstWeek22, APoisonedStoreIsCorrected) {
  Poisoned world;
  world.settle();
  EXPECT_EQ(world.jump()->at("over"), false);
  EXPECT_EQ(world.last_at_ms(), world.clock.wall_ms() + 2 * kYear_ms);
  ASSERT_TRUE(world.correct());
  Step corrected = world.steps().back();
  EXPECT_EQ(corrected.kind, Step::Kind::clock);
  EXPECT_EQ(corrected.caller.name, "uid:1000");
  EXPECT_EQ(corrected.by, "operator");
  EXPECT_EQ(corrected.at_ms, world.clock.wall_ms());
  EXPECT_THAT(corrected.note, HasSubstr("recorded time is corrected: it was 20"));
  EXPECT_EQ(world.jump()->at("over"), true);
  Ulid after = world.run("Work/go", kOther).flow;
  EXPECT_EQ(world.last_at_ms(), world.clock.wall_ms());
  EXPECT_EQ(after.wall_ms(), world.clock.wall_ms());
  // Ids of both times are found.
  for (const Ulid& id : {world.settled, world.open, after}) {
    EXPECT_TRUE(find_begin(**world.store->read(), id)->has_value());
  }
  EXPECT_FALSE(verify(**world.store->read(), {}, {})->fault);
  // And so it stays.
  world.restart();
  world.run("Work/go", kOther);
  EXPECT_EQ(world.last_at_ms(), world.clock.wall_ms());
}

TEST(FirstWeek22, WhatWaitedInAPoisonedStoreGoesOnWhenItIsCorrected) {
  for (bool restarts : {false, true}) {
    Poisoned world;
    ASSERT_TRUE(world.correct());
    if (restarts) world.restart();
    world.settle();
    EXPECT_EQ(world.status(world.open), "waiting") << restarts;
    world.pass(2);
    EXPECT_EQ(world.status(world.open), "ok") << restarts;
  }
}

TEST(FirstWeek22, FlowsOfAPoisonedStoreAreOldFromTheDayOfItsCorrection) {
  Poisoned world;
  ASSERT_TRUE(world.correct());
  int64_t now_ms = world.clock.wall_ms();
  EXPECT_EQ((*(*world.store->read())->flow(world.settled))->settled_at_ms, now_ms);
  EXPECT_EQ(*pack_settled(*world.store, now_ms + 29 * 24 * kHour_ms, Retention{}), 0U);
  EXPECT_EQ(*pack_settled(*world.store, now_ms + 31 * 24 * kHour_ms, Retention{}), 1U);
}

TEST(FirstWeek22, ATimeThatIsRightIsNotCorrected) {
  Clocked world;
  world.run("Work/go", kOther);
  auto corrected = world.correct();
  ASSERT_FALSE(corrected);
  EXPECT_EQ(to_string(corrected.error()),
            "recorded time and the system's clock agree to within five minutes; nothing was changed");
}

}  // namespace machine_time_test
}  // namespace sluice::engine
