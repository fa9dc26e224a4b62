// A clock that was set is told of until recorded time agrees with it again.
#include "deploy/views/clock.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace clock_test {

TEST(FirstWeek22, AClockThatWasSetIsToldOfUntilItIsOver) {
  RowsInMemory rows;
  EXPECT_FALSE(clock_trouble(rows));
  json::object jump{{"at_ms", 1'900'000'000'000}, {"over", false}, {"what", "the system's clock went back by 2 h"}};
  rows.rows.put("engine.clock", "jump", jump);
  auto trouble = clock_trouble(rows);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->what,
            "the system's clock went back by 2 h, noticed at 2030-03-17T17:46:40.000Z; recorded time approaches it "
            "slowly, and nothing is removed for its age meanwhile");
  EXPECT_EQ(trouble->next,
            "set the system's clock right; if it is right, correct the recorded time with audit correct-clock");
  jump["over"] = true;
  rows.rows.put("engine.clock", "jump", jump);
  EXPECT_FALSE(clock_trouble(rows));
}

}  // namespace clock_test
}  // namespace sluice::deploy::views
