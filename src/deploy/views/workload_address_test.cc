// Host values in memory.
#include "deploy/views/workload_address.h"

#include <gtest/gtest.h>

#include "config.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace workload_address_test {

TEST(WorkloadAddress, IsTheOneOfItsEnvironment) {
  RowsInMemory rows;
  EXPECT_EQ(workload_address(rows, "local"), "");
  config::State(rows.rows).values(config::ConfigId("local")).push({.key = "workload_address", .value = "10.0.0.5"});
  EXPECT_EQ(workload_address(rows, "local"), "10.0.0.5");
  EXPECT_EQ(workload_address(rows, "staging"), "");
}

}  // namespace workload_address_test
}  // namespace sluice::deploy::views
