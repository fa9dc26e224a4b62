// Concepts: types, duplicates, relations, clauses and the suite's own words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_concept_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told_of(const std::string& text) { return told(kit_of({text}, "")); }

TEST(CheckConcept, UnknownTypes) {
  EXPECT_THAT(
      told_of("concept A [T] {\n  state { names: T -> Strin }\n  actions { action go(x: Widget) { -> ok } }\n}"),
      ElementsAre("0.concept:2:23+5 error unknown-type: there is no type `Strin` [did you mean `String`?]",
                  "0.concept:3:26+6 error unknown-type: there is no type `Widget` [declare it as a type parameter: "
                  "`concept A [Widget]`]"));
}

TEST(CheckConcept, DuplicatesPointAtTheSecondAndNameTheFirst) {
  EXPECT_THAT(
      told_of(R"(concept A [T, T] {
  state {
    x: T -> Int
    g { x: T -> String }
  }
  actions {
    action go(a: Int, a: String) {
      -> ok(b: Int, b: Int)
      -> ok
    }
    action go() { -> ok }
  }
})"),
      ElementsAre(
          "0.concept:1:15+1 error duplicate: a second type parameter `T` [rename or remove one; the first is at line "
          "1]",
          "0.concept:4:9+1 error duplicate: a second state field `x` [rename or remove one; the first is at line 3]",
          "0.concept:7:23+1 error duplicate: a second argument `a` [rename or remove one; the first is at line 7]",
          "0.concept:8:21+1 error duplicate: a second field `b` [rename or remove one; the first is at line 8]",
          "0.concept:9:10+2 error duplicate: a second variant `ok` [rename or remove one; the first is at line 8]",
          "0.concept:11:12+2 error duplicate: a second action `go` [rename or remove one; the first is at line 7]"));
}

TEST(CheckConcept, CodesComeFromTheTable) {
  EXPECT_THAT(
      told_of("concept A { actions { action go() { -> ok -> bad @code(rolledback) } } }"),
      ElementsAre(
          "0.concept:1:56+10 error unknown-code: there is no outcome code `rolledback` [did you mean `rolled_back`?]"));
}

TEST(CheckConcept, OnlyEffectsAreRepeatedAndHaveDeadlines) {
  EXPECT_THAT(
      told_of("concept A { actions { action go() {\n  retry: safe\n  deadline: 5s\n  -> ok } } }"),
      ElementsAre(
          "0.concept:2:3+5 error not-an-effect: only an effect is repeated: `retry:` has no meaning for `go` "
          "[declare it `runs: effect`, or leave `retry:` out]",
          "0.concept:3:3+8 error not-an-effect: only an effect has a deadline: `deadline:` has no meaning for `go` "
          "[declare it `runs: effect`, or leave `deadline:` out]"));
}

TEST(CheckConcept, AQueryIsForAnyone) {
  EXPECT_THAT(told_of("concept A { actions { action look() {\n  runs: query\n  callers: syncs\n  -> ok } } }"),
              ElementsAre("0.concept:3:3+7 error query-callers: a query changes nothing, and no sync asks one: "
                          "`callers:` has no meaning for `look` [leave `callers:` out]"));
}

TEST(CheckConcept, RowsHaveOneDomainAndListsAreRelationsOfTheirOwn) {
  Checked checked = check(kit_of({R"(concept A [T, U] {
  state {
    peers: U -> String
    things: set T
    name: T -> String
    size: T -> { w: Int, h: Int }
    parts: T -> list { id: String }
    marks: T -> set String
    total: Int
    sizes: set Int
  }
  actions { action go() { -> ok } }
})"},
                                 ""));
  ASSERT_TRUE(checked.kit);
  std::vector<std::string> found;
  for (const RelationSymbol& each : checked.kit->symbols().concepts[0].relations) {
    std::string line = each.name + "(" + (each.keyed ? checked.kit->symbols().types.name(each.key) : "") + ")";
    for (const FieldSymbol& field : each.fields) line += " " + field.name;
    found.push_back(line);
  }
  EXPECT_THAT(found, ElementsAre("(T of A) name size", "(U of A) peers", "() total", "parts(T of A) id",
                                 "marks(T of A) value", "sizes() value"));
}

