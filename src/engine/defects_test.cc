// Twenty-five defects that engines of this kind have had, each as a test that fails on it. Most are run on a machine;
// those of a language are proven on its checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing_machine.h"
#include "lang/format/format.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::engine {
namespace defects_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::string kA = R"(concept A [T] {
  state {
    things: set T
    status: T -> String
    size: T -> Int
    asked: T -> option Request
  }
  actions {
    action go(k: option String, n: option Int) {
      -> ok(k: option String, n: option Int)
      -> bad(k: option String)
    }
    action take(list: list String, record: { a: Int, b: String }) {
      -> ok(list: list String, record: { a: Int, b: String })
    }
    action ask(k: String) {
      runs: answered
      -> ok(k: option String)
      -> no
    }
    action work(k: String) {
      runs: effect
      retry: safe
      -> ok(k: String)
    }
    action drop(thing: T) {
      -> ok
    }
  }
}
)";
const std::string kB = R"(concept B [T] {
  actions {
    action go(k: option String, n: option Int) {
      -> ok(k: option String, n: option Int)
    }
    action take(list: list String, record: { a: Int, b: String }) {
      -> ok(list: list String, record: { a: Int, b: String })
    }
  }
}
)";
const std::string kSink = R"(concept Sink [S] {
  actions {
    action put(text: option String, number: option Int) {
      -> ok
    }
  }
}
)";
const std::vector<std::string> kKit = {kA, kB, kSink};

// A world in which A has rows: a1 open 1, a2 closed 2, a3 open 3.
struct WithRows : World {
  explicit WithRows(const std::string& rules) : World(kKit, rules) {
    on("B/take").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
      rows.put("A", "a1", object(R"({"status":"open","size":1})"));
      rows.put("A", "a2", object(R"({"status":"closed","size":2})"));
      rows.put("A", "a3", object(R"({"status":"open","size":3})"));
      return {"ok", {}};
    };
    run("B/take");
  }
};

std::string where(const std::string& conditions, const std::string& arguments) {
  return "sync S when { A/go: [ k: ?k; n: ?n ] => ok[] } where { " + conditions + " } then { Sink/put: [ " + arguments +
         " ] }";
}

TEST(Defect, Defect01_FiltersFilter) {
  WithRows world(where("A: { ?t size: ?s } filter(?s > ?n)", "text: ?t"));
  world.run("A/go", R"({"k":"x","n":1})");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"a2"})", R"({"text":"a3"})"));
}

TEST(Defect, Defect02_ComparisonsKeepTheirQuotesAndSigns) {
  WithRows not_equal(where("A: { ?t status: ?s } guard(?s != \"open\")", "text: ?t"));
  not_equal.run("A/go", R"({"k":"x","n":1})");
  EXPECT_THAT(not_equal.asked("Sink/put"), ElementsAre(R"({"text":"a2"})"));
  WithRows any(where("A: { ?t status: ?s; size: ?z } any(?s = \"closed\", ?z != 1)", "text: ?t"));
  any.run("A/go", R"({"k":"x","n":1})");
  EXPECT_THAT(any.asked("Sink/put"), ElementsAre(R"({"text":"a2"})", R"({"text":"a3"})"));
}

TEST(Defect, Defect03_LiteralsInAWhereSelect) {
  WithRows world(where("A: { ?t status: \"closed\" }", "text: ?t"));
  world.run("A/go", R"({"k":"x","n":1})");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"a2"})"));
}

TEST(Defect, Defect04_AnActionInAWhereFindsTheFlowsNewest) {
  World world(kKit, R"(
sync First when { A/go: [ k: ?k ] => ok[] } then { B/go: [ k: ?k; n: 7 ] }
sync S when { B/go: [ k: ?k ] => ok[ n: ?n ] } where { A/go: [ k: ?k ] => ok[ n: ?m ] } then { Sink/put: [ number: ?m ] }
)");
  world.run("A/go", R"({"k":"x","n":5})");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"number":5})"));
}

TEST(Defect, Defect05_BindComputes) {
  World world(kKit, where("bind(now() as ?t)", "text: \"{{t}}\""));
  world.run("A/go", R"({"k":"x","n":1})");
  EXPECT_EQ(object(world.asked("Sink/put").at(0)).at("text"), json::value(lang::to_text({world.steps()[0].at_ms})));
}

