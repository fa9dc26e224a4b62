// How steps are decided: guards, expected generations, faults, limits of a where, denied calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_steps_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kRoom = R"(concept Room [R] {
  state {
    rooms: set R
    guests: R -> Int
    locked: R -> option Bool
  }
  actions {
    action enter(room: R) {
      -> ok(room: R)
      -> shut(room: R)
    }
    action fill(count: Int) {
      -> ok(count: Int)
    }
    action clean(room: R) {
      runs: effect
      retry: safe
      -> ok(room: R)
    }
    action tour(room: R) {
      -> ok(room: R)
    }
    action note(room: R) {
      -> ok(room: R)
    }
  }
}
)";

const std::string kNothing = "sync Note when { Room/enter: [ room: ?r ] => shut[] } then { Room/note: [ room: ?r ] }\n";
const std::string kGuards = R"(
guard Open before { Room/enter: [ room: ?r ] } require { no Room: { ?r locked: true } } else shut[ room: ?r ]
guard Space over { Room: { ?r guests: ?n } } require { filter(?n <= 2) }
            else engine.refused[ message: "{{r}} has no room for {{n}}" ]
)";

// A house in which entering counts the guests.
struct House : World {
  explicit House(const std::string& rules = kNothing) : World({kRoom}, rules) {
    on("Room/enter").act = [this](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      ++entered;
      std::string room(ask.at("room").as_string());
      auto row = rows.get("Room", room);
      int64_t guests = row ? row->at("guests").as_int64() : 0;
      rows.put("Room", room, json::object{{"guests", guests + 1}});
      return {"ok", ask};
    };
  }
  // Calls with the generation that the row is expected to have.
  End enter_at(uint64_t generation) {
    End end;
    Call call{.action = "Room/enter", .input = object(R"({"room":"r1"})"), .caller = caller};
    call.expect_generation = generation;
    call.on_end = [&](const Result<Outcome>& outcome) { end = outcome->end; };
    machine().call(std::move(call));
    settle();
    return end;
  }
  int entered = 0;
};

TEST(MachineSteps, AGuardBeforeAnActionKeepsItFromRunning) {
  House world(kNothing + kGuards);
  ASSERT_TRUE(world.store->commit({.state = {{"Room", "r1", 1, 0, R"({"guests":0,"locked":true})"}}}));
  EXPECT_EQ(world.run("Room/enter", R"({"room":"r1"})").end, (End{"shut", object(R"({"room":"r1"})"), false}));
  EXPECT_EQ(world.entered, 0);
  EXPECT_THAT(world.steps()[0].guards, ElementsAre("Open"));
  // What the guard made of it fires like any other end.
  EXPECT_THAT(world.journal(),
              ElementsAre(R"(act Room/enter => shut {"room":"r1"})", R"(act Room/note => ok {"room":"r1"})"));
}

TEST(MachineSteps, AGuardOverRowsDropsWhatTheActionWrote) {
  House world(kNothing + kGuards);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(world.run("Room/enter", R"({"room":"r1"})").end.variant, "ok");
  EXPECT_EQ(world.run("Room/enter", R"({"room":"r1"})").end,
            (End{"engine.refused", object(R"({"message":"r1 has no room for 3"})"), false}));
  EXPECT_EQ(world.entered, 3);
  EXPECT_EQ(world.row("Room", "r1"), R"({"guests":2})");
  EXPECT_THAT(world.steps().back().guards, ElementsAre("Space"));
}

TEST(MachineSteps, GuardsBindWhatSyncsAskFor) {
  House world("sync In when { Room/tour: [ room: ?r ] => ok[] } then { Room/enter: [ room: ?r ] }" + kGuards);
  for (int i = 0; i < 3; ++i) world.run("Room/tour", R"({"room":"r1"})");
  EXPECT_EQ(world.journal().back(), R"(act Room/enter => engine.refused {"message":"r1 has no room for 3"})");
  EXPECT_EQ(world.row("Room", "r1"), R"({"guests":2})");
}

