// What `.concept` files say and how their faults are told.
#include "lang/syntax/concept_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::lang {
namespace concept_parser_test {

Concept parsed(std::string_view text) {
  Diagnostics found;
  auto read = parse_concept(text, "x.concept", found);
  EXPECT_TRUE(read) << render(found, text);
  return read.value_or(Concept{});
}

// All diagnostics as `line:column text | hint`.
std::vector<std::string> faults(std::string_view text) {
  Diagnostics found;
  auto read = parse_concept(text, "x.concept", found);
  EXPECT_EQ(read.has_value(), !found.failed());
  std::vector<std::string> lines;
  for (const auto& one : found.all()) {
    lines.push_back(std::to_string(one.mark.line) + ":" + std::to_string(one.mark.column) + " " + one.text +
                    (one.hint.empty() ? "" : " | " + one.hint));
  }
  return lines;
}

using testing::ElementsAre;

constexpr std::string_view kWhole = R"(# One concept with everything in it.
@version(2)
@gate
@category("runtime")
@visibility("public")
concept Runtime [I, J] {
  purpose {
    Keep what runs where — it's "the" registry; {braces} pair -> so.
  }
  parallel: 8
  state {
    instances: set I
    config {
      endpoint: I -> option String; weight: I -> Int
    }
    steps: I -> list { weight: Int, pause: Int }
    kind: I -> { local | remote }
    phase: I -> "up" | "down"
  }
  actions {
    action provision(name: String, config: { cpu: Int, tags: list String }) {
      description { Start an instance. }
      runs: answered outside
      retry: probe
      deadline: 5m
      reversal: destroy (provisionFailed)
      -> ok(instance: I) { It's up. }
      -> provisionFailed(reason: String) @code(rolled_back) { It did not come up. }
      fixture local { name: "a", config: { cpu: 2, tags: ["x"] } }
      fixture bad { name: "", config: null, n: -5, f: 1.5, b: true } after local -> provisionFailed
    }
    action destroy(instance: I) {
      -> ok
      fixture gone { instance: $local.instance } after local
      -> notfound(instance: I)
    }
  }
  capabilities { requires network; requires full-compute }
  invariant {
    roundTrip {
      after provision(name: "a", config: _) -> ok(instance: i)
      then destroy(instance: i) -> ok
      and destroy(instance: i) -> notfound(instance: i)
    }
    after destroy(instance: x) -> ok
    then x = "gone"
  }
  example "again" { after destroy(instance: x) -> ok then destroy(instance: x) -> notfound }
  forall "names" {
    given n in {"a", "b"}
    given m in instances where m.weight > 0
    after provision(name: n) -> ok(instance: i)
    then i != m
  }
  always "bounded" { forall i in instances where i.weight != null: i.weight >= 0 and i.weight <= 100 }
  never "lost" { exists i in instances: (i.phase = "down" or not i.endpoint in ["x"]) and i.kind not in [1] }
  eventually { forall i in instances: i.phase = "up" }
  action destroy { requires: instance in instances  ensures ok: instance not in instances  ensures: true }
  scenario "up and down": {
    fixture f1 { name: "a" }
    given { weight = 0 }
    when { provision(name: "a") -> ok(instance: i) and Clock/tick() -> ok }
    then { destroy(instance: i) -> ok
           and i = "x" }
    settlement: "async-eventually" { timeoutMs: 250 }
  }
}
)";

TEST(ConceptParser, ReadsEverySection) {
  Concept read = parsed(kWhole);
  EXPECT_EQ(read.name, "Runtime");
  EXPECT_EQ(read.params.size(), 2u);
  EXPECT_EQ(read.version, 2);
  EXPECT_TRUE(read.gate);
  EXPECT_EQ(read.category, "runtime");
  EXPECT_EQ(read.visibility, "public");
  EXPECT_EQ(read.purpose, "Keep what runs where — it's \"the\" registry; {braces} pair -> so.");
  EXPECT_EQ(read.parallel, 8);
  ASSERT_EQ(read.capabilities.size(), 2u);
  EXPECT_EQ(read.capabilities[1].text, "full-compute");
  ASSERT_EQ(read.comments.size(), 1u);
  EXPECT_EQ(read.comments[0].text, "One concept with everything in it.");
}

TEST(ConceptParser, ReadsStateWithGroups) {
  Concept read = parsed(kWhole);
  ASSERT_EQ(read.state.size(), 6u);
  EXPECT_EQ(read.state[0].type.kind, Type::Kind::set);
  EXPECT_EQ(read.state[1].group, "config");
  EXPECT_EQ(read.state[1].type.kind, Type::Kind::mapping);
  EXPECT_EQ(read.state[1].type.inner[1].kind, Type::Kind::option);
  EXPECT_EQ(read.state[3].group, "");
  EXPECT_EQ(read.state[3].type.inner[1].inner[0].fields[1].name, "pause");
  EXPECT_THAT(read.state[4].type.inner[1].literals, ElementsAre("local", "remote"));
  EXPECT_EQ(read.state[5].type.inner[1].kind, Type::Kind::literals);
}

TEST(ConceptParser, ReadsActions) {
  Concept read = parsed(kWhole);
  ASSERT_EQ(read.actions.size(), 2u);
  const Action& provision = read.actions[0];
  EXPECT_EQ(provision.runs, Runs::answered_outside);
  EXPECT_EQ(provision.retry, Retry::probe);
  EXPECT_EQ(provision.deadline_s, 300);
  EXPECT_EQ(provision.reversal->action, "destroy");
  EXPECT_EQ(provision.reversal->variants[0].text, "provisionFailed");
  EXPECT_EQ(provision.variants[0].prose, "It's up.");
  EXPECT_EQ(provision.variants[1].code->text, "rolled_back");
  EXPECT_EQ(read.actions[1].deadline_s, 60);
  EXPECT_FALSE(read.actions[1].deadline_at);
}

TEST(ConceptParser, ReadsWhoCallsAnAction) {
  Concept read = parsed("concept A { actions { action a() { callers: syncs -> ok } action b() { -> ok } } }");
  EXPECT_EQ(read.actions[0].callers, Callers::syncs);
  EXPECT_EQ(read.actions[1].callers, Callers::anyone);
  read = parsed("concept A { actions { action a() { right: deploy effect: shifts -> ok } action b() { -> ok } } }");
  EXPECT_EQ(read.actions[0].right, "deploy");
  EXPECT_EQ(read.actions[0].impact, Impact::shifts);
  EXPECT_FALSE(read.actions[1].right_at);
  EXPECT_FALSE(read.actions[1].impact_at);
}

TEST(ConceptParser, FixtureValuesKeepTheirKinds) {
  Concept read = parsed(kWhole);
  const Fixture& bad = read.actions[0].fixtures[1];
  EXPECT_EQ(bad.variant, "provisionFailed");
  EXPECT_EQ(bad.after[0].text, "local");
  EXPECT_EQ(bad.input[2].value.value, json::value(-5));
  EXPECT_EQ(bad.input[3].value.value, json::value(1.5));
  EXPECT_EQ(bad.input[4].value.value, json::value(true));
  const Action& destroy = read.actions[1];
  EXPECT_EQ(destroy.fixtures[0].input[0].value.op, Expr::Op::fixture);
  EXPECT_EQ(destroy.fixtures[0].variant, "ok");
  // The arrow on the next line is a variant of the action.
  EXPECT_EQ(destroy.variants.size(), 2u);
}

TEST(ConceptParser, ReadsEveryKindOfInvariant) {
  Concept read = parsed(kWhole);
  using Kind = Invariant::Kind;
  std::vector<Kind> kinds;
  for (const auto& invariant : read.invariants) kinds.push_back(invariant.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::example, Kind::example, Kind::example, Kind::forall, Kind::always, Kind::never,
                                 Kind::eventually, Kind::contract, Kind::scenario));
  const auto& all = read.invariants;
  EXPECT_EQ(all[0].name, "roundTrip");
  EXPECT_EQ(all[0].then.size(), 2u);
  EXPECT_EQ(all[1].then[0].condition->op, Expr::Op::equal);
  EXPECT_EQ(all[3].given[1].where->op, Expr::Op::greater);
  EXPECT_EQ(all[4].conditions[0].args.size(), 3u);
  EXPECT_EQ(all[5].conditions[0].args[1].op, Expr::Op::all);
  EXPECT_EQ(all[7].clauses.size(), 3u);
  EXPECT_EQ(all[7].clauses[1].variant, "ok");
  EXPECT_EQ(all[8].after[1].concept_, "Clock");
  EXPECT_EQ(all[8].settlement.timeout_ms, 250);
  EXPECT_EQ(all[8].then.size(), 2u);
}

