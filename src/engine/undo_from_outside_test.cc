// Flow/undo of what another flow did: which outcomes are compensated, one at a time, and what happens when it cannot
// be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal/retention.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace undo_from_outside_test {

using testing::ElementsAre;

const std::string kSite = R"(concept Site [S] {
  actions {
    action run(what: String) {
      runs: answered
      -> ok(what: String)
    }
    action dig(what: String) {
      reversal: fill (half)
      -> ok(what: String)
      -> half(what: String)
      -> rock(what: String)
    }
    action pour(what: String) {
      runs: effect
      reversal: fill
      -> ok(what: String)
    }
    action fill(what: String) {
      runs: effect
      retry: safe
      -> ok(what: String)
      -> blocked(what: String)
    }
    action raise(what: String) {
      runs: answered
      reversal: raze
      -> ok(what: String)
    }
    action raze(what: String) {
      -> ok(what: String)
    }
    action revert(request: Request) {
      -> ok(request: Request)
    }
  }
}
)";
const std::string kRevert = R"(
sync Revert when { Site/revert: [ request: ?r ] => ok[] } then { Flow/undo: [ request: ?r ] }
)";
// Three holes, one after the other; then it is done.
const std::string kHoles = kRevert + R"(
sync One when { Site/run: [] => requested } then { Site/dig: [ what: "one" ] }
sync Two when { Site/dig: [ what: "one" ] => [] } then { Site/dig: [ what: "two" ] }
sync Three when { Site/dig: [ what: "two" ] => [] } then { Site/dig: [ what: "three" ] }
sync Done when { Site/dig: [ what: "three" ] => [] caused by Site/run: [] => requested as ?r }
          then { answer ?r => ok[ what: "holes" ] }
)";

struct Building : World {
  explicit Building(const std::string& rules = kHoles) : World({kSite}, rules) {
    on("Site/fill").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      filled.emplace_back(work.at("what").as_string());
      return lang::Completion{filled.back() == blocked ? "blocked" : "ok", work.as_object()};
    };
  }
  Ulid build() { return run("Site/run", R"({"what":"x"})").flow; }
  void begin_undo(const Ulid& request) { start("Site/revert", R"({"request":")" + sluice::to_string(request) + "\"}"); }
  // How Flow/undo ended.
  End undo(const Ulid& request) {
    begin_undo(request);
    settle_in_time();
    return ended_undo();
  }
  End ended_undo() {
    for (const Step& step : steps()) {
      if (step.action == "Flow/undo" && step.end) return *step.end;
    }
    return {};
  }
  // "Site/dig <id>" of the n-th such action of the journal.
  std::string of(const std::string& action, size_t n = 0) {
    for (const Step& step : steps()) {
      if (step.action == action && step.end && n-- == 0) return action + " " + sluice::to_string(step.invocation);
    }
    return "none";
  }
  std::vector<std::string> filled;
  std::string blocked;
};

