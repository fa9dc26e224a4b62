// The machine on its own thread, with real effects, a real clock and a real store.
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <latch>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "engine/testing_engine.h"
#include "store/sqlite_store.h"

namespace sluice::engine {
namespace engine_test {

using testing::HasSubstr;

const std::string kWork = R"(concept Work [W] {
  actions {
    action go(n: Int) {
      -> ok(n: Int)
    }
    action stop(n: Int) {
      -> ok(n: Int)
    }
    action wait(n: Int) {
      runs: effect
      retry: safe
      -> ok(n: Int)
    }
    action look() {
      runs: query
      -> ok(n: Int)
    }
    action ask(n: Int) {
      runs: answered
      -> ok(n: Int)
    }
  }
}
)";

const std::string kRules = R"(
sync Start when { Work/ask: [ n: ?n ] => requested } then { Work/wait: [ n: ?n ] }
sync Done when { Work/wait: [ n: ?n ] => ok[] caused by Work/ask: [] => requested as ?r } then { answer ?r => ok[ n: ?n ] }
)";

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    auto echo = [](const json::object& ask, lang::Rows&) -> Result<lang::Completion> {
      return lang::Completion{"ok", ask};
    };
    auto keep = [](const json::object&, const lang::Ending& ending, lang::Rows&) -> Result<lang::Ending> {
      return ending;
    };
    lang::ActionBinding go{.name = "go", .act = echo};
    lang::ActionBinding stop{.name = "stop",
                             .act = [this](const json::object&, lang::Rows&) -> Result<lang::Completion> {
                               stuck = true;
                               while (true) std::this_thread::yield();
                             }};
    lang::ActionBinding wait{.name = "wait", .runs = lang::Runs::effect, .retry = lang::Retry::safe};
    wait.begin = [](const json::object& ask, lang::Rows&) -> Result<lang::BegunAction> {
      return lang::BegunAction(lang::Started{ask});
    };
    wait.perform = [this](const json::value& work, lang::Attempt&) -> Result<lang::PerformedAction> {
      ++performed;
      return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
    };
    wait.finish = keep;
    lang::ActionBinding ask{.name = "ask", .runs = lang::Runs::answered};
    ask.begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> {
      return lang::BegunAction(lang::Started{});
    };
    ask.finish = keep;
    binding.name = "Work";
    lang::ActionBinding look{.name = "look", .runs = lang::Runs::query};
    look.query = [](const json::object&, const lang::Rows&) -> Result<lang::Completion> {
      return lang::Completion{"ok", {{"n", 1}}};
    };
    binding.actions = {go, stop, wait, ask, look};
    auto opened = store::SqliteStore::open(disk, folder.path("store.db"));
    if (!opened) throw std::runtime_error(to_string(opened.error()));
    store = *std::move(opened);
  }

  std::unique_ptr<Engine> start() { return *try_start(); }

  Result<std::unique_ptr<Engine>> try_start(std::optional<Decision> first = std::nullopt) {
    bool decides = first.has_value();
    auto engine = Engine::start(
        {.store = store.get(),
         .clock = &clock,
         .random = &random,
         .tools = &tools,
         .concepts = {&binding},
         .may = [this](const Caller& who, const std::string& action, const json::object&) -> Result<void> {
           if (!may || may(who)) return {};
           return Error{.code = Code::denied, .message = who.name + " may not call " + action};
         },
         .note = [this](const std::string& text) { noted.push_back(text); },
         .may_act = may_act,
         .fatal =
             [](const std::string& why) {
               std::fprintf(stderr, "%s\n", why.c_str());
               std::_Exit(1);
             },
         .first = std::move(first),
         .retention = retention,
         .longest_handler_ms = longest_handler_ms},
        checked({work}, rules));
    if (!engine && !decides) throw std::runtime_error(to_string(engine.error()));
    return engine;
  }

  std::function<Result<void>()> may_act;
  TestingFolder folder;
  RealDisk disk;
  // The real one, but for what is said to have passed while nothing ran.
  struct LaterClock final : Clock {
    int64_t wall_ms() const override { return real.wall_ms() + later_ms; }
    int64_t monotonic_ns() const override { return real.monotonic_ns(); }
    void sleep_ms(int64_t duration_ms) override { real.sleep_ms(duration_ms); }
    RealClock real;
    int64_t later_ms = 0;
  };
  LaterClock clock;
  std::string work = kWork, rules = kRules;
  RealRandom random;
  lang::Tools tools;
  lang::ConceptBinding binding;
  std::atomic<int> performed = 0;
  std::atomic<bool> stuck = false;
  int64_t longest_handler_ms = 10'000;
  std::function<bool(const Caller&)> may;
  std::vector<std::string> noted;
  Retention retention;
  std::unique_ptr<store::SqliteStore> store;
};

