// Compiling a set, the causes of what follows, and follow-ups.
#include "engine/rules/sync_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_engine.h"
#include "engine/testing_small_kit.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::engine {
namespace sync_set_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SyncSet, ItsTextIsTheActiveSyncsByNameAndLoadsAgain) {
  auto set = set_of(kSmallKit,
                    "# a comment\nsync Two [eager] when { A/go:[]=>ok[] } then { Sink/drop:[] }\n\n\n"
                    "sync One when { A/go: [ k : ?k ] => ok[] } then { Sink/put: [ k: ?k ] }");
  EXPECT_EQ(set->text(),
            "sync One\n"
            "  when { A/go: [ k: ?k ] => ok[] }\n"
            "  then { Sink/put: [ k: ?k ] }\n"
            "\n"
            "sync Two [eager]\n"
            "  when { A/go: [] => ok[] }\n"
            "  then { Sink/drop: [] }\n");
  EXPECT_EQ(set->size(), 2);
  EXPECT_EQ(set->name(0), "One");
  EXPECT_EQ(set->find("Two"), 1);
  EXPECT_EQ(set->find("Twi"), std::nullopt);
  EXPECT_THAT(set->hash(), SizeIs(64));
  EXPECT_NE(set->hash(0), set->hash(1));
  auto again = set_of(kSmallKit, set->text());
  EXPECT_EQ(again->text(), set->text());
  EXPECT_EQ(again->hash(), set->hash());
  EXPECT_EQ(again->hash(1), set->hash(1));
}

TEST(SyncSet, ItsHashIsThatOfItsMeaning) {
  auto one = set_of(kSmallKit, "sync S when { A/go: [] => ok[] } then { Sink/drop: [] }");
  auto same = set_of(kSmallKit, "sync S { when { A/go: [] => [ok()] }\n then { Sink/drop: [] } }");
  auto other = set_of(kSmallKit, "sync S when { A/go: [] => bad[] } then { Sink/drop: [] }");
  EXPECT_EQ(one->hash(), same->hash());
  EXPECT_NE(one->hash(), other->hash());
}

TEST(SyncSet, InactiveSyncsAreNotInIt) {
  lang::Kit kit = lang::kit_of(kSmallKit,
                               "sync One when { A/go: [] => ok[] } then { Sink/drop: [] }\n"
                               "sync Two when { A/go: [] => ok[] } then { Sink/drop: [] }");
  kit.syncs[0].inactive = "disabled";
  auto result = lang::check(std::move(kit));
  auto set = SyncSet::compile(std::make_shared<const lang::CheckedKit>(std::move(*result.kit)));
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->size(), 1);
  EXPECT_EQ((*set)->name(0), "Two");
}

TEST(SyncSet, TwoActiveSyncsOfOneNameAreRefused) {
  auto set = SyncSet::compile(checked(kSmallKit,
                                      "sync S when { A/go: [] => ok[] } then { Sink/drop: [] }\n"
                                      "sync S when { B/go: [] => ok[] } then { Sink/drop: [] }"));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "two active syncs are called `S`");
}

TEST(SyncSet, KnowsWhatIsEventualAndWhatRepeatsIt) {
  auto set = set_of(kSmallKit,
                    "sync E [eventual retry(no)] when { A/go: [ k: ?k ] => ok[] } then { B/ask: [ k: ?k ] }\n"
                    "sync N [eager] when { A/go: [ k: ?k ] => ok[] } then { B/ask: [ k: ?k ] }");
  EXPECT_TRUE(set->is_eventual(0));
  EXPECT_TRUE(set->retries_on(0, "no"));
  EXPECT_FALSE(set->retries_on(0, "ok"));
  EXPECT_FALSE(set->is_eventual(1));
}

TEST(SyncSet, AnAlternationFiresOnceACompletion) {
  auto set = set_of(kSmallKit,
                    "sync S when { A/{go, back}: [ k: ?k ] => {ok, bad}[] } then { Sink/put: [ k: ?k ] }\n"
                    "sync T when { A/go: [ k: ?k ] => engine.{fault, timeout}[] } then { Sink/put: [ k: ?k ] }");
  EXPECT_EQ(set_of(kSmallKit, set->text())->hash(), set->hash());
  RecordOf record{*set};
  auto memory = set->new_memory();
  EXPECT_THAT(texts_of(*set, memory->add(record("A/go", R"({"k": "1"})", "ok"))), ElementsAre("S(1)"));
  EXPECT_THAT(texts_of(*set, memory->add(record("A/go", R"({"k": "1"})", "bad"))), ElementsAre("S(2)"));
  EXPECT_THAT(texts_of(*set, memory->add(record("A/back", R"({"k": "1"})", "ok"))), ElementsAre("S(3)"));
  EXPECT_THAT(texts_of(*set, memory->add(record("A/go", R"({"k": "1"})", "engine.timeout"))), ElementsAre("T(4)"));
  EXPECT_THAT(texts_of(*set, memory->add(record("A/go", R"({"k": "1"})", "engine.denied"))), IsEmpty());
  EXPECT_THAT(texts_of(*set, memory->add(record("B/go", R"({"k": "1"})", "ok"))), IsEmpty());
}

