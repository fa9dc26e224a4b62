// A node's disk: sets staged whole, marks that never go back, and the old set or the new one after every crash.
#include "mesh/node_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"
#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace node_store_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;
const std::map<std::string, std::string> kIdentity = {
    {"ca.crt", "ca"}, {"certs/node.alpha.crt", "cert"}, {"certs/node.alpha.key", "key"}};

// The examples at a version; `port` changes what the mesh vertex is told.
std::vector<Artifact> artifacts_at(uint64_t version, const std::string& port = "8000") {
  std::vector<Artifact> all;
  for (json::object each : {example_agent(), example_link(), example_mesh(), example_ctrl()}) {
    each["version"] = version;
    if (!each.at("plane").is_string()) each["plane"] = {{"ctrl", {{"obeys_mgmt_version", version}}}};
    std::string text = write(each);
    if (const size_t at = text.find("127.0.0.1:8000"); at != std::string::npos)
      text.replace(at, 14, "127.0.0.1:" + port);
    all.push_back(signed_artifact(parse_json_value(text).value().as_object()));
  }
  return all;
}

Result<NodeStore> enrolled(Disk& disk, uint64_t version = 42) {
  EXPECT_TRUE(disk.make_folder("/mesh", 0755));
  EXPECT_TRUE(disk.sync_folder("/"));
  return NodeStore::enrol(disk, "/mesh", "acme", "alpha", example_trust(), kIdentity, artifacts_at(version), kNow);
}

TEST(NodeStore, EnrolsAndIsFoundAgain) {
  VolatileDisk disk;
  auto store = enrolled(disk);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->state().marks.mgmt.version, 42U);
  EXPECT_EQ(store->active_set()->version(), 42U);
  EXPECT_EQ(store->active_set()->artifacts.size(), 4U);
  EXPECT_EQ(disk.read_link("/mesh/retes/acme").value(), "../sets/acme/" + store->state().active);
  EXPECT_TRUE(disk.exists("/mesh/retes/acme/mgmt/vertices/rete.json").value());
  EXPECT_TRUE(disk.exists("/mesh/retes/acme/certs/node.alpha.key").value());
  EXPECT_EQ(disk.stat("/mesh/identity/acme/certs/node.alpha.key", FollowLinks::no)->mode, 0600U);
  disk.crash();
  auto again = NodeStore::open(disk, "/mesh", "acme");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->state(), store->state());
  EXPECT_EQ(NodeStore::open(disk, "/mesh", "other").error().code, Code::not_found);
  EXPECT_EQ(
      NodeStore::enrol(disk, "/mesh", "acme", "alpha", example_trust(), kIdentity, artifacts_at(42), kNow).error().code,
      Code::conflict);
  EXPECT_FALSE(NodeStore::enrol(disk, "/mesh", "evil", "alpha", example_trust(), {{"certs/../../x", "y"}},
                                artifacts_at(42), kNow));
}

