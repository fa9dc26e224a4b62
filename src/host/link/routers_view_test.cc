// The view is there under its name; what it shows of real routers is looked at in tests/router/test_remote_routers.py.
#include "host/link/routers_view.h"

#include <gtest/gtest.h>

namespace sluice::host {
namespace routers_view_test {

TEST(RoutersView, IsOneOfTheHosts) {
  const auto views = routers_views();
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views.front().name, "router-list");
}

}  // namespace routers_view_test
}  // namespace sluice::host
