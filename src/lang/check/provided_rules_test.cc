// What follows from `provides`, and what is told of one that is not whole.
#include "lang/check/provided_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"
#include "lang/format/format.h"

namespace sluice::lang {
namespace provided_rules_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kRuntime = R"(concept Runtime [I] {
  routed by: type
  state {
    instances: set I
    type: I -> String
    busy: I -> option Request
  }
  actions {
    action make(type: String, config: String) {
      runs: answered
      -> ok(instance: I, endpoint: String)
      -> failed(type: String, reason: String)
    }
    action put(instance: I, version: String, note: option String) {
      runs: answered
      -> ok(instance: I)
      -> failed(instance: I, reason: String)
    }
    action turn(instance: I) {
      runs: answered
      -> ok(instance: I)
      -> unsupported(instance: I)
    }
    action look(instance: I) {
      -> ok
    }
  }
}
)";

std::string box(const std::string& provides, const std::string& kind = "kind: \"box\"") {
  return R"(concept Box [B] {
  )" + kind +
         R"(
  actions {
    action make(instance: String, config: String) {
      -> ok(box: B, endpoint: String)
      -> noRoom(size: Int)
    }
    action fill(instance: String, version: String, note: option String) {
      -> ok(box: B)
      -> torn(reason: String)
      -> wet(reason: String)
    }
  }
  provides Runtime {
)" + provides +
         "\n  }\n}\n";
}

const std::string kMake =
    "make -> make [ instance: row ] { ok; noRoom -> failed[ reason: \"{{size}} is too small\" ] }";
const std::string kPut = "put -> fill { ok; torn, wet -> failed; else -> failed[ reason: message ] }";

std::string rules_of(const std::string& provides) {
  Checked checked = check(kit_of({kRuntime, box(provides)}, ""));
  std::string text;
  for (const Diagnostic& each : checked.diagnostics) {
    if (each.severity == Diagnostic::Severity::error) text += line_of(each) + "\n";
  }
  if (!checked.kit) return text;
  for (const KitSync& each : checked.kit->kit().syncs) {
    EXPECT_TRUE(each.derived);
    EXPECT_EQ(each.tier, Tier::integration);
    text += format(SyncFile{.rules = {each.tree}});
  }
  return text;
}

std::vector<std::string> told_of(const std::string& provides, const std::string& kind = "kind: \"box\"") {
  return told(kit_of({kRuntime, box(provides, kind)}, ""));
}

TEST(ProvidedRules, ARequestIsRoutedByItsArgumentAndItsRowIsTheOneThatHoldsIt) {
  EXPECT_EQ(rules_of(kMake), R"(sync Box.make [eager]
  when { Runtime/make: [ type: "box"; config: ?config ] => requested as ?ask }
  where { Runtime: { ?row busy: ?ask } }
  then { Box/make: [ instance: ?row; config: ?config ] }
sync Box.make.ok [eager]
  when { Box/make: [] => ok[ endpoint: ?endpoint ]
         caused by Runtime/make: [] => requested as ?ask }
  then { answer ?ask => ok[ endpoint: ?endpoint ] }
sync Box.make.noRoom [eager]
  when { Box/make: [] => noRoom[ size: ?size ]
         caused by Runtime/make: [ type: ?type ] => requested as ?ask }
  then { answer ?ask => failed[ reason: "{{size}} is too small"; type: ?type ] }
)");
}

TEST(ProvidedRules, ARequestIsRoutedByItsRowAndWhatMayBeNothingIsPassedOn) {
  EXPECT_EQ(rules_of(kPut), R"(sync Box.put [eager]
  when { Runtime/put: [ instance: ?instance; version: ?version; note: ?note? ] => requested }
  where { Runtime: { ?instance type: "box" } }
  then { Box/fill: [ instance: ?instance; version: ?version; note: ?note ] }
sync Box.put.ok [eager]
  when { Box/fill: [] => ok[]
         caused by Runtime/put: [ instance: ?instance ] => requested as ?ask }
  then { answer ?ask => ok[ instance: ?instance ] }
sync Box.put.torn [eager]
  when { Box/fill: [] => torn[ reason: ?reason ]
         caused by Runtime/put: [ instance: ?instance ] => requested as ?ask }
  then { answer ?ask => failed[ instance: ?instance; reason: ?reason ] }
sync Box.put.wet [eager]
  when { Box/fill: [] => wet[ reason: ?reason ]
         caused by Runtime/put: [ instance: ?instance ] => requested as ?ask }
  then { answer ?ask => failed[ instance: ?instance; reason: ?reason ] }
sync Box.put.else [eager]
  when {
    Box/fill: []
      => engine.{fault, unavailable, timeout, unknown, unanswered, refused, denied, conflict, cancelled, limit, needsMigration}[ message: ?message ]
    caused by Runtime/put: [ instance: ?instance ] => requested as ?ask
  }
  then { answer ?ask => failed[ reason: ?message; instance: ?instance ] }
)");
}