TEST(MachineSteps, FinishIsNotGuarded) {
  House world(kNothing + kGuards);
  world.on("Room/clean").finish = [](const json::object&, const lang::Ending& ending, lang::Rows& rows) {
    rows.put("Room", "r1", json::object{{"guests", 7}});
    return ending;
  };
  EXPECT_EQ(world.run("Room/clean", R"({"room":"r1"})").end.variant, "ok");
  EXPECT_EQ(world.row("Room", "r1"), R"({"guests":7})");
}

TEST(MachineSteps, TheNewestGuardsBindFlowsUnderWay) {
  const std::string after = "sync In when { Room/clean: [ room: ?r ] => ok[] } then { Room/enter: [ room: ?r ] }\n";
  House world(after);
  Ulid flow = world.start("Room/clean", R"({"room":"r1"})");
  ASSERT_TRUE(world.reload(after + R"(
guard Frozen before { Room/enter: [ room: ?r ] } require { filter(1 = 2) } else engine.refused[ message: "frozen" ]
)"));
  world.settle();
  EXPECT_EQ(world.journal().back(), R"(act Room/enter => engine.refused {"message":"frozen"})");
  EXPECT_EQ(world.status(flow), "failed");
}

TEST(MachineSteps, AConflictNamesTheGenerationsAndWhoChangedTheRow) {
  House world;
  Ulid first = world.run("Room/enter", R"({"room":"r1"})").flow;
  int64_t at_ms = world.clock.wall_ms();
  world.clock.advance_ms(5000);
  End end = world.enter_at(7);
  EXPECT_EQ(end.variant, "engine.conflict");
  EXPECT_FALSE(end.maybe_done);
  EXPECT_EQ(end.fields, (json::object{{"message", "Room r1 is at generation 1, not 7"},
                                      {"expected", 7},
                                      {"actual", 1},
                                      {"by", world.caller.name},
                                      {"flow", sluice::to_string(first)},
                                      {"at", lang::to_text({at_ms})}}));
  EXPECT_EQ(world.row("Room", "r1"), R"({"guests":1})");
  EXPECT_EQ(world.enter_at(1).variant, "ok");
  EXPECT_EQ(world.row("Room", "r1"), R"({"guests":2})");
}

TEST(MachineSteps, AConflictSeesWhatTheSameBatchChanged) {
  House world;
  Call first{.action = "Room/enter", .input = object(R"({"room":"r1"})"), .caller = world.caller};
  world.machine().call(first);
  End end = world.enter_at(0);
  EXPECT_EQ(end.fields["message"], "Room r1 is at generation 1, not 0");
  EXPECT_EQ(end.fields["by"], json::value(world.caller.name));
  EXPECT_EQ(end.fields["flow"], json::value(sluice::to_string(world.steps()[0].flow)));
}

TEST(MachineSteps, ARowThatIsNotThereIsAtGenerationZero) {
  House world;
  EXPECT_EQ(world.enter_at(2).fields,
            object(R"({"message":"Room r1 is at generation 0, not 2","expected":2,"actual":0})"));
  EXPECT_EQ(world.enter_at(0).variant, "ok");
}

TEST(MachineSteps, AFaultInFinishKeepsThatTheWorkWasDone) {
  House world;
  world.on("Room/clean").finish = [](const json::object&, const lang::Ending&, lang::Rows& rows) -> lang::Ending {
    rows.put("Room", "r1", json::object{{"guests", 7}});
    throw std::runtime_error("no soap");
  };
  EXPECT_EQ(world.run("Room/clean", R"({"room":"r1"})").end,
            (End{"engine.fault", object(R"({"message":"no soap"})"), true}));
  EXPECT_EQ(world.row("Room", "r1"), std::nullopt);
}

TEST(MachineSteps, AFaultInFinishDoesNotMakeDoneWhatWasNot) {
  House world;
  world.limits.max_attempts = 1;
  world.on("Room/clean").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    return lang::Again{"busy", 0};
  };
  world.on("Room/clean").finish = [](const json::object&, const lang::Ending&, lang::Rows&) -> lang::Ending {
    throw 42;
  };
  EXPECT_EQ(world.run("Room/clean", R"({"room":"r1"})").end,
            (End{"engine.fault", object(R"({"message":"an unknown exception"})"), false}));
}