TEST(SyncSet, WhatMayBeNothingIsPassedOnAsItIs) {
  auto set = set_of(kSmallKit, "sync S when { Sink/put: [ name: ?t? ] => ok[] } then { Sink/put: [ name: ?t ] }");
  RecordOf record{*set};
  StateInMemory state;
  auto follow = [&](const std::string& input) {
    auto matches = set->new_memory()->add(record("Sink/put", input, "ok"));
    EXPECT_THAT(matches, SizeIs(1));
    auto found = set->follow_ups(matches[0], state, nullptr);
    EXPECT_TRUE(found);
    return texts_of(*set, *found);
  };
  EXPECT_THAT(follow(R"({"name": "a"})"), ElementsAre(R"(Sink/put {"name":"a"})"));
  EXPECT_THAT(follow("{}"), ElementsAre("Sink/put {}"));
  EXPECT_THAT(follow(R"({"name": null})"), ElementsAre("Sink/put {}"));
}

// ------------------------------------------------------------------------------------------------------ causes

class CausesOf : public testing::Test {
 protected:
  CausesOf()
      : set(set_of(kSmallKit,
                   "sync S when { C/go: [] => ok[]  caused by A/go: [] => ok[]  caused by B/ask: [] => requested } "
                   "then { Sink/put: [] }")),
        record{*set} {}

  std::shared_ptr<const SyncSet> set;
  RecordOf record;
};

TEST_F(CausesOf, AreTheMatchedRecordsElseWhatTheyHave) {
  auto first = record("A/go", "{}", "ok");
  auto causes = set->causes_of({first}, nullptr);
  EXPECT_THAT(*causes, ElementsAre(first, nullptr));
  auto between = record("C/go", "{}", "ok", "{}", causes);
  EXPECT_EQ(set->causes_of({between}, nullptr), causes);  // shared, not only equal
  auto failed = record("A/go", "{}", "bad", "{}", causes);
  EXPECT_EQ(set->causes_of({failed}, nullptr), causes);
}

TEST(SyncSet, TheNearestCauseOfAnAlternation) {
  auto set = set_of(kSmallKit,
                    "sync S when { C/go: [] => ok[]  caused by A/{go, back}: [ k: ?k ] => ok[] } then { Sink/put: [ k: "
                    "?k ] }");
  RecordOf record{*set};
  auto go = record("A/go", R"({"k": "1"})", "ok");
  auto back = record("A/back", R"({"k": "2"})", "ok", "{}", set->causes_of({go}, nullptr));
  auto failed = record("A/go", R"({"k": "3"})", "bad", "{}", set->causes_of({back}, nullptr));
  auto last = record("C/go", "{}", "ok", "{}", set->causes_of({failed}, nullptr));
  auto matches = set->new_memory()->add(last);
  ASSERT_THAT(texts_of(*set, matches), ElementsAre("S(4, 2)"));
}

TEST_F(CausesOf, OfSeveralTheNewest) {
  auto older = record("A/go", "{}", "ok"), newer = record("A/go", "{}", "ok");
  auto beneath_newer = record("C/go", "{}", "ok", "{}", set->causes_of({newer}, nullptr));
  EXPECT_THAT(*set->causes_of({older, beneath_newer}, nullptr), ElementsAre(newer, nullptr));
  EXPECT_THAT(*set->causes_of({beneath_newer, older}, nullptr), ElementsAre(newer, nullptr));
}

TEST_F(CausesOf, RequestsComeFromWhatItIsBeneath) {
  auto ask = record("B/ask", "{}", "requested");
  auto inner = record("A/ask", "{}", "requested", "{}", set->causes_of({ask}, ask));
  EXPECT_THAT(*set->causes_of({inner}, inner), ElementsAre(nullptr, ask));
  EXPECT_THAT(*set->causes_of({ask}, nullptr), ElementsAre(nullptr, nullptr));
  auto nearer = record("B/ask", "{}", "requested", "{}", set->causes_of({inner}, inner));
  Causes causes = set->causes_of({nearer}, nearer);
  EXPECT_EQ((*causes)[0], nullptr);
  EXPECT_EQ((*causes)[1]->invocation, nearer->invocation);
  // A cause is kept without causes of its own, so that chains of them end.
  EXPECT_EQ((*causes)[1]->causes, nullptr);
}

