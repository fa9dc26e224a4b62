// Values on their way through a machine: sealed ones, large ones, and rows that a new rule finds by another field. And
// what comes too late, or is of no use any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing_volatile_disk.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_values_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kVault = R"(concept Vault [V] {
  state {
    vaults: set V
    owner: V -> String
    colour: V -> String
    text: V -> String
  }
  actions {
    action fetch(name: String) {
      runs: effect
      retry: safe
      -> ok(token: Sealed)
    }
    action unlock(token: Sealed) {
      runs: effect
      retry: safe
      -> ok(length: Int)
    }
    action add(owner: String, colour: String, text: String) {
      -> ok
    }
    action find(key: String) {
      -> ok
    }
    action seen(vault: V) {
      -> ok
    }
  }
}
)";

const std::string kUnlock = R"(
sync Unlock when { Vault/fetch: [] => ok[ token: ?t ] } then { Vault/unlock: [ token: ?t ] }
)";

class SealedOnItsWay : public testing::Test {
 protected:
  SealedOnItsWay() {
    world.on("Vault/fetch").perform = [this](const json::value&, lang::Attempt& attempt) -> lang::PerformedAction {
      ++fetched;
      return lang::Completion{"ok", {{"token", attempt.seal("s3cret").handle()}}};
    };
    world.on("Vault/unlock").perform = [this](const json::value& work,
                                              lang::Attempt& attempt) -> lang::PerformedAction {
      opened.push_back(attempt.open(lang::Sealed::of_handle(std::string(work.at("token").as_string()))));
      return lang::Completion{"ok", {{"length", opened.back().size()}}};
    };
  }

  World world{{kVault}, kUnlock};
  int fetched = 0;
  std::vector<std::string> opened;
};

