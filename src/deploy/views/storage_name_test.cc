// Names of storage, of rows in memory.
#include "deploy/views/storage_name.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace storage_name_test {

TEST(StorageName, StandsInTheDeploymentOrFollowsFromItsId) {
  RowsInMemory rows;
  rows.deployment("01JD");
  EXPECT_EQ(storage_name(rows, "01JD"), "d-01jd");
  deployment::State(rows.rows).edit(deployment::DeploymentId("01JD"),
                                    [](deployment::DeploymentRecord& record) { record.storage = "d-01ja"; });
  EXPECT_EQ(storage_name(rows, "01JD"), "d-01ja");
}

}  // namespace storage_name_test
}  // namespace sluice::deploy::views