TEST(MachineSteps, AWhereBeyondItsLimitAsksForNothingAndFailsTheFlow) {
  House world(R"(
sync All when { Room/fill: [] => ok[] } where { Room: { ?r } } then { Room/note: [ room: ?r ] }
)");
  world.on("Room/fill").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    for (int64_t i = 0; i < ask.at("count").as_int64(); ++i) rows.put("Room", "r" + std::to_string(i), json::object{});
    return {"ok", ask};
  };
  Ulid flow = world.run("Room/fill", R"({"count":10001})").flow;
  EXPECT_THAT(world.journal(), ElementsAre(R"(act Room/fill => ok {"count":10001})"));
  EXPECT_EQ(world.steps()[0].note, "sync `All`: it reads more than 10000 rows of Room");
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.summary(flow)["failure"], "sync `All`: it reads more than 10000 rows of Room");
  EXPECT_THAT(world.fired(), ElementsAre("All 0"));
}

// Few rows come of it, but the writer would look at every pair.
TEST(MachineSteps, AWhereThatLooksAtTooManyRowsAsksForNothing) {
  House world(R"(
sync Pairs when { Room/fill: [] => ok[] } where { Room: { ?a guests: 1 } Room: { ?b guests: 1; locked: true } }
           then { Room/note: [ room: ?b ] }
)");
  world.on("Room/fill").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    for (int64_t i = 0; i < ask.at("count").as_int64(); ++i) {
      rows.put("Room", "r" + std::to_string(i), json::object{{"guests", 1}});
    }
    return {"ok", ask};
  };
  EXPECT_EQ(world.status(world.run("Room/fill", R"({"count":900})").flow), "ok");
  Ulid flow = world.run("Room/fill", R"({"count":1100})").flow;
  EXPECT_EQ(world.summary(flow)["failure"], "sync `Pairs`: it looks at more than 1000000 rows");
}

// A text that doubles with each round would take all memory, and again at every start.
TEST(MachineSteps, WhatASyncAsksForHasALimit) {
  House world(R"(
sync Grow when { Room/note: [ room: ?r ] => ok[] } then { Room/note: [ room: "{{r}}{{r}}" ] }
)");
  world.limits.result_bytes = 1000;
  world.limits.cascade_actions = 15;
  world.on("Room/note").act = [](const json::object&, lang::Rows&) -> lang::Completion { return {"ok", {}}; };
  Ulid flow = world.run("Room/note", R"({"room":"0123456789abcdef"})").flow;
  EXPECT_EQ(world.status(flow), "failed");
  const std::string why = "sync `Grow`: what it asks for has more than 1000 bytes";
  EXPECT_EQ(world.summary(flow)["failure"], json::value(why));
  EXPECT_EQ(world.steps().back().note, why);
  EXPECT_EQ(world.asked("Room/note").back().size(), std::string(R"({"room":""})").size() + 512);
}

TEST(MachineSteps, WhatAStepAsksForInAllHasALimit) {
  House world(R"(
sync All when { Room/fill: [ count: ?c ] => ok[] } where { Room: { ?r } } then { Room/note: [ room: ?r ] }
sync Other when { Room/fill: [] => ok[] } then { Room/note: [ room: "other" ] }
)");
  world.limits.result_bytes = 1000;
  world.on("Room/note").act = [](const json::object&, lang::Rows&) -> lang::Completion { return {"ok", {}}; };
  world.on("Room/fill").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    for (int64_t i = 0; i < ask.at("count").as_int64(); ++i) {
      rows.put("Room", std::string(500, 'r') + std::to_string(i), json::object{});
    }
    return {"ok", ask};
  };
  Ulid few = world.run("Room/fill", R"({"count":10})").flow;
  EXPECT_EQ(world.status(few), "ok");
  EXPECT_EQ(world.asked("Room/note").size(), 11U);
  Ulid many = world.run("Room/fill", R"({"count":20})").flow;
  EXPECT_EQ(world.summary(many)["failure"], "sync `All`: what it asks for has more than 8000 bytes");
  // All or nothing, and of that sync alone.
  EXPECT_EQ(world.asked("Room/note").size(), 12U);
  EXPECT_THAT(world.fired(), ElementsAre("All 10", "Other 1", "All 20", "Other 1"));
}