// -------------------------------------------------------------------------------------------------- follow-ups

std::vector<std::string> follow_ups(const SyncSet& set, const RecordRef& record, const StateReader& state) {
  auto matches = set.new_memory()->add(record);
  std::vector<std::string> texts;
  for (const Match& match : matches) {
    auto found = set.follow_ups(match, state, nullptr);
    if (!found) return {std::string(code_name(found.error().code)) + ": " + found.error().message};
    for (std::string& text : texts_of(set, *found)) texts.push_back(std::move(text));
  }
  return texts;
}

TEST(FollowUps, EveryEffectOnceARow) {
  auto set = set_of(kSmallKit,
                    "sync S when { A/go: [ k: ?k ] => ok[ n: ?n ] } then { Sink/put: [ k: ?k ] Sink/drop: [] "
                    "Sink/put: [ n: ?n ] }");
  RecordOf record{*set};
  StateInMemory state;
  auto done = record("A/go", R"({"k":"x"})", "ok", R"({"n":4})");
  EXPECT_THAT(follow_ups(*set, done, state),
              ElementsAre(R"(Sink/put {"k":"x"})", "Sink/drop {}", R"(Sink/put {"n":4})"));
  size_t rows = 0;
  auto found = set->follow_ups(set->new_memory()->add(done).at(0), state, &rows);
  EXPECT_EQ(rows, 1);
  EXPECT_EQ((*found)[2].place, 2);
  EXPECT_EQ((*found)[2].row, 0);
}

TEST(FollowUps, AnswersNameTheRequest) {
  auto set = set_of(kSmallKit,
                    "sync S when { A/ask: [ k: ?k ] => requested as ?r } then { answer ?r => no[ k: \"not {{k}}\" ] }");
  RecordOf record{*set};
  auto asked = record("A/ask", R"({"k":"x"})", "requested");
  EXPECT_THAT(follow_ups(*set, asked, StateInMemory()), ElementsAre(R"(answer 1 => no {"k":"not x"})"));
  auto found = set->follow_ups(set->new_memory()->add(asked).at(0), StateInMemory(), nullptr);
  EXPECT_EQ((*found)[0].action, asked->action);
  EXPECT_EQ((*found)[0].variant, 1);
}

TEST(FollowUps, ARequestReadFromStateCanBeAnswered) {
  auto set = set_of({lang::kOrder, lang::kCard},
                    "sync S when { Card/hold: [ card: ?c ] => ok[] } where { Order: { ?o note: ?c; asked: ?r } } "
                    "then { answer ?r => declined[ order: ?o; reason: \"held\" ] }");
  RecordOf record{*set};
  StateInMemory state;
  state.add("Order", "o1", R"({"note":"c","asked":")" + to_string(test_id(77)) + "\"}");
  auto held = record("Card/hold", R"({"card":"c"})", "ok", R"({"card":"c"})");
  EXPECT_THAT(follow_ups(*set, held, state), ElementsAre(R"(answer 77 => declined {"order":"o1","reason":"held"})"));
  StateInMemory broken;
  broken.add("Order", "o1", R"({"note":"c","asked":"soon"})");
  EXPECT_THAT(follow_ups(*set, held, broken),
              ElementsAre("invalid: sync `S`: it answers `?r`, but \"soon\" is no request"));
}

TEST(FollowUps, DynamicTargetsGoToTheCandidateOfThatName) {
  auto set = set_of(kSmallKit, "sync S when { A/go: [ k: ?p ] => ok[] } then { ?p in {B, C}/ask: [ k: \"x\" ] }");
  RecordOf record{*set};
  StateInMemory state;
  EXPECT_THAT(follow_ups(*set, record("A/go", R"({"k":"C"})", "ok"), state), ElementsAre(R"(C/ask {"k":"x"})"));
  EXPECT_THAT(follow_ups(*set, record("A/go", R"({"k":"B"})", "ok"), state), ElementsAre(R"(B/ask {"k":"x"})"));
  EXPECT_THAT(follow_ups(*set, record("A/go", R"({"k":"A"})", "ok"), state),
              ElementsAre(R"(B/ask unavailable A {"k":"x"})"));
}

