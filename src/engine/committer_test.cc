// A batch is handed over, its result handed back, and nothing that was begun is dropped.
#include "engine/committer.h"

#include <gtest/gtest.h>

#include <latch>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace committer_test {

store::Batch record(uint64_t seq) {
  store::Batch batch;
  batch.journal.push_back({.seq = seq, .flow = {}, .prev = 0, .record = "{}", .packed_hash = ""});
  return batch;
}

TEST(Committer, HandsTheResultBackAndTells) {
  store::MemoryStore store;
  std::latch told(1);
  Committer committer(store, [&] { told.count_down(); });
  EXPECT_FALSE(committer.is_done());
  store::Batch batch = record(1);
  committer.begin(batch);
  told.wait();
  EXPECT_TRUE(committer.is_done());
  EXPECT_TRUE(committer.wait());
  EXPECT_FALSE(committer.is_done());
  EXPECT_EQ((*store.read())->position(), 1U);
}

TEST(Committer, HandsAFailureBack) {
  FailingStore store;
  store.fails = [](int) { return true; };
  Committer committer(store, [] {});
  store::Batch batch = record(1);
  committer.begin(batch);
  auto done = committer.wait();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the disk is full");
}

TEST(Committer, FinishesWhatItBeganBeforeItEnds) {
  store::MemoryStore store;
  store::Batch batch = record(1);
  {
    Committer committer(store, [] {});
    committer.begin(batch);
  }
  EXPECT_EQ((*store.read())->position(), 1U);
}

}  // namespace committer_test
}  // namespace sluice::engine
