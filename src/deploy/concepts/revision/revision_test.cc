// Revision through the harness, answered as the syncs do: one test a variant, and all pairs of states.
#include <gtest/gtest.h>

#include <algorithm>

#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/concepts/revision/testing_revision.h"

namespace sluice::deploy::revision {

void prepare(lang::Harness&) {}

namespace revision_test {

using enum RevisionLifecycle;
constexpr RevisionLifecycle kAll[] = {inactive, staged, warming, ready, draining, failed, archived};

class RevisionTest : public RevisionFixture {
 protected:
  static Stage stage_of(const std::string& source = "/shop.bundle") {
    return {.deployment = kShop, .environment = "prod", .bundle = "shop", .source = source, .config = "{}"};
  }
  RevisionId staged_one() {
    harness.answer_with(Stage::Ok{.signature = "verified"});
    return harness.invoke(stage_of()).as<Stage::Ok>().revision;
  }
  RevisionId ready_one() {
    RevisionId id = staged_one();
    harness.answer_with(Warm::Ok{.revision = id, .endpoint = "http://127.0.0.1:1"});
    harness.invoke(Warm{.revision = id}).as<Warm::Ok>();
    return id;
  }
};

TEST_F(RevisionTest, TheNewestOtherReadyOneStandsIn) {
  EXPECT_EQ(harness.invoke(StandIn{.revision = RevisionId("none")}).as<StandIn::None>().message,
            "the revision is gone");
  const RevisionId first = ready_one();
  EXPECT_EQ(harness.invoke(StandIn{.revision = first}).as<StandIn::None>().message,
            "no replica of shop@1 answers, and no other revision is warm");
  auto add = [&](int64_t sequence, RevisionLifecycle lifecycle) {
    RevisionRecord record = *State(harness.rows()).get(first);
    record.sequence = sequence;
    record.lifecycle = lifecycle;
    return State(harness.rows()).add(record);
  };
  add(2, ready);
  const RevisionId third = add(3, ready);
  add(4, staged);
  auto found = harness.invoke(StandIn{.revision = first}).as<StandIn::Ok>();
  EXPECT_EQ(found.other, third);
  EXPECT_EQ(found.otherName, "shop@3");
}

TEST(Lifecycle, Greentic02OfFortyNinePairsExactlyFifteenAreAllowed) {
  const std::string expected =
      "inactive staged, inactive failed, inactive archived, staged warming, staged failed, staged archived, "
      "warming ready, warming failed, warming archived, ready draining, ready failed, ready archived, "
      "draining inactive, failed staged, failed archived, ";
  std::string found;
  int pairs = 0;
  for (RevisionLifecycle from : kAll) {
    for (RevisionLifecycle to : kAll) {
      ++pairs;
      if (may_become(from, to)) found += std::string(name_of(from)) + " " + std::string(name_of(to)) + ", ";
    }
  }
  EXPECT_EQ(pairs, 49);
  std::vector<std::string> one, other;
  auto split = [](const std::string& text) {
    std::vector<std::string> all;
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find(", ", at);
      all.push_back(text.substr(at, end - at));
      at = end + 2;
    }
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(split(found), split(expected));
  EXPECT_EQ(split(found).size(), 15U);
}

// Which states each verb leads to from each state, when all goes well: no other edge is ever walked.
TEST_F(RevisionTest, Greentic02EveryVerbBeginsWhereItMayAlone) {
  for (RevisionLifecycle from : kAll) {
    RevisionId id = in_state(from);
    harness.answer_with(Warm::Ok{.revision = id, .endpoint = "e"});
    bool warms = harness.invoke(Warm{.revision = id}).is<Warm::Ok>();
    EXPECT_EQ(warms, from == staged || from == ready) << name_of(from);
    if (warms) {
      EXPECT_EQ(record(id).lifecycle, ready);
    }

    id = in_state(from);
    harness.answer_with(Drain::Ok{.revision = id});
    bool drains = harness.invoke(Drain{.revision = id}).is<Drain::Ok>();
    EXPECT_EQ(drains, from == ready || from == draining) << name_of(from);
    EXPECT_EQ(record(id).lifecycle, drains ? inactive : from);

    id = in_state(from);
    harness.answer_with(Retry::Ok{.revision = id});
    bool retries = harness.invoke(Retry{.revision = id}).is<Retry::Ok>();
    EXPECT_EQ(retries, from == failed || from == inactive) << name_of(from);
    EXPECT_EQ(record(id).lifecycle, retries ? staged : from);

    id = in_state(from);
    harness.answer_with(Archive::Ok{.revision = id});
    bool archives = harness.invoke(Archive{.revision = id}).is<Archive::Ok>();
    EXPECT_EQ(archives, from != draining) << name_of(from);
    EXPECT_EQ(record(id).lifecycle, archives ? archived : from);

    id = in_state(from);
    bool fails = harness.invoke(Fail{.revision = id, .check = "c", .message = "m"}).is<Fail::Ok>();
    EXPECT_EQ(fails, may_become(from, failed)) << name_of(from);
    EXPECT_EQ(record(id).lifecycle, fails ? failed : from);
  }
}

TEST_F(RevisionTest, WantsTheNewestVersionsUnlessItPinsThem) {
  const RevisionId id = in_state(staged);
  const Wants ask{.revision = id};
  EXPECT_TRUE(harness.invoke(ask).as<Wants::Ok>().wanted.empty());
  State(harness.rows()).edit(id, [](RevisionRecord& row) {
    row.needs.secretRefs = {"secret://prod/shop/shop/TOKEN"};
    row.packConfig = R"({"secret_refs":{"TOKEN":"secret://prod/shop/shop/TOKEN"}})";
  });
  EXPECT_EQ(harness.invoke(ask).as<Wants::Ok>().image, std::nullopt);
  State(harness.rows()).edit(id, [](RevisionRecord& row) { row.needs.image = "registry.example/shop:1"; });
  EXPECT_EQ(harness.invoke(ask).as<Wants::Ok>().image, "registry.example/shop:1");
  harness.invoke(Entrust{.revision = id, .versions = {{"TOKEN", "shop/TOKEN", "3"}}}).as<Entrust::Ok>();
  auto wanted = harness.invoke(ask).as<Wants::Ok>().wanted;
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].name, "shop/TOKEN");
  EXPECT_EQ(wanted[0].version, "");
  State(harness.rows()).edit(id, [](RevisionRecord& row) { row.needs.pinSecrets = true; });
  EXPECT_EQ(harness.invoke(ask).as<Wants::Ok>().wanted[0].version, "3");
  State(harness.rows()).edit(id, [](RevisionRecord& row) {
    row.packConfig = R"({"secret_refs":{"TOKEN":"no reference"}})";
  });
  EXPECT_NE(harness.invoke(ask).as<Wants::Unfit>().message.find("refers to no secret"), std::string::npos);
}

