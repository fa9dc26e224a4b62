// That conformance finds what is wrong with one run.
#include "lang/run/conformance.h"

#include <gtest/gtest.h>

#include "lang/run/testing_counter.h"

namespace sluice::lang {
namespace conformance_test {

TEST(Conformance, PassesWhatConforms) {
  ConceptBinding binding = counter({});
  Conformance conformance(binding, kCounter, nullptr);
  for (const char* name : {"zero", "seven", "below", "one", "asked"}) EXPECT_EQ(conformance.fixture(name), "") << name;
  for (size_t i = 0; i < 6; i++) EXPECT_EQ(conformance.invariant(i), "") << i;
}

TEST(Conformance, TellsAFixtureThatEndsOtherwise) {
  ConceptBinding binding = counter({.accept_negative = true});
  Conformance conformance(binding, kCounter, nullptr);
  EXPECT_EQ(conformance.fixture("below"),
            "start {\"at\":-1}: expected negative, got ok {\"counter\":\"00000000000000000000000001\"}");
  EXPECT_EQ(conformance.fixture("none"), "there is no fixture none");
}

TEST(Conformance, TellsAnExampleThatGoesWrong) {
  ConceptBinding binding = counter({.add_too_much = 1});
  Conformance conformance(binding, kCounter, nullptr);
  EXPECT_EQ(conformance.invariant(0), "line 26: expected value: 5, got 6");
}

TEST(Conformance, TellsAnIdThatFinishDoesNotGiveBack) {
  ConceptBinding binding = counter({.forget_counter = true});
  EXPECT_EQ(Conformance(binding, kCounter, nullptr).fixture("asked"),
            "ask => ok does not give counter back: expected \"00000000000000000000000001\", got \"\"");
}

TEST(Conformance, TellsAnIdOfItsOwnThatFinishDoesNotFill) {
  const std::string_view maker =
      "concept Maker [M] { actions { action make(n: Int) { runs: answered -> ok(thing: M) fixture one { n: 1 } } } }";
  auto fixture = [&](const std::string& id) {
    ActionBinding make{.name = "make", .runs = Runs::answered};
    make.check = [](const json::object&) -> Result<void> { return {}; };
    make.begin = [](const json::object&, Rows&) -> Result<BegunAction> { return BegunAction(Started{}); };
    make.finish = [id](const json::object&, const Ending& ending, Rows&) -> Result<Ending> {
      Completion done = std::get<Completion>(ending);
      done.fields["thing"] = id;
      return Ending(done);
    };
    ConceptBinding binding{.name = "Maker", .actions = {make}};
    return Conformance(binding, maker, nullptr).fixture("one");
  };
  EXPECT_EQ(fixture("t1"), "");
  EXPECT_EQ(fixture(""), "make => ok has no thing: an answer may leave it out, and finish has not filled it");
}

TEST(Conformance, GivesEachHarnessItsTools) {
  int prepared = 0;
  ConceptBinding binding = counter({});
  Conformance conformance(binding, kCounter, [&](Harness&) { prepared++; });
  EXPECT_EQ(conformance.fixture("one"), "");
  EXPECT_EQ(prepared, 1);
}

}  // namespace conformance_test
}  // namespace sluice::lang
