// That conformance finds what is wrong with one run.
#include "lang/conformance.h"

#include <gtest/gtest.h>

#include "lang/testing_counter.h"

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

TEST(Conformance, GivesEachHarnessItsTools) {
  int prepared = 0;
  ConceptBinding binding = counter({});
  Conformance conformance(binding, kCounter, [&](Harness&) { prepared++; });
  EXPECT_EQ(conformance.fixture("one"), "");
  EXPECT_EQ(prepared, 1);
}

}  // namespace conformance_test
}  // namespace sluice::lang
