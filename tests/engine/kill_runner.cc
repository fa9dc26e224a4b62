// Runs flows on a store until all have settled, or until it is killed: kill_runner FOLDER FLOWS STEPS. Every effect
// writes a line "flow step id" to FOLDER/effects, every acknowledged start one to FOLDER/started. test_kill.py kills it
// again and again.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/real_disk.h"
#include "engine/engine.h"
#include "lang/testing_kit.h"
#include "store/sqlite_store.h"

namespace sluice {
namespace {

const std::string kWork = R"(concept Work [W] {
  state {
    works: set W
    at: W -> Int
  }
  actions {
    action run(work: W) {
      runs: answered
      -> ok(work: W)
    }
    action step(work: W, n: Int) {
      runs: effect
      retry: safe
      deadline: 1h
      -> ok(work: W, next: option Int, last: option Bool)
    }
  }
}
)";

const std::string kRules = R"(
sync Begin when { Work/run: [ work: ?w ] => requested } then { Work/step: [ work: ?w; n: 1 ] }
sync Next when { Work/step: [ work: ?w ] => ok[ next: ?n ] } then { Work/step: [ work: ?w; n: ?n ] }
sync End when { Work/step: [ work: ?w ] => ok[ last: true ] caused by Work/run: [] => requested as ?r }
         then { answer ?r => ok[ work: ?w ] }
)";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(1);
}

void append(const std::string& path, const std::string& line) {
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) fail("cannot write " + path);
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
}

lang::ConceptBinding work_binding(const std::string& folder, int64_t steps) {
  lang::ConceptBinding work{.name = "Work"};
  lang::ActionBinding run{.name = "run", .runs = lang::Runs::answered};
  run.begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> {
    return lang::BegunAction(lang::Started{});
  };
  run.finish = [](const json::object&, const lang::Ending& ending, lang::Rows&) -> Result<lang::Ending> {
    return ending;
  };
  lang::ActionBinding step{.name = "step", .runs = lang::Runs::effect, .retry = lang::Retry::safe, .deadline_s = 3600};
  step.begin = [](const json::object& ask, lang::Rows&) -> Result<lang::BegunAction> {
    return lang::BegunAction(lang::Started{ask});
  };
  step.perform = [folder](const json::value& work, lang::Attempt& attempt) -> Result<lang::PerformedAction> {
    append(folder + "/effects", std::string(work.at("work").as_string()) + " " +
                                    std::to_string(work.at("n").as_int64()) + " " + attempt.id() + "\n");
    return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
  };
  step.finish = [steps](const json::object& ask, const lang::Ending& ending, lang::Rows& rows) -> Result<lang::Ending> {
    if (!std::holds_alternative<lang::Completion>(ending)) return ending;
    int64_t n = ask.at("n").as_int64();
    rows.put("Work", std::string(ask.at("work").as_string()), json::object{{"at", n}});
    json::object fields{{"work", ask.at("work")}};
    fields[n < steps ? "next" : "last"] = n < steps ? json::value(n + 1) : json::value(true);
    return lang::Ending(lang::Completion{"ok", std::move(fields)});
  };
  work.actions = {run, step};
  return work;
}

void run(const std::string& folder, int64_t flows, int64_t steps) {
  lang::Checked checked = lang::check(lang::kit_of({kWork}, kRules));
  if (!checked.kit) fail("the kit has errors");
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  UlidSource ids(clock, random);
  lang::Tools tools;
  lang::ConceptBinding work = work_binding(folder, steps);
  auto store = store::SqliteStore::open(disk, folder + "/store.db");
  if (!store) fail(to_string(store.error()));
  // Nothing here is poison: it is killed more often than the limits allow for.
  auto engine = engine::Engine::start({.store = store->get(),
                                       .clock = &clock,
                                       .ids = &ids,
                                       .tools = &tools,
                                       .concepts = {&work},
                                       .fatal = [](const std::string& why) { fail(why); },
                                       .limits = {.max_attempts = 100'000, .max_crashes = 100'000}},
                                      std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)));
  if (!engine) fail(to_string(engine.error()));
  std::vector<Ulid> started;
  for (int64_t n = 0; n < flows; ++n) {
    std::string name = "w" + std::to_string(n);
    auto flow = (*engine)->start({.action = "Work/run", .input = {{"work", name}}, .key = name});
    if (!flow) fail(to_string(flow.error()));
    append(folder + "/started", name + " " + sluice::to_string(*flow) + "\n");
    started.push_back(*flow);
  }
  for (const Ulid& flow : started) {
    auto status = (*engine)->wait(flow, engine::Engine::Until::settled);
    if (!status) fail(to_string(status.error()));
    if (*status != store::FlowStatus::settled_ok) fail("flow " + sluice::to_string(flow) + " failed");
  }
  std::puts("settled");
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  if (count != 4) sluice::fail("usage: kill_runner FOLDER FLOWS STEPS");
  sluice::run(arguments[1], std::atoll(arguments[2]), std::atoll(arguments[3]));
}
