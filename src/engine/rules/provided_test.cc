// A toy provider with six actions behind a coordination concept: its requests are routed, answered, failed and undone
// by rules that follow from its `provides` alone, and a flow that began before they did goes on under its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace provided_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRuntime = R"(concept Runtime [I] {
  routed by: kind
  state {
    instances: set I
    kind: I -> String
    busy: I -> option Request
  }
  actions {
    action provision(name: String, kind: String, size: option Int) {
      runs: answered
      reversal: destroy
      -> ok(name: String, endpoint: String)
      -> provisionFailed(name: String, reason: String)
    }
    action destroy(name: I) {
      runs: answered
      -> ok
      -> stuck(reason: String)
    }
    action deploy(name: I, version: String) {
      runs: answered
      -> ok(name: I, version: String)
      -> deployFailed(name: I, reason: String)
    }
    action rollback(name: I) {
      runs: answered
      -> ok(previousVersion: String)
      -> noHistory
    }
    action scale(name: I, replicas: Int) {
      runs: answered
      -> ok(replicas: Int)
      -> unsupported(name: I, reason: String)
    }
    action check(name: I) {
      runs: answered
      -> ok
      -> unreachable
    }
  }
}
)";

const std::string kToy = R"(concept Toy [T] {
  kind: "toy"
  actions {
    action make(box: String, size: option Int) {
      runs: effect
      retry: safe
      -> ok(endpoint: String)
      -> noRoom(size: Int)
    }
    action smash(name: String) {
      runs: effect
      retry: safe
      -> ok
      -> stuck(reason: String)
    }
    action fill(name: String, version: String) {
      runs: effect
      retry: safe
      -> ok
      -> torn(reason: String)
    }
    action empty(name: String) {
      runs: effect
      retry: safe
      -> ok(restored: String)
      -> nothing
    }
    action count(name: String) {
      -> ok
    }
    action ping(name: String) {
      runs: effect
      retry: safe
      -> ok
      -> silent
    }
  }
  provides Runtime {
    provision -> make [ box: row ] {
      ok
      noRoom -> provisionFailed[ reason: "{{size}} is too large" ]
      else -> provisionFailed[ reason: message ]
    }
    destroy -> smash { ok; stuck; else -> stuck[ reason: message ] }
    deploy -> fill { ok; torn -> deployFailed; else -> deployFailed[ reason: message ] }
    rollback -> empty { ok -> ok[ previousVersion: restored ]; nothing -> noHistory }
    scale -> unsupported[ reason: "a toy has one" ]
    check -> ping { ok; silent -> unreachable; else -> unreachable }
  }
}
)";

const std::string kJob = R"(concept Job [J] {
  actions {
    action run(name: String) {
      runs: answered
      -> ok
      -> undone(undone: list String)
    }
  }
}
)";

const std::string kJobs = R"(
sync Make when { Job/run: [ name: ?n ] => requested } then { Runtime/provision: [ name: ?n; kind: "toy"; size: 1 ] }
sync Fill when { Runtime/provision: [ name: ?n ] => ok[]  caused by Job/run: [] => requested }
          then { Runtime/deploy: [ name: ?n; version: "2" ] }
sync Filled when { Runtime/deploy: [] => ok[]  caused by Job/run: [] => requested as ?j } then { answer ?j => ok[] }
sync Torn when { Runtime/deploy: [] => deployFailed[]  caused by Job/run: [] => requested as ?j }
          then { Flow/undo: [ request: ?j ] }
sync Lost when { Runtime/provision: [] => provisionFailed[]  caused by Job/run: [] => requested as ?j }
          then { Flow/undo: [ request: ?j ] }
sync Undone when { Flow/undo: [] => ok[ undone: ?u ]  caused by Job/run: [] => requested as ?j }
            then { answer ?j => undone[ undone: ?u ] }
)";

class Provided : public testing::Test {
 protected:
  Provided() : world({kRuntime, kToy, kJob}, kJobs) {
    world.on("Runtime/provision").begin = [](const json::object& ask, lang::Rows& rows) -> lang::BegunAction {
      rows.put("Runtime", std::string(ask.at("name").as_string()),
               json::object{{"kind", ask.at("kind")}, {"busy", rows.request().text()}});
      return lang::Started{};
    };
    world.on("Toy/make").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      made.push_back(json::serialize(work));
      return make();
    };
    world.on("Toy/fill").perform = [this](const json::value&, lang::Attempt&) -> lang::PerformedAction {
      return fill();
    };
    world.on("Toy/smash").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      smashed.push_back(json::serialize(work));
      return lang::Completion{"ok", {}};
    };
  }

  std::function<lang::Completion()> make = [] { return lang::Completion{"ok", {{"endpoint", "http://toy.example"}}}; };
  std::function<lang::Completion()> fill = [] { return lang::Completion{"ok", {}}; };
  std::vector<std::string> made, smashed;
  World world;
  const std::string ask = R"({"name":"a","kind":"toy"})";
};

