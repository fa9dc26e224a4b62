// What a history says of flows whose steps are written by hand.
#include "engine/journal/history.h"

#include <gtest/gtest.h>

#include "engine/journal/audit.h"
#include "engine/rules/near_miss.h"
#include "engine/testing_engine.h"
#include "engine/testing_journal.h"
#include "engine/testing_machine.h"
#include "engine/testing_small_kit.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace history_test {

RecordId done(int64_t n) { return {test_id(n), RecordKind::completion}; }
RecordId asked(int64_t n) { return {test_id(n), RecordKind::request}; }
Planned invoke(int64_t n, const std::string& action, const std::string& fields = "{}") {
  return {.id = test_id(n), .action = action, .fields = object(fields)};
}

// A/ask is asked for from outside; beneath it B/go runs, goes wrong, and C/go after it; Sink/put follows the answer.
std::vector<Step> answered_flow() {
  return {
      {.seq = 1,
       .at_ms = 100,
       .flow = test_id(1),
       .invocation = test_id(1),
       .kind = Step::Kind::begin,
       .action = "A/ask",
       .caller = {.name = "uid:7"},
       .root = Root{.input = object(R"({"k":"x"})"), .sync_set = "abc"},
       .fired = {{.sync = "S1", .matched = {asked(1)}, .rows = 1, .then = {invoke(2, "B/go", R"({"k":"x"})")}}}},
      {.seq = 2,
       .at_ms = 110,
       .flow = test_id(1),
       .invocation = test_id(2),
       .kind = Step::Kind::act,
       .action = "B/go",
       .end = End{.variant = "bad", .fields = object(R"({"k":"x"})")},
       .fired = {{.sync = "S2", .matched = {done(2)}, .rows = 1, .then = {invoke(3, "C/go")}},
                 {.sync = "S3", .matched = {done(2)}, .rows = 0}}},
      {.seq = 3,
       .at_ms = 120,
       .flow = test_id(1),
       .invocation = test_id(3),
       .kind = Step::Kind::act,
       .action = "C/go",
       .end = End{.variant = "ok"},
       .fired = {{.sync = "S4",
                  .matched = {done(3)},
                  .rows = 1,
                  .then = {{.kind = Planned::Kind::answer, .id = test_id(1), .variant = "no"}}}}},
      {.seq = 4,
       .at_ms = 130,
       .flow = test_id(1),
       .invocation = test_id(1),
       .kind = Step::Kind::finish,
       .action = "A/ask",
       .end = End{.variant = "no"},
       .by = "answer",
       .fired = {{.sync = "S5", .matched = {done(1)}, .rows = 1, .then = {invoke(4, "Sink/put")}}}},
      {.seq = 5,
       .at_ms = 140,
       .flow = test_id(1),
       .invocation = test_id(1),
       .kind = Step::Kind::late,
       .action = "A/ask",
       .end = End{.variant = "ok"},
       .by = "answer"},
  };
}

TEST(History, WorkForARequestIsBeneathItAndWhatFollowsIsBesideIt) {
  History history = history_of(answered_flow());
  ASSERT_EQ(history.invocations.size(), 4U);
  EXPECT_EQ(history.flow, test_id(1));
  EXPECT_EQ(history.caller.name, "uid:7");
  EXPECT_EQ(history.sync_set, "abc");
  EXPECT_EQ(history.steps, 5U);
  EXPECT_EQ(history.began_at_ms, 100);
  EXPECT_EQ(history.last_at_ms, 140);
  const auto& all = history.invocations;
  EXPECT_EQ(all[0].kind, PastInvocation::Kind::request);
  EXPECT_EQ(all[0].input, object(R"({"k":"x"})"));
  EXPECT_FALSE(all[0].asked_by);
  EXPECT_FALSE(all[0].beneath);
  EXPECT_EQ(all[1].beneath, 0U);
  EXPECT_EQ(all[1].kind, PastInvocation::Kind::pure);
  EXPECT_EQ(all[1].input, object(R"({"k":"x"})"));
  EXPECT_EQ(history.firings[*all[1].asked_by].sync, "S1");
  EXPECT_EQ(history.firings[*all[1].asked_by].trigger, asked(1));
  EXPECT_EQ(all[2].beneath, 0U);
  EXPECT_EQ(history.firings[*all[2].asked_by].trigger, done(2));
  EXPECT_FALSE(all[3].beneath);
  EXPECT_EQ(all[3].action, "Sink/put");
}

