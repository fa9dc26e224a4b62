// Committed is what is in the store for good, for those who wait for more of it: how far the journal is, and its
// records as they come. Whoever runs the engine hears of a commit at once; who only shares the store asks it again and
// again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "engine/engine.h"
#include "store/store.h"

namespace sluice::host {

class Committed {
 public:
  virtual ~Committed() = default;

  virtual uint64_t position() = 0;
  // The newest position; waits until it is at least this.
  virtual uint64_t wait_for(uint64_t position, int64_t at_most_ms) = 0;
  // Records from this position on, in order, as they are committed; ends when visit returns false or `stop` true.
  virtual Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                             const std::function<bool()>& stop) = 0;
  // Why nothing is committed now; none while all is well, or where that is not known.
  virtual std::optional<Error> trouble() = 0;
};

class CommittedByEngine final : public Committed {
 public:
  explicit CommittedByEngine(engine::Engine& engine) : engine_(engine) {}

  uint64_t position() override { return engine_.position(); }
  uint64_t wait_for(uint64_t position, int64_t at_most_ms) override { return engine_.wait_for(position, at_most_ms); }
  Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                     const std::function<bool()>& stop) override {
    return engine_.watch(from, visit, stop);
  }
  std::optional<Error> trouble() override { return engine_.trouble(); }

 private:
  engine::Engine& engine_;
};

// By another process, into a store that this one reads.
class CommittedElsewhere final : public Committed {
 public:
  CommittedElsewhere(store::Store& store, Clock& clock) : store_(store), clock_(clock) {}

  uint64_t position() override;  // the last one known, while the store does not answer
  uint64_t wait_for(uint64_t position, int64_t at_most_ms) override;
  Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                     const std::function<bool()>& stop) override;
  std::optional<Error> trouble() override { return std::nullopt; }

 private:
  Result<bool> read_on(uint64_t& from, const store::Visit<store::JournalRow>& visit);

  store::Store& store_;
  Clock& clock_;
  std::atomic<uint64_t> known_ = 0;
};

}  // namespace sluice::host
