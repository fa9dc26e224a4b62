// The record goes on where the journal ends, as the writer's do.
#include "engine/denial.h"

#include <algorithm>
#include <charconv>

#include "engine/journal_search.h"

namespace sluice::engine {

Result<void> record_denial(store::Store& store, const std::string& caller, const std::string& action, int64_t now_ms) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto end = journal_end(**snapshot);
  if (!end) return end.error();
  Step step{.seq = end->seq + 1, .kind = Step::Kind::denied, .action = action};
  step.caller.name = caller;
  step.count = 1;
  // Engine time never goes back.
  auto clock = (*snapshot)->meta("time");
  if (!clock) return clock.error();
  int64_t last_ms = 0;
  if (*clock) std::from_chars((*clock)->data(), (*clock)->data() + (*clock)->size(), last_ms);
  step.at_ms = std::max({now_ms, last_ms, end->at_ms});
  snapshot->reset();
  return store.commit({.journal = {{.seq = step.seq, .record = write_step(step, end->chain)}}});
}

}  // namespace sluice::engine
