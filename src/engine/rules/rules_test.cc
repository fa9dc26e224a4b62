// Expressions, through what a sync's `then` and `where` make of them.
#include "engine/rules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_engine.h"
#include "lang/check/check.h"
#include "lang/check/relations.h"

namespace sluice::engine {
namespace rules_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kSource = R"(concept Source [S] {
  actions {
    action emit(text: String, more: option String, number: Int, rate: Float, yes: Bool, list: list String,
                record: { name: String, nick: option String, age: Int }) {
      -> ok(source: S)
    }
  }
}
)";
const std::string kSink = R"(concept Sink [S] {
  actions {
    action put(text: option String, time: option DateTime, list: option list String,
               record: option { name: String, nick: option String }, number: option Int) {
      -> ok
    }
  }
}
)";

const std::string kInput = R"({"text":"a","number":3,"rate":0.5,"yes":true,"list":["a","b"],
                               "record":{"name":"N","age":7}})";

// What the sync puts, for one emit.
std::vector<std::string> puts(const std::string& where, const std::string& arguments, const std::string& input = kInput,
                              const std::string& match = "") {
  auto set = set_of({kSource, kSink},
                    "sync S when { Source/emit: [ " +
                        (match.empty() ? "text: ?t; number: ?n; rate: ?f; yes: ?y; list: ?l; record: ?r" : match) +
                        " ] => ok[] }" + (where.empty() ? "" : " where { " + where + " }") + " then { Sink/put: [ " +
                        arguments + " ] }");
  RecordOf record{*set};
  auto matches = set->new_memory()->add(record("Source/emit", input, "ok", R"({"source":"s1"})"));
  if (matches.empty()) return {"no match"};
  StateInMemory state;
  auto found = set->follow_ups(matches.at(0), state, nullptr);
  if (!found) return {found.error().message};
  return texts_of(*set, *found);
}

bool holds(const std::string& condition) { return !puts("filter(" + condition + ")", "").empty(); }

TEST(Expression, FiltersCompare) {
  for (const char* yes : {"?n = 3",
                          "?n != 4",
                          "?n > 2",
                          "?n >= 3",
                          "?n < 3.5",
                          "?n <= 3",
                          "?t = \"a\"",
                          "?t != \"b\"",
                          "?t < \"b\"",
                          "?y = true",
                          "?f > -5",
                          "?t in [\"x\", \"a\"]",
                          "?t in ?l",
                          "?t not in [\"x\"]",
                          "not ?n = 4",
                          "?n = 4 or ?t = \"a\"",
                          "?n = 3 and ?t = \"a\"",
                          "?r.age = 7",
                          "?r.nick != \"z\"",
                          "?y"}) {
    EXPECT_TRUE(holds(yes)) << yes;
  }
  for (const char* no : {"?n = 4", "?n != 3", "?n > 3", "?n >= 4", "?n < 3", "?n <= 2.5", "?t = \"b\"", "?t != \"a\"",
                         "?t > \"b\"", "?y = false", "?f < -5", "?t in [\"x\"]", "?t not in ?l", "not ?n = 3",
                         "?n = 3 and ?t = \"b\"", "?r.nick < \"z\"", "?r.nick = \"z\"", "not ?y"}) {
    EXPECT_FALSE(holds(no)) << no;
  }
}

TEST(Expression, AnyNeedsOneOfItsConditions) {
  EXPECT_THAT(puts("any(?n = 9; ?t = \"a\")", "number: ?n"), ElementsAre("Sink/put {\"number\":3}"));
  EXPECT_THAT(puts("any(?n = 9; ?t = \"b\")", "number: ?n"), IsEmpty());
}

