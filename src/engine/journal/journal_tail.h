// JournalTail is where the journal ends: the next record has the next number and holds the hash of the last one. It is
// further than the store by the records of batches that are not committed yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "engine/journal/journal_search.h"
#include "engine/journal/step.h"
#include "store/store.h"

namespace sluice::engine {

class JournalTail {
 public:
  // The number of the record that was appended last, and of the next.
  uint64_t seq() const { return end_.seq; }
  uint64_t next_seq() const { return end_.seq + 1; }
  const std::string& chain() const { return end_.chain; }
  // Of the last record that is committed.
  uint64_t committed_seq() const { return committed_.seq; }
  const std::string& committed_chain() const { return committed_.chain; }

  // The step as the next record, behind `prev` of its flow. Its number must be the next.
  store::JournalRow append(Step& step, uint64_t prev);
  // All up to this record are committed.
  void committed(uint64_t seq, std::string chain);
  // What is not in the store was never appended.
  void reset(const JournalEnd& end);

  // A head was signed for the journal up to this record; the next record says so. From any thread.
  void note_head(uint64_t seq) { signed_head_ = seq; }

 private:
  JournalEnd end_, committed_;
  std::atomic<uint64_t> signed_head_ = 0;
  uint64_t noted_head_ = 0;
};

}  // namespace sluice::engine
