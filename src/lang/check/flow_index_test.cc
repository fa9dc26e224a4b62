// Who starts, matches and answers what.
#include "lang/check/flow_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace flow_index_test {

using testing::ElementsAre;

TEST(FlowIndex, CountsPlainPatternsAlone) {
  Checked checked = check(
      kit_of({"concept A { actions { action x(n: Int) { -> ok(n: Int) -> bad }\naction y(n: Int) { runs: answered -> "
              "ok } } }"},
             "sync S when { A/x: [] => ok[ n: ?n ] } then { A/y: [ n: ?n ] }\n"
             "sync T when { A/y: [ n: ?n ] => requested as ?r  latest A/x: [] => bad[] } then { answer ?r => ok[] }"));
  ASSERT_TRUE(checked.kit);
  Kinds kinds(checked.kit->kit(), checked.kit->symbols(), checked.kit->syncs());
  FlowIndex flow(checked.kit->kit(), checked.kit->symbols(), checked.kit->syncs(), kinds);
  size_t x = flow.number({0, 0}), y = flow.number({0, 1});
  EXPECT_THAT(flow.matched[flow.first[x]], ElementsAre(0u));
  EXPECT_TRUE(flow.matched[flow.first[x] + 1].empty());
  EXPECT_THAT(flow.requested[y], ElementsAre(1u));
  EXPECT_THAT(flow.invokes[0], ElementsAre(y));
  EXPECT_THAT(flow.answers[1], ElementsAre(y));
  EXPECT_THAT(flow.answered[y], ElementsAre(0u));
  EXPECT_EQ(flow.place(flow.started[y][0]).at.column, 47u);
}

TEST(FlowIndex, MarksAreEmptiedAtOnce) {
  Marks marks(3);
  EXPECT_TRUE(marks.add(1));
  EXPECT_FALSE(marks.add(1));
  EXPECT_FALSE(marks.has(0));
  marks.clear();
  EXPECT_FALSE(marks.has(1));
}

}  // namespace flow_index_test
}  // namespace sluice::lang
