// Revision through the harness, answered as the syncs do: one test a variant, and all pairs of states.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/pack.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "lang/harness.h"

namespace sluice::deploy::revision {

void prepare(lang::Harness&) {}

namespace revision_test {

using enum RevisionLifecycle;
const RevisionDId kShop("d1");
const lang::EngineEnd kUnanswered{.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"};
constexpr RevisionLifecycle kAll[] = {inactive, staged, warming, ready, draining, failed, archived};

class RevisionTest : public testing::Test {
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
  RevisionRecord record(const RevisionId& id) { return *State(harness.rows()).get(id); }
  void state_discards(const RevisionId& id) {
    State(harness.rows()).edit(id, [](RevisionRecord& row) { row.discarded = true; });
  }
  RevisionId in_state(RevisionLifecycle lifecycle) {
    State state(harness.rows());
    return state.add({.deployment = kShop.text(), .environment = "prod", .bundle = "shop", .lifecycle = lifecycle});
  }

  lang::Harness harness{revision_binding()};
};

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
            "the archive is named by an absolute path");
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
  EXPECT_EQ(harness.invoke(Warm{.revision = id}).as<Warm::WrongState>().message,
            id.text() + " is failed, not staged; next: sluice revisions retry prod " + id.text());
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
  const std::string busy =
      "something else is being done to " + id.text() + "; next: sluice revisions list prod --bundle shop";
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

// ---------------------------------------------------------------------------------------------------------- fetch

class FetchTest : public RevisionTest {
 protected:
  FetchTest() {
    harness.tools().add(shelf);
    harness.tools().add<Disk>(disk);
    EXPECT_TRUE(disk.make_folder(folder.path("in"), 0755));
    file("in/bundle.yaml", "name: shop\nversion: \"1.2.3\"\nrun: [./shop]\ndrain: 7s\n", 0644);
    file("in/shop", "#!/bin/sh\n", 0755);
    archive = folder.path("shop.bundle");
    EXPECT_TRUE(bundle::pack(disk, folder.path("in"), {"bundle.yaml", "shop"}, archive));
  }
  void file(const std::string& name, const std::string& text, uint32_t mode = 0644) {
    EXPECT_TRUE(write_atomically(disk, folder.path(name), text, mode));
  }
  Fetch fetch_of(const RevisionId& id) {
    return {.revision = id, .environment = "prod", .source = archive, .bundle = "shop"};
  }

  TestingFolder folder;
  RealDisk disk;
  std::string archive;
  BundleShelf shelf{disk, folder.path("shelf")};
};

TEST_F(FetchTest, OkTakesTheArchiveInAndFixesItsConfig) {
  RevisionId id = in_state(inactive);
  auto ok = harness.invoke(fetch_of(id)).as<Fetch::Ok>();
  EXPECT_EQ(ok.version, "1.2.3");
  EXPECT_EQ(ok.sidecar, "");
  EXPECT_EQ(ok.drainSeconds, 7);
  EXPECT_EQ(read_file(disk, ok.artifact, 1 << 20).value(), read_file(disk, archive, 1 << 20).value());
  EXPECT_EQ(record(id).bundleDigest, ok.archive);
  EXPECT_EQ(record(id).configDigest, ok.configDigest);
  EXPECT_EQ(harness.invoke(ShowConfig{.revision = id}).as<ShowConfig::Ok>().packConfig, ok.packConfig);
  EXPECT_EQ(ok.artifact, folder.path("shelf/" + id.text() + "/archive.bundle"));
}

TEST_F(FetchTest, AFetchForNoRevisionWritesNothing) {
  EXPECT_EQ(harness.invoke(fetch_of(RevisionId("../x"))).as<Fetch::BadBundle>().message, "there is no revision ../x");
  EXPECT_FALSE(disk.exists(folder.path("shelf")).value());
}

TEST_F(FetchTest, WhatIsStoredIsKeptUnderTheDeployment) {
  file("in/bundle.yaml",
       "name: shop\nversion: \"1\"\nrun: [./shop]\nsecrets: [TOKEN]\nstorage: [{ name: data, size: 2KB }]\n");
  ASSERT_TRUE(disk.remove(archive));
  ASSERT_TRUE(bundle::pack(disk, folder.path("in"), {"bundle.yaml", "shop"}, archive));
  RevisionId id = in_state(inactive);
  auto ok = harness.invoke(fetch_of(id)).as<Fetch::Ok>();
  EXPECT_EQ(ok.needs, (RevisionNeeds{
                          .secretRefs = {"secret://prod/shop/shop/TOKEN"}, .storage = {"data"}, .storageBytes = 2048}));
  EXPECT_EQ(json::parse(ok.runtimeConfig).at("storage"), "d-d1");
}

class ExamineTest : public FetchTest {
 protected:
  ExamineTest() {
    id = in_state(staged);
    harness.invoke(fetch_of(id)).as<Fetch::Ok>();
  }
  Examine::Unfit unfit(const std::string& list = "") {
    return harness.invoke(Examine{.revision = id, .revocationList = list}).as<Examine::Unfit>();
  }
  void needs(const RevisionNeeds& wanted) {
    State(harness.rows()).edit(id, [&](RevisionRecord& row) { row.needs = wanted; });
  }