TEST(ConceptParser, RefusesUnknownSectionsAndAnnotations) {
  EXPECT_THAT(
      faults("@gaet\nconcept A {\n  sate { a: Int }\n  actions { action x() { -> ok } }\n}\n"),
      ElementsAre("1:2 unknown annotation `@gaet` | write `@gate`", "3:3 unknown section `sate` | write `state`"));
}

TEST(ConceptParser, ShowsSeveralFaultsInOneRun) {
  EXPECT_THAT(faults("concept A {\n"
                     "  state { a Int }\n"
                     "  actions {\n"
                     "    action x(a: ) { -> ok }\n"
                     "    action y() {\n"
                     "      runs: efect\n"
                     "      -> ok(\n"
                     "      deadline: soon\n"
                     "    }\n"
                     "    action z() { }\n"
                     "  }\n"
                     "}\n"),
              ElementsAre("2:13 expected `:` after the component's name, found `Int` | write `:`",
                          "4:17 expected a type, found `)` | write a type",
                          "6:13 expected how the action runs, found `efect` | write pure, query, effect, answered or "
                          "answered outside",
                          "9:5 expected a field's name or `)`, found `}` | write a field's name or `)`",
                          "10:18 action `z` has no variant | write `-> ok`"));
}

TEST(ConceptParser, AnUnclosedActionIsSeenAtTheNext) {
  EXPECT_THAT(faults("concept A {\n  actions {\n    action x() {\n      -> ok\n    action y() { -> ok }\n  }\n}\n"),
              ElementsAre("5:5 expected `}` to close action `x`, found `action` | write `}`"));
}

