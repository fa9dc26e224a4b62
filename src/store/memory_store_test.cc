// The memory store under the tests of every store, and what is its own.
#include "store/memory_store.h"

#include <gtest/gtest.h>

#include "store/store_conformance.h"

namespace sluice::store {
namespace memory_store_test {

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance,
                         testing::Values(StoreMaker{
                             "memory", [] { return StoreUnderTest{.store = std::make_unique<MemoryStore>()}; }}));

TEST(MemoryStore, SaysThatItCannotBeBackedUp) {
  MemoryStore store;
  auto done = store.back_up("/copy");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  EXPECT_EQ(done.error().message, "a store in memory has nothing to back up");
}

}  // namespace memory_store_test
}  // namespace sluice::store
