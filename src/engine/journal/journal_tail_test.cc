// That records follow each other without a gap, and that what was not committed can be taken back.
#include "engine/journal/journal_tail.h"

#include <gtest/gtest.h>

namespace sluice::engine {
namespace journal_tail_test {

TEST(JournalTail, ChainsRecordsAndGoesBackToWhatIsCommitted) {
  JournalTail tail;
  EXPECT_EQ(tail.next_seq(), 1U);
  Step first{.seq = 1, .at_ms = 5};
  store::JournalRow row = tail.append(first, 0);
  EXPECT_EQ(chain_in(row.record).value(), kFirstChain);
  EXPECT_EQ(tail.chain(), chain_of(row.record));
  EXPECT_EQ(tail.committed_seq(), 0U);
  tail.committed(1, tail.chain());
  std::string chain = tail.chain();
  Step second{.seq = 2, .at_ms = 6};
  EXPECT_EQ(chain_in(tail.append(second, 1).record).value(), chain);
  tail.reset({1, chain, 5});
  EXPECT_EQ(tail.next_seq(), 2U);
  EXPECT_EQ(tail.chain(), chain);
}

TEST(JournalTail, SaysOnceThatAHeadWasSigned) {
  JournalTail tail;
  tail.note_head(7);
  Step first{.seq = 1}, second{.seq = 2};
  tail.append(first, 0);
  tail.append(second, 0);
  EXPECT_EQ(first.head, 7U);
  EXPECT_EQ(second.head, 0U);
}

TEST(JournalTailDeathTest, RefusesAGap) {
  JournalTail tail;
  Step step{.seq = 2};
  EXPECT_DEATH(tail.append(step, 0), "next_seq");
}

}  // namespace journal_tail_test
}  // namespace sluice::engine
