// How a journal written by hand is numbered, linked and chained.
#include "engine/testing_journal.h"

#include <gtest/gtest.h>

namespace sluice::engine {

static std::string summary(const Step& step) {
  return R"({"action":")" + step.action + R"(","caller":")" + step.caller.name + "\"}";
}

TestingJournal::TestingJournal(store::Store& store, store::Snapshot& so_far) : store_(store), seq_(so_far.position()) {
  EXPECT_TRUE(so_far.journal_from(1, [&](const store::JournalRow& row) {
    newest_[row.flow] = row.seq;
    chain_ = chain_of(row.record);
    return true;
  }));
}

uint64_t TestingJournal::add(Step step, store::FlowStatus status) {
  store::Batch batch;
  step.seq = ++seq_;
  if (step.at_ms == 0) step.at_ms = now_ms_ += 1000;
  now_ms_ = step.at_ms;
  std::string record = write_step(step, chain_);
  chain_ = chain_of(record);
  uint64_t& prev = newest_[step.flow];
  batch.journal.push_back({.seq = seq_, .flow = step.flow, .prev = step.flow == Ulid() ? 0 : prev, .record = record});
  prev = seq_;
  if (step.flow != Ulid()) {
    if (step.root) summaries_[step.flow] = summary(step);
    if (step.root) sets_[step.flow] = step.root->sync_set;
    if (step.child) sets_[step.flow] = step.child->sync_set;
    batch.flows.push_back({.id = step.flow,
                           .head = seq_,
                           .status = status,
                           .sync_set = sets_[step.flow],
                           .settled_at_ms = store::is_open(status) ? 0 : step.at_ms,
                           .summary = summaries_[step.flow]});
  }
  auto done = store_.commit(batch);
  EXPECT_TRUE(done) << to_string(done.error());
  return seq_;
}

}  // namespace sluice::engine
