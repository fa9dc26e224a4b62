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

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/random.h"
#include "engine/machine.h"
#include "engine/testing_engine.h"
#include "store/memory_store.h"

namespace sluice::engine {

// A store whose commits and reads fail when the test says so, each with nothing done.
class FailingStore final : public store::Store {
 public:
  Result<void> commit(const store::Batch& batch) override {
    ++commits;
    if (fails && fails(commits)) return Error{.code = Code::limit, .message = "the disk is full"};
    return inner_.commit(batch);
  }
  Result<std::unique_ptr<store::Snapshot>> read() override {
    if (unreadable) return Error{.code = Code::unavailable, .message = "the disk does not answer"};
    return inner_.read();
  }
  Result<void> pack(const std::vector<store::PackedFlow>& flows) override { return inner_.pack(flows); }
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override {
    return inner_.forget(keys_before_ms, sync_sets);
  }
  Result<void> back_up(const std::string& path) override { return inner_.back_up(path); }
  std::optional<Error> broken() const override { return std::nullopt; }

  int commits = 0;
  std::function<bool(int number)> fails;  // which commits
  bool unreadable = false;

 private:
  store::MemoryStore inner_;
};

struct Handlers {
  std::function<lang::Completion(const json::object& ask, lang::Rows& rows)> act;
  std::function<lang::BegunAction(const json::object& ask, lang::Rows& rows)> begin;
  std::function<lang::PerformedAction(const json::value& work, lang::Attempt& attempt)> perform;
  std::function<lang::ProbedAction(const json::value& work, lang::Attempt& attempt)> probe;
  std::function<lang::Ending(const json::object& ask, const lang::Ending& ending, lang::Rows& rows)> finish;
};

class World {
 public:
  World(std::vector<std::string> concepts, const std::string& rules) : concepts_(std::move(concepts)) {
    load(rules);
    make_bindings();
  }

  Handlers& on(const std::string& action) { return handlers_[action]; }

  Machine& machine() {
    if (!machine_) restart();
    return *machine_;
  }

  // Ends the process, as kill -9 does, and starts a new one.
  void restart() {
    queue.drop_all();
    machine_ = std::make_unique<Machine>(parts(), kit_);
    auto recovered = machine_->recover();
    ASSERT_TRUE(recovered) << to_string(recovered.error());
  }

  // The same on a store that may fail.
  bool try_restart() {
    queue.drop_all();
    machine_ = std::make_unique<Machine>(parts(), kit_);
    return machine_->recover().has_value();
  }
  void stop() {
    queue.drop_all();
    machine_.reset();
  }

  // Concepts that the next start runs with; those that are not there yet get handlers of their own.
  void use(std::vector<std::string> concepts, const std::string& rules) {
    concepts_ = std::move(concepts);
    load(rules);
    bindings_.clear();
    make_bindings();
  }
  // Rules that the next start, or reload(), runs with.
  void load(const std::string& rules) { kit_ = checked(concepts_, rules); }
  Result<void> reload(const std::string& rules) {
    load(rules);
    return machine().load(kit_);
  }

  Ulid start(const std::string& action, const std::string& input = "{}", std::string key = "") {
    Ulid flow;
    Call call{.action = action, .input = object(input), .caller = caller, .key = std::move(key)};
    call.on_start = [&](const Result<Ulid>& started) {
      EXPECT_TRUE(started) << (started ? "" : to_string(started.error()));
      if (started) flow = *started;
    };
    call.on_end = [this](const Result<Outcome>& outcome) { ended.push_back(outcome); };
    machine().call(std::move(call));
    turn();
    return flow;
  }

  // Calls, and goes on until nothing is left to do but to wait for time.
  Outcome run(const std::string& action, const std::string& input = "{}") {
    size_t before = ended.size();
    start(action, input);
    settle();
    if (ended.size() == before) {
      ADD_FAILURE() << action << " has not ended";
      return {};
    }
    EXPECT_TRUE(ended[before]) << (ended[before] ? "" : to_string(ended[before].error()));
    return ended[before] ? *ended[before] : Outcome{};
  }

  void turn() {
    auto turned = machine().turn();
    EXPECT_TRUE(turned) << (turned ? "" : to_string(turned.error()));
  }

  // Runs what can be run now.
  void settle() {
    for (int i = 0; i < 1'000'000; ++i) {
      auto turned = machine().turn();
      ASSERT_TRUE(turned) << to_string(turned.error());
      if (*turned || machine().is_committing()) continue;
      if (!queue.run()) return;
    }
    FAIL() << "it does not settle";
  }

