// That conformance finds what is wrong with many runs.
#include <gtest/gtest.h>

#include "lang/run/conformance.h"
#include "lang/run/testing_counter.h"

namespace sluice::lang {
namespace conformance_many_test {

TEST(ConformanceMany, TellsWhatDoesNotHoldForAll) {
  ConceptBinding binding = counter({.add_too_much = 1});
  Conformance conformance(binding, kCounter, nullptr);
  EXPECT_EQ(conformance.invariant(2), "line 37 does not hold");
}

TEST(ConformanceMany, TellsWhatDoesNotAlwaysOrNeverHold) {
  ConceptBinding below = counter({.add_too_much = -2});
  EXPECT_EQ(Conformance(below, kCounter, nullptr).invariant(3),
            "line 39 does not hold after add {\"counter\":\"00000000000000000000000001\",\"by\":1} => ok "
            "{\"counter\":\"00000000000000000000000001\",\"value\":-1}");
  ConceptBinding unlucky = counter({.add_too_much = 12});
  EXPECT_EQ(Conformance(unlucky, kCounter, nullptr).invariant(4),
            "line 40 holds after add {\"counter\":\"00000000000000000000000001\",\"by\":1} => ok "
            "{\"counter\":\"00000000000000000000000001\",\"value\":13}");
}

TEST(ConformanceMany, TellsABrokenContractAndOneThatNothingReaches) {
  ConceptBinding broken = counter({.add_too_much = -1});
  EXPECT_EQ(Conformance(broken, kCounter, nullptr).invariant(5),
            "line 43 is not ensured by add {\"counter\":\"00000000000000000000000001\",\"by\":1} => ok "
            "{\"counter\":\"00000000000000000000000001\",\"value\":0}");
  ConceptBinding binding = counter({});
  EXPECT_EQ(Conformance(binding, kCounter, nullptr).invariant(6),
            "no fixture and no example reaches what it speaks of");
}

}  // namespace conformance_many_test
}  // namespace sluice::lang
