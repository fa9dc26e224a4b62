// The state that a step sees, and what of it is committed.
#include "engine/transaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_volatile_disk.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace transaction_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<lang::Row>& rows) {
  std::vector<std::string> texts;
  for (const lang::Row& row : rows) texts.push_back(row.key + " " + json::serialize(row.value));
  return texts;
}
std::vector<std::string> texts(const std::vector<StateReader::Row>& rows) {
  std::vector<std::string> texts;
  for (const StateReader::Row& row : rows) texts.push_back(row.key + " " + json::serialize(row.value));
  return texts;
}

struct TransactionTest : testing::Test {
  void begin() { state.begin_step(test_id(5), ++seq, 1'900'000'000'000); }
  // A step of one write.
  void put(const std::string& relation, const std::string& key, const json::value& value) {
    begin();
    state.rows().put(relation, key, value);
    state.keep_step();
  }
  void erase(const std::string& relation, const std::string& key) {
    begin();
    EXPECT_TRUE(state.rows().erase(relation, key));
    state.keep_step();
  }
  store::Batch collect() {
    store::Batch batch;
    auto collected = state.collect(batch);
    EXPECT_TRUE(collected) << to_string(collected.error());
    return batch;
  }
  void commit() {
    store::Batch batch = collect();
    state.take_off();
    auto done = store.commit(batch);
    ASSERT_TRUE(done) << to_string(done.error());
    state.committed();
  }
  std::string version(const std::string& relation, const std::string& key) {
    Transaction::Version version = state.version(relation, key);
    return std::to_string(version.generation) + " by " + std::to_string(version.seq);
  }
  static std::vector<std::string> changes(const store::Batch& batch) {
    std::vector<std::string> lines;
    for (const store::StateChange& each : batch.state) {
      lines.push_back(each.rel + " " + each.key + " " + std::to_string(each.generation) + " by " +
                      std::to_string(each.seq) + " " + each.value.value_or("erased"));
    }
    for (const store::LookupChange& each : batch.lookups) {
      lines.push_back((each.present ? "+" : "-") + each.rel + "." + each.field + " " + each.value + " " + each.key);
    }
    return lines;
  }

  FailingStore store;
  VolatileDisk disk;
  store::BlobStore blobs{disk, "/blobs"};
  Transaction state{store, &blobs, {{"Shop", {"item"}}, {"Shop.tags", {"value"}}}};
  uint64_t seq = 0;
};

TEST_F(TransactionTest, AStepSeesItsOwnWritesThenTheBatchThenTheStore) {
  put("Shop", "a", "stored");
  put("Shop", "b", "stored");
  put("Shop", "c", "stored");
  commit();
  put("Shop", "b", "batch");
  put("Shop", "c", "batch");
  begin();
  state.rows().put("Shop", "c", "step");
  EXPECT_EQ(state.rows().get("Shop", "a"), json::value("stored"));
  EXPECT_EQ(state.rows().get("Shop", "b"), json::value("batch"));
  EXPECT_EQ(state.rows().get("Shop", "c"), json::value("step"));
  EXPECT_EQ(state.rows().get("Shop", "d"), std::nullopt);
  state.drop_step();
  EXPECT_EQ(state.rows().get("Shop", "c"), json::value("batch"));
}

TEST_F(TransactionTest, AScanMergesTheLayersInKeyOrderWithoutWhatIsErased) {
  for (const char* key : {"b", "d", "f", "h"}) put("Shop", key, "stored");
  commit();
  put("Shop", "c", "batch");
  put("Shop", "f", "batch");
  erase("Shop", "b");
  put("Shop", "x", "batch");
  begin();
  state.rows().put("Shop", "a", "step");
  state.rows().put("Shop", "h", "step");
  state.rows().put("Shop", "i", "step");
  EXPECT_TRUE(state.rows().erase("Shop", "d"));
  EXPECT_FALSE(state.rows().erase("Shop", "d"));
  EXPECT_TRUE(state.rows().erase("Shop", "x"));
  EXPECT_THAT(texts(state.rows().scan("Shop", "", "", 10)),
              ElementsAre(R"(a "step")", R"(c "batch")", R"(f "batch")", R"(h "step")", R"(i "step")"));
  EXPECT_THAT(texts(state.rows().scan("Shop", "", "a", 2)), ElementsAre(R"(c "batch")", R"(f "batch")"));
  EXPECT_THAT(texts(state.rows().scan("Shop", "h", "", 10)), ElementsAre(R"(h "step")"));
  EXPECT_THAT(texts(state.rows().scan("Shop", "", "", 0)), IsEmpty());
  EXPECT_EQ(state.rows().last("Shop", "")->key, "i");
  EXPECT_EQ(state.rows().last("Shop", "d"), std::nullopt);
  EXPECT_THAT(texts(state.all("Shop", 2)), ElementsAre(R"(a {"value":"step"})", R"(c {"value":"batch"})"));
}

