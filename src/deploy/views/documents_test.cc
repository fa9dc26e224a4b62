// The documents' fields, from rows of several concepts.
#include "deploy/views/documents.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "config.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace documents_test {

class DocumentsTest : public testing::Test {
 protected:
  DocumentsTest() {
    rows.environment("local", {.name = "Local", .generation = 3});
    env::State(rows.rows).packs(env::EnvId("local")).push({.slot = "state", .kind = "a.b@1.0.0", .generation = 1});
    env::State(rows.rows).past_packs(env::EnvId("local")).push({.slot = "state", .kind = "a.a@1.0.0"});
    rows.deployment("d1");
    rows.revision("r1", "d1", 1);
    rows.revision("r2", "d1", 2, revision::RevisionLifecycle::archived);
    rows.split("d1", {{"r1", 10'000}});
  }
  deployment::DeploymentFound shop() {
    return {deployment::DeploymentId("d1"), *states.deployment().get(deployment::DeploymentId("d1"))};
  }

  RowsInMemory rows;
  const States states{rows};
};

TEST_F(DocumentsTest, AnEnvironmentHasWhatBelongsToIt) {
  const env::EnvId id("local");
  json::object document = to_json(environment_document(states, {id, *states.env().get(id)})).as_object();
  EXPECT_EQ(document.at("schema"), json::value("sluice.environment.v1"));
  EXPECT_EQ(document.at("generation"), json::value(3));
  EXPECT_EQ(document.at("bundles").as_array().size(), 1U);
  EXPECT_EQ(document.at("revisions").as_array().size(), 1U) << "archived ones are left out";
  EXPECT_EQ(document.at("traffic_splits").as_array().size(), 1U);
  EXPECT_EQ(document.at("packs").as_array()[0].at("previous_binding_ref"), json::value("a.a@1.0.0 generation 0"));
  EXPECT_EQ(document.at("health").at("last_doctor_status"), json::value("pending"));
  EXPECT_TRUE(document.at("credentials_ref").is_null());
}

TEST_F(DocumentsTest, ADeploymentNamesWhatIsRouted) {
  json::object document = to_json(deployment_document(states, shop())).as_object();
  EXPECT_EQ(document.at("current_revisions"), (json::array{"r1"}));
  EXPECT_EQ(document.at("revenue_policy_ref"), json::value("shop/acme/v1"));
  EXPECT_EQ(document.at("route_binding").at("hosts"), (json::array{"acme.example"}));
  EXPECT_TRUE(document.at("authorization_ref").is_null());
  deployment::State(rows.rows).edit(shop().id, [](deployment::DeploymentRecord& record) {
    record.authorization = "01J";
    record.usage.meterEndpoint = "usage://local/acme/shop";
  });
  document = to_json(deployment_document(states, shop())).as_object();
  EXPECT_EQ(document.at("authorization_ref"), json::value("audit:01J"));
  EXPECT_EQ(document.at("usage").at("meter_endpoint"), json::value("usage://local/acme/shop"));
}

TEST_F(DocumentsTest, ARevisionRefersToItsPapersAsLongAsTheyAreThere) {
  revision::RevisionRecord record{.bundle = "shop", .sidecar = "{}", .artifact = "/h/r9/archive.bundle"};
  json::object document = to_json(revision_document({revision::RevisionId("r9"), record})).as_object();
  EXPECT_EQ(document.at("pack_list_lock_ref"), json::value("file:///h/r9/pack-list.lock"));
  EXPECT_EQ(document.at("signature_sidecar_ref"), json::value("file:///h/r9/revision.sig"));
  record.artifact.clear();
  document = to_json(revision_document({revision::RevisionId("r9"), record})).as_object();
  EXPECT_TRUE(document.at("pack_list_lock_ref").is_null());
  EXPECT_TRUE(document.at("signature_sidecar_ref").is_null());
}

TEST_F(DocumentsTest, AFailedRevisionSaysWhy) {
  revision::RevisionRecord record{.bundle = "shop", .lifecycle = revision::RevisionLifecycle::failed};
  record.failure = {.check = "route-table", .message = "two"};
  json::object document = to_json(revision_document({revision::RevisionId("r9"), record})).as_object();
  EXPECT_EQ(document.at("failure").at("check"), json::value("route-table"));
  EXPECT_EQ(document.at("lifecycle"), json::value("failed"));
  EXPECT_TRUE(document.at("bundle_digest").is_null());
}

TEST_F(DocumentsTest, ASplitAndItsHistory) {
  json::value split = to_json(split_document(states, shop()));
  EXPECT_EQ(split.at("generation"), json::value(7));
  EXPECT_EQ(split.at("entries").as_array()[0].at("weight_bps"), json::value(10'000));
  EXPECT_TRUE(split.at("previous_split_ref").is_null());
  traffic::State state(rows.rows);
  state.past(traffic::TrafficId("d1")).push({.generation = 5});
  state.past(traffic::TrafficId("d1")).push({.generation = 6});
  state.future(traffic::TrafficId("d1")).push({.generation = 4});
  EXPECT_EQ(split_document(states, shop())->previous_split_ref, "traffic-splits/d1/6");
  json::array history = to_json(split_history(states, "d1")).as_array();
  std::string order;
  for (const json::value& each : history) {
    order += std::to_string(each.at("generation").as_int64()) + std::string(each.at("place").as_string()) + " ";
  }
  EXPECT_EQ(order, "7current 6past 5past ");
  rows.split("d1", {});
  EXPECT_FALSE(split_document(states, shop()));
}

TEST_F(DocumentsTest, ConfigKeepsItsTwoOwnersApart) {
  config::State state(rows.rows);
  state.put(config::ConfigId("local"), {.generation = 2, .discoveredGeneration = 9});
  state.values(config::ConfigId("local")).push({"region", "eu"});
  state.discovered(config::ConfigId("local")).push({.key = "dns", .value = "x", .producer = "p", .generation = 9});
  json::object document = to_json(config_document(states, "local")).as_object();
  EXPECT_EQ(document.at("host_config"), json::value({{"env_id", "local"}, {"region", "eu"}}));
  EXPECT_EQ(document.at("runtime").at("discovered"), json::value({{"dns", "x"}}));
  EXPECT_EQ(document.at("runtime").at("generation"), json::value(9));
}

TEST_F(DocumentsTest, LiveRevisionsAreInOrder) {
  rows.revision("r0", "d1", 3, revision::RevisionLifecycle::failed);
  auto live = live_revisions_in(states, "local");
  ASSERT_EQ(live.size(), 2U);
  EXPECT_EQ(live[1].id.text(), "r0");
  EXPECT_EQ(live_revisions_of(states, "d1").size(), 2U);
}

}  // namespace documents_test
}  // namespace sluice::deploy::views