TEST(CheckConcept, ASetOfWhatIsNoKeyIsQueriedByItsName) {
  std::string text = "concept A [T] { state { sizes: set Int } actions { action go(n: Int) { -> ok } } }";
  EXPECT_THAT(told(kit_of({text},
                          "sync S when { A/go: [ n: ?n ] => ok[] } where { A.sizes: { value: ?n } } then { "
                          "A/go: [ n: 1 ] }")),
              IsEmpty());
  EXPECT_THAT(told(kit_of({text},
                          "sync S when { A/go: [ n: ?n ] => ok[] } where { A: { ?n } } then { A/go: [ n: 1 ] "
                          "}")),
              ElementsAre("rules.sync:1:54+2 error unknown-field: `A` has no key [leave `?n` out: there is one row]"));
}

TEST(CheckConcept, StateThatCannotBeKeptIsRefused) {
  EXPECT_THAT(told_of(R"(concept A [T] {
  state {
    all: set T
    names: Int -> String
    inside { closed: set T }
    size: T -> Int
  }
  actions { action go() { -> ok } }
})"),
              ElementsAre("0.concept:4:5+5 error bad-state: `names` maps from something that cannot be a key; a domain "
                          "is a type parameter, String or ID [a component is `name: D -> T`, `name: set D`, or `name: "
                          "T` of the concept as a whole]",
                          "0.concept:5:14+6 error bad-state: `closed` is a second set of T; a set is the existence of "
                          "its rows: write `closed: T -> Bool` [a component is `name: D -> T`, `name: set D`, or "
                          "`name: T` of the concept as a whole]"));
}

TEST(CheckConcept, TypesThatConceptcCannotMakeAreRefused) {
  EXPECT_THAT(told_of(R"(concept A [T] {
  state {
    notes: T -> list option String
    sizes: T -> { by: Int -> String }
    fine: T -> option { note: option String }
  }
  actions {
    action go(names: list option T, may: option Int) {
      -> ok(prices: { of: Float -> Int })
      -> bad(twice: option option Int)
    }
  }
})"),
              ElementsAre("0.concept:3:22+1 error bad-type: only a field can be an option; here it is part of another "
                          "type [make it a field of a record: `{ value: option … }`]",
                          "0.concept:4:23+1 error bad-type: a map inside a field maps from a type parameter, String or "
                          "ID [write `String -> …`, or make it a list of records]",
                          "0.concept:8:27+1 error bad-type: only a field can be an option; here it is part of another "
                          "type [make it a field of a record: `{ value: option … }`]",
                          "0.concept:9:27+1 error bad-type: a map inside a field maps from a type parameter, String or "
                          "ID [write `String -> …`, or make it a list of records]",
                          "0.concept:10:28+1 error bad-type: only a field can be an option; here it is part of another "
                          "type [make it a field of a record: `{ value: option … }`]"));
}

TEST(CheckConcept, NamesThatAreOneInCppAreRefused) {
  EXPECT_THAT(told_of(R"(concept A {
  actions {
    action getIt() { -> ok -> notThere -> not_there }
    action get_it() { -> ok }
  }
})"),
              ElementsAre("0.concept:3:43+9 error duplicate: `not_there` and `notThere` are one name in C++ [rename or "
                          "remove one; the first is at line 3]",
                          "0.concept:4:12+6 error duplicate: `get_it` and `getIt` are one name in C++ [rename or "
                          "remove one; the first is at line 3]"));
}

TEST(CheckConcept, TheEnginesNamesAreTaken) {
  EXPECT_THAT(
      told_of("concept Timer { actions { action wait() { -> ok } } }"),
      ElementsAre("0.concept:1:9+5 error duplicate: `Timer` is the engine's own concept [give this one another name]"));
}

