// What any engine of concepts and syncs must do, 20 to 24: crashes, things that happen at once, new rules, versions and
// tiers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"
#include "engine/testing_scenarios.h"
#include "lang/syntax/kit.h"

namespace sluice::engine {
namespace scenarios_lasting_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Scenario, Scenario20_EveryCrashPointEndsAsWithoutTheCrash) {
  const std::string rules = R"(
sync A when { Front/go: [ name: ?n ] => ok[] } then { Mail/post: [ to: ?n ] }
sync B when { Mail/post: [ to: ?n ] => ok[] } then { Sink/put: [ text: ?n ] }
)";
  World plain({kFront, kMail, kSink}, rules);
  plain.run("Front/go", R"({"name":"ann"})");
  // Committed and not dispatched; dispatched; performed and its completion not committed.
  for (int point = 0; point < 3; ++point) {
    World world({kFront, kMail, kSink}, rules);
    std::set<std::string> ids;
    world.on("Mail/post").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
      ids.insert(attempt.id());
      return lang::Completion{"ok", work.as_object()};
    };
    world.limits.batch_steps = 1;
    world.start("Front/go", R"({"name":"ann"})");
    if (point > 0) world.turn();
    if (point > 1) {
      EXPECT_TRUE(world.queue.run());
    }
    world.restart();
    world.settle_in_time();
    std::vector<std::string> ends = world.ends();
    std::erase_if(ends, [](const std::string& line) { return line.starts_with("again"); });
    EXPECT_EQ(ends, plain.ends()) << point;
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_THAT(world.statuses(), ElementsAre("ok"));
  }
}

TEST(Scenario, Scenario20_WhatMustNotBeRepeatedIsAnOperatorsDecision) {
  const std::string rules = R"(
sync A when { Front/go: [ name: ?n ] => ok[] } then { Mail/once: [ to: ?n ] }
sync B when { Mail/once: [ to: ?n ] => ok[] caused by Front/go: [ n: ?k ] => ok[] } then { Sink/put: [ text: "{{n}} {{k}}" ] }
)";
  for (bool retry : {true, false}) {
    World world({kFront, kMail, kSink}, rules);
    int performed = 0;
    world.on("Mail/once").perform = [&](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      ++performed;
      return lang::Completion{"ok", work.as_object()};
    };
    int finished = 0;
    world.on("Mail/once").finish = [&](const json::object&, const lang::Ending& ending, lang::Rows&) {
      if (std::holds_alternative<lang::Completion>(ending)) ++finished;
      return ending;
    };
    Ulid flow = world.start("Front/go", R"({"name":"ann","n":7})");
    world.turn();
    world.queue.run();  // performed, and its completion is not committed
    world.restart();
    world.settle();
    EXPECT_EQ(world.status(flow), "failed");
    EXPECT_EQ(world.summary(flow)["failure"], "Mail/once => engine.unknown");
    Ulid invocation = world.steps().back().invocation;
    EXPECT_EQ(performed, 1);

    Decision decision{.kind = retry ? Decision::Kind::retry : Decision::Kind::resolve_as, .flow = flow};
    EXPECT_EQ(world.decide(decision).error().code, Code::conflict);  // about nothing
    decision.invocation = flow;
    EXPECT_EQ(world.decide(decision).error().code, Code::conflict);  // Front/go ended well
    decision.invocation = invocation;
    if (!retry) {
      decision.as = {"lost", {}};
      EXPECT_EQ(world.decide(decision).error().message, "Mail/once has no variant lost");
      decision.as = {"ok", object(R"({"to":"ann"})")};
    }
    auto decided = world.decide(decision);
    ASSERT_TRUE(decided) << to_string(decided.error());
    EXPECT_EQ(world.steps().at(*decided - 1).kind, Step::Kind::resolve);
    EXPECT_EQ(world.steps().at(*decided - 1).caller, world.caller);
    EXPECT_EQ(world.status(flow), "running");
    if (!retry) world.restart();
    world.settle();
    EXPECT_EQ(performed, retry ? 2 : 1);
    EXPECT_EQ(finished, 1);
    EXPECT_EQ(world.status(flow), "ok");
    EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"ann 7"})"));
    EXPECT_EQ(world.decide(decision).error().message,
              "uid:1000 has decided about " + sluice::to_string(invocation) + " already");
    std::string bytes = world.bytes();
    world.restart();
    world.settle_in_time();
    EXPECT_EQ(world.bytes(), bytes);
  }
}

