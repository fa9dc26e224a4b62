// Cycles of syncs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace cycles_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kA =
    "concept A { actions { action x(kind: String) { -> ok(kind: String) } action slow(kind: String) { runs: effect -> "
    "ok } } }";
const std::string kB =
    "concept B { actions { action y(kind: String) { -> ok(kind: String) } action ask(kind: String) { runs: answered -> "
    "ok } } }";

std::vector<std::string> cycles_of(const std::string& rules) {
  Checked checked = check(kit_of({kA, kB}, rules));
  std::vector<std::string> found;
  if (!checked.kit) return {"the kit has errors"};
  for (const Cycle& each : checked.kit->cycles()) {
    found.push_back(to_string(each, checked.kit->kit(), checked.kit->symbols()) + (each.outside ? " outside" : "") +
                    (each.loop ? " loop" : ""));
  }
  return found;
}

TEST(Cycles, PureOnesAreWarnedOfWithTheirPath) {
  std::string rules =
      "sync S when { A/x: [ kind: ?k ] => ok[] } then { B/y: [ kind: ?k ] }\nsync T when { B/y: [ kind: ?k ] => ok[] } "
      "then { A/x: [ kind: ?k ] }";
  EXPECT_THAT(cycles_of(rules), ElementsAre("S → B/y → T → A/x → S"));
  EXPECT_THAT(told_of_flow(kit_of({kA, kB}, rules)),
              testing::Contains("rules.sync:1:6+1 warning cycle: an endless cascade: S → B/y → T → A/x → S [break it, "
                                "or mark a sync on it [loop] if it ends by itself]"));
}

TEST(Cycles, EachSyncOfAPartIsOnOneThatIsTold) {
  EXPECT_THAT(cycles_of("sync S when { A/x: [ kind: ?k ] => ok[] } then { B/y: [ kind: ?k ] A/x: [ kind: ?k ] }\n"
                        "sync T when { B/y: [ kind: ?k ] => ok[] } then { A/x: [ kind: ?k ] }"),
              ElementsAre("S → A/x → S", "T → A/x → S → B/y → T"));
}

TEST(Cycles, APatternThatLeavesItsActionOpenHearsThemAll) {
  EXPECT_THAT(cycles_of("sync S when { A/?a: [ kind: ?k ] => ok[] } then { A/x: [ kind: ?k ] }"),
              ElementsAre("S → A/x → S"));
  // What a sync on everything starts itself it does not hear; what another one starts it does.
  EXPECT_THAT(cycles_of("sync S when { ?c/?a: [ kind: ?k ] => ok[] } then { A/x: [ kind: ?k ] }"), IsEmpty());
  EXPECT_THAT(cycles_of("sync S when { ?c/?a: [ kind: ?k ] => ok[] } then { A/x: [ kind: ?k ] }\n"
                        "sync T when { ?c/?a: [ kind: ?k ] => ok[] } then { B/y: [ kind: ?k ] }"),
              ElementsAre("S → A/x → T → B/y → S"));
  EXPECT_THAT(cycles_of("sync S when { B/?a: [ kind: ?k ] => requested as ?r } then { answer ?r => ok[] }\n"
                        "sync T when { B/ask: [ kind: ?k ] => ok[] } then { B/ask: [ kind: ?k ] }"),
              ElementsAre("S → B/ask → T → B/ask → S"));
}

TEST(Cycles, ALoopIsMeant) {
  std::string rules = "sync S [loop] when { A/x: [ kind: ?k ] => ok[] } then { A/x: [ kind: ?k ] }";
  EXPECT_THAT(cycles_of(rules), ElementsAre("S → A/x → S loop"));
  EXPECT_THAT(told_of_flow(kit_of({kA, kB}, rules)),
              testing::Not(testing::Contains(testing::HasSubstr("warning cycle"))));
}

TEST(Cycles, ThroughAnEffectTheyAreOnlyListed) {
  std::string rules =
      "sync S when { A/slow: [ kind: ?k ] => ok[] } then { B/y: [ kind: ?k ] }\nsync T when { B/y: [ kind: ?k ] => "
      "ok[] } then { A/slow: [ kind: ?k ] }";
  EXPECT_THAT(cycles_of(rules), ElementsAre("S → B/y → T → A/slow → S outside"));
  EXPECT_THAT(told_of_flow(kit_of({kA, kB}, rules)),
              testing::Not(testing::Contains(testing::HasSubstr("warning cycle"))));
}

TEST(Cycles, ANumberIsTheSameWithAndWithoutAFraction) {
  std::string a = "concept A { actions { action x(f: Float) { -> ok } } }";
  auto with = [&](const std::string& given) {
    return told_of_flow(kit_of({a}, "sync S when { A/x: [ f: 1 ] => ok[] } then { A/x: [ f: " + given + " ] }"));
  };
  EXPECT_THAT(with("1.0"), testing::SizeIs(1));
  EXPECT_THAT(with("1.5"), IsEmpty());
}

TEST(Cycles, LiteralsThatDifferBreakTheCycle) {
  EXPECT_THAT(cycles_of("sync S when { A/x: [ kind: \"one\" ] => ok[] } then { A/x: [ kind: \"two\" ] }"), IsEmpty());
  EXPECT_THAT(cycles_of("sync S when { A/x: [ kind: \"one\" ] => ok[] } then { A/x: [ kind: \"one\" ] }"),
              ElementsAre("S → A/x → S"));
}

TEST(Cycles, AnAnsweredActionLeadsOnOnlyWhenItIsAnswered) {
  EXPECT_THAT(cycles_of("sync S when { B/ask: [ kind: ?k ] => ok[] } then { B/ask: [ kind: ?k ] }"), IsEmpty());
  EXPECT_THAT(cycles_of("sync S when { B/ask: [ kind: ?k ] => ok[] } then { B/ask: [ kind: ?k ] }\n"
                        "sync T when { B/ask: [] => requested as ?r } then { answer ?r => ok[] }"),
              ElementsAre("S → B/ask → T → B/ask → S"));
}

TEST(Cycles, ThoseThatAreNotListedAreCounted) {
  std::string actions, rules;
  for (int i = 0; i < 30; ++i) {
    std::string n = std::to_string(i);
    actions += "action x" + n + "(n: Int) { -> ok }\n";
    rules += "sync H" + n + " when { A/h: [ n: ?n ] => ok[] } then { A/x" + n + ": [ n: ?n ] }\nsync B" + n +
             " when { A/x" + n + ": [ n: ?n ] => ok[] } then { A/h: [ n: ?n ] }\n";
  }
  std::vector<std::string> lines =
      told_of_flow(kit_of({"concept A { actions { action h(n: Int) { -> ok }\n" + actions + "} }"}, rules));
  EXPECT_THAT(lines, testing::SizeIs(21));
  EXPECT_THAT(lines,
              testing::Contains("rules.sync:1:6+2 warning cycle: 20 more syncs are on endless cascades with these, "
                                "and not listed [break the ones that are listed, and check again]"));
}

}  // namespace cycles_test
}  // namespace sluice::lang