TEST_F(SealedOnItsWay, IsAHandleInTheJournal) {
  world.run("Vault/fetch", R"({"name":"x"})");
  EXPECT_THAT(opened, ElementsAre("s3cret"));
  EXPECT_THAT(world.bytes(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(world.asked("Vault/unlock").at(0), HasSubstr(R"("token":"sealed:)"));
}

TEST_F(SealedOnItsWay, IsMadeAgainWhenARestartLostIt) {
  world.start("Vault/fetch", R"({"name":"x"})");
  world.queue.run();
  world.turn();
  EXPECT_EQ(world.queue.size(), 1U);
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(fetched, 2);
  EXPECT_THAT(opened, ElementsAre("s3cret"));
  EXPECT_THAT(world.statuses(), ElementsAre("ok"));
}

TEST_F(SealedOnItsWay, IsGoneAfterTenMinutesAndMadeAgain) {
  world.start("Vault/fetch", R"({"name":"x"})");
  world.queue.run();
  world.turn();
  world.clock.advance_ms(600'001);
  world.queue.run();
  world.settle();
  EXPECT_EQ(fetched, 2);
}

TEST_F(SealedOnItsWay, OfACallCannotBeMadeAgain) {
  world.sealed["Vault/unlock"] = {"token"};
  world.run("Vault/unlock", R"({"token":"from outside"})");
  EXPECT_THAT(opened, ElementsAre("from outside"));
  EXPECT_THAT(world.bytes(), Not(HasSubstr("from outside")));
  world.start("Vault/unlock", R"({"token":"from outside"})");
  world.restart();
  world.settle_in_time();
  EXPECT_THAT(world.journal().back(), HasSubstr("it came with a call; call again"));
  EXPECT_THAT(world.journal().back(), HasSubstr("engine.fault"));
}

TEST_F(SealedOnItsWay, AKeyIsNotForAnotherValueAndHasNoHashOfIt) {
  world.sealed["Vault/unlock"] = {"token"};
  const Ulid first = world.start("Vault/unlock", R"({"token":"from outside"})", "k1");
  world.settle();
  EXPECT_EQ(world.start("Vault/unlock", R"({"token":"from outside"})", "k1"), first);
  Call other{.action = "Vault/unlock", .input = {{"token", "another"}}, .caller = world.caller, .key = "k1"};
  Code code = Code::ok;
  other.on_start = [&](const Result<Ulid>& started) { code = started ? Code::ok : started.error().code; };
  world.machine().call(std::move(other));
  EXPECT_EQ(code, Code::conflict);
}

// Keeps each vault under the number of those before it.
void keep_vaults(World& world) {
  world.on("Vault/add").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    rows.put("Vault", "v" + std::to_string(rows.scan("Vault", "", "", 1000).size()), ask);
    return {"ok", {}};
  };
}

TEST(LargeValues, AreBlobsWithTheirDigestInTheRow) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/home", 0700));
  store::BlobStore blobs(disk, "/home/blobs");
  World world({kVault}, R"(
sync Find when { Vault/find: [ key: ?k ] => ok[] } where { Vault: { ?v owner: ?k } } then { Vault/seen: [ vault: ?v ] }
)");
  world.blobs = &blobs;
  keep_vaults(world);
  json::object ask{{"owner", "ann"}, {"colour", "red"}, {"text", std::string(100'000, 'x')}};
  world.run("Vault/add", write(ask));
  EXPECT_THAT(*world.row("Vault", "v0"), testing::StartsWith("@"));
  EXPECT_LT(world.row("Vault", "v0")->size(), 100U);
  world.restart();
  std::string read;
  world.on("Vault/seen").act = [&](const json::object& seen, lang::Rows& rows) -> lang::Completion {
    read = rows.get("Vault", std::string(seen.at("vault").as_string()))->at("text").as_string();
    return {"ok", {}};
  };
  world.run("Vault/find", R"({"key":"ann"})");
  EXPECT_EQ(read.size(), 100'000U);
}

TEST(NewRules, FindOldRowsByFieldsThatNobodyFoundThemByBefore) {
  auto by = [](const std::string& field) {
    return "sync Find when { Vault/find: [ key: ?k ] => ok[] } where { Vault: { ?v " + field +
           ": ?k } } then { Vault/seen: [ vault: ?v ] }";
  };
  for (bool restart : {true, false}) {
    World world({kVault}, by("owner"));
    keep_vaults(world);
    world.run("Vault/add", R"({"owner":"ann","colour":"red","text":"1"})");
    world.run("Vault/add", R"({"owner":"bob","colour":"blue","text":"2"})");
    if (restart) {
      world.load(by("colour"));
      world.restart();
    } else {
      ASSERT_TRUE(world.reload(by("colour")));
    }
    world.run("Vault/add", R"({"owner":"cid","colour":"blue","text":"3"})");
    world.run("Vault/find", R"({"key":"blue"})");
    EXPECT_THAT(world.asked("Vault/seen"), ElementsAre(R"({"vault":"v1"})", R"({"vault":"v2"})")) << restart;
    auto snapshot = world.store->read();
    std::vector<std::string> keys;
    ASSERT_TRUE((*snapshot)->lookup("Vault", "colour", "\"red\"", [&](const std::string& key) {
      keys.push_back(key);
      return true;
    }));
    EXPECT_THAT(keys, ElementsAre("v0"));
  }
}

// ---------------------------------------------------------------------------------------- too late, or of no use

const std::string kRace = R"(concept Race [R] {
  actions {
    action run(name: String) {
      runs: answered
      -> ok(by: String)
    }
    action inner(name: String) {
      runs: answered outside
      -> ok
    }
    action leg(name: String) {
      runs: effect
      retry: safe
      deadline: 10s
      -> ok(name: String)
    }
    action note(name: String) {
      -> ok
    }
  }
}
)";

TEST(Late, TheFirstAnswerWinsAndWhatWasBeneathEnds) {
  World world({kRace}, R"(
sync Legs when { Race/run: [] => requested } then { Race/leg: [ name: "a" ]  Race/leg: [ name: "b" ]  Timer/wait: [ name: "t"; seconds: 100 ]  Race/inner: [ name: "i" ] }
sync Won when { Race/leg: [] => ok[ name: ?n ] caused by Race/run: [] => requested as ?r } then { answer ?r => ok[ by: ?n ] }
sync After when { Race/leg: [ name: "b" ] => ok[] } then { Race/inner: [ name: "j" ]  Race/note: [ name: "n" ] }
)");
  bool cancelled = false;
  world.on("Race/leg").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
    cancelled = attempt.cancelled();
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Race/run", R"({"name":"x"})");
  EXPECT_EQ(world.queue.size(), 2U);
  world.queue.run();
  world.turn();
  ASSERT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.ended[0]->end.fields, object(R"({"by":"a"})"));
  EXPECT_FALSE(cancelled);
  world.settle();
  EXPECT_TRUE(cancelled);
  // The other leg ends and is recorded; what it would open has no one to open it for.
  EXPECT_THAT(world.ends(),
              ElementsAre("begin Race/run", "begin Race/leg", "begin Race/leg", "begin Timer/wait", "begin Race/inner",
                          "finish Race/leg => ok", "finish Race/run => ok", "finish Timer/wait => engine.cancelled",
                          "finish Race/inner => engine.cancelled", "finish Race/leg => ok",
                          "begin Race/inner => engine.cancelled", "act Race/note => ok", "late => ok"));
  EXPECT_EQ(world.status(flow), "ok");
  auto snapshot = world.store->read();
  int timers = 0;
  ASSERT_TRUE((*snapshot)->timers([&](const store::TimerRow&) { return ++timers > 0; }));
  EXPECT_EQ(timers, 0);
}

TEST(Late, ResultsAfterTheFlowHasSettledStandInItsJournal) {
  World world({kRace}, "sync N when { Race/leg: [ name: ?n ] => ok[] } then { Race/note: [ name: ?n ] }");
  Ulid flow = world.start("Race/leg", R"({"name":"a"})");
  world.clock.advance_ms(10'000);
  world.turn();
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.machine().open_flows(), 0U);
  world.settle();
  EXPECT_THAT(world.ends(), ElementsAre("begin Race/leg", "finish Race/leg => engine.timeout", "late => ok"));
  EXPECT_EQ(world.steps().back().flow, flow);
  EXPECT_EQ(world.status(flow), "failed");
  // The operator believes the late result.
  ASSERT_TRUE(world.decide(
      {.kind = Decision::Kind::resolve_as, .flow = flow, .invocation = flow, .as = {"ok", object(R"({"name":"a"})")}}));
  world.settle();
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(world.ends().back(), "act Race/note => ok");
  world.restart();
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(Late, ATimerOfTheSameNameBeneathTheSameRequestTakesItsPlace) {
  World world({kRace}, R"(
sync First when { Race/run: [] => requested } then { Timer/wait: [ name: "t"; seconds: 5 ]  Race/leg: [ name: "a" ]  Timer/wait: [ name: "u"; seconds: 7 ] }
sync Again when { Race/leg: [] => ok[] } then { Timer/wait: [ name: "t"; seconds: 50 ] }
sync Done when { Timer/wait: [ name: ?n ] => ok[] caused by Race/run: [] => requested as ?r } then { answer ?r => ok[ by: ?n ] }
)");
  Ulid flow = world.start("Race/run", R"({"name":"x"})");
  world.settle();
  EXPECT_EQ(world.ends().back(), "finish Timer/wait => superseded");
  world.restart();
  world.pass(5);
  EXPECT_EQ(world.status(flow), "waiting");
  world.pass(2);
  ASSERT_TRUE(world.step_of("Race/run").end);
  EXPECT_EQ(world.step_of("Race/run").end->fields, object(R"({"by":"u"})"));
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(Effects, OneThatMustNotBeRepeatedIsTriedAgainAfterItDidNothing) {
  std::string once = kRace;
  once.replace(once.find("      retry: safe\n      deadline: 10s\n"), 37, "");
  World world({once}, "sync N when { Race/leg: [ name: ?n ] => ok[] } then { Race/note: [ name: ?n ] }");
  int attempts = 0;
  world.on("Race/leg").perform = [&](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
    if (++attempts == 1) return lang::Again{"busy", 5000};
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Race/leg", R"({"name":"a"})");
  world.settle();
  EXPECT_EQ(attempts, 1);
  world.restart();
  world.clock.advance_ms(6000);
  world.restart();  // the second attempt is due, and has not begun
  world.settle();
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_THAT(world.ends(), ElementsAre("begin Race/leg", "started Race/leg", "again Race/leg", "started Race/leg",
                                        "finish Race/leg => ok", "act Race/note => ok"));
}

}  // namespace machine_values_test
}  // namespace sluice::engine
