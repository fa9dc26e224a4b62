// The record goes on where the journal ends, as the writer's do.
#include "engine/denial.h"

#include <algorithm>
#include <charconv>

#include "engine/step.h"

namespace sluice::engine {

Result<void> record_denial(store::Store& store, const std::string& caller, const std::string& action, int64_t now_ms) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  Step step{.seq = (*snapshot)->position() + 1, .kind = Step::Kind::denied, .action = action};
  step.caller.name = caller;
  step.count = 1;
  std::string chain(kFirstChain);
  if (step.seq > 1) {
    auto last = (*snapshot)->journal(step.seq - 1);
    if (!last) return last.error();
    if (!*last) {
      return Error{.code = Code::verification_failed,
                   .message = "the journal's last record is missing",
                   .next = "sluice audit verify"};
    }
    chain = (*last)->record.empty() ? (*last)->packed_hash : chain_of((*last)->record);
  }
  // Engine time never goes back.
  auto clock = (*snapshot)->meta("time");
  if (!clock) return clock.error();
  int64_t last_ms = 0;
  if (*clock) std::from_chars((*clock)->data(), (*clock)->data() + (*clock)->size(), last_ms);
  step.at_ms = std::max(now_ms, last_ms);
  snapshot->reset();
  return store.commit({.journal = {{.seq = step.seq, .record = write_step(step, chain)}},
                       .meta = {{"time", std::to_string(step.at_ms)}}});
}

}  // namespace sluice::engine
