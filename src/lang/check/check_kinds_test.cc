// Records by kind.
#include "lang/check/check_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_kinds_test {

using testing::ElementsAre;

TEST(Kinds, AreToldApartByLiteralsThatSomePatternNames) {
  Checked checked =
      check(kit_of({"concept A { actions { action x(n: Int, t: String) { -> ok } } }"},
                   "sync S when { A/x: [ n: 1 ] => ok[] } then { A/x: [ n: 2; t: \"a\" ] A/x: [ n: 2; t: \"b\" ] }\n"
                   "sync T [loop] when { A/x: [ t: ?t ] => ok[] } then { A/x: [ n: 1; t: ?t ] }"));
  ASSERT_TRUE(checked.kit);
  Kinds kinds(checked.kit->kit(), checked.kit->symbols(), checked.kit->syncs());
  size_t unknown = kinds.number({0, 0});
  size_t one = kinds.meant(0, 0), two = kinds.started(0, 0)[0];
  EXPECT_EQ(kinds.all[unknown].given, Literals{});
  EXPECT_EQ(kinds.all[one].given, (Literals{{"n", "1"}}));
  EXPECT_EQ(kinds.all[two].given, (Literals{{"n", "2"}}));
  EXPECT_THAT(kinds.started(0, 1), ElementsAre(two));
  EXPECT_THAT(kinds.started(1, 0), ElementsAre(one));
  EXPECT_EQ(kinds.meant(1, 0), unknown);
  EXPECT_THAT(kinds.taken(0, 0), ElementsAre(unknown, one));
  EXPECT_THAT(kinds.taken(1, 0), ElementsAre(unknown, one, two));
}

TEST(Kinds, AreOneWhereComparingThemTakesTooLong) {
  std::string rules;
  for (int i = 0; i < 1200; ++i) {
    std::string n = std::to_string(i);
    rules += "sync S" + n + " [loop] when { A/x: [ " + (i % 2 == 0 ? "n" : "m") + ": " + n +
             " ] => ok[] } then { A/x: [ " + (i % 2 == 0 ? "m" : "n") + ": " + n + " ] }\n";
  }
  Checked checked =
      check(kit_of({"concept A { actions { action x(n: option Int, m: option Int) { -> ok } } }"}, rules));
  ASSERT_TRUE(checked.kit);
  Kinds kinds(checked.kit->kit(), checked.kit->symbols(), checked.kit->syncs());
  EXPECT_THAT(kinds.started(7, 0), ElementsAre(kinds.number({0, 0})));
  EXPECT_THAT(kinds.taken(7, 0), ElementsAre(kinds.number({0, 0})));
}

}  // namespace check_kinds_test
}  // namespace sluice::lang