TEST_F(RevisionTest, WhatIsHeldGoesBeforeTheNewestVersion) {
  const RevisionId id = in_state(staged);
  State(harness.rows()).edit(id, [](RevisionRecord& row) {
    row.needs.secretRefs = {"secret://prod/shop/shop/TOKEN"};
    row.packConfig = R"({"secret_refs":{"TOKEN":"secret://prod/shop/shop/TOKEN"}})";
  });
  const RevisionDId deployment(record(id).deployment);
  harness.invoke(HoldSecrets{.deployment = RevisionDId(""), .secrets = {{"shop/TOKEN", "1"}}}).as<HoldSecrets::Ok>();
  harness.invoke(HoldSecrets{.deployment = deployment, .secrets = {{"shop/TOKEN", "1"}}}).as<HoldSecrets::Ok>();
  EXPECT_EQ(harness.invoke(Wants{.revision = id, .held = true}).as<Wants::Ok>().wanted[0].version, "1");
  EXPECT_EQ(harness.invoke(Wants{.revision = id}).as<Wants::Ok>().wanted[0].version, "");
  const auto has = [&](const char* version) {
    harness.invoke(Entrust{.revision = id, .versions = {{"TOKEN", "shop/TOKEN", version}}}).as<Entrust::Ok>();
  };
  State(harness.rows()).secret_versions(id).assign({{"TOKEN", "shop/TOKEN", "3"}});
  EXPECT_TRUE(harness.invoke(CompareSecrets{.revision = id}).is<CompareSecrets::Others>());
  has("1");
  EXPECT_TRUE(harness.invoke(CompareSecrets{.revision = id}).is<CompareSecrets::Same>());
  has("4");
  EXPECT_TRUE(State(harness.rows()).held_secrets(deployment).values().empty()) << "somebody has put a newer one";
  EXPECT_TRUE(harness.invoke(CompareSecrets{.revision = RevisionId("none")}).is<CompareSecrets::Same>());
}

