// Manifests from rows and from texts; through the kit they are in plan_delivery_sync_test.cc.
#include "deploy/views/resolved_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "deploy/plan_draft.h"
#include "deploy/testing_views.h"
#include "deploy_plan.gen.h"

namespace sluice::deploy::views {
namespace resolved_manifest_test {

using testing::ElementsAre;

class ResolvedManifests : public testing::Test {
 protected:
  ResolvedManifests() {
    rows.environment("prod", {.name = "Prod"});
    deploy_plan::State state(rows.rows);
    state.put(id, {.suiteName = "shop",
                   .environment = "prod",
                   .currentPhase = deploy_plan::DeployPlanCurrentPhase::planned,
                   .number = 1});
    const PlanSource source{
        .manifest = "app: {name: shop, version: '${VERSION}'}\n", .file = "a.yaml", .variables = {{"VERSION", "7"}}};
    state.papers(id).push({.name = std::string(kSourcePaper), .text = write(to_json(source))});
  }

  const deploy_plan::DeployPlanId id{"dp-1"};
  RowsInMemory rows;
};

TEST_F(ResolvedManifests, AreThoseOfTheLastPlanThatWasExecuted) {
  EXPECT_EQ(resolve_manifest(rows, {.environment = "prod"}).not_there, "no manifest was executed in prod");
  EXPECT_EQ(resolve_manifest(rows, {.environment = "nowhere"}).not_there, "there is no environment nowhere");
  auto of_plan = resolve_manifest(rows, {.environment = "prod", .plan = "dp-1"});
  ASSERT_TRUE(of_plan.resolved);
  EXPECT_EQ(of_plan.resolved->manifest.app.version, "7") << "with the variables that it was planned with";
  EXPECT_EQ(resolve_manifest(rows, {.environment = "prod", .plan = "dp-2"}).not_there,
            "the manifest of dp-2 is not kept");
  deploy_plan::State(rows.rows).edit(
      id, [](auto& record) { record.currentPhase = deploy_plan::DeployPlanCurrentPhase::complete; });
  EXPECT_TRUE(resolve_manifest(rows, {.environment = "prod"}).resolved);
}

TEST_F(ResolvedManifests, OfATextSayWhatIsWrong) {
  auto of = [&](const std::string& text) { return resolve_manifest(rows, {.environment = "prod", .manifest = text}); };
  EXPECT_THAT(of("app: {name: a}").faults,
              ElementsAre("app.deploy.yaml:1:1: /app/version: missing field, expected a string"));
  EXPECT_EQ(of("app: {name: a, version: '1'}\nenvironments: {prod: {extends: base}}").missing_base,
            "prod extends base, which the manifest does not have");
  EXPECT_THAT(of("app: {name: a, version: '1'}\nenvironments: {prod: {extends: prod}}").faults,
              ElementsAre("prod extends prod"));
}

}  // namespace resolved_manifest_test
}  // namespace sluice::deploy::views