TEST(History, SaysHowAnInvocationEndedAndWhatCameLate) {
  History history = history_of(answered_flow());
  const PastInvocation& root = history.invocations[0];
  EXPECT_EQ(root.end->variant, "no");
  EXPECT_EQ(root.by, "answer");
  EXPECT_EQ(root.began_at_ms, 100);
  EXPECT_EQ(root.ended_at_ms, 130);
  ASSERT_EQ(root.late.size(), 1U);
  EXPECT_EQ(root.late[0].end.variant, "ok");
  EXPECT_EQ(root.late[0].at_ms, 140);
  EXPECT_EQ(history.firings[*history.answered_by(test_id(1))].sync, "S4");
  EXPECT_EQ(history.open(), std::vector<size_t>{3});
  EXPECT_EQ(history.invocations[3].kind, PastInvocation::Kind::unknown);
}

TEST(History, TheFirstFailureIsOneThatNoSyncMatched) {
  std::vector<Step> steps = answered_flow();
  EXPECT_EQ(history_of(steps).first_failure(), std::nullopt);  // both were matched
  steps[3].fired.clear();
  EXPECT_EQ(history_of(steps).first_failure(), 0U);
  steps[1].fired.clear();
  EXPECT_EQ(history_of(steps).first_failure(), 1U);
}