TEST(FollowUps, AWhereThatFailedCanBeSolvedAgain) {
  auto set = set_of({lang::kOrder, lang::kCard},
                    "sync S when { Card/hold: [ card: ?c ] => ok[] } where { Order: { ?o note: ?c } } "
                    "then { Order/pay: [ order: ?o; amount: 1 ] }");
  RecordOf record{*set};
  auto held = record("Card/hold", R"({"card":"c"})", "ok", R"({"card":"c"})");
  StateInMemory crowded, one;
  for (int i = 0; i <= 10'000; ++i) crowded.add("Order", "o" + std::to_string(i), R"({"note":"c"})");
  one.add("Order", "o1", R"({"note":"c"})");
  EXPECT_THAT(follow_ups(*set, held, crowded), ElementsAre("limit: sync `S`: it reads more than 10000 rows of Order"));
  EXPECT_THAT(follow_ups(*set, held, StateInMemory()), IsEmpty());
  EXPECT_THAT(follow_ups(*set, held, one), ElementsAre(R"(Order/pay {"order":"o1","amount":1})"));
}

// A coordinating concept whose work another one does: routed by its arguments, answered by what that came to.
TEST(FollowUps, ARoutedActionIsAnsweredByWhatItWasRoutedTo) {
  const std::vector<std::string> concepts = {R"(concept Runtime [I] {
  actions {
    action provision(concept: String, runtimeType: String, config: String) {
      runs: answered
      -> ok(instance: I, endpoint: String)
      -> provisionFailed(concept: String, runtimeType: String, reason: String)
    }
  }
}
)",
                                             R"(concept LocalRuntime [L] {
  actions {
    action provision(concept: String, config: String) {
      runs: effect
      -> ok(endpoint: String)
      -> portInUse(port: Int)
    }
  }
}
)"};
  auto set = set_of(concepts, R"(sync RouteToLocal [eager]
  when { Runtime/provision: [ concept: ?c; runtimeType: "local"; config: ?cfg ] => requested }
  then { LocalRuntime/provision: [ concept: ?c; config: ?cfg ] }
sync LocalProvisioned [eager]
  when { LocalRuntime/provision: [] => ok[ endpoint: ?e ]
         caused by Runtime/provision: [] => requested as ?ask }
  then { answer ?ask => ok[ endpoint: ?e ] }
sync LocalPortInUse [eager]
  when { LocalRuntime/provision: [] => portInUse[ port: ?port ]
         caused by Runtime/provision: [ concept: ?c; runtimeType: ?t ] => requested as ?ask }
  then { answer ?ask => provisionFailed[ concept: ?c; runtimeType: ?t; reason: "port {{port}} is in use" ] }
)");
  RecordOf record{*set};
  StateInMemory state;
  auto ask = record("Runtime/provision", R"({"concept":"Cart","runtimeType":"local","config":"c"})", "requested");
  EXPECT_THAT(follow_ups(*set, ask, state), ElementsAre(R"(LocalRuntime/provision {"concept":"Cart","config":"c"})"));
  auto beneath = set->causes_of({ask}, ask);
  auto done = record("LocalRuntime/provision", "{}", "ok", R"({"endpoint":"unix:/e"})", beneath);
  EXPECT_THAT(follow_ups(*set, done, state), ElementsAre(R"(answer 1 => ok {"endpoint":"unix:/e"})"));
  auto failed = record("LocalRuntime/provision", "{}", "portInUse", R"({"port":8080})", beneath);
  EXPECT_THAT(follow_ups(*set, failed, state),
              ElementsAre(R"(answer 1 => provisionFailed {"concept":"Cart","runtimeType":"local",)"
                          R"("reason":"port 8080 is in use"})"));
  auto remote = record("Runtime/provision", R"({"concept":"Cart","runtimeType":"lambda","config":"c"})", "requested");
  EXPECT_THAT(follow_ups(*set, remote, state), IsEmpty());
  auto outside = record("LocalRuntime/provision", "{}", "ok", R"({"endpoint":"unix:/e"})");
  EXPECT_THAT(follow_ups(*set, outside, state), IsEmpty());
}

TEST(FollowUps, UuidsDifferBetweenFirings) {
  auto set = set_of(kSmallKit, "sync S when { A/go: [] => ok[] } then { Sink/put: [ k: uuid() ] }");
  RecordOf record{*set};
  StateInMemory state;
  auto one = record("A/go", "{}", "ok"), other = record("A/go", "{}", "ok");
  EXPECT_EQ(follow_ups(*set, one, state), follow_ups(*set, one, state));
  EXPECT_NE(follow_ups(*set, one, state), follow_ups(*set, other, state));
}

}  // namespace sync_set_test
}  // namespace sluice::engine
