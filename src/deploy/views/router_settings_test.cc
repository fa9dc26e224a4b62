// From host config to what a router obeys.
#include "deploy/views/router_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config.gen.h"
#include "deploy/testing_views.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace router_settings_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RouterSettings, AreWhatTheHostConfigSays) {
  RowsInMemory rows;
  ::sluice::router::TableDocument table;
  put_router_settings(States(rows), "local", table);
  EXPECT_THAT(table.trusted_proxies, IsEmpty()) << "nobody is believed unless somebody says so";
  EXPECT_EQ(table.access_log_bps, 100);
  EXPECT_FALSE(table.connections_per_address);
  config::State state(rows.rows);
  state.put(config::ConfigId("local"), {.generation = 1});
  state.values(config::ConfigId("local")).push({"trusted_proxies", "10.0.0.0/8,::1"});
  state.values(config::ConfigId("local")).push({"access_log_share", "12.5%"});
  state.values(config::ConfigId("local")).push({"connections_per_address", "200"});
  put_router_settings(States(rows), "local", table);
  EXPECT_THAT(table.trusted_proxies, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_EQ(table.access_log_bps, 1'250);
  EXPECT_EQ(table.connections_per_address, 200);
}

TEST(RouterSettings, AllComesByTlsWhereTheHostSaysSo) {
  RowsInMemory rows;
  ::sluice::router::TableDocument table;
  table.deployments = {{.id = "d1"}};
  table.deployments[0].stickiness.secure = false;
  put_router_settings(States(rows), "local", table);
  EXPECT_FALSE(table.deployments[0].tls) << "older routers know nothing of it";
  config::State state(rows.rows);
  state.put(config::ConfigId("local"), {.generation = 1});
  state.values(config::ConfigId("local")).push({"tls_redirect", "on"});
  state.values(config::ConfigId("local")).push({"hsts_s", "3600"});
  put_router_settings(States(rows), "local", table);
  ASSERT_TRUE(table.deployments[0].tls);
  EXPECT_TRUE(table.deployments[0].tls->redirect);
  EXPECT_EQ(table.deployments[0].tls->hsts_s, 3'600);
  EXPECT_TRUE(table.deployments[0].stickiness.secure);
}

TEST(RouterSettings, ProofsAreThereForWhoAsks) {
  RowsInMemory rows;
  revision::State revisions(rows.rows);
  revisions.put(revision::RevisionId("r1"), {.treeDigest = "sha256:aa", .sidecar = "signed"});
  ::sluice::router::TableDocument table;
  table.deployments = {{.id = "d1", .revisions = {{.id = "r1"}, {.id = "gone"}}}};
  put_router_settings(States(rows), "local", table);
  EXPECT_FALSE(table.deployments[0].revisions[0].digest) << "older routers know nothing of it";
  config::State state(rows.rows);
  state.put(config::ConfigId("local"), {.generation = 1});
  state.values(config::ConfigId("local")).push({"revision_proofs", "digest"});
  put_router_settings(States(rows), "local", table);
  EXPECT_EQ(table.deployments[0].revisions[0].digest, "sha256:aa");
  EXPECT_FALSE(table.deployments[0].revisions[0].statement);
  EXPECT_FALSE(table.deployments[0].revisions[1].digest);
  state.put(config::ConfigId("prod"), {.generation = 1});
  state.values(config::ConfigId("prod")).push({"revision_proofs", "signature"});
  put_router_settings(States(rows), "prod", table);
  EXPECT_EQ(table.deployments[0].revisions[0].statement, "signed");
}

}  // namespace router_settings_test
}  // namespace sluice::deploy::views
