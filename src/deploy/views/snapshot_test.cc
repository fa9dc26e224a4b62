// What a router would obey.
#include "deploy/views/snapshot.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace snapshot_test {

TEST(RouterSnapshot, HasGenerationsRoutesAndEndpoints) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.split("d1", {{"r1", 10'000}});
  const States states(rows);
  json::object one = router_snapshot(states, "local").at("deployments").as_array()[0].as_object();
  EXPECT_EQ(one.at("generation"), json::value(7));
  EXPECT_EQ(one.at("routes").as_array()[0].at("host"), json::value("acme.example"));
  EXPECT_EQ(one.at("revisions").as_array()[0].at("endpoint"), json::value("http://r1"));
}

TEST(RouterSnapshot, APausedDeploymentTakesNothingAndAnArchivedOneIsGone) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.split("d1", {{"r1", 10'000}});
  deployment::State state(rows.rows);
  const deployment::DeploymentId id("d1");
  state.edit(id, [](auto& record) { record.status = deployment::DeploymentStatus::paused; });
  const States states(rows);
  json::object paused = router_snapshot(states, "local").at("deployments").as_array()[0].as_object();
  EXPECT_TRUE(paused.at("revisions").as_array().empty());
  EXPECT_EQ(paused.at("routes").as_array().size(), 1U);
  state.edit(id, [](auto& record) { record.status = deployment::DeploymentStatus::archived; });
  EXPECT_TRUE(router_snapshot(states, "local").at("deployments").as_array().empty());
}

}  // namespace snapshot_test
}  // namespace sluice::deploy::views
