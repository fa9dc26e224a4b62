// What was applied is read back as it was, texts that must not be shown included.
#include "deploy/executor/snapshot.h"

#include <gtest/gtest.h>

#include "deploy/executor/testing_cluster.h"

namespace sluice::deploy::executor {
namespace snapshot_test {

TEST(SnapshotOfObjects, IsReadBackAsItWas) {
  TestingCluster cluster;
  Snapshot snapshot{.manifest_hash = "sha256:1", .values_hash = "sha256:2", .commit = "c"};
  snapshot.objects.push_back({{"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}});
  snapshot.taint.add("the secret");
  ASSERT_TRUE(write_snapshot(cluster.means, NoSnapshot(), "local", "s", snapshot, "me"));
  auto read = read_snapshot(cluster.means, "local", "s");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->objects, snapshot.objects);
  EXPECT_EQ(read->manifest_hash, "sha256:1");
  EXPECT_EQ(read->taint.redacted(std::string_view("it is the secret")), "it is <REDACTED>");
  label(read->objects, {.host = "h", .instance = "i", .request = "r2"});
  EXPECT_EQ(kube::text_at(read->objects.at(0), {"metadata", "labels", rendering::kRequestLabel}), "r2");
  EXPECT_FALSE(read_snapshot(cluster.means, "local", "none"));
}

}  // namespace snapshot_test
}  // namespace sluice::deploy::executor
