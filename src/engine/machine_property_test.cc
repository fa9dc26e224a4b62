// What holds for every kit: reading flows back gives what was in memory, and one seed gives one journal. Kits are made
// at random from a few actions of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_property_test {

const std::string kNode = R"(concept Node [N] {
  state {
    nodes: set N
    level: N -> Int
    asked: N -> option Request
  }
  actions {
    action pure(n: Int) {
      -> ok(n: Int)
      -> odd(n: Int)
    }
    action ask(n: Int) {
      runs: answered
      reversal: back
      -> ok(n: Int)
      -> no(n: Int)
    }
    action effect(n: Int) {
      runs: effect
      retry: safe
      reversal: back
      -> ok(n: Int)
      -> odd(n: Int)
    }
    action once(n: Int) {
      runs: effect
      -> ok(n: Int)
    }
    action back(n: Int) {
      runs: effect
      retry: safe
      -> ok
    }
  }
}
)";

// Rules in which each level leads to the next, so that every flow ends.
std::string random_rules(std::mt19937& random) {
  auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  static const std::vector<std::string> kActions = {"pure", "ask", "effect", "once"};
  std::string rules;
  int number = 0;
  auto rule = [&](const std::string& annotation, const std::string& when, const std::string& then) {
    rules += "sync S" + std::to_string(number++) + annotation + " when { " + when + " } then { " + then + " }\n";
  };
  for (int level = 0; level < 4; ++level) {
    std::string here = std::to_string(level);
    std::string next = std::to_string(level + 1);
    for (const std::string& action : kActions) {
      std::string invoke = "Node/" + kActions[static_cast<size_t>(pick(4))] + ": [ n: " + next + " ]";
      if (pick(3) == 0) invoke += "  Node/" + kActions[static_cast<size_t>(pick(4))] + ": [ n: " + next + " ]";
      if (pick(4) == 0) invoke += "  Timer/wait: [ name: \"t\"; seconds: " + std::to_string(1 + pick(5)) + " ]";
      bool on_request = action == "ask" && pick(3) != 0;
      std::string outcome = on_request ? "requested" : action == "pure" && pick(3) == 0 ? "odd[]" : "ok[]";
      rule(pick(5) == 0 ? " [eventual]" : "", "Node/" + action + ": [ n: " + here + " ] => " + outcome, invoke);
    }
  }
  for (const std::string action : {"pure", "effect", "once"}) {
    if (pick(2) == 0) continue;
    rule("", "Node/" + action + ": [] => ok[ n: ?n ]  caused by Node/ask: [] => requested as ?r",
         std::string("answer ?r => ") + (pick(2) == 0 ? "ok" : "no") + "[ n: ?n ]");
  }
  if (pick(2) == 0) {
    rule("", "Timer/wait: [] => ok[]  caused by Node/ask: [ n: ?n ] => requested as ?r", "answer ?r => ok[ n: ?n ]");
  }
  if (pick(2) == 0) {
    rule("", "Node/pure: [] => ok[ n: ?a ]  Node/effect: [] => ok[ n: ?a ]", "Node/back: [ n: ?a ]");
  }
  if (pick(2) == 0) {
    rule("", "Node/ask: [ n: 2 ] => requested as ?r", "Flow/undo: [ request: ?r ]");
  }
  if (pick(2) == 0) {
    rule("", "Node/once: [ n: 3 ] => ok[]  caused by Node/ask: [] => requested as ?r", "Flow/undo: [ request: ?r ]");
  }
  return rules;
}

void give_handlers(World& world) {
  world.on("Node/pure").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    rows.put("Node", "n" + std::to_string(ask.at("n").as_int64()), json::object{{"level", ask.at("n")}});
    return {ask.at("n").as_int64() % 2 == 0 ? "ok" : "odd", ask};
  };
  world.on("Node/effect").perform = [](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
    if (attempt.number() == 1 && attempt.id().back() % 3 == 0) return lang::Again{"busy", 0};
    return lang::Completion{attempt.id().back() % 5 == 0 ? "odd" : "ok", work.as_object()};
  };
}

// What a machine has open, whatever it remembers about when.
std::string open_text(const Machine& machine) {
  std::string text;
  std::set<Ulid> due;  // flows with a timer whose time has come: it may have been taken, and has no step yet
  for (const Machine::OpenInvocation& open : machine.open_invocations()) {
    if (open.phase == Invocation::Phase::waiting && open.due_ms <= machine.now_ms()) due.insert(open.flow);
  }
  for (const Machine::OpenInvocation& open : machine.open_invocations()) {
    text += sluice::to_string(open.flow) + " " + sluice::to_string(open.id) + " " + open.action + " " +
            std::to_string(static_cast<int>(open.phase)) + " beneath " + sluice::to_string(open.beneath);
    if (!due.contains(open.flow)) text += " status " + std::to_string(static_cast<int>(*machine.status_of(open.flow)));
    text += "\n";
  }
  return text;
}

class AnyKit : public testing::TestWithParam<int> {
 protected:
  std::string rules() const {
    std::mt19937 random(static_cast<unsigned>(GetParam()));
    return random_rules(random);
  }
  static void begin(World& world) {
    for (int n = 0; n < 3; ++n) {
      for (const char* action : {"Node/pure", "Node/ask", "Node/effect"}) {
        world.machine().call({.action = action, .input = json::object{{"n", n}}, .caller = world.caller});
      }
    }
  }
};

TEST_P(AnyKit, ReadingBackGivesWhatWasInMemory) {
  World world({kNode}, rules());
  give_handlers(world);
  world.limits.batch_steps = 4;
  world.machine();
  begin(world);
  for (int i = 0; i < 3000; ++i) {
    auto turned = world.machine().turn();
    ASSERT_TRUE(turned);
    if (!*turned) {
      if (world.queue.run()) continue;
      auto due_ms = world.machine().next_due_ms();
      if (!due_ms) break;
      world.clock.advance_ms(std::max<int64_t>(*due_ms - world.steady_ms(), 0));
      continue;
    }
    // The flows that had begun, as another machine finds them.
    World other({kNode}, rules());
    other.store = world.store;
    other.clock.advance_ms(world.clock.wall_ms() - other.clock.wall_ms());
    other.restart();
    // Calls that wait for their first step are in no store.
    std::string begun;
    std::istringstream lines(open_text(world.machine()));
    for (std::string line; std::getline(lines, line);) {
      if (world.status(*Ulid::parse(line.substr(0, Ulid::kTextLength))) != "none") begun += line + "\n";
    }
    ASSERT_EQ(open_text(other.machine()), begun) << "after turn " << i << "\n" << rules();
  }
  std::vector<std::string> statuses = world.statuses();
  EXPECT_EQ(world.machine().open_flows(), static_cast<size_t>(std::ranges::count(statuses, "stuck")));
}

TEST_P(AnyKit, OneSeedGivesOneJournal) {
  auto bytes = [&] {
    World world({kNode}, rules());
    give_handlers(world);
    world.machine();
    begin(world);
    world.settle_in_time();
    return world.bytes();
  };
  EXPECT_EQ(bytes(), bytes());
}

INSTANTIATE_TEST_SUITE_P(Machine, AnyKit, testing::Range(1, 41));

}  // namespace machine_property_test
}  // namespace sluice::engine
