// That conformance finds what is wrong: a counter with handlers that can be made to misbehave.
#include "lang/conformance.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace conformance_test {

constexpr std::string_view kSource = R"(concept Counter [C] {
  state {
    counters: set C
    value: C -> Int
  }
  actions {
    action start(at: Int) {
      -> ok(counter: C)
      -> negative(at: Int)
      fixture zero { at: 0 }
      fixture seven { at: 7 }
      fixture below { at: -1 } -> negative
    }
    action add(counter: C, by: Int) {
      -> ok(counter: C, value: Int)
      fixture one { counter: $zero.counter, by: 1 } after zero
    }
    action ask(counter: C) {
      runs: answered
      -> ok(counter: C, word: String)
      fixture asked { counter: $zero.counter } after zero
    }
  }
  example "adding" {
    after start(at: 2) -> ok(counter: c)
    then add(counter: c, by: 3) -> ok(counter: c, value: 5)
    and  ask(counter: c) -> ok(word: "five")
  }
  forall "any start" {
    given at in Int where at >= 0
    after start(at: at) -> ok(counter: c)
    then c.value = at
  }
  forall "all are counted" {
    given c in counters
    then add(counter: c, by: 0) -> ok(value: v)
    and  v < 8
  }
  always { forall c in counters: c.value >= 0 }
  never { exists c in counters: c.value = 13 }
  action add {
    requires: by > 0
    ensures ok: value >= by
  }
  action start { ensures gone: 1 = 1 }
}
)";

// How the handlers misbehave.
struct Fault {
  int64_t add_too_much = 0;
  bool accept_negative = false;
  bool forget_counter = false;
};

ConceptBinding counter(const Fault& fault) {
  auto anything = [](const json::object&) -> Result<void> { return {}; };
  ActionBinding start{.name = "start", .check = anything};
  start.act = [fault](const json::object& ask, Rows& rows) -> Result<Completion> {
    if (ask.at("at").get_int64() < 0 && !fault.accept_negative) return Completion{"negative", {{"at", ask.at("at")}}};
    std::string id = rows.new_id();
    rows.put("Counter", id, json::object{{"value", ask.at("at")}});
    return Completion{"ok", {{"counter", id}}};
  };
  ActionBinding add{.name = "add", .check = anything};
  add.act = [fault](const json::object& ask, Rows& rows) -> Result<Completion> {
    std::string id(ask.at("counter").get_string());
    int64_t value = rows.get("Counter", id)->at("value").get_int64() + ask.at("by").get_int64() + fault.add_too_much;
    rows.put("Counter", id, json::object{{"value", value}});
    return Completion{"ok", {{"counter", ask.at("counter")}, {"value", value}}};
  };
  ActionBinding ask_word{.name = "ask", .runs = Runs::answered, .check = anything};
  ask_word.begin = [](const json::object&, Rows&) -> Result<BegunAction> { return BegunAction(Started{}); };
  ask_word.finish = [fault](const json::object& ask, const Ending& ending, Rows&) -> Result<Ending> {
    Completion done = std::get<Completion>(ending);
    done.fields["counter"] = fault.forget_counter ? json::value("") : ask.at("counter");
    return Ending(done);
  };
  return {.name = "Counter", .actions = {start, add, ask_word}};
}

TEST(Conformance, PassesWhatConforms) {
  ConceptBinding binding = counter({});
  Conformance conformance(binding, kSource, nullptr);
  for (const char* name : {"zero", "seven", "below", "one", "asked"}) EXPECT_EQ(conformance.fixture(name), "") << name;
  for (size_t i = 0; i < 6; i++) EXPECT_EQ(conformance.invariant(i), "") << i;
}

TEST(Conformance, TellsAFixtureThatEndsOtherwise) {
  ConceptBinding binding = counter({.accept_negative = true});
  Conformance conformance(binding, kSource, nullptr);
  EXPECT_EQ(conformance.fixture("below"),
            "start {\"at\":-1}: expected negative, got ok {\"counter\":\"00000000000000000000000001\"}");
  EXPECT_EQ(conformance.fixture("none"), "there is no fixture none");
}

TEST(Conformance, TellsAnExampleThatGoesWrong) {
  ConceptBinding binding = counter({.add_too_much = 1});
  Conformance conformance(binding, kSource, nullptr);
  EXPECT_EQ(conformance.invariant(0), "line 26: expected value: 5, got 6");
}

TEST(Conformance, TellsWhatDoesNotHoldForAll) {
  ConceptBinding binding = counter({.add_too_much = 1});
  Conformance conformance(binding, kSource, nullptr);
  EXPECT_EQ(conformance.invariant(2), "line 37 does not hold");
}

TEST(Conformance, TellsWhatDoesNotAlwaysOrNeverHold) {
  ConceptBinding below = counter({.add_too_much = -2});
  EXPECT_EQ(Conformance(below, kSource, nullptr).invariant(3),
            "line 39 does not hold after add {\"counter\":\"00000000000000000000000001\",\"by\":1} => ok "
            "{\"counter\":\"00000000000000000000000001\",\"value\":-1}");
  ConceptBinding unlucky = counter({.add_too_much = 12});
  EXPECT_EQ(Conformance(unlucky, kSource, nullptr).invariant(4),
            "line 40 holds after add {\"counter\":\"00000000000000000000000001\",\"by\":1} => ok "
            "{\"counter\":\"00000000000000000000000001\",\"value\":13}");
}

TEST(Conformance, TellsABrokenContractAndOneThatNothingReaches) {
  ConceptBinding broken = counter({.add_too_much = -1});
  EXPECT_EQ(Conformance(broken, kSource, nullptr).invariant(5),
            "line 43 is not ensured by add {\"counter\":\"00000000000000000000000001\",\"by\":1} => ok "
            "{\"counter\":\"00000000000000000000000001\",\"value\":0}");
  ConceptBinding binding = counter({});
  EXPECT_EQ(Conformance(binding, kSource, nullptr).invariant(6), "no fixture and no example reaches what it speaks of");
}

TEST(Conformance, TellsAnIdThatFinishDoesNotGiveBack) {
  ConceptBinding binding = counter({.forget_counter = true});
  EXPECT_EQ(Conformance(binding, kSource, nullptr).fixture("asked"),
            "ask => ok does not give counter back: expected \"00000000000000000000000001\", got \"\"");
}

TEST(Conformance, GivesEachHarnessItsTools) {
  int prepared = 0;
  ConceptBinding binding = counter({});
  Conformance conformance(binding, kSource, [&](Harness&) { prepared++; });
  EXPECT_EQ(conformance.fixture("one"), "");
  EXPECT_EQ(prepared, 1);
}

}  // namespace conformance_test
}  // namespace sluice::lang
