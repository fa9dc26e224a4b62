// Host values in memory.
#include "deploy/views/container_engine.h"

#include <gtest/gtest.h>

#include "config.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace container_engine_test {

TEST(ContainerEngine, IsTheOneOfItsEnvironment) {
  RowsInMemory rows;
  EXPECT_EQ(container_engine(rows, "local"), "");
  config::State(rows.rows).values(config::ConfigId("local")).push({.key = "container_engine", .value = "/run/x.sock"});
  EXPECT_EQ(container_engine(rows, "local"), "/run/x.sock");
  EXPECT_EQ(container_engine(rows, "staging"), "");
}

}  // namespace container_engine_test
}  // namespace sluice::deploy::views