  // Runs what can be run now, with a restart after every batch. Batches are as small as limits.batch_steps says.
  void settle_with_restarts() {
    for (int i = 0; i < 10'000; ++i) {
      auto turned = machine().turn();
      ASSERT_TRUE(turned) << to_string(turned.error());
      if (!*turned) return;
      restart();
    }
    FAIL() << "it does not settle";
  }

  // An operator's decision, with its step committed.
  Result<uint64_t> decide(Decision decision) {
    Result<uint64_t> told = Error{.message = "it was not told"};
    decision.caller = caller;
    decision.on_done = [&](const Result<uint64_t>& done) { told = done; };
    machine().decide(std::move(decision));
    turn();
    return told;
  }

  void pass(int64_t seconds) {
    clock.advance_ms(seconds * 1000);
    settle();
  }

  // Lets time pass until no flow waits for it.
  void settle_in_time(int64_t at_most_s = 100'000) {
    settle();
    int64_t until_ms = clock.wall_ms() + at_most_s * 1000;
    while (machine().open_flows() > 0) {
      auto due_ms = machine().next_due_ms();
      if (!due_ms || *due_ms > until_ms) return;
      if (*due_ms > clock.wall_ms()) clock.advance_ms(*due_ms - clock.wall_ms());
      settle();
    }
  }

