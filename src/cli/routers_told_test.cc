// What is said of routers, word by word.
#include "cli/routers_told.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"
#include "deploy/testing_views.h"
#include "router.gen.h"

namespace sluice::cli {
namespace routers_told_test {

class RoutersTold : public testing::Test {
 protected:
  void member(const std::string& name, int64_t acknowledged, const std::string& trouble = "") {
    deploy::router::State state(rows.rows);
    state.put(local, {.generation = 7});
    state.members(local).push({.router = name, .name = name, .acknowledged = acknowledged, .trouble = trouble});
  }
  std::string said() {
    tell_of_routers(world.context, deploy::views::States(rows), "local");
    return world.err.str();
  }

  const deploy::router::RouterId local{"local"};
  deploy::RowsInMemory rows;
  TestingContext world{{}};
};

TEST_F(RoutersTold, ThatThereIsNone) { EXPECT_EQ(said(), "no router serves local yet; next: sluice router run\n"); }

TEST_F(RoutersTold, ThatAllObey) {
  member("main", 7);
  member("second", 8);
  EXPECT_EQ(said(), "obeyed by the router main, second\n");
}

TEST_F(RoutersTold, WhoDoesNot) {
  member("main", 7);
  member("second", 6, "it has gone");
  EXPECT_EQ(said(), "warning: the router second does not obey it yet: it has gone\nobeyed by the router main\n");
}

}  // namespace routers_told_test
}  // namespace sluice::cli
