// Flow/undo: what is compensated, in which order, and what stops it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "engine/journal/history.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_undo_test {

using testing::HasSubstr;

const std::string kBox = R"(concept Box [B] {
  actions {
    action job(name: String) {
      runs: answered
      -> ok(undone: option list String)
      -> stuck(undone: list String, stuck: list String, reason: String)
    }
    action whole(name: String) {
      runs: answered
      reversal: unwhole
      -> ok
    }
    action unwhole(name: String) {
      -> ok
    }
    action part(name: String) {
      runs: effect
      retry: safe
      reversal: unpart (half)
      -> ok(place: String)
      -> half(place: String)
      -> none
    }
    action unpart(name: String, place: option String) {
      runs: effect
      retry: safe
      -> ok
      -> refused(message: String)
    }
  }
}
)";

// The parts of a job are made side by side; once the whole is there, all is undone again.
const std::string kRules = R"(
sync Parts when { Box/job: [] => requested } then { Box/part: [ name: "a" ]  Box/part: [ name: "b" ]  Box/part: [ name: "d" ]  Box/part: [ name: "e" ]  Box/whole: [ name: "w" ] }
sync Inner when { Box/whole: [] => requested } then { Box/part: [ name: "c" ] }
sync Whole when { Box/part: [ name: "c" ] => ok[] caused by Box/whole: [] => requested as ?r } then { answer ?r => ok[] }
sync Undo when { Box/whole: [] => ok[] caused by Box/job: [] => requested as ?r } then { Flow/undo: [ request: ?r ] }
sync Done when { Flow/undo: [] => ok[ undone: ?u ] caused by Box/job: [] => requested as ?j } then { answer ?j => ok[ undone: ?u ] }
sync Stuck when { Flow/undo: [] => stuck[ undone: ?u; stuck: ?s; reason: ?why ] caused by Box/job: [] => requested as ?j }
           then { answer ?j => stuck[ undone: ?u; stuck: ?s; reason: ?why ] }
)";

class Undoing : public testing::Test {
 protected:
  Undoing() {
    world.on("Box/part").perform = [](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      std::string name(work.at("name").as_string());
      if (name == "d") return lang::Completion{"none", {}};
      if (name == "e") throw std::runtime_error("lost");
      return lang::Completion{name == "b" ? "half" : "ok", {{"place", "at " + name}}};
    };
    world.on("Box/unwhole").act = [this](const json::object& ask, lang::Rows&) -> lang::Completion {
      undone.push_back(write(ask));
      return {"ok", {}};
    };
    world.on("Box/unpart").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      undone.push_back(write(work));
      if (work.at("name") == json::value(refusing)) return lang::Completion{"refused", {{"message", "it is glued"}}};
      return lang::Completion{"ok", {}};
    };
  }

  World world{{kBox}, kRules};
  std::string refusing;
  std::vector<std::string> undone;
  // Newest first; e may have been made; c is the whole's own business; d was not made.
  const std::vector<std::string> all = {R"({"name":"w"})", R"({"name":"e"})", R"({"name":"b","place":"at b"})",
                                        R"({"name":"a","place":"at a"})"};
};

TEST_F(Undoing, CompensatesTheOutermostNewestFirst) {
  Outcome outcome = world.run("Box/job", R"({"name":"j"})");
  EXPECT_EQ(outcome.end.variant, "ok");
  EXPECT_EQ(undone, all);
  ASSERT_EQ(outcome.end.fields["undone"].as_array().size(), 4U);
  EXPECT_THAT(std::string(outcome.end.fields["undone"].as_array()[0].as_string()), HasSubstr("Box/whole "));
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST_F(Undoing, GoesOnAfterARestartWhereItWas) {
  world.start("Box/job", R"({"name":"j"})");
  while (undone.empty() && world.queue.run()) world.turn();
  for (int i = 0; i < 200 && world.machine().open_flows() > 0; ++i) {
    world.restart();
    world.clock.advance_ms(300);
    world.turn();
    world.queue.run();
    world.turn();
  }
  EXPECT_EQ(undone, all);
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_EQ(world.step_of("Box/job").end->variant, "ok");
}

TEST_F(Undoing, IsStuckAtWhatRefuses) {
  refusing = "b";
  Outcome outcome = world.run("Box/job", R"({"name":"j"})");
  EXPECT_EQ(outcome.end.variant, "stuck");
  EXPECT_EQ(outcome.end.fields["reason"], "Box/unpart => refused: it is glued");
  EXPECT_EQ(outcome.end.fields["undone"].as_array().size(), 2U);
  EXPECT_EQ(outcome.end.fields["stuck"].as_array().size(), 2U);
  EXPECT_EQ(undone.size(), 3U);
}

TEST_F(Undoing, ItsHistoryHasTheCompensationsBeneathIt) {
  refusing = "b";
  Outcome outcome = world.run("Box/job", R"({"name":"j"})");
  History history = history_of(world.steps());
  auto undo = std::ranges::find(history.invocations, "Flow/undo", &PastInvocation::action);
  ASSERT_NE(undo, history.invocations.end());
  auto number = static_cast<size_t>(undo - history.invocations.begin());
  std::vector<std::string> told;
  for (const PastInvocation& one : history.invocations) {
    if (one.undoes.empty()) continue;
    EXPECT_EQ(one.beneath, number);
    EXPECT_FALSE(one.asked_by);
    told.push_back(one.action + " " + write(one.input) + " undoes " + one.undoes.substr(0, one.undoes.find(' ')) +
                   " => " + one.end->variant);
  }
  // What comes after the one that refused was never asked for.
  EXPECT_THAT(told, testing::ElementsAre(R"(Box/unwhole {"name":"w"} undoes Box/whole => ok)",
                                         R"(Box/unpart {"name":"e"} undoes Box/part => ok)",
                                         R"(Box/unpart {"name":"b","place":"at b"} undoes Box/part => refused)"));
  EXPECT_TRUE(history.open().empty());
}

TEST_F(Undoing, WhoseOutcomeNobodyKnowsCanBeDecidedAbout) {
  world.on("Box/unpart").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    throw std::runtime_error("lost");
  };
  Outcome outcome = world.run("Box/job", R"({"name":"j"})");
  EXPECT_EQ(outcome.end.variant, "stuck");
  Ulid unknown = world.step_of("Box/unpart").invocation;
  auto decided =
      world.decide({.kind = Decision::Kind::resolve_as, .flow = outcome.flow, .invocation = unknown, .as = {"ok", {}}});
  ASSERT_TRUE(decided) << to_string(decided.error());
  EXPECT_EQ(world.step_of("Box/unpart").end->variant, "ok");
}

TEST_F(Undoing, OfNothingIsDoneAtOnce) {
  World other({kBox},
              "sync Undo when { Box/job: [] => requested as ?r } then { Flow/undo: [ request: ?r ] }\n"
              "sync Done when { Flow/undo: [] => ok[ undone: ?u ] caused by Box/job: [] => requested as ?j } "
              "then { answer ?j => ok[ undone: ?u ] }");
  Outcome outcome = other.run("Box/job", R"({"name":"j"})");
  EXPECT_EQ(outcome.end.fields, object(R"({"undone":[]})"));  // nothing was done beneath it
}

}  // namespace machine_undo_test
}  // namespace sluice::engine