TEST(UndoFromOutside, CompensatesTheNewestFirst) {
  Building world;
  End end = world.undo(world.build());
  EXPECT_THAT(world.filled, ElementsAre("three", "two", "one"));
  EXPECT_EQ(end, (End{"ok",
                      {{"undone", json::array{world.of("Site/dig", 2), world.of("Site/dig", 1), world.of("Site/dig")}}},
                      false}));
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(UndoFromOutside, CompensatesWhatIsPacked) {
  Building world;
  Ulid built = world.build();
  ASSERT_EQ(*pack_settled(*world.store, world.clock.wall_ms(), {.keep_flows = 0}), 1U);
  world.restart();
  world.begin_undo(built);
  world.settle_in_time();
  EXPECT_THAT(world.filled, ElementsAre("three", "two", "one"));
}

TEST(UndoFromOutside, CompensatesOneAtATime) {
  Building world;
  world.begin_undo(world.build());
  for (const char* next : {"three", "two", "one"}) {
    EXPECT_EQ(world.queue.size(), 1U);
    EXPECT_TRUE(world.queue.run());
    EXPECT_EQ(world.filled.back(), next);
    world.turn();
  }
  EXPECT_EQ(world.queue.size(), 0U);
}

TEST(UndoFromOutside, OfWhatStandsBeneathEachOtherOnlyTheOutermost) {
  Building world(kRevert + R"(
sync Raise when { Site/run: [] => requested } then { Site/raise: [ what: "wall" ] }
sync Dig when { Site/raise: [] => requested } then { Site/dig: [ what: "beneath" ] }
sync Raised when { Site/dig: [ what: "beneath" ] => ok[] caused by Site/raise: [ what: ?w ] => requested as ?r }
            then { answer ?r => ok[ what: ?w ] }
sync Beside when { Site/raise: [] => ok[] } then { Site/dig: [ what: "beside" ] }
sync Done when { Site/dig: [ what: "beside" ] => ok[] caused by Site/run: [] => requested as ?r }
          then { answer ?r => ok[ what: "house" ] }
)");
  End end = world.undo(world.build());
  EXPECT_THAT(world.filled, ElementsAre("beside"));
  EXPECT_EQ(end.fields, (json::object{{"undone", json::array{world.of("Site/dig", 1), world.of("Site/raise")}}}));
  EXPECT_EQ(world.of("Site/raze").substr(0, 9), "Site/raze");
}

TEST(UndoFromOutside, CompensatesOkAndTheListedVariantsAlone) {
  Building world;
  world.on("Site/dig").act = [](const json::object& ask, lang::Rows&) -> lang::Completion {
    return {ask.at("what") == "one" ? "ok" : ask.at("what") == "two" ? "half" : "rock", ask};
  };
  EXPECT_EQ(world.undo(world.build()).variant, "ok");
  EXPECT_THAT(world.filled, ElementsAre("two", "one"));
}

TEST(UndoFromOutside, CompensatesWhatMayHaveBeenDone) {
  Building world(kRevert + R"(
sync Pour when { Site/run: [] => requested } then { Site/pour: [ what: "wall" ] Site/pour: [ what: "roof" ] }
)");
  world.on("Site/pour").begin = [](const json::object& ask, lang::Rows&) -> lang::BegunAction {
    if (ask.at("what") == "roof") throw std::runtime_error("no crane");
    return lang::Started{ask};
  };
  world.on("Site/pour").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    throw std::runtime_error("it leaks");
  };
  EXPECT_EQ(world.undo(world.build()).variant, "ok");
  EXPECT_THAT(world.filled, ElementsAre("wall"));  // the roof was not begun
}

TEST(UndoFromOutside, StopsAtWhatCannotBeUndone) {
  Building world;
  world.blocked = "two";
  End end = world.undo(world.build());
  EXPECT_THAT(world.filled, ElementsAre("three", "two"));
  EXPECT_EQ(end, (End{"stuck",
                      {{"undone", json::array{world.of("Site/dig", 2)}},
                       {"stuck", json::array{world.of("Site/dig", 1), world.of("Site/dig")}},
                       {"reason", "Site/fill => blocked"}},
                      false}));
}

TEST(UndoFromOutside, SaysWhyACompensationEndedAsTheEngineSays) {
  Building world;
  world.on("Site/fill").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    throw std::runtime_error("no earth");
  };
  EXPECT_EQ(world.undo(world.build()).fields["reason"], "Site/fill => engine.fault: no earth");
}

TEST(UndoFromOutside, SaysThatThereIsNoSuchRequest) {
  Building world;
  Ulid nothing = test_id(1'900'000'000'000);
  EXPECT_EQ(world.undo(nothing), (End{"stuck",
                                      {{"undone", json::array{}},
                                       {"stuck", json::array{}},
                                       {"reason", "there is no request " + sluice::to_string(nothing)}},
                                      false}));
}

}  // namespace undo_from_outside_test
}  // namespace sluice::engine
