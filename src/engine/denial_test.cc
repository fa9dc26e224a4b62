// A denial that is written without an engine is a record like any other.
#include "engine/denial.h"

#include <gtest/gtest.h>

#include "engine/journal/audit.h"
#include "engine/testing_engine.h"
#include "engine/testing_journal.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace denial_test {

TEST(Denial, IsTheNextRecordOfTheChain) {
  store::MemoryStore store;
  ASSERT_TRUE(record_denial(store, "uid:7", "flow list", ManualClock(5), {}));
  ASSERT_TRUE(record_denial(store, "uid:7", "why", ManualClock(3), {}));
  auto snapshot = store.read();
  auto report = verify(**snapshot, {}, {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->fault) << report->fault->what;
  EXPECT_EQ(report->records, 2U);
  auto second = read_step((*(*snapshot)->journal(2))->record);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->kind, Step::Kind::denied);
  EXPECT_EQ(second->caller.name, "uid:7");
  EXPECT_EQ(second->action, "why");
  EXPECT_EQ(second->count, 1U);
  EXPECT_EQ(second->at_ms, 5);  // time never goes back
}

}  // namespace denial_test
}  // namespace sluice::engine