TEST(History, KnowsWhatAnOpenInvocationWaitsFor) {
  auto begun = [](int64_t n, const std::string& action) {
    return Step{.seq = static_cast<uint64_t>(n),
                .at_ms = 100 + n,
                .flow = test_id(1),
                .invocation = test_id(n),
                .kind = Step::Kind::begin,
                .action = action};
  };
  std::vector<Step> steps = {begun(1, "A/ask"), begun(2, "Timer/wait"), begun(3, "B/ship")};
  steps[1].due_ms = 5000;
  steps[2].work = json::object{{"to", "x"}};
  steps.push_back({.seq = 4,
                   .at_ms = 200,
                   .flow = test_id(1),
                   .invocation = test_id(3),
                   .kind = Step::Kind::again,
                   .action = "B/ship",
                   .by = "effect",
                   .note = "busy",
                   .attempt = 1,
                   .due_ms = 400});
  History history = history_of(steps);
  EXPECT_EQ(history.open(), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(history.invocations[0].kind, PastInvocation::Kind::request);
  EXPECT_EQ(history.invocations[1].kind, PastInvocation::Kind::timer);
  EXPECT_EQ(history.invocations[1].due_ms, 5000);
  EXPECT_EQ(history.invocations[2].kind, PastInvocation::Kind::effect);
  EXPECT_EQ(history.invocations[2].attempts, 1);
  EXPECT_EQ(history.invocations[2].due_ms, 400);
  EXPECT_EQ(history.invocations[2].note, "busy");
}

TEST(History, AFollowUpFlowKeepsWhereItCameFrom) {
  std::vector<Step> steps = {
      {.seq = 1,
       .at_ms = 100,
       .flow = test_id(9),
       .kind = Step::Kind::child,
       .child = ChildRoot{.parent = test_id(1), .sync = "Later", .matched = {done(1)}, .sync_set = "abc"}},
      {.seq = 2,
       .at_ms = 101,
       .flow = test_id(9),
       .kind = Step::Kind::dispatch,
       .attempt = 1,
       .fired = {{.sync = "Later", .matched = {done(1)}, .rows = 1, .then = {invoke(10, "Sink/put")}}}},
      {.seq = 3, .at_ms = 102, .flow = test_id(9), .kind = Step::Kind::dead, .note = "gave up", .attempt = 20}};
  History history = history_of(steps);
  EXPECT_EQ(history.child->parent, test_id(1));
  EXPECT_EQ(history.sync_set, "abc");
  ASSERT_EQ(history.invocations.size(), 1U);
  EXPECT_EQ(history.invocations[0].action, "Sink/put");
  EXPECT_FALSE(history.firings[0].trigger);
  ASSERT_EQ(history.events.size(), 3U);
  EXPECT_EQ(history.events[2].kind, Step::Kind::dead);
  EXPECT_EQ(history.events[2].note, "gave up");
  EXPECT_EQ(history.events[2].attempt, 20);
}

TEST(History, ItsRecordsCanBeAskedForNearMisses) {
  auto set = set_of(kSmallKit, R"(
sync S1 [eager] when { A/ask: [ k: ?k ] => requested } then { B/go: [ k: ?k ] }
sync S2 [eager] when { B/go: [ k: ?k ] => bad[] caused by A/ask: [] => requested } then { C/go: [ k: ?k ] }
sync S6 [eager] when { C/go: [] => ok[] caused by B/go: [] => ok[] } then { Sink/drop: [] }
sync S7 [eager] when { C/go: [] => ok[] caused by A/ask: [ k: "other" ] => requested } then { Sink/drop: [] }
)");
  std::vector<Step> steps = answered_flow();
  auto records = records_of(history_of(steps), *set);
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(id_of(*records[0]), asked(1));
  EXPECT_EQ(id_of(*records[3]), done(1));
  std::vector<NearMiss> misses = near_misses(*set, records);
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_EQ(misses[0].sync, "S6");
  EXPECT_EQ(misses[0].missing, "caused by B/go: [] => ok[]");
  EXPECT_EQ(misses[1].sync, "S7");
  EXPECT_EQ(misses[1].missing, "caused by A/ask: [ k: \"other\" ] => requested");
}

TEST(History, WhatIsOpenIsAwaitedByTheSyncsThatItMayStillFulfil) {
  const std::string rules = R"(
sync Rest when { A/ask: [] => requested } then { Timer/wait: [ name: "rest"; seconds: 60 ] }
sync Rested when { Timer/wait: [ name: "rest" ] => ok[] caused by A/ask: [ k: "x" ] => requested } then { Sink/drop: [] }
sync Other when { Timer/wait: [ name: "other" ] => ok[] } then { Sink/drop: [] }
sync Elsewhere when { Timer/wait: [] => ok[] caused by A/ask: [ k: "y" ] => requested } then { Sink/drop: [] }
sync Later when { Timer/wait: [ name: ?n ] => superseded[]  B/go: [ k: ?n ] => ok[] } then { Sink/drop: [] }
sync Asked when { A/ask: [ k: ?k ] => no[] } then { Sink/drop: [] }
)";
  World world(kSmallKit, rules);
  world.start("A/ask", R"({"k":"x"})");
  world.settle();
  auto set = set_of(kSmallKit, rules);
  History history = history_of(world.steps());
  std::map<std::string, std::vector<NearMiss>> found;
  for (const auto& [at, record] : open_records_of(history, *set)) {
    found[history.invocations[at].action] = awaiting(*set, *record);
  }
  EXPECT_EQ(found["Timer/wait"], (std::vector<NearMiss>{{"Later", "Timer/wait: [ name: ?n ] => superseded[]"},
                                                        {"Rested", "Timer/wait: [ name: \"rest\" ] => ok[]"}}));
  EXPECT_EQ(found["A/ask"], (std::vector<NearMiss>{{"Asked", "A/ask: [ k: ?k ] => no[]"}}));
  world.settle_in_time();
  EXPECT_TRUE(open_records_of(history_of(world.steps()), *set).empty());
}

