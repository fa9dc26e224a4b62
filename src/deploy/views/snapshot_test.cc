// What a router would obey.
#include "deploy/views/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "config.gen.h"
#include "deploy/testing_views.h"
#include "runtime.gen.h"

namespace sluice::deploy::views {
namespace snapshot_test {

using ::sluice::router::RevisionState;
using ::sluice::router::TableDocument;
using testing::ElementsAre;
using testing::IsEmpty;

TableDocument table_of(const RowsInMemory& rows) {
  TableDocument table = router_table(States(rows), "local");
  table.generation = 1;
  // A router reads what was made, to the letter.
  auto read_back = ::sluice::router::read_table(write(to_json(table)));
  EXPECT_TRUE(read_back);
  EXPECT_TRUE(read_back->quarantined.empty());
  return table;
}

TEST(RouterTable, HasRoutesWeightsAndAddresses) {
  RowsInMemory rows;
  rows.environment("local", {});
  env::State(rows.rows).packs(env::EnvId("local")).push({.slot = "deployer", .kind = "sluice.deployer.local@1.0.0"});
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.revision("r2", "d1", 2);
  rows.split("d1", {{"r1", 9'900}, {"r2", 100}});
  TableDocument table = table_of(rows);
  ASSERT_EQ(table.deployments.size(), 1U);
  const auto& one = table.deployments[0];
  EXPECT_EQ(one.id, "d1");
  EXPECT_EQ(one.bundle, "shop");
  EXPECT_EQ(one.customer, "acme");
  EXPECT_EQ(one.pack_kind, "sluice.deployer.local@1.0.0");
  EXPECT_EQ(one.generation, 7);
  EXPECT_THAT(one.routes.hosts, ElementsAre("acme.example"));
  EXPECT_FALSE(one.stickiness.secure) << "there is no TLS on one's own machine";
  ASSERT_EQ(one.revisions.size(), 2U);
  EXPECT_EQ(one.revisions[0].id, "r2") << "the newest first";
  EXPECT_EQ(one.revisions[0].weight_bps, 100);
  EXPECT_EQ(one.revisions[1].weight_bps, 9'900);
  EXPECT_EQ(one.revisions[0].replicas[0].address, "tcp:r2");
}

TEST(RouterTable, NamesTheRedisOfSessionPinsIfThePackWantsIt) {
  RowsInMemory rows;
  rows.environment("local", {});
  auto packs = env::State(rows.rows).packs(env::EnvId("local"));
  auto values = config::State(rows.rows).values(config::ConfigId("local"));
  packs.push({.slot = "sessions", .kind = "sluice.sessions.redis@1.0.0"});
  EXPECT_FALSE(table_of(rows).pins);
  values.push({.key = "region", .value = "eu"});
  values.push({.key = "redis_url", .value = "redis://cache.example:6380/2"});
  EXPECT_EQ(table_of(rows).pins->redis, "redis://cache.example:6380/2");
  values.put(1, {.key = "redis_url", .value = "rediss://cache.example"});
  EXPECT_FALSE(table_of(rows).pins) << "a router would refuse a table with it";
  values.put(1, {.key = "redis_url", .value = "redis://cache.example"});
  packs.put(0, {.slot = "sessions", .kind = "sluice.sessions.memory@1.0.0"});
  EXPECT_FALSE(table_of(rows).pins);
}

TEST(RouterTable, TakesAddressesFromTheRuntime) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.split("d1", {{"r1", 10'000}});
  runtime::State state(rows.rows);
  const runtime::RuntimeId instance("i1");
  state.put(instance, {.concept_ = "r1"});
  state.replicas(instance).push({.name = "s1.1.0", .endpoint = "http://127.0.0.1:9001"});
  state.replicas(instance).push({.name = "s1.1.1", .endpoint = "unix:/run/s1.1.1/socket"});
  EXPECT_THAT(replica_addresses(States(rows), "r1"), ElementsAre("tcp:127.0.0.1:9001", "unix:/run/s1.1.1/socket"));
}

TEST(RouterTable, EndpointsBecomeAddresses) {
  EXPECT_EQ(address_of_endpoint("http://[::1]:9001/"), "tcp:[::1]:9001");
  EXPECT_EQ(address_of_endpoint("unix:/run/a"), "unix:/run/a");
  EXPECT_EQ(address_of_endpoint("local:01J"), "");
  EXPECT_EQ(address_of_endpoint(""), "");
}

TEST(RouterTable, KnowsReadyRevisionsWithoutWeightAndThoseThatDrain) {
  using enum revision::RevisionLifecycle;
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1, draining);
  rows.revision("r2", "d1", 2);
  rows.revision("r3", "d1", 3);
  rows.revision("r4", "d1", 4, staged);
  rows.revision("r5", "d1", 5, archived);
  rows.split("d1", {{"r2", 10'000}});
  auto revisions = router_table(States(rows), "local").deployments[0].revisions;
  ASSERT_EQ(revisions.size(), 3U);
  EXPECT_EQ(revisions[0].id, "r3");
  EXPECT_EQ(revisions[0].weight_bps, 0);
  EXPECT_EQ(revisions[0].state, RevisionState::ready);
  EXPECT_EQ(revisions[2].id, "r1");
  EXPECT_EQ(revisions[2].state, RevisionState::draining);
}

TEST(RouterTable, NamesAtMostSixtyFourRevisionsAndNeverDropsWeight) {
  RowsInMemory rows;
  rows.deployment("d1");
  for (int i = 1; i <= 70; ++i) rows.revision("r" + std::to_string(i), "d1", i);
  rows.split("d1", {{"r1", 10'000}});
  auto revisions = router_table(States(rows), "local").deployments[0].revisions;
  ASSERT_EQ(revisions.size(), 64U);
  EXPECT_EQ(revisions.front().id, "r70");
  EXPECT_EQ(revisions.back().id, "r1");
}

TEST(RouterTable, APausedDeploymentIsSaidToBeAndAnArchivedOneIsGone) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.split("d1", {{"r1", 10'000}});
  deployment::State state(rows.rows);
  const deployment::DeploymentId id("d1");
  state.edit(id, [](auto& record) { record.status = deployment::DeploymentStatus::paused; });
  auto paused = router_table(States(rows), "local").deployments;
  EXPECT_EQ(paused[0].status, ::sluice::router::DeploymentStatus::paused);
  EXPECT_EQ(paused[0].revisions.size(), 1U);
  state.edit(id, [](auto& record) { record.status = deployment::DeploymentStatus::archived; });
  EXPECT_THAT(router_table(States(rows), "local").deployments, IsEmpty());
}

revision::RevisionServing serving(const std::string& mode, int64_t retry_after_s = 60) {
  return {.stickiness = {.mode = mode, .keyHeader = mode == "none" ? "" : "X-Session", .ttlSeconds = 60},
          .timeouts = {.connectMs = 1, .firstByteMs = 2, .idleMs = 3, .streamIdleMs = 4},
          .retryAfterSeconds = retry_after_s};
}

TEST(RouterTable, ARevisionSaysWhatItSpeaks) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.revision("r2", "d1", 2);
  revision::RevisionServing said = serving("none");
  rows.serving("r1", said);
  said.transport = "http2";
  rows.serving("r2", said);
  rows.split("d1", {{"r1", 9'000}, {"r2", 1'000}});
  const auto revisions = table_of(rows).deployments[0].revisions;
  EXPECT_EQ(revisions[0].transport, ::sluice::router::Transport::http2);
  EXPECT_FALSE(revisions[1].transport) << "as routers of before know it";
}

TEST(RouterTable, StickinessIsThatOfTheNewestRevisionWithWeight) {
  using ::sluice::router::StickyMode;
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.revision("r2", "d1", 2);
  rows.revision("r3", "d1", 3);
  rows.serving("r1", serving("session"));
  rows.serving("r2", serving("bucket"));
  rows.serving("r3", serving("none"));
  auto one = [&] { return table_of(rows).deployments[0]; };
  rows.split("d1", {{"r1", 10'000}});
  EXPECT_EQ(one().stickiness.mode, StickyMode::session);
  EXPECT_EQ(one().stickiness.key_header, "X-Session");
  EXPECT_EQ(one().stickiness.ttl_s, 60);
  EXPECT_FALSE(one().stickiness.secure);
  EXPECT_EQ(one().timeouts.connect_ms, 1);
  EXPECT_EQ(one().timeouts.first_byte_ms, 2);
  EXPECT_EQ(one().timeouts.idle_ms, 3);
  EXPECT_EQ(one().timeouts.stream_idle_ms, 4);
  rows.split("d1", {{"r1", 9'999}, {"r2", 1}, {"r3", 0}});
  EXPECT_EQ(one().stickiness.mode, StickyMode::bucket);
  rows.split("d1", {});
  EXPECT_EQ(one().stickiness.mode, StickyMode::none) << "nobody gets anything: the newest that could";
  EXPECT_EQ(one().stickiness.key_header, "");
}

TEST(RouterTable, ThePageIsThatOfTheNewestRevisionThatIsReady) {
  using enum revision::RevisionLifecycle;
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.revision("r2", "d1", 2, warming);
  rows.serving("r1", serving("session", 60), "one");
  rows.serving("r2", serving("session", 120), "two");
  rows.split("d1", {{"r1", 10'000}});
  auto one = [&] { return table_of(rows).deployments[0]; };
  EXPECT_EQ(one().paused_page, "one");
  EXPECT_EQ(one().paused_type, "text/plain");
  EXPECT_EQ(one().retry_after_s, 60);
  auto become = [&](revision::RevisionLifecycle lifecycle) {
    revision::State(rows.rows).edit(revision::RevisionId("r2"), [&](auto& row) { row.lifecycle = lifecycle; });
  };
  become(ready);
  EXPECT_EQ(one().paused_page, "two");
  EXPECT_EQ(one().retry_after_s, 120);
  become(draining);
  EXPECT_EQ(one().paused_page, "one");
}

TEST(RouterTable, ARevisionWhoseBundleSaysNothingHasTheRoutersDefaults) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  rows.split("d1", {{"r1", 10'000}});
  auto one = table_of(rows).deployments[0];
  EXPECT_EQ(one.stickiness.ttl_s, 3'600);
  EXPECT_EQ(one.timeouts.connect_ms, 2'000);
  EXPECT_EQ(one.retry_after_s, 30);
  EXPECT_EQ(one.paused_page, "");
}

}  // namespace snapshot_test
}  // namespace sluice::deploy::views
