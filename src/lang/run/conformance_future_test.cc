// That `eventually` and `scenario` run, and find what is wrong: leases that end only half a day after they were taken,
// with handlers that can be made to misbehave.
#include <gtest/gtest.h>

#include "lang/run/conformance.h"

namespace sluice::lang {
namespace conformance_future_test {

// The concept with these invariants.
std::string leases(const std::string& invariants) {
  return R"(concept Lease [L] {
  state {
    leases: set L
    holder: L -> String
    status: L -> String
    takenMs: L -> Int
    asked: L -> Int
  }
  actions {
    action take(holder: String) {
      -> ok(lease: L)
      fixture taken { holder: "ann" }
    }
    action end(lease: L) {
      -> ok(lease: L)
      -> tooEarly(lease: L)
      fixture early { lease: $taken.lease } after taken -> tooEarly
    }
    action look(lease: L) {
      runs: query
      -> ok(over: Bool)
    }
    action ask(lease: L) {
      runs: answered
      -> ok(lease: L, word: String)
    }
  }
)" + invariants +
         "\n}\n";
}

// How the handlers misbehave.
struct Fault {
  bool never_ends = false;
  int64_t over_after_ms = 12 * 60 * 60 * 1000;
};

ConceptBinding handlers(const Fault& fault) {
  auto anything = [](const json::object&) -> Result<void> { return {}; };
  auto age_of = [](const json::value& row, const Rows& rows) { return rows.now().ms - row.at("takenMs").get_int64(); };
  ActionBinding take{.name = "take", .check = anything};
  take.act = [](const json::object& ask, Rows& rows) -> Result<Completion> {
    std::string id = rows.new_id();
    rows.put("Lease", id,
             json::object{
                 {"holder", ask.at("holder")}, {"status", "held"}, {"takenMs", rows.now().ms}, {"asked", int64_t{0}}});
    return Completion{"ok", {{"lease", id}}};
  };
  ActionBinding end{.name = "end", .check = anything};
  end.act = [=](const json::object& ask, Rows& rows) -> Result<Completion> {
    std::string id(ask.at("lease").get_string());
    auto row = rows.get("Lease", id);
    json::object echo{{"lease", id}};
    if (!row || age_of(*row, rows) < fault.over_after_ms) return Completion{"tooEarly", echo};
    if (!fault.never_ends) row->as_object()["status"] = "ended";
    rows.put("Lease", id, *row);
    return Completion{"ok", echo};
  };
  ActionBinding look{.name = "look", .runs = Runs::query, .check = anything};
  look.query = [=](const json::object& ask, const Rows& rows) -> Result<Completion> {
    auto row = rows.get("Lease", std::string(ask.at("lease").get_string()));
    return Completion{"ok", {{"over", row && age_of(*row, rows) >= fault.over_after_ms}}};
  };
  ActionBinding ask_word{.name = "ask", .runs = Runs::answered, .check = anything};
  ask_word.begin = [](const json::object&, Rows&) -> Result<BegunAction> { return BegunAction(Started{}); };
  ask_word.finish = [](const json::object& ask, const Ending& ending, Rows& rows) -> Result<Ending> {
    std::string id(ask.at("lease").get_string());
    auto row = rows.get("Lease", id);
    if (row) {
      row->as_object()["asked"] = row->at("asked").get_int64() + 1;
      rows.put("Lease", id, *row);
    }
    Completion done = std::get<Completion>(ending);
    done.fields["lease"] = id;
    return Ending(done);
  };
  return {.name = "Lease", .actions = {take, end, look, ask_word}};
}

std::string told(const std::string& invariant, const Fault& fault = {}) {
  ConceptBinding binding = handlers(fault);
  return Conformance(binding, leases(invariant), nullptr).invariant(0);
}

TEST(Conformance, FindsTheWayToWhatEventuallyHolds) {
  // A day must pass, and then somebody must end it.
  std::string all_end = "eventually { forall l in leases: l.status = \"ended\" }";
  EXPECT_EQ(told(all_end), "");
  // Three invocations of one action, which has no fixture.
  EXPECT_EQ(told("eventually { forall l in leases: l.asked >= 3 }"), "");
  // Further rows are taken when nothing else leads there.
  EXPECT_EQ(told("eventually { 3 = count(leases) }"), "");
}

TEST(Conformance, TellsWhatNeverComesToHold) {
  std::string all_end = "eventually { forall l in leases: l.status = \"ended\" }";
  EXPECT_EQ(told(all_end, {.never_ends = true}),
            "line 28 does not come to hold after the fixture taken: looked for up to 8 invocations on, in 2000 states");
  // Each condition can hold, but not both in one state.
  EXPECT_EQ(
      told("eventually { exists l in leases: l.asked = 2\n exists l in leases: l.status = \"ended\" and l.asked > 8 }"),
      "line 28 does not come to hold after the fixture taken: looked for up to 8 invocations on, in 2000 states");
}

TEST(Conformance, HasNoUseForEventuallyWithoutFixtures) {
  ConceptBinding binding{.name = "Bare", .actions = {}};
  Conformance bare(binding,
                   "concept Bare [B] { state { all: set B } actions { action a() { -> ok } }\n eventually { 1 = 1 } }",
                   nullptr);
  EXPECT_EQ(bare.invariant(0), "there is nothing to try it on: the concept has neither fixtures nor examples");
}

TEST(Conformance, RunsAScenarioFromGivenToThen) {
  EXPECT_EQ(told(R"(scenario "held" {
    fixture ben { holder: "ben" }
    given { take(holder: holder) -> ok(lease: l) }
    when { end(lease: l) -> tooEarly and ask(lease: l) -> ok(word: "why") }
    then { look(lease: l) -> ok(over: false) and l.holder = ben.holder and l.holder = $ben.holder and l.asked = 1 }
  })"),
            "");
  // A fixture of an action runs when a step takes something from it.
  EXPECT_EQ(told("scenario { then { look(lease: $taken.lease) -> ok(over: false) and $taken.holder = \"ann\" } }"), "");
  EXPECT_EQ(told("scenario { given { take(holder: \"ben\") -> ok(lease: l) } then { l.status = \"ended\" } }"),
            "line 28 does not hold");
  EXPECT_EQ(
      told(
          "scenario { given { take(holder: \"ben\") -> ok(lease: l) }\n when { end(lease: l) -> ok } then { 1 = 1 } }"),
      "end {\"lease\":\"00000000000000000000000001\"}: expected ok, got tooEarly "
      "{\"lease\":\"00000000000000000000000001\"}");
}