TEST(Defect, Defect06_EveryPatternMayTrigger) {
  for (const char* order : {"ab", "ba"}) {
    std::string first(1, order[0]), second(1, order[1]);
    World world(kKit, "sync One when { B/go: [] => ok[] } then { A/go: [ k: \"" + first +
                          "\" ] }\nsync Two when { A/go: [ k: \"" + first + "\" ] => ok[] } then { A/go: [ k: \"" +
                          second + R"(" ] }
sync S when { A/go: [ k: "a" ] => ok[]  A/go: [ k: "b" ] => ok[] } then { Sink/put: [ text: "both" ] })");
    world.run("B/go");
    EXPECT_EQ(world.asked("Sink/put").size(), 1U) << order;
  }
}

TEST(Defect, Defect07_AConceptWithAnyActionIsHeard) {
  World world(kKit, "sync S when { A/?a: [] => ok[] } then { Sink/put: [ text: ?a ] }");
  world.run("A/go");
  world.run("B/go");
  world.run("A/drop", R"({"thing":"t"})");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"go"})", R"({"text":"drop"})"));
}

TEST(Defect, Defect08_EveryCompletionHasAnOutcomeToMatch) {
  World world(kKit, R"(
sync Root when { A/go: [] => ok[] } then { B/go: [] }
sync Away when { B/go: [] => engine.unavailable[] } then { Sink/put: [ text: "away" ] }
)");
  world.not_loaded = {"B"};
  Ulid flow = world.run("A/go").flow;
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"away"})"));
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(Defect, Defect09_AWhereWithoutRowsIsRecordedAndAFailedOneStopsNothingElse) {
  World world(kKit, R"(
sync Other when { A/go: [] => ok[] } then { Sink/put: [ text: "went on" ] }
sync S when { A/go: [] => ok[] } where { A: { ?t status: "open" } } then { A/drop: [ thing: ?t ] }
)");
  world.run("A/go");
  EXPECT_THAT(world.fired(), ElementsAre("Other 1", "S 0"));
  world.on("B/go").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
    for (int i = 0; i <= 10'000; ++i) rows.put("A", "a" + std::to_string(i), object(R"({"status":"open"})"));
    return {"ok", {}};
  };
  world.run("B/go");
  Ulid flow = world.run("A/go").flow;
  EXPECT_EQ(world.asked("Sink/put").size(), 2U);
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.steps().at(world.steps().size() - 2).note, "sync `S`: it reads more than 10000 rows of A");
}

TEST(Defect, Defect10_AnExceptionIsRecordedAndTheFlowGoesOn) {
  World world(kKit, R"(
sync S when { A/go: [] => ok[] } then { B/go: []  Sink/put: [ text: "sibling" ] }
)");
  world.on("B/go").act = [](const json::object&, lang::Rows&) -> lang::Completion { throw 7; };
  world.run("A/go");
  EXPECT_THAT(world.journal(),
              ElementsAre("act A/go => ok", R"(act B/go => engine.fault {"message":"an unknown exception"})",
                          "act Sink/put => ok {\"text\":\"sibling\"}"));
}

TEST(Defect, Defect11_WhatHasNoTargetEnds) {
  World world(kKit, "sync S when { A/go: [] => ok[] } then { B/go: [] }");
  world.not_loaded = {"B"};
  Ulid flow = world.run("A/go").flow;
  EXPECT_EQ(world.ends().back(), "act B/go => engine.unavailable");
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_TRUE(world.machine().open_invocations().empty());
}

TEST(Defect, Defect12_ALimitIsAnOutcomeAndACycleIsNamed) {
  World world(kKit, R"(
sync There when { A/go: [ k: ?k ] => ok[] } then { B/go: [ k: ?k ] }
sync Back when { B/go: [ k: ?k ] => ok[] } then { A/go: [ k: ?k ] }
)");
  Ulid flow = world.run("A/go", R"({"k":"x"})").flow;
  EXPECT_EQ(world.steps().back().end->fields["message"], "a cycle: There → Back → There");
  EXPECT_EQ(world.summary(flow)["failure"], "B/go => engine.limit");
  EXPECT_THAT(
      lang::told_of_flow(lang::kit_of(kKit, "sync S when { A/go: [ k: ?k ] => ok[] } then { A/go: [ k: ?k ] }")),
      Contains(HasSubstr("warning cycle")));
}

TEST(Defect, Defect13_EventualIsNotEagerAndNotLost) {
  World world(kKit, "sync S [eventual] when { A/go: [ k: ?k ] => ok[] } then { B/go: [ k: ?k ] }");
  world.not_loaded = {"B"};
  Ulid parent = world.run("A/go", R"({"k":"x"})").flow;
  EXPECT_EQ(world.status(parent), "ok");
  EXPECT_NE(world.step_of("B/go").flow, parent);
  world.not_loaded.clear();
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.ends().back(), "act B/go => ok");
}

