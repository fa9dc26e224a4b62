// Moments of a store that connections hold.
#include "api/snapshots.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "store/memory_store.h"

namespace sluice::api {
namespace snapshots_test {

struct SnapshotsTest : testing::Test {
  Result<json::value> read(uint64_t number, const std::string& table, const http::Query& query,
                           uint64_t connection = 1) {
    return snapshots.read(number, connection, table, http::Request{.query = query});
  }

  store::MemoryStore store;
  Snapshots snapshots{store};
};

TEST_F(SnapshotsTest, SeeOneMoment) {
  ASSERT_TRUE(store.commit({.meta = {{"m", "1"}}}));
  EXPECT_EQ(*snapshots.open(1), (json::value{{"snapshot", 1}, {"position", 0}}));
  ASSERT_TRUE(store.commit({.meta = {{"m", "2"}}}));
  EXPECT_EQ(*read(1, "meta", {{"name", "m"}}), (json::value{{"row", "1"}}));
  EXPECT_EQ(*read(1, "meta", {{"name", "n"}}), (json::value{{"row", nullptr}}));
  ASSERT_TRUE(snapshots.open(1));
  EXPECT_EQ(*read(2, "meta", {{"name", "m"}}), (json::value{{"row", "2"}}));
}

TEST_F(SnapshotsTest, BelongToTheirConnectionAndEndWithIt) {
  ASSERT_TRUE(snapshots.open(1));
  ASSERT_TRUE(snapshots.open(2));
  EXPECT_EQ(read(1, "timers", {}, 2).error().message, "this connection has no snapshot 1");
  snapshots.close(1, 2);
  EXPECT_TRUE(read(1, "timers", {}));
  snapshots.close(1, 1);
  EXPECT_EQ(read(1, "timers", {}).error().code, Code::not_found);
  snapshots.close_all(2);
  EXPECT_EQ(read(2, "timers", {}, 2).error().code, Code::not_found);
}

TEST_F(SnapshotsTest, AreLimited) {
  for (size_t i = 0; i < Snapshots::kMost; ++i) ASSERT_TRUE(snapshots.open(1));
  auto refused = snapshots.open(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::limit);
  EXPECT_EQ(refused.error().message, "256 readers have the store open, which is all there may be");
  snapshots.close_all(1);
  EXPECT_TRUE(snapshots.open(2));
}

TEST_F(SnapshotsTest, RefuseWhatTheyDoNotHave) {
  ASSERT_TRUE(snapshots.open(1));
  EXPECT_EQ(read(1, "tables", {}).error().message, "a snapshot has no table tables");
  for (const char* table :
       {"state", "states", "lookup", "record", "records", "flow", "packed", "key", "sync-set", "meta"}) {
    EXPECT_EQ(read(1, table, {}).error().code, Code::invalid) << table;
  }
  EXPECT_EQ(read(1, "record", {{"seq", "1x"}}).error().message, "the parameter seq is missing or not what it must be");
  EXPECT_FALSE(read(1, "flow", {{"id", "x"}}));
  EXPECT_FALSE(read(1, "flows-newest", {{"before", "x"}}));
  EXPECT_FALSE(read(1, "flows-oldest", {{"after", ""}}));
  EXPECT_FALSE(read(1, "timers", {{"skip", "-1"}}));
}

}  // namespace snapshots_test
}  // namespace sluice::api
