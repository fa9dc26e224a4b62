// A store behind a socket reads like the store itself.
#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>

#include "api/testing_served.h"
#include "base/testing_wait.h"
#include "host/remote_store.h"

namespace sluice::api {
namespace served_store_test {

Ulid id(int64_t n) { return Ulid::from(n, std::array<uint8_t, Ulid::kRandomBytes>{}); }

template <typename Row, typename Read>
std::vector<Row> all_of(const Read& read) {
  std::vector<Row> rows;
  Result<void> done = read([&](const Row& row) {
    rows.push_back(row);
    return true;
  });
  EXPECT_TRUE(done) << to_string(done.error());
  return rows;
}

struct RemoteStores : testing::Test {
  std::unique_ptr<store::Snapshot> remote() {
    auto snapshot = host::RemoteStore(served.socket(), served.clock, "flow list").read();
    EXPECT_TRUE(snapshot) << to_string(snapshot.error());
    return snapshot ? *std::move(snapshot) : nullptr;
  }
  // More than a page of everything that comes in pages.
  void fill() {
    constexpr int64_t kRows = 2'500;
    const std::string bytes("\0\xff", 2);
    store::Batch batch;
    for (int64_t n = 1; n <= kRows; ++n) {
      std::string name = std::to_string(n);
      batch.journal.push_back({.seq = static_cast<uint64_t>(n), .flow = id(n), .record = "{\"n\":" + name + "}"});
      batch.state.push_back({.rel = "A", .key = name + bytes, .generation = 1, .seq = 1, .value = name});
      batch.lookups.push_back({.rel = "A", .field = "f", .value = "1", .key = name});
      batch.flows.push_back({.id = id(n),
                             .head = static_cast<uint64_t>(n),
                             .status = n % 2 == 0 ? store::FlowStatus::running : store::FlowStatus::settled_ok,
                             .sync_set = "h",
                             .summary = "{}"});
      batch.timers.push_back({.invocation = id(n), .flow = id(n), .due_ms = n});
      batch.sync_sets.emplace_back("h" + name, bytes);
    }
    batch.keys = {{"ann", "k", bytes, id(1), id(1), 5}};
    batch.meta = {{"m", bytes}};
    ASSERT_TRUE(served.store.commit(batch));
  }

  TestingServed served;
};

TEST_F(RemoteStores, ReadEverythingAsItIs) {
  fill();
  auto there = remote();
  auto here = *served.store.read();
  EXPECT_EQ(there->position(), 2'500U);
  auto same = [&]<typename Row>(const auto& read, Row) {
    std::vector<Row> expected = all_of<Row>([&](const store::Visit<Row>& visit) { return read(*here, visit); });
    std::vector<Row> found = all_of<Row>([&](const store::Visit<Row>& visit) { return read(*there, visit); });
    EXPECT_GT(expected.size(), 1'000U);
    EXPECT_EQ(found, expected);
  };
  same([](auto& from, auto& visit) { return from.scan("A", "", visit); }, store::StateRow());
  same([](auto& from, auto& visit) { return from.scan("A", "1", visit); }, store::StateRow());
  same([](auto& from, auto& visit) { return from.lookup("A", "f", "1", visit); }, std::string());
  same([](auto& from, auto& visit) { return from.journal_from(7, visit); }, store::JournalRow());
  same([](auto& from, auto& visit) { return from.open_flows(visit); }, store::FlowRow());
  same([](auto& from, auto& visit) { return from.flows_newest_first(std::nullopt, visit); }, store::FlowRow());
  same([](auto& from, auto& visit) { return from.flows_newest_first(id(2'000), visit); }, store::FlowRow());
  same([](auto& from, auto& visit) { return from.flows_oldest_first(id(9), visit); }, store::FlowRow());
  same([](auto& from, auto& visit) { return from.timers(visit); }, store::TimerRow());
  same([](auto& from, auto& visit) { return from.sync_sets(visit); }, std::string());
  const std::string bytes("\0\xff", 2);
  EXPECT_EQ(*there->get("A", "7" + bytes), *here->get("A", "7" + bytes));
  EXPECT_EQ(*there->get("A", "none"), std::nullopt);
  EXPECT_EQ(*there->journal(7), *here->journal(7));
  EXPECT_EQ(*there->flow(id(3)), *here->flow(id(3)));
  EXPECT_EQ(*there->key("ann", "k"), *here->key("ann", "k"));
  EXPECT_EQ(*there->sync_set("h7"), bytes);
  EXPECT_EQ(*there->meta("m"), bytes);
  EXPECT_EQ(*there->packed(id(3)), std::nullopt);
}

TEST_F(RemoteStores, AVisitMayEndAndReadMeanwhile) {
  fill();
  auto there = remote();
  int seen = 0;
  ASSERT_TRUE(there->flows_newest_first(std::nullopt, [&](const store::FlowRow& row) {
    EXPECT_EQ((*there->journal(row.head))->flow, row.id);
    return ++seen < 3;
  }));
  EXPECT_EQ(seen, 3);
}

TEST_F(RemoteStores, AReaderThatGoesLeavesNothingBehind) {
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(eventually([&] {
      return host::RemoteStore(served.socket(), served.clock, "flow list").read().has_value();
    })) << i;
  }
}

TEST_F(RemoteStores, CanOnlyBeRead) {
  host::RemoteStore store(served.socket(), served.clock, "flow list");
  EXPECT_EQ(store.commit({}).error().message, "the store of another process can only be read");
  EXPECT_FALSE(store.pack({}));
  EXPECT_FALSE(store.forget(0, {}));
  EXPECT_FALSE(store.back_up("x"));
  EXPECT_FALSE(store.broken());
}

TEST_F(RemoteStores, SaysThatNobodyListens) {
  host::RemoteStore store(served.folder.path("none"), served.clock, "flow list");
  EXPECT_EQ(store.read().error().code, Code::unavailable);
  auto there = remote();
  served.server->stop();
  EXPECT_EQ(there->meta("m").error().code, Code::unavailable);
}

}  // namespace served_store_test
}  // namespace sluice::api