TEST_F(EngineTest, AnswersManyCallersAtOnce) {
  auto engine = start();
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int64_t n = 0; n < 32; ++n) {
    callers.emplace_back([&, n] {
      for (int64_t i = 0; i < 10; ++i) {
        auto outcome = engine->invoke({.action = "Work/ask", .input = {{"n", n * 100 + i}}});
        if (outcome && outcome->end.variant == "ok" && outcome->end.fields["n"] == n * 100 + i) ++right;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 320);
  EXPECT_EQ(performed, 320);
  EXPECT_EQ(engine->wait_for(320U * 4, 60'000), 320U * 4);
}

TEST_F(EngineTest, StartsAFlowAndWaitsForIt) {
  auto engine = start();
  auto flow = engine->start({.action = "Work/ask", .input = {{"n", 1}}});
  ASSERT_TRUE(flow);
  auto status = engine->wait(*flow, Engine::Until::all);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, store::FlowStatus::settled_ok);
  auto nobody = engine->wait(Ulid{}, Engine::Until::settled);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Code::not_found);
}

TEST_F(EngineTest, ShowsRecordsAsTheyAreCommitted) {
  auto engine = start();
  std::atomic<uint64_t> seen = 0;
  std::thread watcher([&] {
    auto watched = engine->watch(
        1,
        [&](const store::JournalRow& row) {
          EXPECT_EQ(row.seq, seen + 1);
          seen = row.seq;
          return row.seq < 8;
        },
        [] { return false; });
    EXPECT_TRUE(watched);
  });
  ASSERT_TRUE(engine->invoke({.action = "Work/ask", .input = {{"n", 1}}}));
  ASSERT_TRUE(engine->invoke({.action = "Work/ask", .input = {{"n", 2}}}));
  watcher.join();
  EXPECT_EQ(seen, 8U);
}

TEST_F(EngineTest, GoesOnWhereItWas) {
  Ulid flow;
  {
    auto engine = start();
    flow = *engine->start({.action = "Work/ask", .input = {{"n", 1}}});
  }
  auto engine = start();
  auto status = engine->wait(flow, Engine::Until::settled);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, store::FlowStatus::settled_ok);
  EXPECT_EQ(performed, 1);
}

// An effect whose repeat was due long ago, and an operator who does not want it: it must not run because of that.
TEST_F(EngineTest, ADecisionIsTakenBeforeAnythingGoesOn) {
  binding.actions[2].perform = [this](const json::value&, lang::Attempt&) -> Result<lang::PerformedAction> {
    ++performed;
    return lang::PerformedAction(lang::Again{.reason = "busy", .after_ms = 20'000});
  };
  Ulid flow;
  {
    auto engine = start();
    flow = *engine->start({.action = "Work/ask", .input = {{"n", 1}}});
    ASSERT_TRUE(eventually([&] { return engine->position() == 3; }));  // begin, begin, again
  }
  ASSERT_EQ(performed, 1);
  clock.later_ms = 30'000;
  std::optional<Result<uint64_t>> told;
  auto engine = try_start(Decision{.kind = Decision::Kind::cancel,
                                   .flow = flow,
                                   .caller = {.name = "uid:7"},
                                   .on_done = [&](const Result<uint64_t>& done) { told = done; }});
  ASSERT_TRUE(engine) << to_string(engine.error());
  ASSERT_TRUE(told && *told);
  EXPECT_EQ(**told, 4U);
  auto status = (*engine)->wait(flow, Engine::Until::settled);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, store::FlowStatus::settled_failed);
  engine->reset();
  EXPECT_EQ(performed, 1);
}

TEST_F(EngineTest, NothingRunsIfTheFirstDecisionCannotBeTaken) {
  Ulid flow;
  {
    auto engine = start();
    flow = engine->invoke({.action = "Work/ask", .input = {{"n", 1}}})->flow;
  }
  uint64_t position = (**store->read()).position();
  auto engine = try_start(Decision{.kind = Decision::Kind::cancel, .flow = flow});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().message, "flow " + to_string(flow) + " is not open");
  EXPECT_EQ((**store->read()).position(), position);
}

TEST_F(EngineTest, RefusesWhatThereIsNot) {
  auto engine = start();
  auto outcome = engine->invoke({.action = "Work/fly"});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(to_string(outcome.error()), "there is no action Work/fly");
}

TEST_F(EngineTest, EndsTheProcessWhenAHandlerDoesNotReturn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        longest_handler_ms = 200;
        auto engine = start();
        (void)engine->invoke({.action = "Work/stop", .input = {{"n", 1}}});
      },
      testing::ExitedWithCode(1), "the handler of Work/stop has not returned for");
}