TEST_F(Provided, ARequestIsRoutedToItsKindAndAnswered) {
  Outcome outcome = world.run("Runtime/provision", ask);
  EXPECT_EQ(outcome.end, (End{"ok", object(R"({"endpoint":"http://toy.example","name":"a"})"), false}));
  EXPECT_THAT(made, ElementsAre(R"({"box":"a"})"));  // the row that holds the request; no size stays no size
  EXPECT_EQ(world.run("Runtime/provision", R"({"name":"b","kind":"other"})").end.variant, "engine.unanswered");
  EXPECT_EQ(world.run("Runtime/deploy", R"({"name":"a","version":"1"})").end,
            (End{"ok", object(R"({"name":"a","version":"1"})"), false}));
  world.on("Toy/empty").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    return lang::Completion{"ok", {{"restored", "0"}}};
  };
  EXPECT_EQ(world.run("Runtime/rollback", R"({"name":"a"})").end.fields, object(R"({"previousVersion":"0"})"));
  EXPECT_EQ(world.run("Runtime/scale", R"({"name":"a","replicas":2})").end,
            (End{"unsupported", object(R"({"reason":"a toy has one","name":"a"})"), false}));
}

TEST_F(Provided, AVariantIsTheRequestsFailure) {
  make = [] { return lang::Completion{"noRoom", {{"size", 7}}}; };
  EXPECT_EQ(world.run("Runtime/provision", ask).end,
            (End{"provisionFailed", object(R"({"reason":"7 is too large","name":"a"})"), false}));
  EXPECT_THAT(world.fired(), ElementsAre("Toy.provision 1", "Toy.provision.noRoom 1"));
}

TEST_F(Provided, WhatTheEngineGaveUpMayHaveBeenDone) {
  make = []() -> lang::Completion { throw std::runtime_error("the shelf fell"); };
  Outcome outcome = world.run("Runtime/provision", ask);
  EXPECT_EQ(outcome.end.variant, "provisionFailed");
  EXPECT_THAT(std::string(outcome.end.fields.at("reason").as_string()), HasSubstr("the shelf fell"));
  EXPECT_TRUE(outcome.end.maybe_done);
}

TEST_F(Provided, WhatWasMadeIsUndone) {
  fill = [] { return lang::Completion{"torn", {{"reason", "too thin"}}}; };
  Outcome outcome = world.run("Job/run", R"({"name":"a"})");
  EXPECT_EQ(outcome.end.variant, "undone");
  EXPECT_THAT(smashed, ElementsAre(R"({"name":"a"})"));
}

TEST_F(Provided, WhatMayHaveBeenMadeIsUndoneAlsoAfterARestart) {
  make = []() -> lang::Completion { throw std::runtime_error("the shelf fell"); };
  world.limits.batch_steps = 1;
  world.start("Job/run", R"({"name":"a"})");
  world.settle_with_restarts();
  world.settle_in_time();
  EXPECT_THAT(smashed, Contains(R"({"name":"a"})"));
}

TEST_F(Provided, AFlowKeepsTheRulesItBeganWith) {
  std::string bare = kToy;
  bare.erase(bare.find("  provides"));
  World old({kRuntime, bare + "}\n", kJob},
            "sync Route when { Runtime/check: [ name: ?n ] => requested } then { Toy/ping: [ name: ?n ] }\n"
            "sync Alive when { Toy/ping: [] => ok[]  caused by Runtime/check: [] => requested as ?a } then { answer ?a "
            "=> ok[] }");
  Ulid flow = old.start("Runtime/check", R"({"name":"a"})");
  old.stop();
  old.use({kRuntime, kToy, kJob}, kJobs);
  old.restart();
  old.settle_in_time();
  EXPECT_EQ(old.status(flow), "ok");
  EXPECT_THAT(old.fired(), ElementsAre("Route 1", "Alive 1"));
}

TEST_F(Provided, ASetThatIsKeptHasThemAsText) {
  world.run("Runtime/provision", ask);
  Ulid flow = world.start("Runtime/check", R"({"name":"a"})");
  world.stop();
  world.load(kJobs + "sync More when { Toy/count: [] => ok[] } then { Toy/ping: [ name: \"x\" ] }\n");
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_THAT(world.fired(), ElementsAre("Toy.provision 1", "Toy.provision.ok 1", "Toy.check 1", "Toy.check.ok 1"));
}

}  // namespace provided_test
}  // namespace sluice::engine