TEST(Conformance, WaitsByItsOwnClockForWhatAScenarioSays) {
  std::string scenario =
      "scenario { when { take(holder: \"ben\") -> ok(lease: l) } then { look(lease: l) -> ok(over: true) }\n";
  EXPECT_EQ(told(scenario + "settlement: sync }", {.over_after_ms = 250}), "line 28: expected over: true, got false");
  std::string waits = scenario + "settlement: \"async-eventually\" { timeoutMs: 250 } }";
  EXPECT_EQ(told(waits, {.over_after_ms = 250}), "");
  EXPECT_EQ(told(waits, {.over_after_ms = 251}),
            "line 28: expected over: true, got false, nor at any time up to 250 ms later");
}

TEST(Conformance, WaitsForTheAnchorOfAScenario) {
  auto anchored = [](const std::string& then, const std::string& anchor) {
    return "scenario { when { take(holder: \"ben\") -> ok(lease: l) }\n then { " + then +
           " }\n settlement: \"async-with-anchor\" { anchor: \"" + anchor + "\" } }";
  };
  EXPECT_EQ(told(anchored("l.asked = 1", "Lease/ask")), "");
  EXPECT_EQ(told(anchored("l.asked = 2", "ask")),
            "line 29 does not hold once ask {\"lease\":\"00000000000000000000000001\"} has ended");
  // What a step has run has ended already.
  EXPECT_EQ(told(anchored("1 = count(leases)", "take")), "");
}

}  // namespace conformance_future_test
}  // namespace sluice::lang