TEST_F(EngineTest, BeginsNoEffectOnceItMayNotActAnyMore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        may_act = [this]() -> Result<void> {
          if (performed == 0) return Error{.message = "the lease has lapsed, and nothing was performed"};
          return Error{.message = "it was asked too late"};
        };
        auto engine = start();
        (void)engine->invoke({.action = "Work/wait", .input = {{"n", 1}}});
      },
      testing::ExitedWithCode(1), "the lease has lapsed, and nothing was performed");
}

TEST_F(EngineTest, WatchesOverHandlersWhileItStops) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        longest_handler_ms = 200;
        auto engine = start();
        std::thread caller([&] { (void)engine->invoke({.action = "Work/stop", .input = {{"n", 1}}}); });
        caller.detach();
        while (!stuck) std::this_thread::yield();
        engine.reset();
      },
      testing::ExitedWithCode(1), "the handler of Work/stop has not returned for");
}

// What a timer that came due meanwhile sets off runs before the writer has a thread of its own.
TEST_F(EngineTest, WatchesOverHandlersFromTheFirst) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::alarm(60);  // else it would never end
        longest_handler_ms = 200;
        rules += R"(
sync Rest when { Work/go: [] => ok[] } then { Timer/wait: [ name: "rest"; seconds: 60 ] }
sync Rested when { Timer/wait: [ name: "rest" ] => ok[] } then { Work/stop: [ n: 1 ] }
)";
        (void)start()->invoke({.action = "Work/go", .input = {{"n", 1}}});
        clock.later_ms = 61'000;
        start();
      },
      testing::ExitedWithCode(1), "the handler of Work/stop has not returned for");
}

TEST_F(EngineTest, Scenario23_AQueryIsAnsweredWhileTheStateIsOfAnotherVersion) {
  work = "@version(1)\n" + kWork;
  EXPECT_EQ(start()->invoke({.action = "Work/go", .input = {{"n", 1}}})->end.variant, "ok");
  work = "@version(2)\n" + kWork;
  auto engine = start();
  EXPECT_EQ(engine->invoke({.action = "Work/go", .input = {{"n", 1}}})->end.variant, "engine.needsMigration");
  auto answer = engine->query("Work/look", {}, {});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->variant, "ok");
}

TEST_F(EngineTest, RecordsThatAQueryWasDenied) {
  may = [](const Caller& caller) { return caller.name == "uid:0"; };
  auto engine = start();
  auto answer = engine->query("Work/look", {}, {.name = "uid:0"});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(engine->position(), 0U);
  auto denied = engine->query("Work/look", {}, {.name = "uid:7"});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::denied);
  EXPECT_EQ(denied.error().message, "uid:7 may not call Work/look");
  (void)engine->query("Work/look", {}, {.name = "uid:7"});
  engine.reset();
  auto snapshot = store->read();
  std::vector<std::string> records;
  ASSERT_TRUE((*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    Step step = read_step(row.record).value();
    records.push_back(std::string(name_of(step.kind)) + " " + step.action + " " + step.caller.name + " " +
                      std::to_string(step.count));
    return true;
  }));
  // The second of that minute is counted as the engine ends.
  EXPECT_EQ(records, (std::vector<std::string>{"denied Work/look uid:7 1", "denied Work/look uid:7 1"}));
}

