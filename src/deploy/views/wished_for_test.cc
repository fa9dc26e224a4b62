// Who still needs an archive, of rows in memory.
#include "deploy/views/wished_for.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace wished_for_test {

TEST(WishedFor, ByAnUpOrByADocument) {
  RowsInMemory rows;
  EXPECT_FALSE(is_wished_for(rows, "sha256:1"));
  deployment::State(rows.rows).add(deployment::DeploymentCRecord{.wish = {.source = "sha256:1,sha256:2"}});
  EXPECT_TRUE(is_wished_for(rows, "sha256:1"));
  EXPECT_TRUE(is_wished_for(rows, "sha256:1,sha256:9"));
  EXPECT_FALSE(is_wished_for(rows, "sha256:3"));
  env::State state(rows.rows);
  auto apply = state.add(env::EnvARecord{.appliedTo = "local"});
  state.steps(apply).push({.input = R"({"archive":"sha256:3"})"});
  EXPECT_TRUE(is_wished_for(rows, "sha256:3"));
}

}  // namespace wished_for_test
}  // namespace sluice::deploy::views