TEST_F(TransactionTest, FindsByIndexedAndOtherFieldsInAllLayers) {
  for (const char* key : {"a", "b", "c"}) put("Shop", key, object(R"({"item":"tea","price":{"cents":5}})"));
  commit();
  put("Shop", "b", object(R"({"item":"rum","price":{"cents":5}})"));
  begin();
  state.rows().put("Shop", "d", object(R"({"item":"tea","price":{"cents":6}})"));
  EXPECT_TRUE(state.rows().erase("Shop", "a"));
  auto keys = [](const auto& rows) {
    std::string keys;
    for (const auto& row : rows) keys += row.key;
    return keys;
  };
  EXPECT_EQ(keys(state.rows().find("Shop", "item", "tea")), "cd");
  EXPECT_EQ(keys(state.rows().find("Shop", "item", "rum")), "b");
  EXPECT_EQ(keys(state.rows().find("Shop", "price.cents", 5)), "bc");
  EXPECT_EQ(keys(state.rows().find("Shop", "price.cents", 5.0)), "bc");
  EXPECT_EQ(keys(state.by_field("Shop", "item", "tea")), "cd");
  EXPECT_EQ(keys(state.by_field("Shop", "nothing", "tea")), "");
}

TEST_F(TransactionTest, DropsLookUpsThatAreOutOfDate) {
  put("Shop", "a", object(R"({"item":"tea"})"));
  commit();
  ASSERT_TRUE(
      store.commit({.lookups = {{"Shop", "item", R"("rum")", "a", true}, {"Shop", "item", R"("rum")", "gone", true}}}));
  state.rolled_back();
  EXPECT_THAT(state.rows().find("Shop", "item", "rum"), IsEmpty());
  EXPECT_THAT(texts(state.rows().find("Shop", "item", "tea")), ElementsAre(R"(a {"item":"tea"})"));
}

TEST_F(TransactionTest, AGenerationGrowsByOneForEachStepThatChangesTheRow) {
  EXPECT_EQ(version("Shop", "a"), "0 by 0");
  begin();
  state.rows().put("Shop", "a", 1);
  state.rows().put("Shop", "a", 2);
  EXPECT_EQ(version("Shop", "a"), "1 by 1");
  state.keep_step();
  put("Shop", "b", 1);
  put("Shop", "a", 3);
  EXPECT_EQ(version("Shop", "a"), "2 by 3");
  begin();
  state.rows().put("Shop", "a", 4);
  state.drop_step();
  EXPECT_EQ(version("Shop", "a"), "2 by 3");
  commit();
  EXPECT_EQ(version("Shop", "a"), "2 by 3");
  state.rolled_back();  // it is read from the store again
  EXPECT_EQ(version("Shop", "a"), "2 by 3");
  put("Shop", "a", 5);
  EXPECT_EQ(version("Shop", "a"), "3 by 5");
}

TEST_F(TransactionTest, ARowThatComesBackIsANewOneWhetherOrNotTheOldIsRemembered) {
  put("Shop", "a", 1);
  put("Shop", "a", 2);
  commit();
  erase("Shop", "a");
  EXPECT_EQ(version("Shop", "a"), "0 by 0");
  commit();
  put("Shop", "a", 3);
  EXPECT_EQ(version("Shop", "a"), "1 by 4");
  state.rolled_back();
  put("Shop", "a", 3);
  EXPECT_EQ(version("Shop", "a"), "1 by 5");
}

