// A machine for tests: a kit made of texts, handlers made of lambdas, a clock that stands still, and effects that run
// when the test says so. A restart is a new machine on the same store.
//
//   World world({kConcepts…}, "sync …");
//   world.on("Card/charge").perform = [](const json::value&, lang::Attempt&) { return lang::Completion{"ok", {}}; };
//   Outcome outcome = world.run("Order/place", R"({"item": "tea"})");
//   EXPECT_THAT(world.journal(), ElementsAre(…));
//
// Handlers that a test does not give do the obvious: a pure action ends in `ok` with its input as fields, an effect
// does the same when it is performed, an answered action opens.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/machine.h"
#include "engine/testing_engine.h"
#include "store/memory_store.h"

namespace sluice::engine {

// A store whose commits and reads fail when the test says so, each with nothing done.
class FailingStore final : public store::Store {
 public:
  FailingStore();
  ~FailingStore() override;

  Result<void> commit(const store::Batch& batch) override;
  Result<std::unique_ptr<store::Snapshot>> read() override;
  Result<void> pack(const std::vector<store::PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  Result<void> back_up(const std::string& path) override;
  std::optional<Error> broken() const override;

  int commits = 0;
  std::function<bool(int number)> fails;  // which commits
  bool unreadable = false;
  std::optional<Error> broken_by;  // a failed sync

 private:
  store::MemoryStore inner_;
};

// What a test gives for an action.
struct Handlers {
  std::function<lang::Completion(const json::object& ask, lang::Rows& rows)> act;
  std::function<lang::BegunAction(const json::object& ask, lang::Rows& rows)> begin;
  std::function<lang::PerformedAction(const json::value& work, lang::Attempt& attempt)> perform;
  std::function<lang::ProbedAction(const json::value& work, lang::Attempt& attempt)> probe;
  std::function<lang::Ending(const json::object& ask, const lang::Ending& ending, lang::Rows& rows)> finish;
};

class World {
 public:
  World(std::vector<std::string> concepts, const std::string& rules);
  ~World();

  Handlers& on(const std::string& action);

  Machine& machine();

  // Ends the process, as kill -9 does, and starts a new one.
  void restart();

  // The same on a store that may fail.
  bool try_restart();
  void stop();

  // Concepts that the next start runs with; those that are not there yet get handlers of their own.
  void use(std::vector<std::string> concepts, const std::string& rules);
  // Rules that the next start, or reload(), runs with.
  void load(const std::string& rules);
  Result<void> reload(const std::string& rules);

  Ulid start(const std::string& action, const std::string& input = "{}", std::string key = "");

  // Calls, and goes on until nothing is left to do but to wait for time.
  Outcome run(const std::string& action, const std::string& input = "{}");

  void turn();

  // Runs what can be run now.
  void settle();

  // Runs what can be run now, with a restart after every batch. Batches are as small as limits.batch_steps says.
  void settle_with_restarts();

  // An operator's decision, with its step committed.
  Result<uint64_t> decide(Decision decision);

  void pass(int64_t seconds);
  int64_t steady_ms() const { return clock.monotonic_ns() / 1'000'000; }

  // Lets time pass until no flow waits for it.
  void settle_in_time(int64_t at_most_s = 100'000);

  std::vector<Step> steps();

  // What happened, a line a step: "act Order/place => ok {…}", "begin …", "finish Order/pay => ok by answer".
  std::vector<std::string> journal();

  // "act Order/place => ok" a step, without fields and what ended it.
  std::vector<std::string> ends();
  // The arguments with which the action was asked for by syncs, in order.
  std::vector<std::string> asked(const std::string& action);
  // The newest step about this action.
  Step step_of(const std::string& action);
  // The newest child flow.
  Ulid child();
  // Statuses of all flows, the oldest first.
  std::vector<std::string> statuses();

  std::vector<std::string> fired();

  std::string bytes();

  std::string status(const Ulid& flow);
  json::object summary(const Ulid& flow);
  std::optional<std::string> row(const std::string& relation, const std::string& key);

  ManualClock clock{1'900'000'000'000};
  SeededRandom random{1};
  Boot boot;  // its uptime is that of the clock when the next machine starts
  EffectQueue queue;
  Committer* committer = nullptr;
  std::optional<int64_t> cascade_limit;  // of the suite that load() makes
  lang::Tools tools;
  store::BlobStore* blobs = nullptr;
  std::set<std::string> not_loaded;                        // concepts without a binding at the next start
  std::map<std::string, std::vector<std::string>> sealed;  // arguments that are sealed, by action
  std::shared_ptr<store::Store> store = std::make_shared<store::MemoryStore>();
  Caller caller{.name = "uid:1000", .reason = ""};
  Limits limits;
  May may;
  std::vector<Result<Outcome>> ended;
  std::vector<std::string> logged;

 private:
  MachineParts parts();

  void make_bindings();

  lang::ActionBinding binding_of(const std::string& name, const lang::ActionSymbol& action);

  std::vector<std::string> concepts_;
  std::shared_ptr<const lang::CheckedKit> kit_;
  std::map<std::string, Handlers> handlers_;
  std::vector<std::unique_ptr<lang::ConceptBinding>> bindings_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace sluice::engine
