// A journal written by hand: steps are numbered, linked and chained as the engine's writer does it.
#pragma once

#include <map>
#include <string>

#include "engine/journal/step.h"
#include "store/store.h"

namespace sluice::engine {

class TestingJournal {
 public:
  explicit TestingJournal(store::Store& store) : store_(store) {}
  // Goes on with a journal that is there.
  TestingJournal(store::Store& store, store::Snapshot& so_far);

  // Commits the step with the next number, and its flow as it stands after it. Time goes on by a second a step unless
  // the step has its own.
  uint64_t add(Step step, store::FlowStatus status = store::FlowStatus::running);

  const std::string& chain() const { return chain_; }
  uint64_t seq() const { return seq_; }
  int64_t now_ms() const { return now_ms_; }

 private:
  store::Store& store_;
  uint64_t seq_ = 0;
  int64_t now_ms_ = 1'900'000'000'000;
  std::string chain_ = std::string(kFirstChain);
  std::map<Ulid, uint64_t> newest_;
  std::map<Ulid, std::string> summaries_, sets_;
};

}  // namespace sluice::engine