// What an engine leaves behind is never freed, so this happens in a process of its own.
TEST_F(EngineTest, SaysForWhichEffectItWaitsAndLeavesItAtItsDeadline) {
  auto leave_one_behind = [&] {
    std::latch let_go(1), begun(1);
    binding.actions[2].deadline_s = 3;
    binding.actions[2].perform = [&](const json::value&, lang::Attempt&) -> Result<lang::PerformedAction> {
      begun.count_down();
      let_go.wait();
      ++performed;
      return lang::PerformedAction(lang::Completion{"ok", {{"n", 1}}});
    };
    auto engine = start();
    Ulid flow = *engine->start({.action = "Work/ask", .input = {{"n", 1}}});
    begun.wait();
    engine.reset();
    ASSERT_EQ(noted.size(), 1U);
    EXPECT_THAT(noted[0], HasSubstr("waiting for Work/wait of flow " + to_string(flow) + ", at most "));
    EXPECT_THAT(noted[0], HasSubstr(" s; its flow is kept in the store"));
    EXPECT_EQ(performed, 0);
    auto row = *(**store->read()).flow(flow);
    EXPECT_EQ(row->status, store::FlowStatus::settled_failed);
    let_go.count_down();
    while (performed == 0) std::this_thread::yield();
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // the store has a thread
  EXPECT_EXIT(
      {
        leave_one_behind();
        std::_Exit(HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EngineTest, NewRulesAreForNewFlows) {
  auto engine = start();
  std::latch let_go(1), begun(1);
  binding.actions[2].perform = [&](const json::value& work, lang::Attempt&) -> Result<lang::PerformedAction> {
    if (begun.try_wait()) return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
    begun.count_down();
    let_go.wait();
    return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
  };
  Ulid old = *engine->start({.action = "Work/ask", .input = {{"n", 1}}});
  begun.wait();
  std::string changed = kRules;
  changed.replace(changed.rfind("n: ?n"), 5, "n: 77");
  ASSERT_TRUE(engine->load(checked({kWork}, changed)));
  auto fresh = engine->invoke({.action = "Work/ask", .input = {{"n", 2}}});
  ASSERT_TRUE(fresh) << to_string(fresh.error());
  EXPECT_EQ(fresh->end.fields["n"], 77);
  let_go.count_down();
  ASSERT_TRUE(engine->wait(old, Engine::Until::settled));
  auto snapshot = store->read();
  auto head = (*snapshot)->journal((*(*snapshot)->flow(old))->head);
  EXPECT_EQ(read_step((*head)->record)->end->fields["n"], 1);
}

TEST_F(EngineTest, KeepsHouseAsItEndsOnceAnHour) {
  retention = {.keep_flows = 0};
  auto packed = [&](const Ulid& flow) { return (*(**store->read()).flow(flow))->packed; };
  Ulid first = start()->invoke({.action = "Work/go", .input = {{"n", 1}}})->flow;
  EXPECT_TRUE(packed(first));
  Ulid second = start()->invoke({.action = "Work/go", .input = {{"n", 1}}})->flow;
  EXPECT_FALSE(packed(second));
  ASSERT_TRUE(store->commit({.meta = {{"tidied", std::to_string(clock.wall_ms() - 3'600'000)}}}));
  start();
  EXPECT_TRUE(packed(second));
}

TEST_F(EngineTest, ForgetsSyncSetsThatNothingNeeds) {
  retention = {.keep_flows = 0};
  ASSERT_TRUE(store->commit({.sync_sets = {{"old", "sync Old …"}}}));
  start();
  EXPECT_EQ(*(**store->read()).sync_set("old"), std::nullopt);
  EXPECT_TRUE((**store->read()).sync_set(set_of({kWork}, kRules)->hash())->has_value());
}

}  // namespace engine_test
}  // namespace sluice::engine