TEST(ConceptParser, RefusesSecondSectionsAndClauses) {
  EXPECT_THAT(faults("concept A {\n  state { a: Int }\n  state { b: Int }\n}\n"),
              ElementsAre("3:3 a second `state` | a concept has one"));
  EXPECT_THAT(faults("concept A { actions { action a() { runs: pure\n runs: effect\n -> ok } } }"),
              ElementsAre("2:2 a second `runs` | keep one"));
}

TEST(ConceptParser, RefusesWhatTheLanguageDoesNotSay) {
  auto in_action = [](std::string text) {
    return faults("concept A { actions { action a() {\n" + text + "\n-> ok } } }");
  };
  EXPECT_THAT(in_action("effect: much"),
              ElementsAre("2:9 expected what is at stake, found `much` | write none, changes, shifts or destroys"));
  EXPECT_THAT(in_action("right: a right: b"), ElementsAre("2:10 a second `right` | keep one"));
  EXPECT_THAT(in_action("callers: me"),
              ElementsAre("2:10 expected who calls the action, found `me` | write syncs, or leave `callers:` out"));
  EXPECT_THAT(in_action("fixtrue x { }"), ElementsAre("2:1 unknown clause `fixtrue` in action `a` | write `fixture`"));
  EXPECT_THAT(in_action("deadline: soon"),
              ElementsAre("2:11 expected a duration, found `soon` | write seconds: `90s`, or `5m`"));
  EXPECT_THAT(in_action("retry: maybe"),
              ElementsAre("2:8 expected how the effect is repeated, found `maybe` | write safe, probe or never"));
  EXPECT_THAT(
      in_action("-> bad @cod(x)"),
      ElementsAre("2:9 expected `code` after `@`: a variant has no other annotation, found `cod` | write `code`"));
  EXPECT_THAT(in_action("fixture f { a: b }"), ElementsAre("2:16 `b` is not a value | write \"b\" for text"));
  EXPECT_THAT(faults("concept A { state { g { } } }"),
              ElementsAre("1:25 expected a component of the group g, found `}` | write a component of the group g"));
  EXPECT_THAT(faults("@version(0)\nconcept A { }"),
              ElementsAre("1:10 expected a whole number from 1, found the number 0 | write a whole number from 1"));
  EXPECT_THAT(faults("concept A { } concept B { }"),
              ElementsAre("1:15 expected the end of the file, found `concept` | a file holds one concept"));
  EXPECT_THAT(faults("concept A { purpose { never closed { }"),
              ElementsAre("1:21 the text of the purpose is not closed | close it with `}`; braces in it must pair",
                          testing::_));
}

TEST(ConceptParser, WhatIsNotClosedIsAnError) {
  for (size_t size = kWhole.find("concept Runtime"); size + 2 < kWhole.size(); ++size) {
    Diagnostics found;
    EXPECT_FALSE(parse_concept(kWhole.substr(0, size), "x", found)) << kWhole.substr(0, size);
  }
}

TEST(ConceptParser, BadBytesAndBombsAreRefused) {
  EXPECT_THAT(faults("concept " + std::string(1 << 20, 'a')),
              ElementsAre("1:9 a name of 1048576 characters; names may have 256 | choose a shorter name"));
  std::string deep = "concept A { state { a: ";
  for (int i = 0; i < 10'000; ++i) deep += "{ a: ";
  EXPECT_THAT(faults(deep), testing::Contains(testing::HasSubstr("nested more than 100 deep")));
  std::string prose = "concept A { purpose " + std::string(100'000, '{') + std::string(100'000, '}') + " }";
  EXPECT_TRUE(faults(prose).empty());
}

TEST(ConceptParser, AHeadThatIsNotClosedIsToldWithItsBracket) {
  EXPECT_THAT(faults("concept A [P"),
              ElementsAre("1:13 expected `]` after the type parameters, found the end of the file | write `]`"));
  EXPECT_THAT(faults("concept A [P Q] { }"),
              ElementsAre("1:14 expected `,` between type parameters, found `Q` | write `,`"));
}

TEST(ConceptParser, AnEmptyFileIsOneFault) {
  EXPECT_THAT(faults(""),
              ElementsAre("1:1 expected `concept`, found the end of the file | a file is one `concept Name { "
                          "… }`"));
}

TEST(ConceptParser, AnInvisibleCharacterIsNamed) {
  EXPECT_THAT(faults("concept A\xE2\x80\x8D { }"),
              ElementsAre("1:10 unexpected character `U+200D` | remove it; text stands in double quotes"));
}

}  // namespace concept_parser_test
}  // namespace sluice::lang
