// What stores refuse, word for word.
#include "store/batch_faults.h"

#include <gtest/gtest.h>

#include "store/store_conformance.h"

namespace sluice::store {
namespace batch_faults_test {

TEST(BatchFaults, AJournalGoesOnWithoutGaps) {
  EXPECT_TRUE(check_follows({}, 7));
  EXPECT_TRUE(check_follows({{.seq = 8}, {.seq = 9}}, 7));
  auto gap = check_follows({{.seq = 8}, {.seq = 10}}, 7);
  ASSERT_FALSE(gap);
  EXPECT_EQ(gap.error().code, Code::conflict);
  EXPECT_EQ(gap.error().message, "step 10 does not follow step 8, the journal's last; nothing was changed");
}

TEST(BatchFaults, OnlySettledFlowsArePackedAndOnlyOnce) {
  Ulid id = test_id(1);
  EXPECT_EQ(check_packable(id, std::nullopt).error().message, "no flow 00000000010000000000000000");
  EXPECT_EQ(check_packable(id, FlowRow{.id = id, .status = FlowStatus::stuck}).error().message,
            "flow 00000000010000000000000000 is open; only settled flows are packed");
  EXPECT_EQ(check_packable(id, FlowRow{.id = id, .status = FlowStatus::settled_ok, .packed = true}).error().message,
            "flow 00000000010000000000000000 is packed already");
  EXPECT_TRUE(check_packable(id, FlowRow{.id = id, .status = FlowStatus::settled_failed}));
}

TEST(BatchFaults, HashesMustBeThoseOfExactlyTheRecords) {
  HashCheck check({.flow = test_id(1), .record_hashes = {{3, "x"}, {4, "y"}}});
  EXPECT_EQ(*check.take(3), "x");
  EXPECT_EQ(check.take(3).error().message,
            "flow 00000000010000000000000000 cannot be packed: no hash was given for its step 3");
  EXPECT_EQ(check.finish().error().message,
            "flow 00000000010000000000000000 cannot be packed: step 4 is not one of its own");
  EXPECT_EQ(*check.take(4), "y");
  EXPECT_TRUE(check.finish());
}

}  // namespace batch_faults_test
}  // namespace sluice::store
