// Runs flows on a store until all have settled, or until it is killed: kill_runner FOLDER FLOWS STEPS. The effects of a
// flow take turns with their retry rules: safe, probe, never. Every attempt writes a line "flow step rule id" to
// FOLDER/effects, every acknowledged start one to FOLDER/started; heads are signed with the key in FOLDER/key.pem.
// test_kill.py kills it again and again.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "crypto/key_file.h"
#include "engine/engine.h"
#include "lang/check/testing_kit.h"
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
    action safe(work: W, n: Int) {
      runs: effect
      retry: safe
      deadline: 1h
      -> ok(work: W, next: option Int, rule: option String, last: option Bool)
    }
    action probed(work: W, n: Int) {
      runs: effect
      retry: probe
      deadline: 1h
      -> ok(work: W, next: option Int, rule: option String, last: option Bool)
    }
    action once(work: W, n: Int) {
      runs: effect
      deadline: 1h
      -> ok(work: W, next: option Int, rule: option String, last: option Bool)
    }
  }
}
)";

// The rule of the n-th step is that of n modulo 3.
const std::array<std::string, 3> kRetryRules = {"once", "safe", "probed"};

std::string rules() {
  std::string text = "sync Begin when { Work/run: [ work: ?w ] => requested } then { Work/safe: [ work: ?w; n: 1 ] }\n";
  for (const std::string& from : kRetryRules) {
    for (const std::string& to : kRetryRules) {
      text += "sync Next_" + from + "_" + to + " when { Work/" + from + ": [ work: ?w ] => ok[ next: ?n; rule: \"" +
              to + "\" ] } then { Work/" + to + ": [ work: ?w; n: ?n ] }\n";
    }
    text += "sync End_" + from + " when { Work/" + from +
            ": [ work: ?w ] => ok[ last: true ] caused by Work/run: [] => requested as ?r } then { answer ?r => ok[ "
            "work: ?w ] }\n";
  }
  return text;
}

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

bool has_line_with(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
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
  work.actions = {run};
  for (auto [name, retry] : {std::pair("safe", lang::Retry::safe), std::pair("probed", lang::Retry::probe),
                             std::pair("once", lang::Retry::never)}) {
    lang::ActionBinding step{.name = name, .runs = lang::Runs::effect, .retry = retry, .deadline_s = 3600};
    step.begin = [](const json::object& ask, lang::Rows&) -> Result<lang::BegunAction> {
      return lang::BegunAction(lang::Started{ask});
    };
    step.perform = [folder, rule = std::string(name)](const json::value& work,
                                                      lang::Attempt& attempt) -> Result<lang::PerformedAction> {
      append(folder + "/effects", std::string(work.at("work").as_string()) + " " +
                                      std::to_string(work.at("n").as_int64()) + " " + rule + " " + attempt.id() + "\n");
      return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
    };
    step.probe = [folder](const json::value& work, lang::Attempt& attempt) -> Result<lang::ProbedAction> {
      if (!has_line_with(folder + "/effects", attempt.id())) return lang::ProbedAction(lang::NotDone{});
      return lang::ProbedAction(lang::Done<lang::Completion>{{"ok", work.as_object()}});
    };
    // Nobody knows whether one that must not be repeated was done: here it goes on all the same, and stays marked.
    step.finish = [steps](const json::object& ask, const lang::Ending& ending,
                          lang::Rows& rows) -> Result<lang::Ending> {
      const auto* end = std::get_if<lang::EngineEnd>(&ending);
      if (end != nullptr && end->outcome != lang::EngineOutcome::unknown) return ending;
      int64_t n = ask.at("n").as_int64();
      rows.put("Work", std::string(ask.at("work").as_string()), json::object{{"at", n}});
      json::object fields{{"work", ask.at("work")}};
      if (n < steps) {
        fields["next"] = n + 1;
        fields["rule"] = kRetryRules[static_cast<size_t>(n + 1) % kRetryRules.size()];
      } else {
        fields["last"] = true;
      }
      return lang::Ending(lang::Completion{"ok", std::move(fields)});
    };
    work.actions.push_back(std::move(step));
  }
  return work;
}

void run(const std::string& folder, int64_t flows, int64_t steps) {
  lang::Checked checked = lang::check(lang::kit_of({kWork}, rules()));
  if (!checked.kit) fail("the kit has errors");
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  lang::Tools tools;
  lang::ConceptBinding work = work_binding(folder, steps);
  auto store = store::SqliteStore::open(disk, folder + "/store.db");
  if (!store) fail(to_string(store.error()));
  std::string key_path = folder + "/key.pem";
  if (!*disk.exists(key_path)) {
    auto key = crypto::PrivateKey::generate();
    if (auto kept = crypto::store_private_key(disk, key_path, key); !kept) fail(to_string(kept.error()));
  }
  auto key = crypto::load_private_key(disk, key_path);
  if (!key) fail(to_string(key.error()));
  auto kept = write_atomically(disk, folder + "/public.pem", key->public_key().to_pem(), 0600);
  if (!kept) fail(to_string(kept.error()));
  auto heads = engine::HeadLog::open(disk, folder + "/audit.heads");
  if (!heads) fail(to_string(heads.error()));
  // Nothing here is poison: it is killed more often than the limits allow for.
  auto engine = engine::Engine::start({.store = store->get(),
                                       .clock = &clock,
                                       .random = &random,
                                       .tools = &tools,
                                       .concepts = {&work},
                                       .fatal = [](const std::string& why) { fail(why); },
                                       .heads = &*heads,
                                       .operator_key = &*key,
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
