// The steps of a serve and of a takeBack, one test a variant; the whole of them is in plan_sync_test.cc.
#include <gtest/gtest.h>

#include "base/basis_points.h"
#include "deploy/concepts/deployment/deployment_rows.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deployment {
namespace deployment_serve_test {

class ServeTest : public testing::Test {
 protected:
  DeploymentId deployment(const std::string& bundle = "shop", const std::string& path = "/") {
    return State(harness.rows())
        .add({.environment = "local", .bundle = bundle, .customer = "acme", .route = {.pathPrefixes = {path}}});
  }
  DeploymentCId change(const DeploymentCRecord& record) {
    State state(harness.rows());
    return enqueue(state, record);
  }
  DeploymentCRecord back(const DeploymentId& id, bool shifted) {
    return {.kind = DeploymentKind::takeBack,
            .target = {.environment = "local", .bundle = "shop", .customer = "acme"},
            .ask = lang::Request("r1"),
            .reached = {.deployment = id.text(), .made = true, .revision = "v2", .fresh = true, .shifted = shifted}};
  }

  lang::Harness harness{deployment_binding()};
};

TEST_F(ServeTest, ServeEndsAsItIsAnswered) {
  EXPECT_EQ(harness.invoke(Serve{.deployment = DeploymentId("none")}).as<Serve::NotFound>().deployment.text(), "none");
  auto id = deployment();
  harness.answer_with(lang::Completion{"ok", {}});
  EXPECT_EQ(harness.invoke(Serve{.deployment = id, .revision = "v1"}).as<Serve::Ok>().revision, "v1");
  harness.answer_with(Serve::Refused{.message = "no"});
  EXPECT_EQ(harness.invoke(Serve{.deployment = id, .revision = "v1"}).as<Serve::Refused>().message, "no");
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  EXPECT_EQ(harness.invoke(Serve{.deployment = id, .revision = "v1"}).as<Serve::Refused>().message, "nobody answered");
}

TEST_F(ServeTest, ARevisionThatIsHeldGetsNoRoutes) {
  auto id = deployment();
  auto asked = change({.target = {.environment = "local", .bundle = "shop", .customer = "acme"},
                       .ask = lang::Request("r1"),
                       .wish = {.weightBps = kAllBasisPoints, .hold = true},
                       .offer = {.pathPrefixes = {"/a"}},
                       .reached = {.deployment = id.text()}});
  harness.invoke(Route{.change = asked, .revision = "v1", .sequence = 1, .fresh = true}).as<Route::Held>();
  EXPECT_EQ(State(harness.rows()).get(id)->route.pathPrefixes, std::vector<std::string>{"/"});
}

TEST_F(ServeTest, RoutesAreProvedAndNotGiven) {
  auto id = deployment();
  deployment("notes", "/notes");
  EXPECT_EQ(
      harness.invoke(ProveRoutes{.deployment = DeploymentId("none")}).as<ProveRoutes::NotFound>().deployment.text(),
      "none");
  harness.invoke(ProveRoutes{.deployment = id}).as<ProveRoutes::Ok>();
  harness.invoke(ProveRoutes{.deployment = id, .pathPrefixes = {"/a"}}).as<ProveRoutes::Ok>();
  EXPECT_EQ(State(harness.rows()).get(id)->route.pathPrefixes, std::vector<std::string>{"/"});
  auto refused = harness.invoke(ProveRoutes{.deployment = id, .pathPrefixes = {"/notes"}}).as<ProveRoutes::Refused>();
  EXPECT_EQ(refused.message.substr(0, 32), "any host, /notes is the route of");
}

TEST_F(ServeTest, TakeBackOfWhatIsGoneIsDone) {
  harness.invoke(TakeBack{}).as<TakeBack::Ok>();
  harness.invoke(TakeBack{.deployment = DeploymentId("none")}).as<TakeBack::Ok>();
  auto id = deployment();
  harness.answer_with(TakeBack::Stuck{.message = "in use"});
  EXPECT_EQ(harness.invoke(TakeBack{.deployment = id}).as<TakeBack::Stuck>().message, "in use");
}

TEST_F(ServeTest, TakeBackUndoesTheSplitThenTheRevisionThenTheDeployment) {
  auto id = deployment();
  auto asked = change(back(id, true));
  State(harness.rows()).split_before(asked).push({.revision = "v1", .weightBps = kAllBasisPoints});
  auto split = harness.invoke(NextBack{.change = asked, .done = DeploymentDone::begun}).as<NextBack::Split>();
  EXPECT_EQ(split.revisions, std::vector<std::string>{"v1"});
  harness.invoke(NextBack{.change = asked, .done = DeploymentDone::begun}).as<NextBack::Again>();
  EXPECT_EQ(harness.invoke(NextBack{.change = asked, .done = DeploymentDone::split}).as<NextBack::Revision>().revision,
            "v2");
  harness.invoke(NextBack{.change = asked, .done = DeploymentDone::revision}).as<NextBack::Deployment>();
  harness.invoke(NextBack{.change = asked, .done = DeploymentDone::deployment}).as<NextBack::Ok>();
}

TEST_F(ServeTest, TakeBackToNothingClears) {
  auto id = deployment();
  auto asked = change(back(id, true));
  EXPECT_EQ(harness.invoke(NextBack{.change = asked, .done = DeploymentDone::begun}).as<NextBack::Nothing>().deployment,
            id);
}

}  // namespace deployment_serve_test
}  // namespace sluice::deploy::deployment
