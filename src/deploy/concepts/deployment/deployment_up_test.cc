// The steps of an up, one test a variant; the whole of it is in up_sync_test.cc.
#include <gtest/gtest.h>

#include "base/basis_points.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/deployment/deployment_rows.h"
#include "deploy/concepts/deployment/deployment_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deployment {
namespace deployment_up_test {

class UpStepsTest : public testing::Test {
 protected:
  UpStepsTest() { harness.tools().add(shelf); }

  DeploymentCId change(std::vector<std::string> paths = {}) {
    State state(harness.rows());
    return enqueue(state, {.target = {.environment = "local", .bundle = "shop", .customer = "acme"},
                           .ask = lang::Request("r1"),
                           .wish = {.source = "sha256:" + std::string(64, '0'), .weightBps = kAllBasisPoints},
                           .offer = {.pathPrefixes = std::move(paths)}});
  }
  DeploymentId deployment(const std::string& bundle = "shop", const std::string& path = "/") {
    return State(harness.rows())
        .add({.environment = "local", .bundle = bundle, .customer = "acme", .route = {.pathPrefixes = {path}}});
  }
  std::vector<std::string> paths(const DeploymentId& id) { return State(harness.rows()).get(id)->route.pathPrefixes; }
  // One that has found its deployment.
  DeploymentCId prepared(std::vector<std::string> paths = {}) {
    auto id = change(std::move(paths));
    harness.invoke(Prepare{.change = id}).as<Prepare::Ok>();
    return id;
  }
  Route route(const DeploymentCId& id, bool fresh = true) {
    return {.change = id, .revision = "v1", .sequence = 1, .fresh = fresh};
  }
  GiveUp give_up(const DeploymentCId& id) {
    return {.change = id, .kind = DeploymentGiveUpKind::refused, .message = "no"};
  }

