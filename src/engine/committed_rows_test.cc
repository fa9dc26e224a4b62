// Committed state as it is read from outside the writer.
#include "engine/committed_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_volatile_disk.h"
#include "engine/testing_engine.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace committed_rows_test {

using testing::ElementsAre;

struct CommittedRowsTest : testing::Test {
  CommittedRowsTest() {
    put("Shop", "a", R"({"item":"tea","price":{"cents":5}})");
    put("Shop", "b", R"({"item":"rum"})");
    put("Shop", "ba", R"({"item":"tea"})");
    put("Shop.tags", lang::child_key("a", "0"), R"("green")");
    put("Shop.tags", lang::child_key("b", "0"), R"("dark")");
    look_up("Shop", "item", R"("tea")", "a");
    look_up("Shop", "item", R"("tea")", "ba");
    look_up("Shop", "item", R"("rum")", "b");
    look_up("Shop", "item", R"("tea")", "b");     // what it was once
    look_up("Shop", "item", R"("tea")", "gone");  // erased since
    look_up("Shop.tags", "value", R"("dark")", lang::child_key("b", "0"));
  }

  void put(const std::string& relation, const std::string& key, const std::string& value) {
    ASSERT_TRUE(store.commit({.state = {{relation, key, 1, 1, value}}}));
  }
  void look_up(const std::string& relation, const std::string& field, const std::string& value,
               const std::string& key) {
    ASSERT_TRUE(store.commit({.lookups = {{relation, field, value, key, true}}}));
  }
  CommittedRows now(store::BlobStore* blobs = nullptr) {
    auto snapshot = store.read();
    return {*std::move(snapshot), blobs, indexed, 1'900'000'000'000};
  }
  static std::vector<std::string> keys(const std::vector<lang::Row>& rows) {
    std::vector<std::string> keys;
    for (const lang::Row& row : rows) keys.push_back(row.key);
    return keys;
  }

  store::MemoryStore store;
  std::shared_ptr<const IndexedFields> indexed =
      std::make_shared<IndexedFields>(IndexedFields{{"Shop", {"item"}}, {"Shop.tags", {"value"}}});
};

TEST_F(CommittedRowsTest, AreReadByKey) {
  CommittedRows rows = now();
  EXPECT_EQ(rows.get("Shop", "b"), json::value(object(R"({"item":"rum"})")));
  EXPECT_EQ(rows.get("Shop", "c"), std::nullopt);
  EXPECT_EQ(rows.get("Stop", "b"), std::nullopt);
  EXPECT_EQ(rows.now().ms, 1'900'000'000'000);
  EXPECT_EQ(&rows.rows_of("Shop"), &rows);
}

TEST_F(CommittedRowsTest, AreScannedFromAPlaceUpToALimit) {
  CommittedRows rows = now();
  EXPECT_THAT(keys(rows.scan("Shop", "", "", 10)), ElementsAre("a", "b", "ba"));
  EXPECT_THAT(keys(rows.scan("Shop", "b", "", 10)), ElementsAre("b", "ba"));
  EXPECT_THAT(keys(rows.scan("Shop", "", "a", 1)), ElementsAre("b"));
  EXPECT_THAT(keys(rows.scan("Shop", "", "", 0)), ElementsAre());
  EXPECT_EQ(rows.scan("Shop", "", "", 1)[0].value.at("item"), "tea");
}

TEST_F(CommittedRowsTest, KnowTheLastOfAPrefix) {
  CommittedRows rows = now();
  EXPECT_EQ(rows.last("Shop", "b")->key, "ba");
  EXPECT_EQ(rows.last("Shop", "")->value, json::value(object(R"({"item":"tea"})")));
  EXPECT_EQ(rows.last("Shop", "c"), std::nullopt);
}

TEST_F(CommittedRowsTest, AreFoundByAnIndexWhoseOldEntriesAreDropped) {
  CommittedRows rows = now();
  EXPECT_THAT(keys(rows.find("Shop", "item", "tea")), ElementsAre("a", "ba"));
  EXPECT_THAT(keys(rows.find("Shop", "item", "gin")), ElementsAre());
  EXPECT_THAT(keys(rows.find("Shop.tags", "value", "dark")), ElementsAre(lang::child_key("b", "0")));
}

TEST_F(CommittedRowsTest, AreFoundByLookingAtAllWithoutAnIndex) {
  indexed = std::make_shared<IndexedFields>();
  CommittedRows rows = now();
  EXPECT_THAT(keys(rows.find("Shop", "item", "tea")), ElementsAre("a", "ba"));
  EXPECT_THAT(keys(rows.find("Shop", "price.cents", 5)), ElementsAre("a"));
  EXPECT_THAT(keys(rows.find("Shop", "price.cents", 6)), ElementsAre());
}

TEST_F(CommittedRowsTest, StayAtOneMoment) {
  CommittedRows rows = now();
  put("Shop", "b", R"({"item":"gin"})");
  ASSERT_TRUE(store.commit({.journal = {{.seq = 1, .flow = test_id(1), .record = "{}"}}}));
  EXPECT_EQ(rows.get("Shop", "b")->at("item"), "rum");
  EXPECT_EQ(rows.position(), 0U);
  EXPECT_EQ(now().get("Shop", "b")->at("item"), "gin");
  EXPECT_EQ(now().position(), 1U);
}

TEST_F(CommittedRowsTest, CannotBeWritten) {
  CommittedRows rows = now();
  EXPECT_THROW(rows.put("Shop", "a", 1), std::logic_error);
  EXPECT_THROW(rows.erase("Shop", "a"), std::logic_error);
  EXPECT_THROW(rows.new_id(), std::logic_error);
  EXPECT_THAT(keys(now().scan("Shop", "", "", 10)), ElementsAre("a", "b", "ba"));
}

TEST_F(CommittedRowsTest, ReadLargeValuesFromTheirBlobs) {
  VolatileDisk disk;
  store::BlobStore blobs(disk, "/blobs");
  auto digest = blobs.put(R"({"item":"whale"})");
  put("Shop", "large", "@" + crypto::to_string(*digest));
  EXPECT_EQ(now(&blobs).get("Shop", "large")->at("item"), "whale");
  ASSERT_TRUE(blobs.remove(*digest));
  EXPECT_THROW(now(&blobs).get("Shop", "large"), UnreadableStore);
  EXPECT_THROW(now(&blobs).scan("Shop", "large", "", 1), UnreadableStore);
  try {
    now().get("Shop", "large");
    FAIL() << "it was read";
  } catch (const UnreadableStore& unreadable) {
    EXPECT_EQ(unreadable.error.code, Code::not_found);
    EXPECT_EQ(unreadable.error.message,
              "the value @" + crypto::to_string(*digest) + " is in a blob store, and there is none");
  }
}

}  // namespace committed_rows_test
}  // namespace sluice::engine
