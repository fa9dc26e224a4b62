// What is committed as seen by who shares the store, and by who runs the engine.
#include "host/committed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory_store.h"

namespace sluice::host {
namespace committed_test {

using testing::ElementsAre;

struct CommittedByOthers : testing::Test {
  void commit(uint64_t seq) {
    ASSERT_TRUE(store.commit({.journal = {{.seq = seq, .flow = Ulid(), .record = "r" + std::to_string(seq)}}}));
  }

  store::MemoryStore store;
  ManualClock clock;
  CommittedElsewhere committed{store, clock};
};

TEST_F(CommittedByOthers, ThePositionIsThatOfTheStore) {
  EXPECT_EQ(committed.position(), 0U);
  commit(1);
  EXPECT_EQ(committed.position(), 1U);
  EXPECT_EQ(committed.trouble(), std::nullopt);
}

TEST_F(CommittedByOthers, WhoWaitsForAPositionWaitsNoLongerThanTheySaid) {
  commit(1);
  EXPECT_EQ(committed.wait_for(1, 1000), 1U);
  EXPECT_EQ(clock.monotonic_ns(), 0) << "it is there";
  EXPECT_EQ(committed.wait_for(2, 1000), 1U);
  EXPECT_EQ(clock.monotonic_ns(), 1'000'000'000);
}

TEST_F(CommittedByOthers, RecordsComeInOrderAsTheyAreCommitted) {
  commit(1);
  commit(2);
  std::vector<std::string> seen;
  int asked = 0;
  auto watched = committed.watch(
      2,
      [&](const store::JournalRow& row) {
        seen.push_back(row.record);
        return row.seq < 4;
      },
      [&] {
        if (++asked == 3) commit(3), commit(4), commit(5);
        return false;
      });
  EXPECT_TRUE(watched);
  EXPECT_THAT(seen, ElementsAre("r2", "r3", "r4")) << "until no more is wanted";
  EXPECT_TRUE(committed.watch(
      6, [](const store::JournalRow&) { return true; }, [] { return true; }));
}

}  // namespace committed_test
}  // namespace sluice::host
