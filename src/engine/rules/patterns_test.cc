// Patterns as they are compiled: classes of causes, texts and groups. What they match is tested in joins_test.cc.
#include "engine/rules/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/rules/compiled_set.h"
#include "engine/testing_engine.h"
#include "engine/testing_small_kit.h"

namespace sluice::engine {
namespace patterns_test {

using testing::ElementsAre;

TEST(Patterns, EqualClassesOfCausesShareANumber) {
  auto set = set_of(kSmallKit,
                    "sync A when { A/go: [] => ok[]  caused by B/go: [ k: ?k ] => ok[] } then { Sink/put: [] }\n"
                    "sync B when { C/go: [] => ok[]  caused by B/go: [] => ok[ n: ?n ] } then { Sink/put: [] }\n"
                    "sync C when { C/go: [] => ok[]  caused by B/go: [] => bad[] } then { Sink/put: [] }\n"
                    "sync D when { C/go: [] => ok[]  caused by B/go: [] => [ m: _ ] } then { Sink/put: [] }\n"
                    "sync E when { C/go: [] => ok[]  caused by B/ask: [] => requested } then { Sink/put: [] }");
  EXPECT_EQ(set->compiled()->causes.size(), 3);  // `[ m: _ ]` is `ok` alone
}

TEST(Patterns, TextIsCanonicalAndOnOneLine) {
  auto set = set_of(
      kSmallKit, "sync A when { A/go : [k:?k;n:_]=>ok [k:?k]   latest B/go:[]=>[ k : \"x\" ] } then { Sink/put: [] }");
  const When& when = set->compiled()->syncs[0].when;
  EXPECT_EQ(when.patterns[0].text, "A/go: [ k: ?k; n: _ ] => ok[ k: ?k ]");
  EXPECT_EQ(when.patterns[1].text, "latest B/go: [] => [ k: \"x\" ]");
}

TEST(Patterns, AGroupBindsWhatItsCausesBind) {
  auto set = set_of(kSmallKit,
                    "sync A when { A/go: [ k: ?a ] => ok[]  caused by B/go: [ k: ?b ] => ok[]  "
                    "caused by B/ask: [] => requested as ?r  C/go: [ k: ?b ] => ok[] } then { Sink/put: [] }");
  const CompiledSync& sync = set->compiled()->syncs[0];
  ASSERT_EQ(sync.when.groups.size(), 2);
  EXPECT_THAT(sync.when.groups[0].slots, ElementsAre(0, 1, 2));
  EXPECT_THAT(sync.when.groups[0].causes, ElementsAre(1, 2));
  EXPECT_THAT(sync.when.groups[1].slots, ElementsAre(1));
  ASSERT_EQ(sync.plan.indexes.size(), 2);
  EXPECT_THAT(sync.plan.indexes[0].key, ElementsAre(1));
}

}  // namespace patterns_test
}  // namespace sluice::engine
