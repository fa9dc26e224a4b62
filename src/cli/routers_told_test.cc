// What is said of routers, word by word.
#include "cli/routers_told.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"

namespace sluice::cli {
namespace routers_told_test {

std::string said(std::vector<deploy::views::RouterMemberView> members) {
  TestingContext world{{}};
  tell_of_routers(world.context, {.environment = "local", .generation = 7, .members = std::move(members)});
  return world.err.str();
}

TEST(RoutersTold, ThatThereIsNone) { EXPECT_EQ(said({}), "no router serves local yet; next: sluice router run\n"); }

TEST(RoutersTold, ThatAllObey) {
  EXPECT_EQ(said({{.name = "main", .obeys = true}, {.name = "second", .obeys = true}}),
            "obeyed by the router main, second\n");
}

TEST(RoutersTold, WhoDoesNot) {
  EXPECT_EQ(said({{.name = "main", .obeys = true}, {.name = "second", .trouble = "it has gone"}}),
            "warning: the router second does not obey it yet: it has gone\nobeyed by the router main\n");
}

}  // namespace routers_told_test
}  // namespace sluice::cli