TEST_F(TransactionTest, ElementsOfAChildRelationAreReadByTheirOwner) {
  put("Shop.tags", lang::child_key("a", "0"), "green");
  put("Shop.tags", lang::child_key("a", "1"), object(R"({"value":"hot"})"));
  put("Shop.tags", lang::child_key("ab", "0"), "dark");
  EXPECT_THAT(texts(state.by_key("Shop.tags", "a")), ElementsAre(R"(a {"value":"green"})", R"(a {"value":"hot"})"));
  EXPECT_THAT(texts(state.by_field("Shop.tags", "value", "dark")), ElementsAre(R"(ab {"value":"dark"})"));
  EXPECT_THAT(texts(state.all("Shop.tags", 10)),
              ElementsAre(R"(a {"value":"green"})", R"(a {"value":"hot"})", R"(ab {"value":"dark"})"));
  put("Shop", "a", object(R"({"item":"tea"})"));
  EXPECT_THAT(texts(state.by_key("Shop", "a")), ElementsAre(R"(a {"item":"tea"})"));
  EXPECT_THAT(texts(state.by_key("Shop", "b")), IsEmpty());
}

TEST_F(TransactionTest, ChangedRowsAreThoseThatTheStepInsertedOrChanged) {
  put("Shop", "a", object(R"({"item":"tea"})"));
  put("Shop", "b", object(R"({"item":"tea"})"));
  begin();
  EXPECT_THAT(state.changed(), IsEmpty());
  state.rows().put("Shop", "b", object(R"({"item":"rum"})"));
  state.rows().put("Shop.tags", lang::child_key("b", "0"), "dark");
  EXPECT_TRUE(state.rows().erase("Shop", "a"));
  std::vector<ChangedRow> changed = state.changed();
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].relation + " " + changed[0].key + " " + json::serialize(changed[0].value),
            R"(Shop b {"item":"rum"})");
  EXPECT_EQ(changed[1].relation + " " + changed[1].key + " " + json::serialize(changed[1].value),
            R"(Shop.tags b {"value":"dark"})");
  state.keep_step();
  EXPECT_THAT(state.changed(), IsEmpty());
}

TEST_F(TransactionTest, ARowThatIsWrittenAsItWasHasNotChanged) {
  put("Shop", "a", 1);
  commit();
  begin();
  state.rows().put("Shop", "a", 2);
  state.rows().put("Shop", "a", 1);
  EXPECT_THAT(state.changed(), IsEmpty());
  state.keep_step();
  EXPECT_EQ(version("Shop", "a"), "1 by 1");
  EXPECT_THAT(changes(collect()), IsEmpty());
}

TEST_F(TransactionTest, CollectsEachRowOnceWithTheLookUpsThatChange) {
  put("Shop", "a", object(R"({"item":"tea"})"));
  put("Shop", "b", object(R"({"item":"tea"})"));
  EXPECT_THAT(changes(collect()), ElementsAre(R"(Shop a 1 by 1 {"item":"tea"})", R"(Shop b 1 by 2 {"item":"tea"})",
                                              R"(+Shop.item "tea" a)", R"(+Shop.item "tea" b)"));
  commit();
  put("Shop", "a", object(R"({"item":"gin"})"));
  put("Shop", "a", object(R"({"item":"rum"})"));
  erase("Shop", "b");
  put("Shop", "c", object(R"({"size":1})"));
  EXPECT_THAT(changes(collect()),
              ElementsAre(R"(Shop a 3 by 4 {"item":"rum"})", "Shop b 2 by 5 erased", R"(Shop c 1 by 6 {"size":1})",
                          R"(-Shop.item "tea" a)", R"(+Shop.item "rum" a)", R"(-Shop.item "tea" b)"));
  commit();
  EXPECT_THAT(changes(collect()), IsEmpty());
}

TEST_F(TransactionTest, ARowThatWasInsertedAndErasedLeavesNothing) {
  put("Shop", "a", object(R"({"item":"tea"})"));
  erase("Shop", "a");
  begin();
  state.rows().put("Shop", "b", object(R"({"item":"tea"})"));
  EXPECT_TRUE(state.rows().erase("Shop", "b"));
  state.keep_step();
  EXPECT_THAT(changes(collect()), IsEmpty());
}

