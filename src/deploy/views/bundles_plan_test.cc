// What a file says of bundles is compared with what is deployed; what is not there is added, or taken away on request.
#include "deploy/views/bundles_plan.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/yaml.h"
#include "deploy/testing_views.h"
#include "deploy/views/documents.h"
#include "deploy/views/environment_file.h"

namespace sluice::deploy::views {
namespace bundles_plan_test {

class BundlesPlanTest : public testing::Test {
 protected:
  BundlesPlanTest() { rows.deployment("d1"); }
  EnvironmentPlan plan_of(const std::string& text, bool prune = false) {
    EnvironmentPlan plan{.environment = "local"};
    Document file = parse_yaml(text, "env.yaml").value();
    auto planned = plan_bundles(states, file, prune, plan);
    if (!planned) plan.changes = {{'!', to_string(planned.error()), "", {}}};
    return plan;
  }
  std::string planned(const std::string& text, bool prune = false) {
    std::string changes;
    for (const PlannedChange& each : plan_of(text, prune).changes) {
      changes += std::string(1, each.sign) + " " + each.what + " | " + each.action + "\n";
    }
    return changes;
  }
  static std::string shop(const std::string& rest) { return "bundles: [{ bundle_id: shop, customer_id: acme" + rest; }

  RowsInMemory rows;
  const States states{rows};
};

TEST_F(BundlesPlanTest, PlansRoutesSharesOverridesAndStatus) {
  EXPECT_EQ(
      planned(shop(", status: paused, route_binding: { hosts: [b.example], path_prefixes: [/], tenant_selector: { "
                   "tenant: t, team: null } }, revenue_share: [{ party_id: a, basis_points: 10000 }], "
                   "config_overrides: { shop: { color: blue } } }]\n")),
      "~ routes, shares, overrides of shop for acme | Deployment/update\n"
      "~ shop for acme is paused | Deployment/pause\n");
  EXPECT_EQ(planned(shop(", status: archived }]\n")), "- shop for acme is archived | Deployment/archive\n");
}

TEST_F(BundlesPlanTest, ComparesRoutesAsTheyAreKept) {
  EXPECT_EQ(planned(shop(", route_binding: { hosts: [ACME.example] } }]\n")), "");
  EXPECT_EQ(planned(shop("}]\n")), "") << "what the file does not say stays as it is";
}

TEST_F(BundlesPlanTest, AddsWhatIsNotDeployedFromItsArchive) {
  auto plan = plan_of(
      "bundles: [{ bundle_id: mail, customer_id: acme, status: paused, bundle_source_uri: 'file:///m.bundle', "
      "route_binding: { hosts: [m.example] }, config_overrides: { mail: { a: 1 } }, "
      "config: { non_secret: { color: red } } }]\n");
  ASSERT_EQ(plan.changes.size(), 4U);
  EXPECT_EQ(plan.changes[0].action, "Deployment/add");
  EXPECT_EQ(plan.changes[0].input.at("hosts"), json::value(json::array{"m.example"}));
  EXPECT_EQ(plan.changes[1].input, json::object({{"configOverrides", R"({"mail":{"a":1}})"}}));
  EXPECT_EQ(plan.changes[2].what, "a revision of mail for acme from /m.bundle");
  EXPECT_EQ(plan.changes[2].input.at("config"), json::value(R"({"non_secret":{"color":"red"}})"));
  EXPECT_EQ(plan.changes[3].action, "Deployment/pause");
  EXPECT_FALSE(plan.changes[0].of_added);
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(plan.changes[i].of_added) << i;
}

TEST_F(BundlesPlanTest, FindsTheArchiveAmongTheRevisionsOfAShownEnvironment) {
  EXPECT_EQ(planned("bundles: [{ bundle_id: mail, customer_id: a, deployment_id: x }]\nrevisions:\n"
                    "- { deployment_id: x, sequence: 1, bundle_digest: 'sha256:1', bundle_source_uri: 'file:///1' }\n"
                    "- { deployment_id: x, sequence: 2, bundle_digest: 'sha256:2', bundle_source_uri: 'file:///2' }\n"
                    "- { deployment_id: x, sequence: 3, bundle_digest: null, bundle_source_uri: 'file:///3' }\n"
                    "- { deployment_id: y, sequence: 9, bundle_digest: 'sha256:9', bundle_source_uri: 'file:///9' }\n"),
            "+ mail for a | Deployment/add\n+ a revision of mail for a from /2 | Revision/stage\n");
  EXPECT_EQ(planned("bundles: [{ bundle_id: mail, customer_id: a, status: archived }]\n"), "");
}

TEST_F(BundlesPlanTest, TakesAwayOnRequestAloneAndInOrder) {
  rows.revision("r1", "d1", 1);
  rows.split("d1", {{"r1", 10'000}});
  EXPECT_EQ(planned("bundles: []\n"), "");
  EXPECT_EQ(planned("bundles: []\n", true),
            "- the traffic of shop for acme | Traffic/clear\n- shop@1 of shop for acme | Revision/archive\n"
            "- shop for acme | Deployment/remove\n");
  EXPECT_EQ(planned("name: x\n", true), "") << "a file that says nothing of bundles takes none away";
}

TEST_F(BundlesPlanTest, ExportsWhereTheNewestArchiveCameFrom) {
  rows.revision("r1", "d1", 1);
  revision::State(rows.rows).edit(revision::RevisionId("r1"), [](revision::RevisionRecord& record) {
    record.source = "/s.bundle";
    record.bundleDigest = "sha256:1";
    record.config = R"({"non_secret":{},"runtime_refs":{}})";
  });
  auto found = states.deployment().find_by_environment("local");
  const ExportedBundle exported = exported_bundle(states, found.front());
  EXPECT_EQ(*exported.bundle_source_uri, "file:///s.bundle");
  EXPECT_EQ(planned("bundles: [" + write(to_json(exported)) + "]\n", true), "");
}

TEST_F(BundlesPlanTest, WhatIsExportedWithoutLiveRevisionsCanBeAppliedToo) {
  const deployment::DeploymentFound found{deployment::DeploymentId("d1"),
                                          *states.deployment().get(deployment::DeploymentId("d1"))};
  EXPECT_FALSE(exported_bundle(states, found).bundle_source_uri);
  EXPECT_EQ(planned("bundles: [{ bundle_id: mail, customer_id: acme, bundle_source_uri: null }]\n"),
            "+ mail for acme | Deployment/add\n");
  revision::RevisionRecord record{.deployment = "d1",
                                  .environment = "local",
                                  .bundle = "shop",
                                  .sequence = 1,
                                  .source = "/shop.bundle",
                                  .bundleDigest = "sha256:1",
                                  .lifecycle = revision::RevisionLifecycle::archived};
  revision::State(rows.rows).put(revision::RevisionId("r1"), record);
  EXPECT_EQ(*exported_bundle(states, found).bundle_source_uri, "file:///shop.bundle");
}

TEST_F(BundlesPlanTest, SaysWhereAFileIsWrong) {
  EXPECT_EQ(planned("bundles: [{ bundle_id: mail, customer_id: acme }]\n"),
            "! env.yaml:1:11: /bundles/0: mail for acme is not deployed in local; add bundle_source_uri, or deploy it "
            "first | \n");
  EXPECT_NE(planned(shop(", hots: 1 }]\n")).find("/bundles/0/hots: there is no such field"), std::string::npos);
  EXPECT_NE(planned(shop(", status: gone }]\n")).find("expected active, paused or archived"), std::string::npos);
  EXPECT_NE(planned(shop("}, { bundle_id: shop, customer_id: acme }]\n")).find("is named twice"), std::string::npos);
  EXPECT_NE(planned(shop(", route_binding: { hosts: [7] } }]\n")).find("expected a list of texts"), std::string::npos);
}

}  // namespace bundles_plan_test
}  // namespace sluice::deploy::views
