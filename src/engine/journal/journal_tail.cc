// Numbers without gaps, and the chain.
#include "engine/journal/journal_tail.h"

#include <cassert>

namespace sluice::engine {

store::JournalRow JournalTail::append(Step& step, uint64_t prev) {
  assert(step.seq == next_seq());
  assert(prev < step.seq);
  if (uint64_t head = signed_head_; head != noted_head_) step.head = noted_head_ = head;
  std::string text = write_step(step, end_.chain);
  end_ = {step.seq, chain_of(text), step.at_ms};
  return {.seq = step.seq, .flow = step.flow, .prev = prev, .record = std::move(text), .packed_hash = ""};
}

void JournalTail::committed(uint64_t seq, std::string chain) {
  assert(seq >= committed_.seq && seq <= end_.seq);
  committed_.seq = seq;
  committed_.chain = std::move(chain);
}

void JournalTail::reset(const JournalEnd& end) {
  end_ = committed_ = end;
  noted_head_ = 0;
}

}  // namespace sluice::engine
