// Host values in memory.
#include "deploy/views/container_engine.h"

#include <gtest/gtest.h>

#include "config.gen.h"
#include "deploy/testing_views.h"
#include "env.gen.h"

namespace sluice::deploy::views {
namespace container_engine_test {

TEST(ContainerEngine, IsTheOneOfItsEnvironment) {
  RowsInMemory rows;
  EXPECT_EQ(container_engine(rows, "local"), "");
  config::State(rows.rows).values(config::ConfigId("local")).push({.key = "container_engine", .value = "/run/x.sock"});
  EXPECT_EQ(container_engine(rows, "local"), "/run/x.sock");
  EXPECT_EQ(container_engine(rows, "staging"), "");
}

TEST(ContainerEngine, ADeployerMayRunNothingElse) {
  RowsInMemory rows;
  env::State state(rows.rows);
  state.packs(env::EnvId("prod")).push({.slot = "state", .kind = "sluice.state.memory@1.0.0"});
  state.packs(env::EnvId("prod")).push({.slot = "deployer", .kind = "sluice.deployer.container@1.0.0"});
  state.packs(env::EnvId("local")).push({.slot = "deployer", .kind = "sluice.deployer.local-process@1.0.0"});
  EXPECT_TRUE(runs_containers_alone(rows, "prod"));
  EXPECT_FALSE(runs_containers_alone(rows, "local"));
  EXPECT_FALSE(runs_containers_alone(rows, "none"));
}

}  // namespace container_engine_test
}  // namespace sluice::deploy::views