  TestingFolder folder;
  RealDisk disk;
  BundleShelf shelf{disk, folder.path("shelf")};
  lang::Harness harness{deployment_binding()};
};

TEST_F(UpStepsTest, UpInvalidSaysWhatIsWrong) {
  EXPECT_EQ(harness.invoke(Up{.environment = "local", .archive = "x"}).as<Up::Invalid>().message,
            "the archive is named by its digest, sha256: and 64 digits");
}

TEST_F(UpStepsTest, ItsHalvesSayWhatTheyReached) {
  const DeploymentCId gone("gone");
  EXPECT_EQ(harness.invoke(Hold{.change = gone}).as<Hold::Failed>().message, "the call has ended");
  EXPECT_EQ(harness.invoke(Take{.change = gone}).as<Take::Failed>().message, "the call has ended");
  auto there = deployment();
  auto id = prepared({"/a"});
  State state(harness.rows());
  const Hold::Begun begun = Deployment::begin_hold({.change = id}, state);
  ASSERT_NE(get_if<lang::Opened>(&begun), nullptr);
  harness.invoke(route(id)).as<Route::Held>();
  EXPECT_EQ(paths(there), std::vector<std::string>{"/"});
  harness.answer_with(lang::Completion{"ok", {}});
  auto held = harness.invoke(Hold{.change = id}).as<Hold::Ok>();
  EXPECT_EQ(held.revision, "v1");
  EXPECT_TRUE(held.fresh);
  harness.invoke(route(id)).as<Route::Ok>();
  EXPECT_EQ(paths(there), std::vector<std::string>{"/a"});
  harness.answer_with(lang::Completion{"ok", {}});
  auto taken = harness.invoke(Take{.change = id}).as<Take::Ok>();
  EXPECT_TRUE(taken.changed);
  EXPECT_EQ(taken.routeBefore->pathPrefixes, std::vector<std::string>{"/"});
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  EXPECT_EQ(harness.invoke(Take{.change = id}).as<Take::Failed>().message, "nobody answered");
  EXPECT_EQ(paths(there), std::vector<std::string>{"/"}) << "the routes are given back";
}

TEST_F(UpStepsTest, StorageHasANameBeforeTheDeploymentIsMade) {
  EXPECT_EQ(harness.invoke(NameStorage{.environment = "prod", .bundle = "shop"}).as<NameStorage::Refused>().message,
            "outside local a deployment is for a customer; next: name the customer with --customer-id");
  const NameStorage ask{.environment = "local", .bundle = "shop", .customer = "acme"};
  auto named = harness.invoke(ask).as<NameStorage::Ok>();
  EXPECT_TRUE(named.named);
  auto again = harness.invoke(ask).as<NameStorage::Ok>();
  EXPECT_EQ(again.storage, named.storage);
  EXPECT_FALSE(again.named);
  State state(harness.rows());
  harness.invoke(ReturnName{.storage = named.storage, .named = false}).as<ReturnName::Ok>();
  EXPECT_EQ(state.kept_data().size(), 1U) << "whoever did not give it does not take it";
  harness.invoke(ReturnName{.storage = named.storage, .named = true}).as<ReturnName::Ok>();
  EXPECT_EQ(state.kept_data().size(), 0U);
  const std::string own = storage_of(deployment(), {});
  auto there = harness.invoke(ask).as<NameStorage::Ok>();
  EXPECT_EQ(there.storage, own);
  EXPECT_FALSE(there.named);
}

TEST_F(UpStepsTest, UpFailedWhenNobodyAnswers) {
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  auto failed =
      harness.invoke(Up{.environment = "local", .archive = "sha256:" + std::string(64, '0')}).as<Up::Failed>();
  EXPECT_EQ(failed.check, "engine");
  EXPECT_EQ(failed.message, "nobody answered");
  EXPECT_TRUE(State(harness.rows()).all_c().begin() == State(harness.rows()).all_c().end());
}

TEST_F(UpStepsTest, ReadUnreadable) {
  EXPECT_EQ(harness.invoke(Read{.change = DeploymentCId("none")}).as<Read::Unreadable>().message, "the call has ended");
  EXPECT_EQ(harness.invoke(Read{.change = change()}).as<Read::Unreadable>().message,
            "there is no archive sha256:" + std::string(64, '0') + " in this home");
}

TEST_F(UpStepsTest, UpRefusedIsPassedOn) {
  harness.answer_with(Up::Refused{.message = "no"});
  EXPECT_EQ(
      harness.invoke(Up{.environment = "local", .archive = "sha256:" + std::string(64, '0')}).as<Up::Refused>().message,
      "no");
}

TEST_F(UpStepsTest, PrepareOkFindsTheDeployment) {
  auto id = deployment();
  EXPECT_EQ(harness.invoke(Prepare{.change = change()}).as<Prepare::Ok>().deployment, id);
}

TEST_F(UpStepsTest, PrepareAbsentSaysWhatIsToBeMade) {
  auto absent = harness.invoke(Prepare{.change = change({"/a"})}).as<Prepare::Absent>();
  EXPECT_EQ(absent.pathPrefixes, std::vector<std::string>{"/a"});
  EXPECT_TRUE(absent.hosts.empty());
  deployment("notes");
  EXPECT_EQ(harness.invoke(Prepare{.change = change()}).as<Prepare::Absent>().hosts,
            std::vector<std::string>{"shop.localhost"});
}

TEST_F(UpStepsTest, PrepareRefused) {
  auto id = deployment();
  deployment("notes", "/notes");
  EXPECT_EQ(harness.invoke(Prepare{.change = change({"/notes"})}).as<Prepare::Refused>().message.substr(0, 32),
            "any host, /notes is the route of");
  harness.invoke(Pause{.deployment = id}).as<Pause::Ok>();
  EXPECT_EQ(harness.invoke(Prepare{.change = change()}).as<Prepare::Refused>().message,
            "shop (" + id.text() + ") is not active");
}

TEST_F(UpStepsTest, RouteOkGivesRoutes) {
  auto id = deployment();
  auto ok = harness.invoke(route(prepared({"/a"}))).as<Route::Ok>();
  EXPECT_EQ(ok.deployment, id);
  EXPECT_EQ(ok.weightBps, kAllBasisPoints);
  EXPECT_EQ(paths(id), std::vector<std::string>{"/a"});
}

TEST_F(UpStepsTest, RouteRefusedIfAnotherHasThemMeanwhile) {
  auto id = deployment();
  auto asked = prepared({"/a"});
  deployment("notes", "/a");
  harness.invoke(route(asked)).as<Route::Refused>();
  EXPECT_EQ(paths(id), std::vector<std::string>{"/"});
}

TEST_F(UpStepsTest, AcknowledgeOkOnceAndThenAgain) {
  deployment();
  auto asked = prepared();
  const Acknowledge reached{.change = asked, .entries = {{.revision = "v1", .weightBps = 10'000}}, .shifted = true};
  EXPECT_TRUE(harness.invoke(reached).as<Acknowledge::Ok>().whole);
  harness.invoke(reached).as<Acknowledge::Again>();
  EXPECT_EQ(State(harness.rows()).split(asked).values().size(), 1U);
}

TEST_F(UpStepsTest, GiveUpOkIfNothingWasMade) {
  auto id = deployment();
  auto asked = prepared({"/a"});
  harness.invoke(route(asked, false)).as<Route::Ok>();
  harness.invoke(give_up(asked)).as<GiveUp::Ok>();
  EXPECT_EQ(paths(id), std::vector<std::string>{"/"}) << "the routes are as they were";
}

TEST_F(UpStepsTest, GiveUpNamesADeploymentThatWasMade) {
  auto asked = change();
  harness.invoke(Prepare{.change = asked}).as<Prepare::Absent>();
  auto made = deployment();
  harness.invoke(Prepare{.change = asked}).as<Prepare::Ok>();
  EXPECT_EQ(harness.invoke(give_up(asked)).as<GiveUp::Made>().deployment, made);
}

TEST_F(UpStepsTest, GiveUpNamesARevisionThatRuns) {
  deployment();
  auto asked = prepared();
  harness.invoke(route(asked)).as<Route::Ok>();
  EXPECT_EQ(harness.invoke(give_up(asked)).as<GiveUp::Warm>().revision, "v1");
}

}  // namespace deployment_up_test
}  // namespace sluice::deploy::deployment