  std::vector<Step> steps() {
    std::vector<Step> steps;
    auto snapshot = store->read();
    auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
      auto step = read_step(row.record);
      EXPECT_TRUE(step) << row.record << "\n" << (step ? "" : to_string(step.error()));
      if (step) steps.push_back(*std::move(step));
      return true;
    });
    EXPECT_TRUE(read);
    return steps;
  }

  // What happened, a line a step: "act Order/place => ok {…}", "begin …", "finish Order/pay => ok by answer".
  std::vector<std::string> journal() {
    std::vector<std::string> lines;
    for (const Step& step : steps()) {
      std::string line(name_of(step.kind));
      if (!step.action.empty()) line += " " + step.action;
      if (step.end) {
        line += " => " + step.end->variant;
        if (!step.end->fields.empty()) line += " " + write(step.end->fields);
        if (step.end->maybe_done) line += " maybe";
      }
      if (!step.by.empty()) line += " by " + step.by.substr(0, step.by.find(':'));
      lines.push_back(line);
    }
    return lines;
  }

  // "act Order/place => ok" a step, without fields and what ended it.
  std::vector<std::string> ends() {
    std::vector<std::string> lines;
    for (const std::string& line : journal()) {
      size_t end = line.size();
      for (const char* rest : {" {", " maybe", " by "}) end = std::min(end, line.find(rest));
      lines.push_back(line.substr(0, end));
    }
    return lines;
  }
  // The arguments with which the action was asked for by syncs, in order.
  std::vector<std::string> asked(const std::string& action) {
    std::vector<std::string> inputs;
    for (const Step& step : steps()) {
      for (const Fired& fired : step.fired) {
        for (const Planned& planned : fired.then) {
          if (planned.action == action) inputs.push_back(write(planned.fields));
        }
      }
    }
    return inputs;
  }
  // The newest step about this action.
  Step step_of(const std::string& action) {
    std::vector<Step> all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      if (step->action == action) return *step;
    }
    ADD_FAILURE() << "no step of " << action;
    return {};
  }
  // The newest child flow.
  Ulid child() {
    Ulid flow;
    for (const Step& step : steps()) {
      if (step.kind == Step::Kind::child) flow = step.flow;
    }
    return flow;
  }
  // Statuses of all flows, the oldest first.
  std::vector<std::string> statuses() {
    std::vector<std::string> all;
    auto snapshot = store->read();
    auto read = (*snapshot)->flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
      all.push_back(status(row.id));
      return true;
    });
    EXPECT_TRUE(read);
    return all;
  }

  std::vector<std::string> fired() {
    std::vector<std::string> lines;
    for (const Step& step : steps()) {
      for (const Fired& fired : step.fired) lines.push_back(fired.sync + " " + std::to_string(fired.rows));
    }
    return lines;
  }

  std::string bytes() {
    std::string all;
    auto snapshot = store->read();
    auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
      all += row.record + "\n";
      return true;
    });
    EXPECT_TRUE(read);
    return all;
  }

  std::string status(const Ulid& flow) {
    auto snapshot = store->read();
    auto row = (*snapshot)->flow(flow);
    if (!row || !*row) return "none";
    static constexpr std::array kNames = {"running", "waiting", "stuck", "ok", "failed"};
    return kNames[static_cast<size_t>((*row)->status)];
  }
  json::object summary(const Ulid& flow) {
    auto snapshot = store->read();
    return object((**(*snapshot)->flow(flow)).summary);
  }
  std::optional<std::string> row(const std::string& relation, const std::string& key) {
    auto snapshot = store->read();
    auto found = (*snapshot)->get(relation, key);
    return found && *found ? std::optional((*found)->value) : std::nullopt;
  }

  ManualClock clock{1'900'000'000'000};
  SeededRandom random{1};
  UlidSource ids{clock, random};
  EffectQueue queue;
  Committer* committer = nullptr;
  lang::Tools tools;
  store::BlobStore* blobs = nullptr;
  std::set<std::string> not_loaded;                        // concepts without a binding at the next start
  std::map<std::string, std::vector<std::string>> sealed;  // arguments that are sealed, by action
  std::shared_ptr<store::Store> store = std::make_shared<store::MemoryStore>();
  Caller caller{.name = "uid:1000", .reason = ""};
  Limits limits;
  std::function<bool(const Caller&, const std::string&, const json::object&)> may;
  std::vector<Result<Outcome>> ended;
  std::vector<std::string> logged;

 private:
  MachineParts parts() {
    for (auto& binding : bindings_) {
      for (lang::ActionBinding& action : binding->actions) action.sealed = sealed[binding->name + "/" + action.name];
    }
    MachineParts parts{.store = store.get(),
                       .blobs = blobs,
                       .clock = &clock,
                       .ids = &ids,
                       .effects = &queue,
                       .committer = committer,
                       .tools = &tools,
                       .may = may,
                       .log = [this](const std::string& text) { logged.push_back(text); },
                       .limits = limits};
    for (const auto& binding : bindings_) {
      if (!not_loaded.contains(binding->name)) parts.concepts.push_back(binding.get());
    }
    return parts;
  }

  void make_bindings() {
    for (const lang::ConceptSymbol& concept_ : kit_->symbols().concepts) {
      if (concept_.built_in) continue;
      auto binding = std::make_unique<lang::ConceptBinding>();
      binding->name = concept_.name;
      binding->parallel = concept_.source->parallel;
      for (const lang::ActionSymbol& action : concept_.actions) {
        binding->actions.push_back(binding_of(concept_.name + "/" + action.name, action));
      }
      bindings_.push_back(std::move(binding));
    }
  }

  lang::ActionBinding binding_of(const std::string& name, const lang::ActionSymbol& action) {
    lang::ActionBinding binding{.name = action.name, .runs = action.runs};
    binding.retry = action.source->retry;
    binding.deadline_s = action.source->deadline_s;
    for (const lang::VariantSymbol& variant : action.variants) binding.variants.push_back(variant.name);
    auto given = [this, name]() -> Handlers& { return handlers_[name]; };
    binding.act = [given](const json::object& ask, lang::Rows& rows) -> Result<lang::Completion> {
      return given().act ? given().act(ask, rows) : lang::Completion{"ok", ask};
    };
    bool effect = action.runs == lang::Runs::effect;
    binding.begin = [given, effect](const json::object& ask, lang::Rows& rows) -> Result<lang::BegunAction> {
      if (given().begin) return given().begin(ask, rows);
      return lang::BegunAction(lang::Started{effect ? json::value(ask) : json::value()});
    };
    binding.perform = [given](const json::value& work, lang::Attempt& attempt) -> Result<lang::PerformedAction> {
      if (given().perform) return given().perform(work, attempt);
      return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
    };
    binding.probe = [given](const json::value& work, lang::Attempt& attempt) -> Result<lang::ProbedAction> {
      return given().probe ? given().probe(work, attempt) : lang::ProbedAction(lang::NotDone{});
    };
    binding.finish = [given](const json::object& ask, const lang::Ending& ending,
                             lang::Rows& rows) -> Result<lang::Ending> {
      return given().finish ? given().finish(ask, ending, rows) : ending;
    };
    return binding;
  }

  std::vector<std::string> concepts_;
  std::shared_ptr<const lang::CheckedKit> kit_;
  std::map<std::string, Handlers> handlers_;
  std::vector<std::unique_ptr<lang::ConceptBinding>> bindings_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace sluice::engine
