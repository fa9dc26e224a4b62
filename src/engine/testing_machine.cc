// How a World starts machines, lets them go on, and reads what they have written.
#include "engine/testing_machine.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::engine {

FailingStore::FailingStore() = default;
FailingStore::~FailingStore() = default;

Result<void> FailingStore::commit(const store::Batch& batch) {
  ++commits;
  if (fails && fails(commits)) return Error{.code = Code::limit, .message = "the disk is full"};
  return inner_.commit(batch);
}

Result<std::unique_ptr<store::Snapshot>> FailingStore::read() {
  if (unreadable) return Error{.code = Code::unavailable, .message = "the disk does not answer"};
  return inner_.read();
}

Result<void> FailingStore::pack(const std::vector<store::PackedFlow>& flows) { return inner_.pack(flows); }

Result<void> FailingStore::forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) {
  return inner_.forget(keys_before_ms, sync_sets);
}

Result<void> FailingStore::back_up(const std::string& path) { return inner_.back_up(path); }

std::optional<Error> FailingStore::broken() const { return broken_by; }

World::World(std::vector<std::string> concepts, const std::string& rules) : concepts_(std::move(concepts)) {
  load(rules);
  make_bindings();
}

World::~World() = default;

Handlers& World::on(const std::string& action) { return handlers_[action]; }

Machine& World::machine() {
  if (!machine_) restart();
  return *machine_;
}

void World::restart() {
  queue.drop_all();
  machine_ = std::make_unique<Machine>(parts(), kit_);
  auto recovered = machine_->recover();
  ASSERT_TRUE(recovered) << to_string(recovered.error());
}

bool World::try_restart() {
  queue.drop_all();
  machine_ = std::make_unique<Machine>(parts(), kit_);
  return machine_->recover().has_value();
}

void World::stop() {
  queue.drop_all();
  machine_.reset();
}

void World::use(std::vector<std::string> concepts, const std::string& rules) {
  concepts_ = std::move(concepts);
  load(rules);
  bindings_.clear();
  make_bindings();
}

void World::load(const std::string& rules) { kit_ = checked(concepts_, rules, cascade_limit); }

Result<void> World::reload(const std::string& rules) {
  load(rules);
  return machine().load(kit_);
}

Ulid World::start(const std::string& action, const std::string& input, std::string key) {
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

Outcome World::run(const std::string& action, const std::string& input) {
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

void World::turn() {
  auto turned = machine().turn();
  EXPECT_TRUE(turned) << (turned ? "" : to_string(turned.error()));
}

void World::settle() {
  for (int i = 0; i < 1'000'000; ++i) {
    auto turned = machine().turn();
    ASSERT_TRUE(turned) << to_string(turned.error());
    if (*turned || machine().is_committing()) continue;
    if (!queue.run()) return;
  }
  FAIL() << "it does not settle";
}

void World::settle_with_restarts() {
  for (int i = 0; i < 10'000; ++i) {
    auto turned = machine().turn();
    ASSERT_TRUE(turned) << to_string(turned.error());
    if (!*turned) return;
    restart();
  }
  FAIL() << "it does not settle";
}

Result<uint64_t> World::decide(Decision decision) {
  Result<uint64_t> told = Error{.message = "it was not told"};
  decision.caller = caller;
  decision.on_done = [&](const Result<uint64_t>& done) { told = done; };
  machine().decide(std::move(decision));
  turn();
  return told;
}

void World::pass(int64_t seconds) {
  clock.advance_ms(seconds * 1000);
  settle();
}

void World::settle_in_time(int64_t at_most_s) {
  settle();
  int64_t until_ms = steady_ms() + at_most_s * 1000;
  while (machine().open_flows() > 0) {
    auto due_ms = machine().next_due_ms();
    if (!due_ms || *due_ms > until_ms) return;
    clock.advance_ms(*due_ms - steady_ms());
    settle();
  }
}

std::vector<Step> World::steps() {
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

std::vector<std::string> World::journal() {
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

std::vector<std::string> World::ends() {
  std::vector<std::string> lines;
  for (const std::string& line : journal()) {
    size_t end = line.size();
    for (const char* rest : {" {", " maybe", " by "}) end = std::min(end, line.find(rest));
    lines.push_back(line.substr(0, end));
  }
  return lines;
}

std::vector<std::string> World::asked(const std::string& action) {
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

Step World::step_of(const std::string& action) {
  std::vector<Step> all = steps();
  for (auto step = all.rbegin(); step != all.rend(); ++step) {
    if (step->action == action) return *step;
  }
  ADD_FAILURE() << "no step of " << action;
  return {};
}

Ulid World::child() {
  Ulid flow;
  for (const Step& step : steps()) {
    if (step.kind == Step::Kind::child) flow = step.flow;
  }
  return flow;
}

std::vector<std::string> World::statuses() {
  std::vector<std::string> all;
  auto snapshot = store->read();
  auto read = (*snapshot)->flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    all.push_back(status(row.id));
    return true;
  });
  EXPECT_TRUE(read);
  return all;
}

std::vector<std::string> World::fired() {
  std::vector<std::string> lines;
  for (const Step& step : steps()) {
    for (const Fired& fired : step.fired) lines.push_back(fired.sync + " " + std::to_string(fired.rows));
  }
  return lines;
}

std::string World::bytes() {
  std::string all;
  auto snapshot = store->read();
  auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    all += row.record + "\n";
    return true;
  });
  EXPECT_TRUE(read);
  return all;
}

std::string World::status(const Ulid& flow) {
  auto snapshot = store->read();
  auto row = (*snapshot)->flow(flow);
  if (!row || !*row) return "none";
  static constexpr std::array kNames = {"running", "waiting", "stuck", "ok", "failed"};
  return kNames[static_cast<size_t>((*row)->status)];
}

json::object World::summary(const Ulid& flow) {
  auto snapshot = store->read();
  return object((**(*snapshot)->flow(flow)).summary);
}

std::optional<std::string> World::row(const std::string& relation, const std::string& key) {
  auto snapshot = store->read();
  auto found = (*snapshot)->get(relation, key);
  return found && *found ? std::optional((*found)->value) : std::nullopt;
}

MachineParts World::parts() {
  boot.uptime_ms = steady_ms();
  for (auto& binding : bindings_) {
    for (lang::ActionBinding& action : binding->actions) action.sealed = sealed[binding->name + "/" + action.name];
  }
  MachineParts parts{.store = store.get(),
                     .blobs = blobs,
                     .clock = &clock,
                     .boot = boot,
                     .random = &random,
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

void World::make_bindings() {
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

lang::ActionBinding World::binding_of(const std::string& name, const lang::ActionSymbol& action) {
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

}  // namespace sluice::engine