TEST(Expression, TemplatesShowValues) {
  EXPECT_THAT(puts("", "text: \"{{t}}-{{n}}/{{f}}, {{y}} {{l}}\""),
              ElementsAre(R"(Sink/put {"text":"a-3/5E-1, true [\"a\",\"b\"]"})"));
}

TEST(Expression, CallsComputeTexts) {
  EXPECT_THAT(puts("", R"(text: concat(?t, "-", ?n))"), ElementsAre(R"(Sink/put {"text":"a-3"})"));
  EXPECT_THAT(puts("", R"(text: cond(?y, "yes", "no"))"), ElementsAre(R"(Sink/put {"text":"yes"})"));
  EXPECT_THAT(puts("bind(nameOf(?t) as ?x)", "text: ?x", R"({"text":"urn:sluice/Rollout"})", "text: ?t"),
              ElementsAre(R"(Sink/put {"text":"Rollout"})"));
  EXPECT_THAT(puts("bind(nameOf(?t) as ?x)", "text: ?x", R"({"text":"urn:Rollout"})", "text: ?t"),
              ElementsAre(R"(Sink/put {"text":"Rollout"})"));
  EXPECT_THAT(puts("bind(nameOf(?t) as ?x)", "text: ?x", R"({"text":"Rollout"})", "text: ?t"),
              ElementsAre(R"(Sink/put {"text":"Rollout"})"));
}

TEST(Expression, NowIsTheTimeOfTheStep) {
  EXPECT_THAT(puts("bind(now() as ?now)", "time: ?now"),
              ElementsAre(R"(Sink/put {"time":"2030-03-17T17:46:40.000Z"})"));
}

TEST(Expression, UuidIsTheSameOnEveryRunAndNewOnEveryUse) {
  auto first = puts("bind(uuid() as ?a) bind(uuid() as ?b)", "list: [?a, ?b]");
  EXPECT_EQ(first, puts("bind(uuid() as ?a) bind(uuid() as ?b)", "list: [?a, ?b]"));
  json::array ids = json::parse(first.at(0).substr(9)).at("list").as_array();
  auto one = Ulid::parse(ids.at(0).as_string()), other = Ulid::parse(ids.at(1).as_string());
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
  EXPECT_EQ(one->wall_ms(), 1'900'000'000'000);
}

TEST(Expression, ListsAndRecordsAreBuilt) {
  EXPECT_THAT(puts("", R"(list: [?t, "b"]; record: { name: ?r.name, nick: ?r.nick })"),
              ElementsAre(R"(Sink/put {"list":["a","b"],"record":{"name":"N"}})"));
}

TEST(Expression, ArgumentsThatAreNotThereAreLeftOut) {
  EXPECT_THAT(puts("", "text: ?r.nick; number: ?n"), ElementsAre(R"(Sink/put {"number":3})"));
  EXPECT_THAT(puts("bind(?r.nick as ?k)", "text: ?k; number: ?n"), ElementsAre(R"(Sink/put {"number":3})"));
  EXPECT_THAT(puts("", "text: null; number: ?n"), ElementsAre(R"(Sink/put {"number":3})"));
}

TEST(Matcher, WildcardsTakeWhatIsThereOrNotVariablesNeedIt) {
  std::string without = R"({"text":"a"})", with = R"({"text":"a","more":"m"})", null = R"({"text":"a","more":null})";
  EXPECT_THAT(puts("", "text: \"x\"", without, "more: _"), ElementsAre(R"(Sink/put {"text":"x"})"));
  EXPECT_THAT(puts("", "text: \"x\"", with, "more: _"), ElementsAre(R"(Sink/put {"text":"x"})"));
  EXPECT_THAT(puts("", "text: ?m", without, "more: ?m"), ElementsAre("no match"));
  EXPECT_THAT(puts("", "text: ?m", null, "more: ?m"), ElementsAre("no match"));
  EXPECT_THAT(puts("", "text: ?m", with, "more: ?m"), ElementsAre(R"(Sink/put {"text":"m"})"));
  EXPECT_THAT(puts("", "text: \"x\"", without, "more: null"), ElementsAre(R"(Sink/put {"text":"x"})"));
  EXPECT_THAT(puts("", "text: \"x\"", with, "more: null"), ElementsAre("no match"));
  EXPECT_THAT(puts("", "text: \"x\"", without, "more: \"m\""), ElementsAre("no match"));
}

TEST(Matcher, LooksIntoRecords) {
  EXPECT_THAT(puts("", "text: ?x", kInput, "record: { name: ?x, age: 7 }"), ElementsAre(R"(Sink/put {"text":"N"})"));
  EXPECT_THAT(puts("", "text: ?x", kInput, "record: { name: ?x, age: 8 }"), ElementsAre("no match"));
  EXPECT_THAT(puts("", "text: ?x", kInput, "record: { name: ?x, nick: _ }"), ElementsAre(R"(Sink/put {"text":"N"})"));
}

TEST(Matcher, OneVariableTwiceMustBeOneValue) {
  EXPECT_THAT(puts("", "text: ?x", R"({"text":"a","more":"a"})", "text: ?x; more: ?x"),
              ElementsAre(R"(Sink/put {"text":"a"})"));
  EXPECT_THAT(puts("", "text: ?x", R"({"text":"a","more":"b"})", "text: ?x; more: ?x"), ElementsAre("no match"));
}

TEST(Matcher, NegativeLiteralsKeepTheirSign) {
  EXPECT_THAT(puts("", "number: -5", R"({"number":-5})", "number: -5"), ElementsAre(R"(Sink/put {"number":-5})"));
  EXPECT_THAT(puts("", "number: -5", R"({"number":5})", "number: -5"), ElementsAre("no match"));
}

TEST(RelationName, IsThatOfTheStore) {
  auto kit = checked({R"(concept Mixed [M, N] {
  state {
    total: Int
    log: list String
    owner: N -> String
    ms: set M
    name: M -> String
    parts: M -> list { size: Int }
    seen: String -> Int
    tags: N -> set String
  }
  actions {
    action go() {
      -> ok
    }
  }
}
)"},
                     "");
  std::vector<std::string> names, wanted;
  for (size_t i = 0; i < kit->symbols().concepts[0].relations.size(); ++i) {
    names.push_back(relation_name(kit->symbols(), 0, i));
  }
  auto relations = lang::relations_of(kit->kit().concepts[0].tree);
  ASSERT_TRUE(relations);
  for (const lang::Relation& each : *relations) wanted.push_back(each.name);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(wanted));
  EXPECT_THAT(names, testing::IsSupersetOf({"Mixed", "Mixed[N]", "Mixed[]", "Mixed[String]", "Mixed.parts"}));
}

}  // namespace rules_test
}  // namespace sluice::engine
