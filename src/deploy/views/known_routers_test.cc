// Routers of every environment, with where they are reached.
#include "deploy/views/known_routers.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "router.gen.h"

namespace sluice::deploy::views {
namespace known_routers_test {

TEST(KnownRouters, AreThoseOfAllEnvironments) {
  RowsInMemory rows;
  EXPECT_TRUE(known_routers(rows).empty());
  router::State state(rows.rows);
  for (const char* environment : {"local", "staging"}) {
    state.put(router::RouterId(environment), {.generation = 1});
    state.members(router::RouterId(environment))
        .push({.router = std::string("of-") + environment, .name = "main", .control = "/run/control"});
  }
  const std::vector<KnownRouter> found = known_routers(rows);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].environment, "local");
  EXPECT_EQ(found[0].member.router, "of-local");
  EXPECT_EQ(found[1].environment, "staging");
  EXPECT_EQ(found[1].member.name, "main");
  EXPECT_EQ(found[1].member.control, "/run/control");
}

}  // namespace known_routers_test
}  // namespace sluice::deploy::views