TEST(ProvidedRules, WhatNobodyDoesIsAnsweredAtOnce) {
  EXPECT_EQ(rules_of("turn -> unsupported"), R"(sync Box.turn [eager]
  when { Runtime/turn: [ instance: ?instance ] => requested as ?ask }
  where { Runtime: { ?instance type: "box" } }
  then { answer ?ask => unsupported[ instance: ?instance ] }
)");
}

TEST(ProvidedRules, EveryVariantStandsForOne) {
  EXPECT_THAT(told_of("make -> make [ instance: row ] { ok }"),
              ElementsAre("1.concept:15:9+4 error unmapped-variant: `noRoom` of `Box/make` stands for no variant of "
                          "`Runtime/make` [write `noRoom -> variant[ … ]` in the braces]"));
  EXPECT_THAT(told_of("make -> make [ instance: row ] { ok; noRoom }"),
              ElementsAre("1.concept:15:38+6 error unknown-variant: `Runtime/make` has no variant `noRoom` [write "
                          "`noRoom -> variant`]"));
  EXPECT_THAT(told_of("put -> fill { ok; torn, wet, dry -> failed; ok }"),
              ElementsAre("1.concept:15:30+3 error unknown-variant: `Box/fill` has no variant `dry` [there is `ok`, "
                          "`torn` and `wet`]",
                          "1.concept:15:45+2 error duplicate: a second `ok` [keep one]"));
}

TEST(ProvidedRules, WhatIsNamedMustBeThere) {
  EXPECT_THAT(told_of("make -> make [ instance: row ] { ok; noRoom -> failed[ reason: \"{{sice}}\" ] }"),
              ElementsAre("1.concept:15:67+4 error unknown-field: `sice` is no field of `Box/make => noRoom`, nor of "
                          "the request `Runtime/make` [did you mean `size`?]"));
  EXPECT_THAT(
      told_of("mak -> make { ok }"),
      ElementsAre("1.concept:15:1+3 error unknown-action: `Runtime` has no action `mak` [did you mean `make`?]"));
  EXPECT_THAT(
      told_of("look -> fill { ok }"),
      ElementsAre("1.concept:15:1+4 error not-answered: `Runtime/look` is not answered, so no provider does its "
                  "work [declare it `runs: answered`, or take it out]"));
  EXPECT_THAT(told_of("make -> make { ok; noRoom -> failed }"),
              ElementsAre("1.concept:15:1+4 error missing-argument: `Box/make` needs the argument `instance: String` "
                          "[add `instance: ?instance`, and bind it]"));
  EXPECT_THAT(told_of("turn -> fill"),
              ElementsAre("1.concept:15:9+4 error unknown-variant: `Runtime/turn` has no variant `fill` [write `{ … }` "
                          "behind an action, with what its variants stand for]"));
}

TEST(ProvidedRules, AProviderHasAKindOfItsOwn) {
  EXPECT_THAT(told_of(kMake, ""),
              ElementsAre("1.concept:14:12+7 error not-routed: `Box` provides `Runtime`, but has no kind by which it "
                          "is chosen [write `kind: \"…\"` in it]"));
  std::string crate = box(kMake);
  crate.replace(crate.find("Box"), 3, "Crate");
  EXPECT_THAT(told(kit_of({kRuntime, box(kMake), crate}, "")),
              ElementsAre("2.concept:2:3+4 error same-kind: `Box` and `Crate` both provide `Runtime` for the kind "
                          "\"box\" [give one of them another kind, or load one of them]"));
  std::string unrouted = kRuntime;
  unrouted.replace(unrouted.find("routed by: type"), 15, "");
  EXPECT_THAT(told(kit_of({unrouted, box(kMake)}, "")),
              ElementsAre("1.concept:14:12+7 error not-routed: `Runtime` does not say by what its requests are routed "
                          "[write `routed by: field` in it, the argument or the field that names a provider's kind]"));
  std::string misrouted = kRuntime;
  misrouted.replace(misrouted.find("routed by: type"), 15, "routed by: tipe");
  EXPECT_THAT(told(kit_of({misrouted}, "")),
              ElementsAre("0.concept:2:14+4 error unknown-field: `Runtime` has neither an argument nor a field `tipe` "
                          "[did you mean `type`?]"));
}

TEST(ProvidedRules, WhatOneProviderDoesAndAnotherDoesNotIsTold) {
  std::string crate = box(kMake, "kind: \"crate\"");
  crate.replace(crate.find("Box"), 3, "Crate");
  EXPECT_THAT(told_of_flow(kit_of({kRuntime, box(kMake + "\n" + kPut), crate}, "")),
              Contains(HasSubstr("no-answer: nothing answers `Runtime/put` of the kind \"crate\": every such request "
                                 "ends in engine.unanswered")));
}

TEST(ProvidedRules, AWrittenRuleOfTheSameNameIsOneTooMany) {
  EXPECT_THAT(told(kit_of({kRuntime, box("turn -> unsupported")},
                          "sync Box.turn when { Runtime/turn: [] => requested as ?a } then { answer ?a => ok[] }")),
              ElementsAre(HasSubstr("error duplicate: a second sync `Box.turn` [give the written one another name]")));
}

}  // namespace provided_rules_test
}  // namespace sluice::lang