TEST(Defect, Defect14_TheQueueLastsAndDispatchesOnce) {
  for (int kill_after = 1; kill_after <= 5; ++kill_after) {
    World world(kKit, "sync S [eventual] when { A/go: [ k: ?k ] => ok[] } then { A/work: [ k: ?k ] }");
    std::set<std::string> ids;
    world.on("A/work").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
      ids.insert(attempt.id());
      return lang::Completion{"ok", work.as_object()};
    };
    world.limits.batch_steps = 1;
    world.start("A/go", R"({"k":"x"})");
    for (int i = 1; i < kill_after; ++i) {
      world.turn();
      world.queue.run();
    }
    world.restart();
    world.settle_in_time();
    EXPECT_EQ(ids.size(), 1U) << kill_after;
    EXPECT_THAT(world.statuses(), ElementsAre("ok", "ok")) << kill_after;
    std::vector<std::string> ends = world.ends();
    EXPECT_EQ(std::ranges::count(ends, "finish A/work => ok"), 1) << kill_after;
  }
}

TEST(Defect, Defect15_WhatNoJoinWaitsForIsNotKept) {
  auto set = set_of(kKit, R"(
sync One when { A/go: [ k: ?k ] => ok[] } then { Sink/put: [ text: ?k ] }
sync Join when { A/go: [ k: "wanted"; n: ?n ] => ok[]  B/go: [ n: ?n ] => ok[] } then { Sink/put: [] }
)");
  auto memory = set->new_memory();
  RecordOf record{*set};
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(memory->add(record("A/go", R"({"k":"other","n":1})", "ok")).size(), 1U);
  }
  EXPECT_EQ(memory->kept(), 0U);
}

TEST(Defect, Defect16_EveryRowAndEveryThenSurvives) {
  for (bool restarts : {false, true}) {
    World world(kKit, R"(
sync S when { A/go: [] => ok[] } where { A: { ?t status: "open" } } then { A/drop: [ thing: ?t ]  Sink/put: [ text: ?t ] }
)");
    world.on("B/go").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
      for (const char* key : {"a1", "a2", "a3"}) rows.put("A", key, object(R"({"status":"open"})"));
      return {"ok", {}};
    };
    world.run("B/go");
    world.limits.batch_steps = 1;
    world.restart();
    world.start("A/go");
    restarts ? world.settle_with_restarts() : world.settle();
    EXPECT_THAT(world.ends(),
                ElementsAre("act B/go => ok", "act A/go => ok", "act A/drop => ok", "act Sink/put => ok",
                            "act A/drop => ok", "act Sink/put => ok", "act A/drop => ok", "act Sink/put => ok"));
  }
}

TEST(Defect, Defect17_ListsRecordsAndNumbersCompareByWorth) {
  World world(kKit, R"(
sync Second when { A/take: [ list: ?l; record: ?r ] => ok[] } then { B/take: [ list: ?l; record: ?r ] }
sync Lists when { A/take: [] => ok[ list: ?l ]  B/take: [] => ok[ list: ?l ] } then { Sink/put: [ text: "list" ] }
sync Records when { A/take: [] => ok[ record: ?r ]  B/take: [] => ok[ record: ?r ] } then { Sink/put: [ text: "record" ] }
)");
  world.on("B/take").act = [](const json::object&, lang::Rows&) -> lang::Completion {
    return {"ok", object(R"({"list":["a","b"],"record":{"b":"x","a":1.0}})")};
  };
  world.run("A/take", R"({"list":["a","b"],"record":{"a":1,"b":"x"}})");
  EXPECT_THAT(world.asked("Sink/put"), UnorderedElementsAre(R"({"text":"list"})", R"({"text":"record"})"));
}

TEST(Defect, Defect18_TheFirstAnswerHoldsAndNoneIsAnOutcome) {
  World world(kKit, R"(
sync One when { A/ask: [ k: "twice" ] => requested as ?r } then { answer ?r => ok[ k: "first" ] }
sync Two when { A/ask: [ k: "twice" ] => requested as ?r } then { answer ?r => no[] }
)");
  Outcome first = world.run("A/ask", R"({"k":"twice"})");
  EXPECT_EQ(first.end, (End{"ok", object(R"({"k":"first"})"), false}));
  EXPECT_THAT(world.ends(), ElementsAre("begin A/ask", "finish A/ask => ok", "late => no"));
  Outcome none = world.run("A/ask", R"({"k":"never"})");
  EXPECT_EQ(none.end.variant, "engine.unanswered");
  EXPECT_EQ(none.end.fields["message"], "nothing is left that could answer A/ask");
}

