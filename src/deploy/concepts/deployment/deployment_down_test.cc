// Where data is left and taken up, of rows in memory; the whole of a down is in down_sync_test.cc.
#include <gtest/gtest.h>

#include "deploy/concepts/deployment/deployment_rows.h"
#include "deploy/concepts/deployment/deployment_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deployment {
namespace deployment_down_test {

const DeploymentRecord kShop{.environment = "local", .bundle = "shop", .customer = "acme"};

TEST(DeploymentData, OfAnEarlierVersionIsUnderTheNameOfItsDeployment) {
  lang::Harness harness{deployment_binding()};
  State state(harness.rows());
  leave_data(state, DeploymentId("01JA"), kShop);
  EXPECT_EQ(take_data(state, DeploymentId("01JB"), kShop), "d-01ja");
  EXPECT_EQ(take_data(state, DeploymentId("01JC"), kShop), "d-01jc") << "it was taken";
}

TEST(DeploymentData, ThatIsBeingDeletedIsNotTakenUp) {
  lang::Harness harness{deployment_binding()};
  State state(harness.rows());
  leave_data(state, DeploymentId("01JA"), kShop);
  auto begun = Deployment::begin_delete_data({.storage = "d-01ja"}, state);
  EXPECT_NE(get_if<lang::Opened>(&begun), nullptr);
  EXPECT_EQ(take_data(state, DeploymentId("01JB"), kShop), "d-01jb");
}

TEST(DeploymentData, StaysIfItCouldNotBeDeleted) {
  lang::Harness harness{deployment_binding()};
  State state(harness.rows());
  leave_data(state, DeploymentId("01JA"), kShop);
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  EXPECT_EQ(harness.invoke(DeleteData{.storage = "d-01ja"}).as<DeleteData::Stuck>().message, "nobody answered");
  EXPECT_EQ(take_data(state, DeploymentId("01JB"), kShop), "d-01ja");
}

TEST(DeploymentDown, RefusedIfNobodyAnswers) {
  lang::Harness harness{deployment_binding()};
  auto id = State(harness.rows()).add(kShop);
  const lang::EngineEnd end{.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"};
  harness.end_with(end);
  EXPECT_EQ(harness.invoke(Down{.deployment = id}).as<Down::Refused>().message, "nobody answered");
  harness.end_with(end);
  EXPECT_EQ(harness.invoke(RollBack{.deployment = id, .steps = 1}).as<RollBack::Refused>().message, "nobody answered");
}

}  // namespace deployment_down_test
}  // namespace sluice::deploy::deployment