// It could not be journaled as it is, so that a restart would find something else.
TEST(MachineSteps, WhatIsNotUtf8IsAFault) {
  House world("");
  world.on("Room/note").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
    rows.put("Room", "r1", json::object{});
    return {"ok", {{"room", "\xff"}}};
  };
  EXPECT_EQ(world.run("Room/note", R"({"room":"r1"})").end,
            (End{"engine.fault", object(R"({"message":"its result is not UTF-8"})"), false}));
  EXPECT_EQ(world.row("Room", "r1"), std::nullopt);
  world.on("Room/note").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
    rows.put("Room", "r1", json::object{{"owner", "\xff"}});
    return {"ok", {}};
  };
  EXPECT_EQ(world.run("Room/note", R"({"room":"r1"})").end,
            (End{"engine.fault", object(R"({"message":"a row of Room is not UTF-8"})"), false}));
  world.on("Room/note").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
    rows.put("Room", "r\xff", json::object{});
    return {"ok", {}};
  };
  EXPECT_EQ(world.run("Room/note", R"({"room":"r1"})").end,
            (End{"engine.fault", object(R"({"message":"a row of Room is not UTF-8"})"), false}));
}

TEST(MachineSteps, DeniedCallsAreRecordedOncePerMinuteWithACount) {
  House world;
  world.may = [](const Caller& caller, const std::string& action, const json::object&) -> Result<void> {
    if (action != "Room/enter") return {};
    return Error{.code = Code::denied, .message = caller.name + " may not call " + action};
  };
  std::vector<Error> told;
  auto enter = [&] {
    Call call{.action = "Room/enter", .input = object(R"({"room":"r1"})"), .caller = world.caller};
    call.on_end = [&](const Result<Outcome>& outcome) { told.push_back(outcome.error()); };
    world.machine().call(std::move(call));
    world.settle();
  };
  for (int i = 0; i < 4; ++i) enter();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[3].code, Code::denied);
  EXPECT_EQ(told[3].message, "uid:1000 may not call Room/enter");
  EXPECT_THAT(world.journal(), ElementsAre("denied Room/enter"));
  world.pass(60);
  EXPECT_THAT(world.journal(), ElementsAre("denied Room/enter", "denied Room/enter"));
  EXPECT_EQ(world.steps()[0].count, 1U);
  EXPECT_EQ(world.steps()[1].count, 3U);
  EXPECT_EQ(world.steps()[1].caller.name, "uid:1000");
  enter();
  EXPECT_EQ(world.steps().size(), 3U);
  EXPECT_EQ(world.entered, 0);
  EXPECT_EQ(world.run("Room/tour", R"({"room":"r1"})").end.variant, "ok");
}

TEST(MachineSteps, AHandlerThatHoldsTheWriterIsLogged) {
  House world;
  world.on("Room/tour").act = [&](const json::object& ask, lang::Rows&) -> lang::Completion {
    world.clock.advance_ms(ask.at("room") == "long" ? 6 : 5);
    return {"ok", ask};
  };
  world.run("Room/tour", R"({"room":"short"})");
  EXPECT_THAT(world.logged, IsEmpty());
  world.run("Room/tour", R"({"room":"long"})");
  EXPECT_THAT(world.logged, ElementsAre("Room/tour held the writer for 6 ms"));
}

}  // namespace machine_steps_test
}  // namespace sluice::engine
