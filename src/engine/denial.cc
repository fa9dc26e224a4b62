// The record goes on where the journal ends, as the writer's do.
#include "engine/denial.h"

#include "engine/journal/journal_search.h"

namespace sluice::engine {

Result<void> record_denial(store::Store& store, const std::string& caller, const std::string& action,
                           const Clock& clock, Boot boot) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto end = journal_end(**snapshot);
  if (!end) return end.error();
  EngineTime time(clock, std::move(boot));
  if (auto resumed = time.resume(**snapshot); !resumed) return resumed;
  time.tick();
  Step step{.seq = end->seq + 1, .at_ms = time.now_ms(), .kind = Step::Kind::denied, .action = action};
  step.caller.name = caller;
  step.count = 1;
  snapshot->reset();
  return store.commit({.journal = {{.seq = step.seq, .record = write_step(step, end->chain)}}});
}

}  // namespace sluice::engine