TEST_F(RevisionTest, Greentic03StageOkCountsFromOneInEachDeployment) {
  RevisionId first = staged_one();
  EXPECT_EQ(record(first).lifecycle, staged);
  EXPECT_EQ(record(first).sequence, 1);
  EXPECT_TRUE(record(first).stagedAt);
  EXPECT_FALSE(record(first).busy);
  EXPECT_EQ(record(staged_one()).sequence, 2);
  Stage other = stage_of();
  other.deployment = RevisionDId("d2");
  harness.answer_with(Stage::Ok{.signature = "verified"});
  EXPECT_EQ(harness.invoke(other).as<Stage::Ok>().sequence, 1);
}

TEST_F(RevisionTest, StageUnverifiedAndFailedStayAsFailed) {
  harness.answer_with(Stage::Unverified{.message = "unknown key"});
  auto unverified = harness.invoke(stage_of()).as<Stage::Unverified>();
  EXPECT_EQ(record(unverified.revision).lifecycle, failed);
  EXPECT_EQ(record(unverified.revision).failure,
            (RevisionFailure{.check = "signature-status", .message = "unknown key"}));
  harness.answer_with(lang::Completion{"failed", {{"check", "bundle"}, {"message", "none"}, {"revision", "x"}}});
  EXPECT_EQ(harness.invoke(stage_of()).as<Stage::Failed>().check, "bundle");
  harness.end_with(kUnanswered);
  auto broken = harness.invoke(stage_of()).as<Stage::Failed>();
  EXPECT_EQ(broken.message, "nobody answered");
  EXPECT_EQ(record(broken.revision).lifecycle, failed);
}

TEST_F(RevisionTest, StageInvalid) {
  EXPECT_EQ(harness.invoke(stage_of("shop.bundle")).as<Stage::Invalid>().message,
            "the archive is named by an absolute path, or by its digest in this home");
  Stage ask = stage_of();
  ask.drainSeconds = -1;
  EXPECT_EQ(harness.invoke(ask).as<Stage::Invalid>().message, "a revision drains for 0 to 86400 seconds");
}

TEST_F(RevisionTest, Greentic19WarmFailedNamesTheCheckAndRetryLeadsToReady) {
  RevisionId id = staged_one();
  harness.answer_with(Warm::Failed{.revision = id, .check = "provider-health", .message = "it crashes"});
  harness.invoke(Warm{.revision = id}).as<Warm::Failed>();
  EXPECT_EQ(record(id).lifecycle, failed);
  EXPECT_EQ(record(id).failure, (RevisionFailure{.check = "provider-health", .message = "it crashes"}));
  EXPECT_EQ(harness.invoke(Warm{.revision = id}).as<Warm::WrongState>().message, id.text() + " is failed, not staged");
  harness.answer_with(Retry::Ok{.revision = id});
  harness.invoke(Retry{.revision = id}).as<Retry::Ok>();
  EXPECT_EQ(record(id).failure, RevisionFailure{});
  harness.answer_with(Warm::Ok{.revision = id, .endpoint = "e"});
  harness.invoke(Warm{.revision = id}).as<Warm::Ok>();
  EXPECT_EQ(record(id).lifecycle, ready);
}