TEST(NodeStore, ANewSetIsObeyedAndConfirmed) {
  VolatileDisk disk;
  auto store = enrolled(disk).value();
  auto same = store.accept({}, artifacts_at(42), kNow, 0);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_FALSE(same->changed);
  auto change = store.accept({}, artifacts_at(43, "8001"), kNow, 60'000);
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_TRUE(change->changed);
  EXPECT_THAT(change->vertices, ElementsAre("rete")) << "the link vertex is told the same";
  ManualClock clock(kNow);
  EXPECT_EQ(store.left_ms(clock), 60'000);
  ASSERT_TRUE(store.confirm());
  EXPECT_FALSE(store.left_ms(clock));
  EXPECT_EQ(disk.list("/mesh/sets/acme")->size(), 1U);
  EXPECT_EQ(store.roll_back("late").error().code, Code::conflict);
}

TEST(NodeStore, AnUnconfirmedSetIsTakenBackAndRemembered) {
  VolatileDisk disk;
  auto store = enrolled(disk).value();
  const std::string good = store.state().active;
  ASSERT_TRUE(store.accept({}, artifacts_at(43, "8001"), kNow, 60'000));
  disk.crash();
  store = NodeStore::open(disk, "/mesh", "acme").value();
  const ManualClock clock(kNow);
  ASSERT_TRUE(store.left_ms(clock)) << "it survives a crash";
  auto back = store.roll_back("the config server cannot be reached");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_THAT(back->vertices, ElementsAre("rete"));
  EXPECT_EQ(store.state().active, good);
  EXPECT_EQ(store.active_set()->version(), 42U);
  EXPECT_EQ(store.state().marks.mgmt.version, 43U) << "marks never go back";
  EXPECT_TRUE(was_taken_back(store.state()));
  auto again = store.accept({}, artifacts_at(43, "8001"), kNow, 60'000);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "version 43 was taken back before: the config server cannot be reached");
  EXPECT_EQ(store.accept({}, artifacts_at(42), kNow, 0).error().code, Code::conflict)
      << "nor is the old one published again";
  EXPECT_TRUE(store.accept({}, artifacts_at(44), kNow, 0));
  EXPECT_FALSE(was_taken_back(store.state())) << "it is remembered, and no longer the newest";
}

TEST(NodeStore, AClockThatJumpsTakesNothingBackAndKeepsNothing) {
  VolatileDisk disk;
  auto store = enrolled(disk).value();
  ManualClock clock(kNow);
  ASSERT_TRUE(store.accept({}, artifacts_at(43, "8001"), kNow, 60'000));
  EXPECT_EQ(store.left_ms(clock), 60'000);
  clock.advance_ms(20'000);
  EXPECT_EQ(store.left_ms(clock), 40'000);
  clock.set_wall_ms(kNow + 1'000'000'000);
  EXPECT_EQ(store.left_ms(clock), 40'000) << "forward";
  clock.set_wall_ms(kNow - 1'000'000'000);
  EXPECT_EQ(store.left_ms(clock), 40'000) << "back";
  clock.advance_ms(40'000);
  EXPECT_EQ(store.left_ms(clock), 0);
  // After a restart nobody knows how much time has gone by: at most what there was at first.
  auto again = NodeStore::open(disk, "/mesh", "acme").value();
  EXPECT_EQ(again.left_ms(clock), 60'000);
  auto later = NodeStore::open(disk, "/mesh", "acme").value();
  clock.set_wall_ms(kNow + 60'000);
  EXPECT_EQ(later.left_ms(clock), 0);
}

TEST(NodeStore, ASetThatExpiredStaysInForceAndSaysSo) {
  VolatileDisk disk;
  auto store = enrolled(disk).value();
  std::vector<Artifact> brief;
  for (json::object each : {example_agent(), example_link(), example_mesh(), example_ctrl()}) {
    each["version"] = 43;
    each["schema_version"] = "1.1";
    each["expires_at"] = "2026-12-01T00:00:00Z";
    if (!each.at("plane").is_string()) each["plane"] = {{"ctrl", {{"obeys_mgmt_version", 43}}}};
    brief.push_back(signed_artifact(each));
  }
  auto done = store.accept({}, brief, kNow, 0);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(store.standing_trouble(kNow), "");
  EXPECT_EQ(store.standing_trouble(kNow + int64_t{90} * 86'400'000),
            "the set in force expired at 2026-12-01T00:00:00Z, and there is nothing newer; it stays in force");
  EXPECT_EQ(store.active_set()->version(), 43U);
}

TEST(NodeStore, ABadSetChangesNothingAndSaysWhy) {
  VolatileDisk disk;
  auto store = enrolled(disk).value();
  const std::string good = store.state().active;
  std::vector<Artifact> mixed = artifacts_at(43);
  mixed[1] = artifacts_at(42)[1];
  EXPECT_FALSE(store.accept({}, mixed, kNow, 0));
  EXPECT_THAT(store.state().trouble, HasSubstr("a set has one version"));
  EXPECT_FALSE(store.accept({}, artifacts_at(41), kNow, 0));
  EXPECT_THAT(store.state().trouble, HasSubstr("older than version 42"));
  EXPECT_EQ(store.state().active, good);
  EXPECT_EQ(store.active_set()->version(), 42U);
  ASSERT_TRUE(store.accept({}, artifacts_at(42), kNow, 0));
  EXPECT_EQ(store.state().trouble, "");
}

TEST(NodeStore, ASetIsNotOlderThanItsSigners) {
  VolatileDisk disk;
  auto store = enrolled(disk).value();
  auto refused = store.accept({artifacts_at(44)[0]}, artifacts_at(43), kNow, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "version 43 is older than the signers that came with it");
  EXPECT_TRUE(store.accept({artifacts_at(44)[0]}, artifacts_at(44), kNow, 0));
}

TEST(NodeStore, Florete24ACrashAnywhereLeavesTheOldSetOrTheNew) {
  uint64_t total = 0;
  {
    VolatileDisk under;
    ASSERT_TRUE(enrolled(under));
    FaultyDisk disk(under);
    auto store = NodeStore::open(disk, "/mesh", "acme").value();
    const uint64_t before = disk.operations();
    ASSERT_TRUE(store.accept({}, artifacts_at(43, "8001"), kNow, 60'000));
    total = disk.operations();
    ASSERT_GT(total, before + 20);
  }
  size_t old_sets = 0;
  size_t new_sets = 0;
  for (uint64_t n = 1; n <= total; ++n) {
    VolatileDisk under;
    ASSERT_TRUE(enrolled(under));
    FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
    if (auto store = NodeStore::open(disk, "/mesh", "acme"))
      (void)store->accept({}, artifacts_at(43, "8001"), kNow, 60'000).has_value();
    under.crash();
    auto store = NodeStore::open(under, "/mesh", "acme");
    ASSERT_TRUE(store) << n << ": " << store.error().message;
    auto set = store->active_set();
    ASSERT_TRUE(set) << n << ": " << set.error().message;
    EXPECT_EQ(under.read_link("/mesh/retes/acme").value(), "../sets/acme/" + store->state().active);
    EXPECT_GE(store->state().marks.mgmt.version, set->version()) << n;
    (set->version() == 43 ? new_sets : old_sets) += 1;
    // Whatever happened, it goes on from there.
    auto change = store->accept({}, artifacts_at(43, "8001"), kNow, 60'000);
    EXPECT_TRUE(change) << n << ": " << change.error().message;
    EXPECT_EQ(store->active_set()->version(), 43U);
  }
  EXPECT_GT(old_sets, 0U);
  EXPECT_GT(new_sets, 0U);
}

TEST(NodeStore, AFullDiskLeavesTheSetInForce) {
  for (uint64_t n = 1; n <= 12; ++n) {
    VolatileDisk under;
    ASSERT_TRUE(enrolled(under));
    FaultyDisk disk(under, {.kind = FaultKind::tear, .at = n, .only = DiskOperation::write, .code = Code::limit});
    auto store = NodeStore::open(disk, "/mesh", "acme").value();
    auto change = store.accept({}, artifacts_at(43, "8001"), kNow, 60'000);
    auto set = store.active_set();
    ASSERT_TRUE(set) << n;
    EXPECT_EQ(set->version(), change ? 43U : 42U) << n;
    EXPECT_TRUE(store.accept({}, artifacts_at(43, "8001"), kNow, 60'000)) << n << ": there is room again";
  }
}

}  // namespace node_store_test
}  // namespace sluice::mesh