TEST(Scenario, Scenario21_TwoThatEndAtOnceAreJoinedOnce) {
  World world({kFront, kMail, kSink}, R"(
sync A when { Front/go: [ name: ?n ] => ok[] } then { Mail/post: [ to: ?n ]  Mail/once: [ to: ?n ] }
sync Join when { Mail/post: [ to: ?n ] => ok[]  Mail/once: [ to: ?n ] => ok[] } then { Sink/put: [ text: "1" ]  Sink/put: [ text: "2" ] }
)");
  constexpr int kRepeats = 10'000;
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kRepeats; i += kAtOnce) {
    for (int k = 0; k < kAtOnce; ++k) world.start("Front/go", R"({"name":"ann"})");
    world.turn();
    ASSERT_EQ(world.queue.size(), 2U * kAtOnce);
    // In either order, and both before the next turn.
    while (world.queue.size() > 0) world.queue.run(i % 32 == 0 ? 0 : world.queue.size() - 1);
    world.settle();
  }
  EXPECT_EQ(world.asked("Sink/put").size(), 2U * kRepeats);
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(Scenario, Scenario22_AFlowEndsUnderTheRulesThatItBeganWith) {
  const std::string v1 = R"(
sync A when { Front/go: [ name: ?n ] => ok[] } then { Mail/post: [ to: ?n ] }
sync B when { Mail/post: [ to: ?n ] => ok[] } then { Sink/put: [ text: "one" ] }
sync E [eventual] when { Front/go: [ name: ?n ] => ok[] } then { Mail/send: [ to: ?n ] }
)";
  const std::string v2 = R"(
sync A when { Front/go: [ name: ?n ] => ok[] } then { Mail/post: [ to: ?n ] }
sync B when { Mail/post: [ to: ?n ] => ok[] } then { Sink/put: [ text: "two" ] }
)";
  for (bool restart : {false, true}) {
    World world({kFront, kMail, kSink}, v1);
    bool faulty = true;
    world.on("Mail/send").act = [&](const json::object&, lang::Rows&) -> lang::Completion {
      if (faulty) throw std::runtime_error("down");
      return {"ok", {}};
    };
    world.start("Front/go", R"({"name":"ann"})");
    std::string first = world.machine().sync_set().hash();
    if (restart) {
      world.load(v2);
      world.restart();
    } else {
      ASSERT_TRUE(world.reload(v2));
    }
    faulty = false;
    world.settle_in_time();
    EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"one"})"));
    EXPECT_EQ(world.asked("Mail/send").size(), 2U);  // the one that is to be repeated is not forgotten
    world.run("Front/go", R"({"name":"ann"})");
    EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"one"})", R"({"text":"two"})"));
    EXPECT_EQ(world.steps().front().root->sync_set, first);
    EXPECT_NE(world.machine().sync_set().hash(), first);
    EXPECT_EQ(world.machine().open_flows(), 0U);
  }
}

TEST(Scenario, Scenario23_StateOfAnotherVersionAnswersNeedsMigration) {
  auto box = [](int version) {
    return "@version(" + std::to_string(version) + R"()
concept Box [B] {
  actions {
    action fill(text: String) {
      -> ok
    }
    action migrate() {
      -> ok
    }
  }
}
)";
  };
  const std::string rules = R"(
