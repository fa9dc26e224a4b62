// The machine on its own thread, with real effects, a real clock and a real store.
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "engine/testing_engine.h"
#include "store/sqlite_store.h"

namespace sluice::engine {
namespace {

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
    lang::ActionBinding stop{.name = "stop", .act = [](const json::object&, lang::Rows&) -> Result<lang::Completion> {
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
    binding.actions = {go, stop, wait, ask};
    auto opened = store::SqliteStore::open(disk, folder.path("store.db"));
    if (!opened) throw std::runtime_error(to_string(opened.error()));
    store = *std::move(opened);
  }

  std::unique_ptr<Engine> start() {
    auto engine = Engine::start({.store = store.get(),
                                 .clock = &clock,
                                 .ids = &ids,
                                 .tools = &tools,
                                 .concepts = {&binding},
                                 .fatal =
                                     [](const std::string& why) {
                                       std::fprintf(stderr, "%s\n", why.c_str());
                                       std::_Exit(1);
                                     },
                                 .longest_handler_ms = longest_handler_ms},
                                checked({kWork}, kRules));
    if (!engine) throw std::runtime_error(to_string(engine.error()));
    return *std::move(engine);
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  UlidSource ids{clock, random};
  lang::Tools tools;
  lang::ConceptBinding binding;
  std::atomic<int> performed = 0;
  int64_t longest_handler_ms = 10'000;
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
  EXPECT_EQ(engine->position(), 320U * 4);
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
      testing::ExitedWithCode(1), "the handler of the action stop has not returned for");
}

}  // namespace
}  // namespace sluice::engine
