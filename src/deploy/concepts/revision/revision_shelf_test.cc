// What is done with a revision's archive, on a real disk: one test a variant.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/testing_revision.h"

namespace sluice::deploy::revision {
namespace revision_shelf_test {

using enum RevisionLifecycle;

class FetchTest : public RevisionFixture {
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

TEST_F(FetchTest, OkKeepsWhatTheRouterIsTold) {
  RevisionId plain = in_state(inactive);
  EXPECT_EQ(harness.invoke(fetch_of(plain)).as<Fetch::Ok>().serving,
            (RevisionServing{
                .stickiness = {.mode = "session", .ttlSeconds = 3600},
                .timeouts = {.connectMs = 2'000, .firstByteMs = 60'000, .idleMs = 60'000, .streamIdleMs = 300'000},
                .retryAfterSeconds = 30}));
  EXPECT_TRUE(State(harness.rows()).paused_pages(plain).values().empty());

  file("in/bundle.yaml",
       "name: shop\nversion: \"1\"\nrun: [./shop]\nstickiness: {mode: bucket, key: {header: X-Session}, ttl: 5m}\n"
       "paused: {page: back.json, retry_after: 2m}\ntimeouts: {connect: 1ms, stream_idle: 1h}\n"
       "transport: http2\n");
  file("in/back.json", "{}");
  ASSERT_TRUE(bundle::pack(disk, folder.path("in"), {"back.json", "bundle.yaml", "shop"}, archive));
  RevisionId id = in_state(inactive);
  harness.invoke(fetch_of(id)).as<Fetch::Ok>();
  EXPECT_EQ(
      record(id).serving,
      (RevisionServing{.stickiness = {.mode = "bucket", .keyHeader = "X-Session", .ttlSeconds = 300},
                       .timeouts = {.connectMs = 1, .firstByteMs = 60'000, .idleMs = 60'000, .streamIdleMs = 3'600'000},
                       .retryAfterSeconds = 120,
                       .transport = "http2"}));
  EXPECT_EQ(State(harness.rows()).paused_pages(id).values(),
            (std::vector<RevisionPausedPage>{{.type = "application/json", .text = "{}"}}));

  harness.answer_with(Archive::Ok{.revision = id});
  harness.invoke(Archive{.revision = id}).as<Archive::Ok>();
  harness.invoke(Free{}).as<Free::Ok>();
  EXPECT_TRUE(State(harness.rows()).paused_pages(id).values().empty()) << "it gives its room back";
}

TEST_F(FetchTest, AFetchForNoRevisionWritesNothing) {
  EXPECT_EQ(harness.invoke(fetch_of(RevisionId("../x"))).as<Fetch::BadBundle>().message, "there is no revision ../x");
  EXPECT_FALSE(disk.exists(folder.path("shelf")).value());
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

TEST_F(ExamineTest, UnfitWithoutRoomForWhatItStores) {
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

}  // namespace revision_shelf_test
}  // namespace sluice::deploy::revision
