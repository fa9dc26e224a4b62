// Wheres on state, through the follow-ups of a firing.
#include "engine/rules/where.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace where_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kSink = R"(concept Sink [S] {
  actions {
    action put(order: option String, text: option String, number: option Int) {
      -> ok
    }
  }
}
)";

class Where : public testing::Test {
 protected:
  Where() {
    state.add("Order", "o1", R"({"status":"open","total":5,"address":{"city":"Ulm","zip":"1"},"note":"n"})");
    state.add("Order", "o2", R"({"status":"paid","total":5,"address":{"city":"Bonn","zip":"2"}})");
    state.add("Order", "o3", R"({"status":"open","total":7,"address":{"city":"Ulm","zip":"3"},"note":null})");
    state.add("Order.lines", "o1", R"({"item":"nail","count":2})");
    state.add("Order.lines", "o1", R"({"item":"glue","count":1})");
    state.add("Order.lines", "o2", R"({"item":"nail","count":9})");
    state.add("Order.tags", "o1", R"({"value":"red"})");
    state.add("Order.tags", "o3", R"({"value":"blue"})");
    state.add("Card", "c1", R"({"owner":"o1"})");
  }

  // What follows from Order/place => ok[ order: "o1", total: 5 ].
  std::vector<std::string> puts(const std::string& where, const std::string& arguments) {
    auto set = set_of({lang::kOrder, lang::kCard, kSink},
                      "sync S when { Order/place: [ lines: ?lines ] => ok[ order: ?o; total: ?t ] } where { " + where +
                          " } then { Sink/put: [ " + arguments + " ] }");
    RecordOf record{*set};
    auto matches = set->new_memory()->add(
        record("Order/place", R"({"customer":"c","lines":[{"item":"nut","count":1},{"item":"bolt","count":1.0},
                                  {"item":"nut","count":2}]})",
               "ok", R"({"order":"o1","total":5})"));
    auto found = set->follow_ups(matches.at(0), state, &rows);
    if (!found) return {found.error().message};
    return texts_of(*set, *found);
  }

  StateInMemory state;
  size_t rows = 99;
};

TEST_F(Where, AKnownKeyReadsOneRow) {
  EXPECT_THAT(puts("Order: { ?o address: ?a }", "text: ?a.city"), ElementsAre(R"(Sink/put {"text":"Ulm"})"));
  EXPECT_THAT(state.reads, ElementsAre("Order by key o1"));
}

TEST_F(Where, LiteralsSelectRows) {
  EXPECT_THAT(puts("Order: { ?x status: \"open\" }", "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o1"})", R"(Sink/put {"order":"o3"})"));
  EXPECT_THAT(state.reads, ElementsAre("Order by status \"open\""));
  EXPECT_EQ(rows, 2);
}

TEST_F(Where, KnownVariablesSelectRowsAndNewOnesAreBound) {
  EXPECT_THAT(puts("Order: { ?x total: ?t; status: ?s }", "order: ?x; text: ?s"),
              ElementsAre(R"(Sink/put {"order":"o1","text":"open"})", R"(Sink/put {"order":"o2","text":"paid"})"));
  EXPECT_THAT(state.reads, ElementsAre("Order by total 5"));
}

TEST_F(Where, WithoutAnythingKnownAllRowsAreReadOnce) {
  EXPECT_THAT(puts("Order: { ?x } Order: { ?y address: { city: \"Bonn\" } }", "order: ?x; text: ?y"),
              ElementsAre(R"(Sink/put {"order":"o1","text":"o2"})", R"(Sink/put {"order":"o2","text":"o2"})",
                          R"(Sink/put {"order":"o3","text":"o2"})"));
  EXPECT_THAT(state.reads, ElementsAre("Order all"));
}

TEST_F(Where, PathsLeadIntoRecords) {
  EXPECT_THAT(puts("Order: { ?x address.city: \"Ulm\"; address.zip: ?z }", "order: ?x; text: ?z"),
              ElementsAre(R"(Sink/put {"order":"o1","text":"1"})", R"(Sink/put {"order":"o3","text":"3"})"));
}

TEST_F(Where, ASecondNameIsTheSameValue) {
  EXPECT_THAT(puts("Order: { ?o status: ?v as ?x }", "order: ?v; text: ?x"),
              ElementsAre(R"(Sink/put {"order":"open","text":"open"})"));
}

TEST_F(Where, AnOptionThatIsEmptyMatchesNoVariable) {
  EXPECT_THAT(puts("Order: { ?x note: ?n }", "order: ?x; text: ?n"),
              ElementsAre(R"(Sink/put {"order":"o1","text":"n"})"));
  EXPECT_THAT(puts("Order: { ?x note: _ }", "order: ?x"), testing::SizeIs(3));
  EXPECT_THAT(puts("Order: { ?x note: null }", "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o2"})", R"(Sink/put {"order":"o3"})"));
}