TEST_F(TransactionTest, WhatIsRolledBackNeverHappened) {
  put("Shop", "a", 1);
  commit();
  put("Shop", "a", 2);
  begin();
  state.rows().put("Shop", "b", 1);
  state.rolled_back();
  EXPECT_EQ(state.rows().get("Shop", "a"), json::value(1));
  EXPECT_EQ(state.rows().get("Shop", "b"), std::nullopt);
  EXPECT_THAT(changes(collect()), IsEmpty());
}

TEST_F(TransactionTest, LargeValuesAreBlobsAndComeBack) {
  std::string most(kLargestInlineValue - 2, 'x');  // with its quotes exactly as long as a row may hold
  std::string large = most + "x";
  put("Shop", "a", json::value(most));
  put("Shop", "b", json::value(large));
  store::Batch batch = collect();
  EXPECT_EQ(batch.state[0].value, "\"" + most + "\"");
  EXPECT_EQ(batch.state[1].value, "@" + crypto::to_string(crypto::sha256("\"" + large + "\"")));
  commit();
  state.rolled_back();
  EXPECT_EQ(state.rows().get("Shop", "b"), json::value(large));
  EXPECT_EQ(state.rows().scan("Shop", "b", "", 1)[0].value, json::value(large));

  Transaction without(store, nullptr, {});
  without.begin_step(test_id(1), 9, 0);
  without.rows().put("Shop", "c", json::value(large));
  without.keep_step();
  store::Batch inline_batch;
  ASSERT_TRUE(without.collect(inline_batch));
  EXPECT_EQ(inline_batch.state[0].value, "\"" + large + "\"");
}

TEST_F(TransactionTest, AStoreThatCannotBeReadThrows) {
  ASSERT_TRUE(store.commit({.state = {{"Shop", "lost", 1, 1, "@" + crypto::to_string(crypto::sha256("x"))}}}));
  EXPECT_THROW(state.rows().get("Shop", "lost"), UnreadableStore);
  EXPECT_THROW(state.all("Shop", 10), UnreadableStore);
  state.rolled_back();
  store.unreadable = true;
  EXPECT_THROW(state.version("Shop", "a"), UnreadableStore);
  try {
    state.rows().find("Shop", "item", "tea");
    FAIL() << "it was read";
  } catch (const UnreadableStore& unreadable) {
    EXPECT_EQ(unreadable.error.message, "the disk does not answer");
  }
}

TEST_F(TransactionTest, IdsOfAStepAreInOrder) {
  for (int64_t invocation = 1; invocation < 20; ++invocation) {
    state.begin_step(test_id(invocation), 1, 1'900'000'000'000);
    std::string last;
    for (int i = 0; i < 1000; ++i) {
      std::string next = state.rows().new_id();
      ASSERT_LT(last, next);
      last = std::move(next);
    }
  }
}

// Both may happen within a millisecond.
TEST_F(TransactionTest, BeginAndFinishMakeDifferentIds) {
  state.begin_step(test_id(5), 1, 1'900'000'000'000);
  std::string begun = state.rows().new_id();
  state.begin_step(test_id(5), 2, 1'900'000'000'000, true);
  EXPECT_NE(state.rows().new_id(), begun);
}

TEST_F(TransactionTest, IdsAreTheSameAgainForTheSameStep) {
  state.begin_step(test_id(5), 1, 1'900'000'000'000);
  std::string first = state.rows().new_id();
  std::string second = state.rows().new_id();
  EXPECT_LT(first, second);
  EXPECT_EQ(Ulid::parse(first)->wall_ms(), 1'900'000'000'000);
  state.begin_step(test_id(5), 1, 1'900'000'000'000);
  EXPECT_EQ(state.rows().new_id(), first);
  EXPECT_EQ(state.rows().new_id(), second);
  state.begin_step(test_id(6), 1, 1'900'000'000'000);
  EXPECT_NE(state.rows().new_id(), first);
  EXPECT_EQ(state.rows().request().text(), to_string(test_id(6)));
  EXPECT_EQ(state.now_ms(), 1'900'000'000'000);
}

}  // namespace transaction_test
}  // namespace sluice::engine
