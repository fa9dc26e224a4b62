// Literals, compared.
#include "lang/check/check_literals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/testing_rules.h"

namespace sluice::lang {
namespace check_literals_test {

using testing::ElementsAre;

TEST(Literals, AreTheFieldsThatAreGivenAsSuch) {
  SyncFile file = parsed_rules(
      "sync S when { A/x: [ a: 1; b: ?b; c: _; d: \"t\" ] => ok[] } then { A/x: [ a: 1.0; b: \"{{b}}\"; c: null ] }");
  const Sync& sync = sync_of(file, 0);
  EXPECT_EQ(literals_of(sync.when[0].input), (Literals{{"a", "1"}, {"d", "\"t\""}}));
  EXPECT_EQ(literals_of(sync.then[0].arguments), (Literals{{"a", "1"}, {"c", "null"}}));
  EXPECT_EQ(to_string(literals_of(sync.when[0].input)), ": [ a: 1; d: \"t\" ]");
  EXPECT_EQ(to_string(Literals{}), "");
}

TEST(Literals, AgreeUnlessOneFieldHasTwo) {
  EXPECT_TRUE(agree({{"a", "1"}}, {{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(agree({}, {{"a", "1"}}));
  EXPECT_FALSE(agree({{"a", "1"}, {"b", "2"}}, {{"b", "3"}}));
}

TEST(Literals, AreComparedWithinALimit) {
  Literals none, one{{"a", "1"}}, two{{"a", "2"}}, other{{"b", "1"}};
  size_t left = 100;
  auto pairs = agreeing({&none, &one, &two}, {&one, &two, &other}, left);
  ASSERT_TRUE(pairs);
  EXPECT_THAT(*pairs, ElementsAre(ElementsAre(0u, 1u, 2u), ElementsAre(2u, 0u), ElementsAre(2u, 1u)));
  EXPECT_EQ(left, 93u);
  left = 6;
  EXPECT_FALSE(agreeing({&none, &one, &two}, {&one, &two, &other}, left));
}

}  // namespace check_literals_test
}  // namespace sluice::lang