TEST_F(Where, WhatIsBoundToNothingFitsNoRow) {
  EXPECT_THAT(puts("Order: { ?o address: ?a } bind(?a as ?b) Order: { ?x address: ?b }", "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o1"})"));
  state.add("Order", "o4", R"({"status":"sent","total":1})");
  EXPECT_THAT(puts("Order: { ?x status: \"sent\"; address: _ } bind(?t as ?u) filter(?u = 5)", "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o4"})"));
}

TEST_F(Where, ElementsOfListsAreRowsOfTheirOwner) {
  EXPECT_THAT(puts("Order.lines: { ?o item: ?i; count: ?n }", "text: ?i; number: ?n"),
              ElementsAre(R"(Sink/put {"text":"glue","number":1})", R"(Sink/put {"text":"nail","number":2})"));
  EXPECT_THAT(puts("Order.lines: { ?x item: \"nail\" }", "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o1"})", R"(Sink/put {"order":"o2"})"));
  EXPECT_THAT(puts("Order.tags: { ?x value: ?v }", "order: ?x; text: ?v"),
              ElementsAre(R"(Sink/put {"order":"o1","text":"red"})", R"(Sink/put {"order":"o3","text":"blue"})"));
}

TEST_F(Where, NoMeansThatNoRowFits) {
  EXPECT_THAT(puts("Order: { ?x } no Order.lines: { ?x }", "order: ?x"), ElementsAre(R"(Sink/put {"order":"o3"})"));
  EXPECT_THAT(puts("Order: { ?x } no Order.lines: { ?x item: \"glue\" }", "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o2"})", R"(Sink/put {"order":"o3"})"));
}

TEST_F(Where, VariablesOfANoAreItsOwn) {
  // ?n is any count in both, and not the same one.
  EXPECT_THAT(puts("Order: { ?x } no Order.lines: { ?x item: \"glue\"; count: ?n } "
                   "no Order.lines: { ?x item: \"nail\"; count: ?n }",
                   "order: ?x"),
              ElementsAre(R"(Sink/put {"order":"o3"})"));
}

TEST_F(Where, EachTakesAListApart) {
  EXPECT_THAT(puts("each(?lines as { item: ?i, count: 1 })", "text: ?i"),
              ElementsAre(R"(Sink/put {"text":"bolt"})", R"(Sink/put {"text":"nut"})"));
  EXPECT_THAT(puts("each(?lines as { item: ?i, count: ?t })", "text: ?i"), IsEmpty());
}

TEST_F(Where, RowsAreDistinctOverWhatThenUsesAndSortedByValue) {
  EXPECT_THAT(puts("Order: { ?x total: ?n }", "number: ?n"),
              ElementsAre(R"(Sink/put {"number":5})", R"(Sink/put {"number":7})"));
  EXPECT_EQ(rows, 2);
  EXPECT_THAT(puts("Order: { ?x }", ""), ElementsAre("Sink/put {}"));
  EXPECT_EQ(rows, 1);
}

TEST_F(Where, ZeroRowsGiveNoFollowUp) {
  EXPECT_THAT(puts("Order: { ?x total: 8 }", "order: ?x"), IsEmpty());
  EXPECT_EQ(rows, 0);
}

TEST_F(Where, ConditionsRunLeftToRight) {
  EXPECT_THAT(puts("filter(?t = 6) Order: { ?x }", "order: ?x"), IsEmpty());
  EXPECT_THAT(state.reads, IsEmpty());
}

TEST_F(Where, TenThousandRowsAreTheMost) {
  for (int i = 0; i < 10'000; ++i) state.add("Card", "k" + std::to_string(i), R"({"owner":"x"})");
  EXPECT_THAT(puts("Card: { ?c owner: \"x\" }", "text: ?c"), testing::SizeIs(10'000));
  EXPECT_THAT(puts("Card: { ?c }", "text: ?c"), ElementsAre("sync `S`: it reads more than 10000 rows of Card"));
  state.add("Card", "l", R"({"owner":"x"})");
  EXPECT_THAT(puts("Card: { ?c owner: \"x\" }", "text: ?c"),
              ElementsAre("sync `S`: it reads more than 10000 rows of Card"));
}

TEST_F(Where, ProductsOfRowsCountToo) {
  for (int i = 0; i < 101; ++i) {
    state.add("Card", "k" + std::to_string(i), R"({"owner":"x"})");
  }
  EXPECT_THAT(puts("Card: { ?c owner: \"x\" } Card: { ?d owner: \"x\" }", "text: ?c; order: ?d"),
              ElementsAre("sync `S`: its where has more than 10000 rows"));
}

}  // namespace where_test
}  // namespace sluice::engine
