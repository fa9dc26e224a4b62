// A journal written by hand: steps are numbered, linked and chained as the engine's writer does it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/step.h"
#include "store/store.h"

namespace sluice::engine {

class TestingJournal {
 public:
  explicit TestingJournal(store::Store& store) : store_(store) {}
  // Goes on with a journal that is there.
  TestingJournal(store::Store& store, store::Snapshot& so_far) : store_(store), seq_(so_far.position()) {
    EXPECT_TRUE(so_far.journal_from(1, [&](const store::JournalRow& row) {
      newest_[row.flow] = row.seq;
      chain_ = chain_of(row.record);
      return true;
    }));
  }

  // Commits the step with the next number, and its flow as it stands after it. Time goes on by a second a step unless
  // the step has its own.
  uint64_t add(Step step, store::FlowStatus status = store::FlowStatus::running) {
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

  const std::string& chain() const { return chain_; }
  uint64_t seq() const { return seq_; }
  int64_t now_ms() const { return now_ms_; }

 private:
  static std::string summary(const Step& step) {
    return R"({"action":")" + step.action + R"(","caller":")" + step.caller.name + "\"}";
  }

  store::Store& store_;
  uint64_t seq_ = 0;
  int64_t now_ms_ = 1'900'000'000'000;
  std::string chain_ = std::string(kFirstChain);
  std::map<Ulid, uint64_t> newest_;
  std::map<Ulid, std::string> summaries_, sets_;
};

}  // namespace sluice::engine
