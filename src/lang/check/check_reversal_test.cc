// Reversals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_reversal_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told_of(const std::string& text) { return told(kit_of({text}, "")); }

TEST(CheckReversal, ReversalsTakeTheirArgumentsByName) {
  std::string text = R"(concept A [T] { actions {
  action make(name: String) {
    reversal: REVERSAL
    -> ok(thing: T)
    -> half(name: String)
  }
  action drop(thing: T, why: option String) { -> ok }
  action rename(thing: T, other: String) { -> ok }
  action clear(name: String) { -> ok }
  action count(name: Int) { -> ok }
} })";
  auto with = [&](const std::string& reversal) {
    std::string changed = text;
    return told_of(changed.replace(changed.find("REVERSAL"), 8, reversal));
  };
  EXPECT_THAT(with("drop"), IsEmpty());
  EXPECT_THAT(with("none"), IsEmpty());
  EXPECT_THAT(with("clear (half)"), IsEmpty());
  EXPECT_THAT(with("dorp"),
              ElementsAre("0.concept:3:15+4 error reversal: `A` has no action `dorp` [did you mean `drop`?]"));
  EXPECT_THAT(
      with("rename"),
      ElementsAre(
          "0.concept:3:15+6 error reversal: `rename` needs `other`, which neither `make => ok` nor its arguments "
          "have [add the field, or name an action that can do without it]"));
  EXPECT_THAT(with("drop (half)"),
              ElementsAre("0.concept:3:15+4 error reversal: `drop` needs `thing`, which neither `make => half` nor its "
                          "arguments have [add the field, or name an action that can do without it]"));
  EXPECT_THAT(with("count"), ElementsAre("0.concept:3:15+5 error reversal: `name` of `count` is Int, but `make` gives "
                                         "String [give both the same type, or name another action]"));
  EXPECT_THAT(with("clear (hafl)"),
              ElementsAre("0.concept:3:22+4 error reversal: `make` has no variant `hafl` [did you mean `half`?]"));
}

TEST(CheckReversal, AReversalCanBeRepeatedAndChangesSomething) {
  auto with = [](const std::string& runs) {
    return told(
        kit_of({"concept A [P] { actions { action make() { reversal: unmake -> ok(p: P) }\naction unmake(p: P) { " +
                runs + " -> ok } } }"},
               ""));
  };
  EXPECT_THAT(with(""), IsEmpty());
  EXPECT_THAT(with("runs: effect retry: safe"), IsEmpty());
  EXPECT_THAT(with("runs: effect"),
              ElementsAre("0.concept:1:53+6 error reversal: `unmake` undoes `make`, so it is repeated until it is "
                          "done, but it is not `retry: safe` [declare `unmake` `retry: safe`, and let it succeed "
                          "on what is not there]"));
  EXPECT_THAT(with("runs: query"),
              ElementsAre("0.concept:1:53+6 error reversal: `unmake` is a query: it undoes nothing [name the "
                          "action that takes back what `make` did]"));
}

TEST(CheckReversal, AnOptionMayBeLeftOutButIsOfItsType) {
  auto with = [](const std::string& argument, const std::string& field) {
    return told_of("concept A { actions { action a(" + argument + ") { reversal: b -> ok" + field +
                   " }\naction b(n: option Int) { -> ok } } }");
  };
  EXPECT_THAT(with("", ""), IsEmpty());
  EXPECT_THAT(with("n: Int", ""), IsEmpty());
  EXPECT_THAT(with("n: String", "(n: Int)"), IsEmpty());
  EXPECT_THAT(
      with("n: String", ""),
      ElementsAre("0.concept:1:55+1 error reversal: `n` of `b` is option Int, but `a` gives String [give both the "
                  "same type, or name another action]"));
  EXPECT_THAT(with("n: Int", "(n: list Int)"), testing::SizeIs(1));
}

TEST(CheckReversal, AQueryHasNone) {
  EXPECT_THAT(
      told_of("concept A { actions { action a(n: Int) { runs: query reversal: b -> ok }\naction b(n: Int) { -> ok "
              "} } }"),
      ElementsAre("0.concept:1:64+1 error reversal: `a` is a query: there is nothing to undo [leave `reversal:` "
                  "out]"));
}

}  // namespace check_reversal_test
}  // namespace sluice::lang
