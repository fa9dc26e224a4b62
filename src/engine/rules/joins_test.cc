// Which matches a record completes, and what is kept for later ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/rules/sync_set.h"
#include "engine/testing_engine.h"
#include "engine/testing_small_kit.h"

namespace sluice::engine {
namespace joins_test {

using testing::ElementsAre;
using testing::IsEmpty;

// A flow under some syncs. Each record is given by its action, input, outcome and output.
class FlowOf {
 public:
  explicit FlowOf(const std::string& rules, const std::vector<std::string>& concepts = kSmallKit)
      : set(set_of(concepts, rules)), memory(set->new_memory()), record{*set} {}

  std::vector<std::string> add(const std::string& action, const std::string& input, const std::string& outcome,
                               const std::string& output = "{}", Causes causes = nullptr) {
    last = record(action, input, outcome, output, std::move(causes));
    matches = memory->add(last);
    return texts_of(*set, matches);
  }

  std::shared_ptr<const SyncSet> set;
  std::unique_ptr<SyncSet::Memory> memory;
  RecordOf record;
  RecordRef last;
  std::vector<Match> matches;
};

TEST(Joins, OnePatternFiresOnEveryRecordThatFitsAndKeepsNone) {
  FlowOf flow("sync S when { A/go: [ k: ?k ] => ok[] } then { Sink/put: [ k: ?k ] }");
  EXPECT_THAT(flow.add("A/go", R"({"k":"u"})", "ok"), ElementsAre("S(1)"));
  EXPECT_THAT(flow.add("A/go", R"({"k":"u"})", "ok"), ElementsAre("S(2)"));
  EXPECT_THAT(flow.add("B/go", R"({"k":"u"})", "ok"), IsEmpty());
  EXPECT_EQ(flow.memory->kept(), 0);
}

TEST(Joins, SharedVariablesMustAgree) {
  FlowOf flow("sync S when { A/go: [] => ok[ k: ?u ]  B/go: [] => ok[ k: ?u ] } then { Sink/put: [ k: ?u ] }");
  EXPECT_THAT(flow.add("A/go", "{}", "ok", R"({"k":"u1"})"), IsEmpty());
  EXPECT_THAT(flow.add("B/go", "{}", "ok", R"({"k":"u2"})"), IsEmpty());
  EXPECT_THAT(flow.add("B/go", "{}", "ok", R"({"k":"u1"})"), ElementsAre("S(1, 3)"));
  EXPECT_EQ(flow.matches[0].bindings, Bindings{json::value("u1")});
  EXPECT_EQ(flow.memory->kept(), 3);
}

TEST(Joins, NumbersJoinByWorth) {
  FlowOf flow("sync S when { A/go: [ n: ?n ] => ok[]  B/go: [ n: ?n ] => ok[] } then { Sink/put: [ n: ?n ] }");
  flow.add("A/go", R"({"n":1})", "ok");
  EXPECT_THAT(flow.add("B/go", R"({"n":1.0})", "ok"), ElementsAre("S(1, 2)"));
}

TEST(Joins, ListsAndRecordsJoinByWhatTheyHold) {
  auto concept_of = [](const std::string& name) {
    return "concept " + name + " [T] { actions { action go(list: list { a: Int, b: String }) { -> ok } } }\n";
  };
  FlowOf flow("sync S when { L/go: [ list: ?l ] => ok[]  M/go: [ list: ?l ] => ok[] } then { Sink/put: [] }",
              {concept_of("L"), concept_of("M"), kSmallSink});
  flow.add("L/go", R"({"list":[{"a":1,"b":"x"}]})", "ok");
  EXPECT_THAT(flow.add("M/go", R"({"list":[{"b":"y","a":1}]})", "ok"), IsEmpty());
  EXPECT_THAT(flow.add("M/go", R"({"list":[{"b":"x","a":1.0}]})", "ok"), ElementsAre("S(1, 3)"));
}

TEST(Joins, TwoPatternsOnOneActionFireInEitherOrder) {
  const std::string rules =
      "sync S when { A/go: [ k: \"deposit\" ] => ok[]  A/go: [ k: \"final\" ] => ok[] } then { Sink/put: [] }";
  FlowOf one(rules), other(rules);
  one.add("A/go", R"({"k":"deposit"})", "ok");
  EXPECT_THAT(one.add("A/go", R"({"k":"final"})", "ok"), ElementsAre("S(1, 2)"));
  other.add("A/go", R"({"k":"final"})", "ok");
  EXPECT_THAT(other.add("A/go", R"({"k":"deposit"})", "ok"), ElementsAre("S(2, 1)"));
  EXPECT_THAT(other.add("A/go", R"({"k":"deposit"})", "ok"), ElementsAre("S(3, 1)"));
}

TEST(Joins, ARecordIsUsedOnceAndEveryOrderedTupleFires) {
  FlowOf flow("sync S when { A/go: [] => ok[]  A/go: [] => ok[] } then { Sink/put: [] }");
  EXPECT_THAT(flow.add("A/go", "{}", "ok"), IsEmpty());
  EXPECT_THAT(flow.add("A/go", "{}", "ok"), ElementsAre("S(1, 2)", "S(2, 1)"));
  EXPECT_THAT(flow.add("A/go", "{}", "ok"), ElementsAre("S(1, 3)", "S(2, 3)", "S(3, 1)", "S(3, 2)"));
}

TEST(Joins, MatchesComeBySyncNameThenByRecords) {
  FlowOf flow(
      "sync Zero when { A/go: [] => ok[] } then { Sink/put: [] }\n"
      "sync Join when { A/go: [] => ok[]  B/go: [] => ok[] } then { Sink/put: [] }\n"
      "sync All when { ?c/?a: [] => [] } then { Sink/put: [ k: ?c; name: ?a ] }");
  flow.add("B/go", "{}", "ok");
  flow.add("B/go", "{}", "ok");
  EXPECT_THAT(flow.add("A/go", "{}", "ok"), ElementsAre("All(3)", "Join(3, 1)", "Join(3, 2)", "Zero(3)"));
}

TEST(Joins, ThreePatternsJoinThroughTheOneInTheMiddle) {
  FlowOf flow(
      "sync S when { A/go: [ k: ?a ] => ok[]  B/go: [ k: ?a ] => ok[ m: ?c ]  C/go: [ k: ?c ] => ok[] } "
      "then { Sink/put: [ k: ?c ] }");
  flow.add("A/go", R"({"k":"a"})", "ok");
  flow.add("C/go", R"({"k":"c"})", "ok");
  flow.add("C/go", R"({"k":"d"})", "ok");
  EXPECT_THAT(flow.add("B/go", R"({"k":"a"})", "ok", R"({"m":"c"})"), ElementsAre("S(1, 4, 2)"));
  EXPECT_THAT(flow.add("B/go", R"({"k":"b"})", "ok", R"({"m":"d"})"), IsEmpty());
  EXPECT_THAT(flow.add("C/go", R"({"k":"c"})", "ok"), ElementsAre("S(1, 4, 6)"));
}

TEST(Joins, VariantsSelect) {
  FlowOf flow(
      "sync Ok when { A/go: [] => ok[ k: ?k ] } then { Sink/put: [ k: ?k ] }\n"
      "sync Any when { A/go: [] => [ k: ?k ] } then { Sink/put: [ k: ?k ] }\n"
      "sync Why when { A/go: [] => [ why: _ ] } then { Sink/put: [] }\n"
      "sync Fault when { A/go: [] => engine.fault[ message: ?m ] } then { Sink/put: [ k: ?m ] }\n"
      "sync Asked when { A/ask: [ k: ?k ] => requested as ?r } then { answer ?r => no[ k: ?k ] }");
  EXPECT_THAT(flow.add("A/go", "{}", "ok", R"({"k":"a"})"), ElementsAre("Any(1)", "Ok(1)"));
  EXPECT_THAT(flow.add("A/go", "{}", "bad", R"({"k":"a"})"), ElementsAre("Any(2)", "Why(2)"));
  EXPECT_THAT(flow.add("A/go", "{}", "engine.fault", R"({"message":"x","k":"a"})"), ElementsAre("Fault(3)"));
  EXPECT_THAT(flow.add("A/go", "{}", "engine.timeout", R"({"message":"x","k":"a"})"), IsEmpty());
  EXPECT_THAT(flow.add("A/ask", R"({"k":"a"})", "requested"), ElementsAre("Asked(5?)"));
  EXPECT_THAT(flow.add("A/ask", R"({"k":"a"})", "ok"), IsEmpty());
}

TEST(Joins, EveryEngineOutcomeCanBeMatched) {
  for (const std::string name : {"fault", "unavailable", "timeout", "unknown", "unanswered", "refused", "denied",
                                 "conflict", "cancelled", "limit", "needsMigration"}) {
    FlowOf flow("sync S when { A/go: [ k: ?k ] => engine." + name + "[] } then { Sink/put: [ k: ?k ] }");
    EXPECT_THAT(flow.add("A/go", R"({"k":"x"})", "engine." + name), ElementsAre("S(1)"));
    EXPECT_THAT(flow.add("A/go", R"({"k":"x"})", name == "fault" ? "engine.limit" : "engine.fault"), IsEmpty());
  }
}

TEST(Joins, WildcardsBindNamesAndDoNotHearWhatTheyDo) {
  FlowOf flow(
      "sync All when { ?c/?a: [] => [] } then { Sink/put: [ k: ?c; name: ?a ] }\n"
      "sync OfSink when { Sink/?a: [] => [] } then { Sink/drop: [] }");
  EXPECT_THAT(flow.add("A/go", "{}", "bad"), ElementsAre("All(1)"));
  EXPECT_EQ(flow.matches[0].bindings, (Bindings{json::value("A"), json::value("go")}));
  EXPECT_THAT(flow.add("B/ask", "{}", "ok"), ElementsAre("All(2)"));
  EXPECT_THAT(flow.add("B/ask", "{}", "requested"), IsEmpty());
  EXPECT_THAT(flow.add("B/ask", "{}", "engine.timeout"), IsEmpty());
  EXPECT_THAT(flow.add("Sink/put", "{}", "ok"), ElementsAre("OfSink(5)"));
  EXPECT_THAT(flow.add("Sink/drop", "{}", "ok"), ElementsAre("OfSink(6)"));
}

TEST(Joins, WildcardVariantsGoByNameAndFields) {
  FlowOf flow(
      "sync No when { ?c/?a: [] => no[ k: ?k ] } then { Sink/put: [ name: ?c ] }\n"
      "sync M when { ?c/?a: [] => [ m: _ ] } then { Sink/put: [ name: ?c ] }\n"
      "sync T when { ?c/?a: [] => engine.timeout[] } then { Sink/put: [ name: ?c ] }\n"
      "sync R when { ?c/?a: [ k: ?k ] => requested } then { Sink/put: [ name: ?c ] }");
  EXPECT_THAT(flow.add("A/ask", "{}", "no", R"({"k":"x"})"), ElementsAre("No(1)"));
  EXPECT_THAT(flow.add("A/go", "{}", "ok"), ElementsAre("M(2)"));
  EXPECT_THAT(flow.add("A/go", "{}", "bad"), IsEmpty());
  EXPECT_THAT(flow.add("A/go", "{}", "engine.timeout"), ElementsAre("T(4)"));
  EXPECT_THAT(flow.add("A/ask", R"({"k":"x"})", "requested"), ElementsAre("R(5?)"));
}

TEST(Joins, CausedByFindsTheNearestAndTriesNoFurther) {
  FlowOf flow(
      "sync S when { B/go: [] => ok[]  caused by A/go: [ k: \"u\" ] => ok[ n: ?n ] } then { Sink/put: [ n: ?n ] }");
  flow.add("A/go", R"({"k":"u"})", "ok", R"({"n":1})");
  RecordRef far = flow.last;
  EXPECT_THAT(flow.add("B/go", "{}", "ok", "{}", flow.set->causes_of({far}, nullptr)), ElementsAre("S(2, 1)"));
  RecordRef between = flow.last;
  EXPECT_THAT(flow.add("B/go", "{}", "ok", "{}", flow.set->causes_of({between}, nullptr)), ElementsAre("S(3, 1)"));
  // A nearer one that disagrees hides the one that would agree.
  flow.add("A/go", R"({"k":"v"})", "ok", R"({"n":2})", flow.set->causes_of({between}, nullptr));
  EXPECT_THAT(flow.add("B/go", "{}", "ok", "{}", flow.set->causes_of({flow.last}, nullptr)), IsEmpty());
  // One with another outcome is not of that class.
  flow.add("A/go", R"({"k":"v"})", "bad", "{}", flow.set->causes_of({between}, nullptr));
  EXPECT_THAT(flow.add("B/go", "{}", "ok", "{}", flow.set->causes_of({flow.last}, nullptr)), ElementsAre("S(7, 1)"));
  EXPECT_THAT(flow.add("B/go", "{}", "ok"), IsEmpty());
}

TEST(Joins, CausedByARequestMeansBeneathIt) {
  FlowOf flow(
      "sync S when { B/go: [] => ok[]  caused by A/ask: [ k: ?k ] => requested as ?r } then { answer ?r => no[ k: ?k ] "
      "}");
  flow.add("A/ask", R"({"k":"outer"})", "requested");
  RecordRef outer = flow.last;
  flow.add("C/ask", R"({"k":"inner"})", "requested", "{}", flow.set->causes_of({outer}, outer));
  RecordRef inner = flow.last;
  EXPECT_THAT(flow.add("B/go", "{}", "ok", "{}", flow.set->causes_of({inner}, inner)), ElementsAre("S(3, 1?)"));
  // Caused by what was beneath the request, but beside it: what follows from its completion.
  EXPECT_THAT(flow.add("B/go", "{}", "ok", "{}", flow.set->causes_of({flow.last}, nullptr)), IsEmpty());
}

TEST(Joins, CausedBySpeaksOfThePatternAboveIt) {
  FlowOf flow(
      "sync S when { A/go: [ k: ?k ] => ok[]  caused by C/go: [ n: ?n ] => ok[]  B/go: [ k: ?k ] => ok[] } "
      "then { Sink/put: [ n: ?n ] }");
  flow.add("C/go", R"({"n":1})", "ok");
  Causes causes = flow.set->causes_of({flow.last}, nullptr);
  flow.add("A/go", R"({"k":"x"})", "ok", "{}", causes);
  EXPECT_THAT(flow.add("B/go", R"({"k":"x"})", "ok"), ElementsAre("S(2, 1, 3)"));
  flow.add("A/go", R"({"k":"y"})", "ok");
  EXPECT_THAT(flow.add("B/go", R"({"k":"y"})", "ok", "{}", causes), IsEmpty());
}

TEST(Joins, PatternsJoinThroughTheirCauses) {
  FlowOf flow(
      "sync S when { A/go: [] => ok[]  caused by C/go: [ k: ?k ] => ok[]  B/go: [ k: ?k ] => ok[] } "
      "then { Sink/put: [ k: ?k ] }");
  flow.add("C/go", R"({"k":"x"})", "ok");
  flow.add("A/go", "{}", "ok", "{}", flow.set->causes_of({flow.last}, nullptr));
  EXPECT_THAT(flow.add("B/go", R"({"k":"y"})", "ok"), IsEmpty());
  EXPECT_THAT(flow.add("B/go", R"({"k":"x"})", "ok"), ElementsAre("S(2, 1, 4)"));
}

TEST(Joins, LatestIsTheNewestThatAgreesAndNeverTriggers) {
  FlowOf flow(
      "sync S when { A/go: [ k: ?k ] => ok[]  latest B/go: [ k: ?k ] => ok[ n: ?n ] } then { Sink/put: [ n: ?n ] }");
  EXPECT_THAT(flow.add("A/go", R"({"k":"x"})", "ok"), IsEmpty());
  EXPECT_THAT(flow.add("B/go", R"({"k":"x"})", "ok", R"({"n":1})"), IsEmpty());
  EXPECT_THAT(flow.add("B/go", R"({"k":"x"})", "ok", R"({"n":2})"), IsEmpty());
  EXPECT_THAT(flow.add("B/go", R"({"k":"y"})", "ok", R"({"n":3})"), IsEmpty());
  EXPECT_THAT(flow.add("A/go", R"({"k":"x"})", "ok"), ElementsAre("S(5, 3)"));
  EXPECT_EQ(flow.memory->kept(), 3);
}

TEST(Joins, AnActionInAWhereIsALatest) {
  FlowOf flow(
      "sync S when { A/go: [ k: ?k ] => ok[] } where { B/go: [ k: ?k ] => ok[ n: ?n ] } then { Sink/put: [ n: ?n ] }");
  flow.add("B/go", R"({"k":"x"})", "ok", R"({"n":1})");
  EXPECT_THAT(flow.add("A/go", R"({"k":"y"})", "ok"), IsEmpty());
  EXPECT_THAT(flow.add("A/go", R"({"k":"x"})", "ok"), ElementsAre("S(3, 1)"));
}

TEST(Joins, LatestIsNeverARecordThatThePlainPatternsUse) {
  FlowOf flow(
      "sync S when { A/go: [] => ok[ k: ?k ]  latest A/go: [] => ok[ k: ?before ] } then { Sink/put: [ k: ?before ] }");
  EXPECT_THAT(flow.add("A/go", "{}", "ok", R"({"k":"x"})"), IsEmpty());
  EXPECT_THAT(flow.add("A/go", "{}", "ok", R"({"k":"y"})"), ElementsAre("S(2, 1)"));
  EXPECT_THAT(flow.add("A/go", "{}", "ok", R"({"k":"z"})"), ElementsAre("S(3, 2)"));
}

TEST(Joins, ARestoredRecordIsKeptWithoutFiring) {
  FlowOf flow("sync S when { A/go: [ k: ?k ] => ok[]  B/go: [ k: ?k ] => ok[] } then { Sink/put: [ k: ?k ] }");
  flow.memory->restore(flow.record("A/go", R"({"k":"x"})", "ok"));
  flow.memory->restore(flow.record("B/go", R"({"k":"x"})", "ok"));
  EXPECT_THAT(flow.add("B/go", R"({"k":"x"})", "ok"), ElementsAre("S(1, 3)"));
}

TEST(Joins, OnlyRecordsThatFitAJoinAreKept) {
  FlowOf flow("sync S when { A/go: [ k: \"x\" ] => ok[]  B/go: [] => ok[] } then { Sink/put: [] }");
  flow.add("A/go", R"({"k":"y"})", "ok");
  flow.add("A/go", R"({"k":"x"})", "bad");
  flow.add("C/go", R"({"k":"x"})", "ok");
  EXPECT_EQ(flow.memory->kept(), 0);
  flow.add("A/go", R"({"k":"x"})", "ok");
  EXPECT_EQ(flow.memory->kept(), 1);
}

}  // namespace joins_test
}  // namespace sluice::engine