sync Old when { Box/fill: [] => engine.needsMigration[ message: ?m ] } then { Sink/put: [ text: ?m ] }
)";
  World world({box(1), kSink}, rules);
  world.run("Box/fill", R"({"text":"a"})");
  EXPECT_THAT(world.fired(), IsEmpty());
  world.use({box(2), kSink}, rules);
  world.restart();
  Outcome outcome = world.run("Box/fill", R"({"text":"a"})");
  EXPECT_EQ(outcome.end,
            (End{"engine.needsMigration", object(R"({"message": "the state of Box is of version 1, not 2", "current": 1,
                                         "required": 2})"),
                 false}));
  EXPECT_THAT(world.fired(), ElementsAre("Old 1"));
  EXPECT_EQ(world.run("Box/migrate").end.variant, "ok");
  EXPECT_EQ(world.run("Box/fill", R"({"text":"a"})").end.variant, "ok");
  world.restart();
  EXPECT_EQ(world.run("Box/fill", R"({"text":"a"})").end.variant, "ok");
  EXPECT_THAT(world.fired(), ElementsAre("Old 1"));
}

TEST(Scenario, Scenario24_TiersSayWhatMayBeChanged) {
  std::map<std::string, std::string> files = {
      {"k/front.concept", kFront},
      {"k/sink.concept", kSink},
      {"k/mail.concept", kMail},
      {"k/a.sync",
       "sync Keep when { Front/up: [] => ok[] } then { Sink/put: [ text: \"keep\" ] }\n"
       "sync Usual when { Front/go: [] => ok[] } then { Sink/put: [ text: \"usual\" ] }\n"},
      {"k/mail.sync", "sync Send when { Front/go: [ name: ?n ] => ok[] } then { Mail/send: [ to: ?n ] }\n"},
      {"k/mine.sync", "sync Usual when { Front/go: [] => ok[] } then { Sink/put: [ text: \"mine\" ] }\n"}};
  auto load = [&](const std::string& more) {
    files["k/suite.yaml"] =
        "kit: { name: shop, version: 1.0.0 }\n"
        "concepts:\n  Front: { spec: ./front.concept }\n  Sink: { spec: ./sink.concept }\n"
        "  Mail: { spec: ./mail.concept, optional: true }\n"
        "syncs:\n  required:\n    - { path: ./a.sync, sync: Keep }\n  recommended:\n    - { path: ./a.sync, sync: "
        "Usual }\n  integration:\n    - { path: ./mail.sync }\n" +
        more;
    return lang::load_kit("k", [&](const std::string& path) -> Result<std::string> {
      auto found = files.find(path);
      if (found == files.end()) return Error{.code = Code::not_found, .message = "cannot open " + path};
      return found->second;
    });
  };
  auto active = [](const lang::Kit& kit) {
    std::vector<std::string> all;
    for (const lang::KitSync& sync : kit.syncs) {
      all.push_back(sync.tree.name.text + (sync.active() ? "" : ": " + sync.inactive));
    }
    return all;
  };
  EXPECT_THAT(
      lang::told(load("disable: [ Keep ]\n")),
      Contains(HasSubstr("error required-sync: sync `Keep` of suite `shop` is required: it cannot be disabled")));

  lang::Checked replaced = lang::check(load("overrides: { Usual: ./mine.sync }\n"));
  ASSERT_TRUE(replaced.kit);
  auto set = SyncSet::compile(std::make_shared<const lang::CheckedKit>(std::move(*replaced.kit)));
  ASSERT_TRUE(set) << to_string(set.error());
  EXPECT_THAT((*set)->text(), testing::AllOf(HasSubstr("\"mine\""), testing::Not(HasSubstr("\"usual\""))));

  files.erase("k/mail.concept");
  EXPECT_THAT(active(load("")), ElementsAre("Keep", "Usual", "Send: `Mail` is not loaded"));

  lang::Kit misaligned = lang::kit_of({lang::kOrder, lang::kCard},
                                      "sync A when { Order/place: [] => ok[ order: ?o ] } then { Card/hold: [ card: ?o "
                                      "] }");
  misaligned.concepts[0].entry.params = {{{}, "O", "order-ref", ""}};
  misaligned.concepts[1].entry.params = {{{}, "C", "card-ref", ""}};
  EXPECT_THAT(lang::told(misaligned), ElementsAre(HasSubstr("warning alignment: `?o` is O of Order")));
  EXPECT_THAT(lang::told(misaligned, {.strict = true}), ElementsAre(HasSubstr("error alignment: `?o` is O of Order")));
}

}  // namespace scenarios_lasting_test
}  // namespace sluice::engine