TEST(Defect, Defect19_AnUndefinedVariableDoesNotCompile) {
  EXPECT_THAT(lang::told(lang::kit_of(kKit, "sync S when { A/go: [] => ok[] } then { Sink/put: [ text: ?x ] }")),
              ElementsAre(HasSubstr("error unbound-variable: sync `S`: `?x` in then is not bound")));
}

TEST(Defect, Defect20_AVariantThatIsNotDeclaredIsAFault) {
  World world(kKit, "sync S when { A/go: [] => [] } then { Sink/put: [] }");
  world.on("A/go").act = [](const json::object&, lang::Rows& rows) -> lang::Completion {
    rows.put("A", "a1", object(R"({"status":"open"})"));
    return {"great", {}};
  };
  Outcome outcome = world.run("A/go");
  EXPECT_EQ(
      outcome.end,
      (End{"engine.fault", object(R"({"message": "A/go ended in `great`, which is none of its variants"})"), false}));
  EXPECT_EQ(world.row("A", "a1"), std::nullopt);
  EXPECT_THAT(world.fired(), IsEmpty());
  world.on("A/work").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    return lang::Completion{"great", {}};
  };
  outcome = world.run("A/work", R"({"k":"x"})");
  EXPECT_EQ(
      outcome.end,
      (End{"engine.fault", object(R"({"message": "A/work ended in `great`, which is none of its variants"})"), true}));
}

TEST(Defect, Defect21_TwoSyncsOfOneNameAreRefused) {
  auto twice = SyncSet::compile(checked(kKit,
                                        "sync S when { A/go: [] => ok[] } then { Sink/put: [] }\n"
                                        "sync S when { B/go: [] => ok[] } then { Sink/put: [] }"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "two active syncs are called `S`");
}

TEST(Defect, Defect22_WhatAnActionComesFromLasts) {
  World world(kKit, R"(
sync One when { A/go: [] => ok[] } then { A/work: [ k: "w" ] }
sync Two when { A/work: [] => ok[] } then { B/go: [] }
sync Three when { B/go: [] => ok[] caused by A/go: [ k: ?k ] => ok[] } then { Sink/put: [ text: ?k ] }
sync Later [eventual] when { Sink/put: [] => ok[] } then { B/go: [ n: 1 ] }
)");
  world.limits.batch_steps = 1;
  world.start("A/go", R"({"k":"tag"})");
  for (int i = 0; i < 20; ++i) {
    world.restart();
    world.clock.advance_ms(1000);
    world.turn();
    world.queue.run();
    world.turn();
  }
  // The child flow's B/go is caused by the same A/go, and goes on from there; what it puts is a new Sink/put.
  ASSERT_GE(world.asked("Sink/put").size(), 2U);
  for (const std::string& put : world.asked("Sink/put")) EXPECT_EQ(put, R"({"text":"tag"})");
  for (const Step& step : world.steps()) {
    if (step.root || step.child) {
      EXPECT_EQ(step.caller, world.caller);
    }
  }
}

TEST(Defect, Defect23_NoCharacterIsPassedOver) {
  auto told = [](const std::string& filter) { return lang::told(lang::kit_of(kKit, where(filter, "text: ?k"))); };
  EXPECT_THAT(told("filter(?n + 1 = 2)"), Contains(HasSubstr("unexpected `+`")));
  EXPECT_THAT(told("filter(!?n)"), Contains(HasSubstr("unexpected `!`")));
  WithRows world(where("filter(?n = -5)", "number: -5"));
  world.run("A/go", R"({"k":"x","n":5})");
  EXPECT_THAT(world.asked("Sink/put"), IsEmpty());
  world.run("A/go", R"({"k":"x","n":-5})");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"number":-5})"));
}

TEST(Defect, Defect24_ASecondNameInAWhereIsBound) {
  WithRows world(where("A: { ?t size: ?v as ?x } filter(?x = 2)", "number: ?x"));
  world.run("A/go", R"({"k":"x","n":1})");
  EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"number":2})"));
}

TEST(Defect, Defect25_EscapesAreUndone) {
  const std::string rule = R"(sync S when { A/go: [] => ok[] } then { Sink/put: [ text: "a\n\"b\"\\" ] })";
  World world(kKit, rule);
  world.run("A/go");
  EXPECT_EQ(object(world.asked("Sink/put").at(0)).at("text"), "a\n\"b\"\\");
  lang::Diagnostics found;
  auto file = lang::parse_sync(rule, "s.sync", found);
  ASSERT_TRUE(file);
  EXPECT_THAT(lang::format(*file), HasSubstr(R"("a\n\"b\"\\")"));
}

}  // namespace defects_test
}  // namespace sluice::engine