// What the outcome itself names as nearest is told of its flow, too.
TEST(History, ADeadEndTellsTheSyncThatTheOutcomeNames) {
  const std::string rules = R"(
sync Begin when { A/ask: [ k: ?k ] => requested } then { B/go: [ k: ?k ] }
sync Good when { B/go: [] => ok[ k: ?k ] caused by A/ask: [] => requested as ?r } then { answer ?r => no[ k: ?k ] }
sync Bad when { B/go: [] => bad[ why: "late" ] } then { Sink/drop: [] }
)";
  for (const std::string variant : {"bad", "ok"}) {
    World world(kSmallKit, rules);
    world.on("B/go").act = [&](const json::object& ask, lang::Rows&) -> lang::Completion { return {variant, ask}; };
    Outcome outcome = world.run("A/ask", R"({"k":"x"})");
    auto set = set_of(kSmallKit, rules);
    History history = history_of(world.steps());
    std::vector<NearMiss> misses = near_misses(*set, records_of(history, *set), history.dead_ends());
    if (variant == "ok") {
      EXPECT_TRUE(misses.empty());
      continue;
    }
    EXPECT_EQ(outcome.end.variant, "engine.unanswered");
    std::string message(outcome.end.fields["message"].as_string());
    EXPECT_NE(message.find("nearest: Bad waits for `B/go: [] => bad[ why: \"late\" ]`, Good waits for `B/go: [] => "),
              std::string::npos)
        << message;
    ASSERT_EQ(misses.size(), 2U);
    EXPECT_EQ(misses[0], (NearMiss{"Bad", "B/go: [] => bad[ why: \"late\" ]"}));
    EXPECT_EQ(misses[1], (NearMiss{"Good", "B/go: [] => ok[ k: ?k ]"}));
  }
}

// What the engine itself has written: the records made from a flow's history fire what the journal says has fired.
TEST(History, TheEnginesFlowsFireAgainAsTheyDid) {
  const std::string rules = R"(
sync S1 [eager] when { A/ask: [ k: ?k ] => requested } then { B/go: [ k: ?k; n: 1 ]  B/go: [ k: ?k; n: 2 ] }
sync S2 [eager] when { B/go: [ k: ?k; n: 2 ] => ok[] caused by A/ask: [] => requested as ?r } then { answer ?r => no[ k: ?k ] }
sync S3 [eager] when { A/ask: [ k: ?k ] => no[] } then { C/ask: [ k: ?k ] }
sync S4 [eager] when { C/ask: [] => requested } then { Timer/wait: [ name: "t"; seconds: 5 ] }
sync S5 [eager] when { Timer/wait: [] => ok[] caused by C/ask: [ k: ?k ] => requested as ?r } then { answer ?r => no[ k: ?k ] }
sync S6 [eager] when { B/go: [ n: 1 ] => ok[ k: ?k ]  B/go: [ n: 2 ] => ok[ k: ?k ] } then { Sink/drop: [] }
sync S7 [eventual] when { C/ask: [ k: ?k ] => no[] caused by A/ask: [] => no[] } then { Sink/put: [ k: ?k ] }
sync S8 [eager] when { Sink/put: [] => ok[] caused by B/go: [] => bad[] } then { Sink/drop: [] }
sync S9 [eager] when { Sink/put: [] => ok[] caused by C/ask: [] => no[] } then { Sink/drop: [] }
)";
  World world(kSmallKit, rules);
  world.start("A/ask", R"({"k":"x"})");
  world.settle();
  world.settle_in_time();
  auto set = set_of(kSmallKit, rules);
  auto snapshot = *world.store->read();
  auto report = verify(*snapshot, {}, {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_FALSE(report->fault) << report->fault->what;
  size_t flows = 0, firings = 0;
  ASSERT_TRUE(snapshot->flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    ++flows;
    EXPECT_FALSE(store::is_open(row.status));
    auto steps = read_flow(*snapshot, row, {});
    EXPECT_TRUE(steps) << to_string(steps.error());
    History history = history_of(*steps);
    EXPECT_TRUE(history.open().empty());
    EXPECT_EQ(history.sync_set, set->hash());
    std::vector<std::pair<std::string, std::vector<RecordId>>> expected, got;
    for (const Firing& firing : history.firings) {
      if (firing.trigger) expected.emplace_back(firing.sync, firing.matched);
    }
    auto memory = set->new_memory();
    for (const RecordRef& record : records_of(history, *set)) {
      for (const Match& match : memory->add(record)) {
        std::vector<RecordId> ids;
        for (const RecordRef& each : match.records) ids.push_back(id_of(*each));
        got.emplace_back(set->name(match.sync), std::move(ids));
      }
    }
    EXPECT_EQ(got, expected);
    firings += got.size();
    return true;
  }));
  EXPECT_EQ(flows, 2U);
  EXPECT_EQ(firings, 8U);
}