TEST(CheckConcept, NoMoreFieldsStandTogetherThanCanBeDescribed) {
  auto fields = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i > 0 ? ", f" : "f") + std::to_string(i) + ": Int";
    return text;
  };
  std::string state;
  for (int i = 0; i < 53; ++i) state += " s" + std::to_string(i) + ": A -> Int\n";
  std::string hint = " [gather those that belong together in a record: `name: { … }`]";
  EXPECT_THAT(
      told(kit_of({"concept A [A] { actions { action a(" + fields(52) + ") { -> ok(" + fields(52) + ") } } }"}, "")),
      testing::IsEmpty());
  EXPECT_THAT(told(kit_of({"concept A [A] {\nactions {\naction a(" + fields(53) + ") {\n-> ok(" + fields(54) +
                           ")\n-> no(r: {" + fields(53) + "}) } } }"},
                          "")),
              testing::ElementsAre("0.concept:3:520+3 error too-many-fields: 53 arguments are too many; at most 52 "
                                   "stand together" +
                                       hint,
                                   "0.concept:4:517+3 error too-many-fields: 54 fields are too many; at most 52 stand "
                                   "together" +
                                       hint,
                                   "0.concept:5:521+3 error too-many-fields: 53 fields are too many; at most 52 stand "
                                   "together" +
                                       hint));
  EXPECT_THAT(told(kit_of({"concept A [A] { state {\n" + state + "} actions { action a() { -> ok } } }"}, "")),
              testing::ElementsAre("0.concept:54:2+3 error too-many-fields: 53 fields are too many; at most 52 stand "
                                   "together" +
                                   hint));
}

TEST(CheckConcept, TextKeysOneKindOfRow) {
  EXPECT_THAT(
      told(kit_of({"concept A [A] { state { a: String -> Int b: ID -> Int } actions { action a() { -> ok } } }"}, "")),
      testing::ElementsAre("0.concept:1:42+1 error bad-state: `b` is keyed by ID and `a` by String; both are text, so "
                           "the rows could not be told apart: key both by the same [a component is `name: D -> T`, "
                           "`name: set D`, or `name: T` of the concept as a whole]"));
}

TEST(CheckConcept, AUnionHasAThousandTexts) {
  auto with = [](int texts) {
    std::string type = "\"t0\"";
    for (int i = 1; i < texts; ++i) type += " | \"t" + std::to_string(i) + "\"";
    return told(kit_of({"concept A { actions { action go(u: " + type + ") { -> ok } } }"}, ""));
  };
  EXPECT_THAT(with(1000), testing::IsEmpty());
  EXPECT_THAT(with(1001), testing::ElementsAre(
                              "0.concept:1:36+1 error too-many-fields: 1001 texts are too many; a union has at most "
                              "1000 [write `String`, and refuse in the handler what is none of them]"));
}

TEST(CheckConcept, WhatMakesASealedValueCanBeRepeated) {
  auto with = [](const std::string& retry) {
    return told(
        kit_of({"concept A { actions { action get() {\nruns: effect " + retry + " -> ok(key: Sealed) } } }"}, ""));
  };
  EXPECT_THAT(with("retry: safe"), testing::IsEmpty());
  EXPECT_THAT(with(""),
              testing::ElementsAre("0.concept:2:21+3 error sealed: `key` is Sealed, so when the value is lost `get` is "
                                   "repeated, but it is not `retry: safe` [declare `get` `retry: safe`]"));
}

TEST(CheckConcept, ATypeParameterIsNoTypeOfTheLanguage) {
  EXPECT_THAT(told_of("concept A [Int] { actions { action go() { -> ok } } }"),
              ElementsAre("0.concept:1:12+3 error duplicate: `Int` is a type of the language [give the type parameter "
                          "another name]"));
}

}  // namespace check_concept_test
}  // namespace sluice::lang