TEST_F(RevisionTest, WarmThatNobodyAnswersHasFailed) {
  RevisionId id = staged_one();
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Warm{.revision = id}).as<Warm::Failed>().message, "nobody answered");
  EXPECT_EQ(record(id).lifecycle, failed);
  EXPECT_FALSE(record(id).openWarm);
}

TEST_F(RevisionTest, OneThingAtATimeIsDoneToARevision) {
  RevisionId id = ready_one();
  State state(harness.rows());
  state.edit(id, [](RevisionRecord& row) { row.busy = lang::Request("another"); });
  const std::string busy = "something else is being done to " + id.text();
  EXPECT_EQ(harness.invoke(Drain{.revision = id}).as<Drain::WrongState>().message, busy);
  EXPECT_EQ(harness.invoke(Archive{.revision = id}).as<Archive::WrongState>().message, busy);
  EXPECT_EQ(harness.invoke(Fail{.revision = id}).as<Fail::WrongState>().message, busy);
  EXPECT_TRUE(harness.invoke(Retry{.revision = id}).is<Retry::WrongState>());
}

TEST_F(RevisionTest, DrainNotStoppedCanBeTriedAgain) {
  RevisionId id = ready_one();
  harness.answer_with(Drain::NotStopped{.revision = id, .message = "it does not end"});
  harness.invoke(Drain{.revision = id}).as<Drain::NotStopped>();
  EXPECT_EQ(record(id).lifecycle, draining);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Drain{.revision = id}).as<Drain::NotStopped>().message, "nobody answered");
  harness.answer_with(Drain::Ok{.revision = id});
  harness.invoke(Drain{.revision = id}).as<Drain::Ok>();
  EXPECT_EQ(record(id).lifecycle, inactive);
  EXPECT_EQ(record(id).endpoint, "");
}

TEST_F(RevisionTest, RetryUnverifiedAndFailedFromInactiveHasFailed) {
  RevisionId id = in_state(inactive);
  harness.answer_with(Retry::Unverified{.message = "revoked"});
  EXPECT_EQ(harness.invoke(Retry{.revision = id}).as<Retry::Unverified>().revision, id);
  EXPECT_EQ(record(id).lifecycle, failed);
  harness.answer_with(Retry::Failed{.revision = id, .check = "bundle", .message = "gone"});
  harness.invoke(Retry{.revision = id}).as<Retry::Failed>();
  EXPECT_EQ(record(id).failure.check, "bundle");
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Retry{.revision = id}).as<Retry::Failed>().check, "engine");
}

TEST_F(RevisionTest, ArchiveNotStoppedIsArchivedAndCanBeTriedAgain) {
  RevisionId id = ready_one();
  harness.answer_with(Archive::NotStopped{.revision = id, .message = "it does not end"});
  harness.invoke(Archive{.revision = id}).as<Archive::NotStopped>();
  EXPECT_EQ(record(id).lifecycle, archived);
  harness.end_with(kUnanswered);
  EXPECT_TRUE(harness.invoke(Archive{.revision = id}).is<Archive::NotStopped>());
  harness.answer_with(Archive::Ok{.revision = id});
  EXPECT_TRUE(harness.invoke(Archive{.revision = id}).is<Archive::Ok>());
}