TEST(History, ActionsThatTheKitDoesNotHaveAreLeftOutOfTheRecords) {
  auto set = set_of(kSmallKit, "sync S1 [eager] when { A/ask: [ k: ?k ] => requested } then { B/go: [ k: ?k ] }\n");
  std::vector<Step> steps = answered_flow();
  steps[0].fired[0].then[0].action = "Gone/go";
  steps[2].end->variant = "gone";
  History history = history_of(steps);
  EXPECT_EQ(history.invocations[1].action, "Gone/go");
  auto records = records_of(history, *set);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(id_of(*records[1]), done(1));
}

struct ReadFlow : testing::Test {
  ReadFlow() {
    journal.add({.flow = test_id(1), .invocation = test_id(1), .action = "A/go"});
    journal.add({.flow = test_id(2), .invocation = test_id(2), .action = "B/go"});
    journal.add({.flow = test_id(1), .invocation = test_id(3), .action = "C/go"}, store::FlowStatus::settled_ok);
  }
  store::FlowRow row(int64_t n) { return (*store.read())->flow(test_id(n)).value().value(); }

  store::MemoryStore store;
  TestingJournal journal{store};
};

TEST_F(ReadFlow, FollowsTheLinksBack) {
  auto steps = read_flow(**store.read(), row(1), {});
  ASSERT_TRUE(steps) << to_string(steps.error());
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].action, "A/go");
  EXPECT_EQ((*steps)[1].action, "C/go");
}

TEST_F(ReadFlow, RefusesALinkIntoAnotherFlow) {
  store::FlowRow wrong = row(1);
  wrong.head = 2;
  EXPECT_EQ(read_flow(**store.read(), wrong, {}).error().message,
            "record 2 of flow " + to_string(test_id(1)) + " is missing or not linked as it must be");
}

TEST_F(ReadFlow, AsksForThePackedRecords) {
  std::vector<std::string> records;
  for (uint64_t seq : {1, 3}) records.push_back((*store.read())->journal(seq).value()->record);
  ASSERT_TRUE(store.pack({{.flow = test_id(1),
                           .blob = "squeezed",
                           .record_hashes = {{1, chain_of(records[0])}, {3, chain_of(records[1])}}}}));
  EXPECT_EQ(read_flow(**store.read(), row(1), {}).error().message,
            "flow " + to_string(test_id(1)) + " is packed and cannot be read");
  auto steps = read_flow(**store.read(), row(1), [&](std::string_view blob) -> Result<std::vector<std::string>> {
    EXPECT_EQ(blob, "squeezed");
    return records;
  });
  ASSERT_TRUE(steps) << to_string(steps.error());
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[1].action, "C/go");
}

}  // namespace history_test
}  // namespace sluice::engine
