// EngineLink is what commands ask of the engine, wherever that runs: in this process (LocalLink), or in a `sluice
// serve` that has the store (RemoteLink). Either way it is the same engine behind it, and the same answers.
//
//   auto started = door.start({.action = "Trust/add", .input = …, .caller = …});
//   auto status = door.wait(started->flow, engine::Engine::Until::settled);
//
// The words are those of engine/engine.h. A door may be used by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/ulid.h"
#include "engine/engine.h"
#include "host/running_flow.h"
#include "lang/check/check.h"
#include "store/store.h"

namespace sluice::host {

struct Started {
  Ulid flow;
  std::optional<RunningFlow::Ended> ended;  // how the call ended, if that is known already
};

class EngineLink {
 public:
  virtual ~EngineLink() = default;

  virtual Result<Started> start(engine::Request request) = 0;
  virtual Result<lang::Completion> query(const std::string& action, const json::object& input,
                                         const engine::Caller& caller) = 0;
  virtual Result<uint64_t> decide(engine::Decision decision) = 0;
  // What it means to a door that this action ended in this variant.
  virtual Result<Code> code_of(const std::string& action, const std::string& variant) = 0;

  virtual Result<store::FlowStatus> wait(const Ulid& flow, engine::Engine::Until until,
                                         const std::function<bool()>& stop = {}) = 0;
  virtual Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                             const std::function<bool()>& stop) = 0;
  virtual uint64_t position() = 0;
  virtual uint64_t wait_for(uint64_t position, int64_t at_most_ms) = 0;
  // Why nothing is committed now, or that nobody answers any more.
  virtual std::optional<Error> trouble() = 0;

  // Committed state.
  virtual store::Store& store() = 0;
};

// "Concept/action" among those of a kit that can be called; null if there is none.
const lang::ActionSymbol* find_action(const lang::Symbols& symbols, std::string_view name);

// The engine in this process. It and its store must outlive this; the kit is the one that it runs.
class LocalLink final : public EngineLink {
 public:
  LocalLink(engine::Engine& engine, store::Store& store, std::shared_ptr<const lang::CheckedKit> kit)
      : engine_(engine), store_(store), kit_(std::move(kit)) {}

  Result<Started> start(engine::Request request) override;
  Result<lang::Completion> query(const std::string& action, const json::object& input,
                                 const engine::Caller& caller) override {
    return engine_.query(action, input, caller);
  }
  Result<uint64_t> decide(engine::Decision decision) override { return engine_.decide(std::move(decision)); }
  Result<Code> code_of(const std::string& action, const std::string& variant) override;
  Result<store::FlowStatus> wait(const Ulid& flow, engine::Engine::Until until,
                                 const std::function<bool()>& stop) override {
    return engine_.wait(flow, until, stop);
  }
  Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                     const std::function<bool()>& stop) override {
    return engine_.watch(from, visit, stop);
  }
  uint64_t position() override { return engine_.position(); }
  uint64_t wait_for(uint64_t position, int64_t at_most_ms) override { return engine_.wait_for(position, at_most_ms); }
  std::optional<Error> trouble() override { return engine_.trouble(); }
  store::Store& store() override { return store_; }

 private:
  engine::Engine& engine_;
  store::Store& store_;
  std::shared_ptr<const lang::CheckedKit> kit_;
};

// Whether the flow goes nowhere by itself: it is done, stands still, or waits for people.
Result<bool> is_idle(store::Snapshot& snapshot, const Ulid& flow);

// Until the call has its answer, the flow is idle, nothing can be committed (see trouble), or `stop` says so, which is
// asked after every commit and every 100 ms.
Result<void> wait_for_answer(EngineLink& door, RunningFlow& flow, const std::function<bool()>& stop);

}  // namespace sluice::host