TEST_F(RevisionTest, InspectSaysWhatTheSyncsAnswer) {
  RevisionId id = staged_one();
  harness.answer_with(Inspect::Ok{.revision = id});
  EXPECT_TRUE(harness.invoke(Inspect{.revision = id}).is<Inspect::Ok>());
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Inspect{.revision = id}).as<Inspect::Unverified>().message, "nobody answered");
  EXPECT_EQ(harness.invoke(Inspect{.revision = RevisionId("none")}).as<Inspect::Unverified>().message,
            "there is no revision none");
}

TEST_F(RevisionTest, WhatIsNotThereIsNotFound) {
  const RevisionId none("none");
  EXPECT_TRUE(harness.invoke(Warm{.revision = none}).is<Warm::NotFound>());
  EXPECT_TRUE(harness.invoke(Drain{.revision = none}).is<Drain::NotFound>());
  EXPECT_TRUE(harness.invoke(Retry{.revision = none}).is<Retry::NotFound>());
  EXPECT_TRUE(harness.invoke(Archive{.revision = none}).is<Archive::NotFound>());
  EXPECT_TRUE(harness.invoke(Fail{.revision = none}).is<Fail::NotFound>());
  EXPECT_TRUE(harness.invoke(ShowConfig{.revision = none}).is<ShowConfig::NotFound>());
}

TEST_F(RevisionTest, TidyArchivesTheOldestStagedAndForgetsTheLongArchived) {
  std::vector<RevisionId> all;
  for (int i = 0; i < 7; ++i) all.push_back(staged_one());
  harness.invoke(Tidy{.deployment = kShop, .archivedMaxAgeDays = 14, .stagedMaxCount = 5}).as<Tidy::Ok>();
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(record(all[i]).lifecycle, i < 2 ? archived : staged) << i;
  State state(harness.rows());
  state.edit(all[0], [&](RevisionRecord& row) { row.archivedAt = lang::DateTime{state.now().ms - 15LL * 86'400'000}; });
  state.edit(all[1], [&](RevisionRecord& row) { row.archivedAt = lang::DateTime{state.now().ms - 13LL * 86'400'000}; });
  harness.invoke(Tidy{.deployment = kShop, .archivedMaxAgeDays = 14, .stagedMaxCount = 5}).as<Tidy::Ok>();
  EXPECT_FALSE(state.has(all[0]));
  EXPECT_TRUE(state.has(all[1]));
  EXPECT_EQ(harness.invoke(Live{}).as<Live::Ok>().revisions.size(), 5U);
}

TEST_F(RevisionTest, TidyCountsOneThatIsStagedAgainAsTheNewest) {
  RevisionId first = staged_one(), second = staged_one();
  State state(harness.rows());
  state.edit(first, [&](RevisionRecord& row) { row.stagedAt = lang::DateTime{state.now().ms + 1000}; });
  harness.invoke(Tidy{.deployment = kShop, .archivedMaxAgeDays = 14, .stagedMaxCount = 1}).as<Tidy::Ok>();
  EXPECT_EQ(record(first).lifecycle, staged);
  EXPECT_EQ(record(second).lifecycle, archived);
}

TEST_F(RevisionTest, MoveKeepsTheNewEndpointOfWhatRuns) {
  RevisionId id = ready_one();
  harness.invoke(Move{.revision = id, .endpoint = "http://127.0.0.1:2"}).as<Move::Ok>();
  EXPECT_EQ(record(id).endpoint, "http://127.0.0.1:2");
  RevisionId other = staged_one();
  harness.invoke(Move{.revision = other, .endpoint = "x"}).as<Move::Ok>();
  EXPECT_EQ(record(other).endpoint, "");
}

TEST_F(RevisionTest, ForgetTakesAllOfADeployment) {
  RevisionId id = staged_one();
  harness.invoke(Forget{.deployment = kShop}).as<Forget::Ok>();
  EXPECT_FALSE(State(harness.rows()).has(id));
  EXPECT_EQ(record(staged_one()).sequence, 1);
}

}  // namespace revision_test
}  // namespace sluice::deploy::revision