  RevisionId id;
};

TEST_F(ExamineTest, OkForWhatIsAsItWasStaged) {
  EXPECT_TRUE(harness.invoke(Examine{.revision = id}).is<Examine::Ok>());
}

TEST_F(ExamineTest, UnfitIfItsArchiveIsAnotherOrRevokedMeanwhile) {
  file("revoked.json", R"({"schema":"sluice.revocation-list.v1","revoked":[{"digest":")" + record(id).treeDigest +
                           R"(","reason":"it mines"}]})");
  EXPECT_EQ(unfit(folder.path("revoked.json")).message, "the bundle is revoked: it mines");
  EXPECT_EQ(unfit(folder.path("none.json")).check, "signature-status");
  file("shelf/" + id.text() + "/archive.bundle", "something else");
  EXPECT_EQ(unfit().check, "signature-status");
  EXPECT_NE(unfit().message.find("not the archive that was staged"), std::string::npos);
  EXPECT_EQ(harness.invoke(Examine{.revision = RevisionId("none")}).as<Examine::Unfit>().message,
            "there is no revision none");
  harness.end_with(kUnanswered);
  EXPECT_EQ(unfit().check, "engine");
}

TEST_F(ExamineTest, UnfitWithoutItsSecretsOrRoomForWhatItStores) {
  needs({.secretRefs = {"secret://prod/shop/shop/TOKEN"}});
  EXPECT_EQ(unfit().check, "runtime-config");
  EXPECT_EQ(unfit().message,
            "no pack of the environment gives a revision its secrets, and it needs secret://prod/shop/shop/TOKEN");
  needs({.storage = {"data"}, .storageBytes = int64_t{1} << 60});
  EXPECT_EQ(unfit().check, "provider-health");
  EXPECT_NE(unfit().message.find("it stores data in 1152921504606846976 bytes, and the disk has "), std::string::npos);
  needs({.storage = {"data"}, .storageBytes = 1});
  EXPECT_TRUE(harness.invoke(Examine{.revision = id}).is<Examine::Ok>());
}

TEST_F(FetchTest, Greentic21ArchivedRevisionsGiveTheirRoomBack) {
  std::vector<RevisionId> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(in_state(staged));
    harness.invoke(fetch_of(all.back())).as<Fetch::Ok>();
  }
  EXPECT_TRUE(harness.invoke(Free{}).as<Free::Ok>().freed.empty());
  harness.answer_with(Archive::Ok{.revision = all[1]});
  harness.invoke(Archive{.revision = all[1]}).as<Archive::Ok>();
  State state(harness.rows());
  state.erase(all[2]);  // as when its deployment is removed
  EXPECT_EQ(harness.invoke(Free{}).as<Free::Ok>().freed, (std::vector<RevisionId>{all[1]}));
  EXPECT_EQ(shelf.revisions().value(), (std::vector<std::string>{all[0].text()}));
  EXPECT_EQ(record(all[1]).artifact, "");
  EXPECT_FALSE(record(all[1]).discarded);
  EXPECT_NE(record(all[0]).artifact, "");
}

TEST_F(FetchTest, FreeStuckIsTriedAgain) {
  RevisionId id = in_state(staged);
  harness.invoke(fetch_of(id)).as<Fetch::Ok>();
  harness.answer_with(Archive::Ok{.revision = id});
  harness.invoke(Archive{.revision = id}).as<Archive::Ok>();
  ASSERT_TRUE(disk.make_folder(folder.path("shelf/" + id.text() + "/in-the-way"), 0755));
  EXPECT_NE(harness.invoke(Free{}).as<Free::Stuck>().message, "");
  EXPECT_TRUE(record(id).discarded);
  ASSERT_TRUE(disk.remove_folder(folder.path("shelf/" + id.text() + "/in-the-way")));
  EXPECT_EQ(harness.invoke(Free{}).as<Free::Ok>().freed.size(), 1U);
  state_discards(id);
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(Free{}).as<Free::Stuck>().message, "nobody answered");
}

TEST_F(FetchTest, BadBundleSaysWhatIsWrong) {
  RevisionId id = in_state(inactive);
  Fetch ask = fetch_of(id);
  ask.bundle = "mail";
  EXPECT_EQ(harness.invoke(ask).as<Fetch::BadBundle>().message, archive + " is the bundle shop, not mail");
  ask = fetch_of(id);
  ask.config = "[]";
  EXPECT_EQ(harness.invoke(ask).as<Fetch::BadBundle>().check, "runtime-config");
  ask.source = folder.path("none");
  EXPECT_EQ(harness.invoke(ask).as<Fetch::BadBundle>().check, "bundle");
  harness.end_with(kUnanswered);
  EXPECT_EQ(harness.invoke(ask).as<Fetch::BadBundle>().check, "engine");
}

TEST_F(FetchTest, RevokedByTheList) {
  RevisionId id = in_state(inactive);
  Fetch ask = fetch_of(id);
  ask.revocationList = folder.path("revoked.json");
  EXPECT_TRUE(harness.invoke(ask).is<Fetch::Revoked>()) << "a list that cannot be read revokes everything";
  std::string digest = harness.invoke(fetch_of(in_state(inactive))).as<Fetch::Ok>().archive;
  file("revoked.json", R"({"schema":"sluice.revocation-list.v1","revoked":[]})");
  ask.revision = in_state(inactive);
  EXPECT_TRUE(harness.invoke(ask).is<Fetch::Ok>());
  EXPECT_EQ(harness.invoke(ask).as<Fetch::BadBundle>().message, "its archive was taken in before");
  ask.revision = id;
  file("revoked.json",
       R"({"schema":"sluice.revocation-list.v1","revoked":[{"digest":")" + digest + R"(","reason":"it mines"}]})");
  EXPECT_EQ(harness.invoke(ask).as<Fetch::Revoked>().message, "the bundle is revoked: it mines");
}

}  // namespace revision_test
}  // namespace sluice::deploy::revision
