// Packed flows are smaller, readable, and keep the chain whole.
#include "engine/journal/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal/audit.h"
#include "engine/journal/history.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace retention_test {

using testing::ElementsAre;

const std::string kPlain = R"(concept Plain [P] {
  actions {
    action go(n: Int) {
      -> ok(n: Int)
    }
    action then(n: Int) {
      -> ok(n: Int)
    }
  }
}
)";
const std::string kThen = "sync Then when { Plain/go: [ n: ?n ] => ok[] } then { Plain/then: [ n: ?n ] }";

TEST(Retention, RecordsComeBackAsTheyWere) {
  std::vector<std::string> records = {"{}", R"({"a":1})", ""};
  auto back = unpack_records(pack_records(records));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, records);
  EXPECT_TRUE(unpack_records(pack_records({})));
}

TEST(Retention, ADamagedBlobIsRefused) {
  std::string blob = pack_records({"one", "two"});
  EXPECT_FALSE(unpack_records(blob.substr(0, blob.size() - 1)));
  EXPECT_FALSE(unpack_records("nothing"));
  EXPECT_FALSE(unpack_records(""));
}

TEST(Retention, PacksWhatIsOldAndKeepsTheChain) {
  World world({kPlain}, kThen);
  Ulid old = world.run("Plain/go", R"({"n": 1})").flow;
  world.clock.advance_ms(int64_t{31} * 24 * 3600 * 1000);
  Ulid fresh = world.run("Plain/go", R"({"n": 2})").flow;

  auto snapshot = world.store->read();
  auto before = read_flow(**snapshot, **(*snapshot)->flow(old), unpack_records);
  ASSERT_TRUE(before);
  auto packed = pack_settled(*world.store, world.clock.wall_ms(), {});
  ASSERT_TRUE(packed);
  EXPECT_EQ(*packed, 1U);
  EXPECT_EQ(*pack_settled(*world.store, world.clock.wall_ms(), {}), 0U);

  snapshot = world.store->read();
  EXPECT_TRUE((**(*snapshot)->flow(old)).packed);
  EXPECT_FALSE((**(*snapshot)->flow(fresh)).packed);
  auto after = read_flow(**snapshot, **(*snapshot)->flow(old), unpack_records);
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, *before);
  auto report = verify(**snapshot, {}, {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->fault);
  EXPECT_EQ(report->packed, 2U);
  // The machine goes on behind packed records.
  snapshot->reset();
  world.restart();
  EXPECT_EQ(world.run("Plain/go", R"({"n": 3})").end.variant, "ok");
}

TEST(Retention, AKeyOfAPackedFlowStillTellsHowItEnded) {
  World world({kPlain}, kThen);
  Ulid flow = world.start("Plain/go", R"({"n": 1})", "again");
  world.settle();
  ASSERT_EQ(*pack_settled(*world.store, world.clock.wall_ms(), {.keep_flows = 0}), 1U);
  world.restart();
  EXPECT_EQ(world.start("Plain/go", R"({"n": 1})", "again"), flow);
  ASSERT_EQ(world.ended.size(), 2U);
  ASSERT_TRUE(world.ended[1]) << to_string(world.ended[1].error());
  EXPECT_EQ(world.ended[1]->end, world.ended[0]->end);
  EXPECT_EQ(world.ended[1]->position, 1U);
}

TEST(Retention, SyncSetsAreNeededUntilTheirFlowsArePacked) {
  World world({kPlain}, kThen);
  world.run("Plain/go", R"({"n": 1})");
  std::string old = world.machine().sync_set().hash();
  auto unneeded = [&] {
    auto snapshot = world.store->read();
    return *unneeded_sync_sets(**snapshot, world.machine().sync_set().hash());
  };
  EXPECT_THAT(unneeded(), ElementsAre());
  ASSERT_TRUE(world.reload("sync Other when { Plain/go: [] => ok[] } then { Plain/then: [ n: 5 ] }"));
  EXPECT_THAT(unneeded(), ElementsAre());
  ASSERT_EQ(*pack_settled(*world.store, world.clock.wall_ms(), {.keep_flows = 0}), 1U);
  EXPECT_THAT(unneeded(), ElementsAre(old));
}

TEST(Retention, PacksTheOldestBeyondTheNumberThatIsKept) {
  World world({kPlain}, kThen);
  std::vector<Ulid> flows;
  for (int i = 0; i < 5; ++i) flows.push_back(world.run("Plain/go", R"({"n": 1})").flow);
  EXPECT_EQ(*pack_settled(*world.store, world.clock.wall_ms(), {.keep_flows = 2}), 3U);
  auto snapshot = world.store->read();
  std::vector<bool> packed;
  for (const Ulid& flow : flows) packed.push_back((**(*snapshot)->flow(flow)).packed);
  EXPECT_THAT(packed, ElementsAre(true, true, true, false, false));
}

// What would not fit into memory is not read into it.
TEST(Retention, LeavesAFlowThatIsTooLargeAsItIs) {
  World world({kPlain}, kThen);
  for (int i = 0; i < 3; ++i) world.run("Plain/go", R"({"n": 1})");
  size_t bytes = 0;
  auto snapshot = world.store->read();
  ASSERT_TRUE((*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    bytes += row.record.size();
    return true;
  }));
  snapshot->reset();
  size_t one = bytes / 3 + 10;
  auto pack = [&](size_t at_once) {
    return *pack_settled(*world.store, world.clock.wall_ms(), {.keep_flows = 0, .bytes_at_once = at_once});
  };
  EXPECT_EQ(pack(one - 100), 0U);
  EXPECT_EQ(pack(one), 2U);  // with the second it is more
  EXPECT_EQ(pack(one), 1U);
}

}  // namespace retention_test
}  // namespace sluice::engine
