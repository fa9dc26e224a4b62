// The kit that the engine's benchmarks run: chains of ten actions, as effects or pure, on a store on a real disk.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/real_disk.h"
#include "bench/folder.h"
#include "engine/engine.h"
#include "lang/check/testing_kit.h"
#include "store/sqlite_store.h"

namespace sluice::bench {

inline constexpr int64_t kChain = 10;

inline const std::string kConcept = R"(concept Chain [C] {
  state {
    chains: set C
    at: C -> Int
  }
  actions {
    action run(chain: C) {
      runs: answered
      -> ok(chain: C)
    }
    action step(chain: C, n: Int) {
      runs: effect
      retry: safe
      -> ok(chain: C, next: option Int, last: option Bool)
    }
    action fall(chain: C, n: Int) {
      -> ok(chain: C, next: option Int, last: option Bool)
    }
    action drop(chain: C) {
      -> ok(chain: C, next: Int)
    }
  }
}
)";

inline const std::string kSyncs = R"(
sync Begin when { Chain/run: [ chain: ?c ] => requested } then { Chain/step: [ chain: ?c; n: 1 ] }
sync Next when { Chain/step: [ chain: ?c ] => ok[ next: ?n ] } then { Chain/step: [ chain: ?c; n: ?n ] }
sync End when { Chain/step: [ chain: ?c ] => ok[ last: true ] caused by Chain/run: [] => requested as ?r }
         then { answer ?r => ok[ chain: ?c ] }
sync Drop when { Chain/drop: [ chain: ?c ] => ok[ next: ?n ] } then { Chain/fall: [ chain: ?c; n: ?n ] }
sync Fall when { Chain/fall: [ chain: ?c ] => ok[ next: ?n ] } then { Chain/fall: [ chain: ?c; n: ?n ] }
)";

inline lang::Completion gone(const json::object& ask, lang::Rows& rows, int64_t length) {
  int64_t n = ask.at("n").as_int64();
  std::string key(ask.at("chain").as_string());
  rows.put("Chain", key, json::object{{"at", n}});
  json::object fields{{"chain", key}};
  if (n < length) {
    fields["next"] = n + 1;
  } else {
    fields["last"] = true;
  }
  return {"ok", std::move(fields)};
}

inline lang::ConceptBinding binding() {
  lang::ConceptBinding chain{.name = "Chain", .parallel = 64};
  lang::ActionBinding run{.name = "run", .runs = lang::Runs::answered};
  run.begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> {
    return lang::BegunAction(lang::Started{});
  };
  run.finish = [](const json::object&, const lang::Ending& ending, lang::Rows&) -> Result<lang::Ending> {
    return ending;
  };
  lang::ActionBinding step{.name = "step", .runs = lang::Runs::effect, .retry = lang::Retry::safe};
  step.begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> {
    return lang::BegunAction(lang::Started{json::object{}});
  };
  step.perform = [](const json::value&, lang::Attempt&) -> Result<lang::PerformedAction> {
    return lang::PerformedAction(lang::Completion{"ok", {}});
  };
  step.finish = [](const json::object& ask, const lang::Ending&, lang::Rows& rows) -> Result<lang::Ending> {
    return lang::Ending(gone(ask, rows, kChain));
  };
  lang::ActionBinding fall{.name = "fall"};
  fall.act = [](const json::object& ask, lang::Rows& rows) -> Result<lang::Completion> {
    return gone(ask, rows, kChain);
  };
  lang::ActionBinding drop{.name = "drop"};
  drop.act = [](const json::object& ask, lang::Rows&) -> Result<lang::Completion> {
    return lang::Completion{"ok", {{"chain", ask.at("chain")}, {"next", 1}}};
  };
  chain.actions = {run, step, fall, drop};
  return chain;
}

struct Bench {
  explicit Bench(const std::string& path) {
    auto opened = store::SqliteStore::open(disk, path);
    must(opened.has_value(), "cannot open the store");
    file = opened->get();
    start(*std::move(opened));
  }
  explicit Bench(std::unique_ptr<store::Store> opened) { start(std::move(opened)); }

  void start(std::unique_ptr<store::Store> opened) {
    lang::Checked checked = lang::check(lang::kit_of({kConcept}, kSyncs));
    must(checked.kit.has_value(), "the kit has errors");
    store = std::move(opened);
    auto started = engine::Engine::start({.store = store.get(),
                                          .clock = &clock,
                                          .random = &random,
                                          .tools = &tools,
                                          .concepts = {&chain},
                                          .fatal = [](const std::string& why) { throw std::runtime_error(why); }},
                                         std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)));
    must(started.has_value(), "cannot start the engine");
    engine = *std::move(started);
  }

  void invoke(const std::string& action, int64_t n) {
    auto outcome = engine->invoke({.action = action, .input = {{"chain", "c" + std::to_string(n)}}});
    must(outcome && outcome->end.variant == "ok", "a flow failed");
  }

  // Seconds for so many flows, as many at once.
  double flows(const std::string& action, int64_t count, int64_t at_once) {
    std::atomic<int64_t> next = 0;
    std::vector<std::thread> callers;
    auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < at_once; ++i) {
      callers.emplace_back([&] {
        for (int64_t n = next++; n < count; n = next++) invoke(action, n % 10'000);
      });
    }
    for (std::thread& caller : callers) caller.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  RealDisk disk;
  RealClock clock;
  RealRandom random;
  lang::Tools tools;
  lang::ConceptBinding chain = binding();
  std::unique_ptr<store::Store> store;
  store::SqliteStore* file = nullptr;  // the store, if it is one
  std::unique_ptr<engine::Engine> engine;
};

}  // namespace sluice::bench
