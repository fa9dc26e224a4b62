// Each thing that can be wrong is found, with what to do about it.
#include "deploy/views/doctor.h"

#include <gtest/gtest.h>

#include "backup.gen.h"
#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "config.gen.h"
#include "deploy/packs.h"
#include "deploy/testing_views.h"
#include "revision.gen.h"
#include "secret.gen.h"

namespace sluice::deploy::views {
namespace doctor_test {

class DoctorTest : public testing::Test {
 protected:
  DoctorTest() {
    rows.environment("local", {.name = "Local"});
    for (const DefaultPack& each : default_packs()) bind(std::string(each.slot), std::string(each.kind));
  }
  void bind(const std::string& slot, const std::string& kind) {
    env::State(rows.rows).packs(env::EnvId("local")).push({.slot = slot, .kind = kind});
  }
  std::string found() {
    std::string text;
    for (const Finding& each : examine(rows, "local")) {
      text += (each.level == Finding::Level::red ? "red " : "yellow ") + each.what + "\n";
    }
    return text;
  }

  RowsInMemory rows;
};

TEST_F(DoctorTest, FindsNothingInAWholeEnvironment) {
  EXPECT_EQ(found(), "");
  EXPECT_TRUE(examine(rows, "none").empty());
}

TEST_F(DoctorTest, FirstWeek22FindsAClockThatWasSet) {
  auto jump = [&](bool over) {
    rows.rows.put(
        "engine.clock", "jump",
        json::object{
            {"at_ms", 1'900'000'000'000}, {"over", over}, {"what", "the system's clock went forward by 730 d"}});
  };
  jump(false);
  EXPECT_EQ(found(),
            "yellow the system's clock went forward by 730 d, noticed at 2030-03-17T17:46:40.000Z; recorded time "
            "approaches it slowly, and nothing is removed for its age meanwhile\n");
  EXPECT_EQ(examine(rows, "local")[0].next,
            "set the system's clock right; if it is right, correct the recorded time with audit correct-clock");
  jump(true);
  EXPECT_EQ(found(), "");
}

TEST_F(DoctorTest, SaysHowOldBackupsAndDrillsAre) {
  constexpr int64_t kDay = int64_t{24} * 3'600 * 1'000;
  backup::State state(rows.rows);
  const auto told = [&](int64_t now_ms) {
    std::string text;
    for (const Finding& each : examine_backups(rows, now_ms)) text += each.what + " -> " + each.next + "\n";
    return text;
  };
  EXPECT_EQ(told(0), "") << "nobody asked for backups";
  state.put_whole({.place = "/backups"});
  EXPECT_EQ(told(0), "there is no backup of the control plane yet -> Backup/create\n");
  state.put(backup::BackupId("a"), {.folder = "/backups/a", .madeAt = {kDay}});
  EXPECT_EQ(told(kDay), "no backup has been restored for a trial yet -> Backup/drill\n");
  state.put_whole({.place = "/backups", .drilledAt = lang::DateTime{kDay}});
  EXPECT_EQ(told(7 * kDay), "");
  EXPECT_EQ(told(8 * kDay), "the newest backup of the control plane is 7 days old -> Backup/create\n");
  EXPECT_EQ(told(31 * kDay),
            "the newest backup of the control plane is 30 days old -> Backup/create\n"
            "the last drill of a backup was 30 days ago -> Backup/drill\n");
  state.put_whole({.place = "/backups",
                   .drilledAt = lang::DateTime{kDay},
                   .drillProblem = "/backups/a/rows is damaged",
                   .trouble = "cannot write /backups/x: No space left on device",
                   .troubleAt = lang::DateTime{0}});
  EXPECT_EQ(
      told(2 * kDay),
      "nothing has been archived since 1970-01-01T00:00:00.000Z: cannot write /backups/x: No space left on device "
      "-> make room in /backups, or make it writable; the archive then goes on by itself\n"
      "the last drill of a backup failed: /backups/a/rows is damaged -> Backup/create\n");
}

TEST_F(DoctorTest, ReadsTheRevocationList) {
  EXPECT_EQ(revocation_list(rows, "local"), std::nullopt);
  env::EnvRecord record{.name = "Local"};
  TestingFolder folder;
  record.revocation = {.required = false, .listRef = folder.path("list.json")};
  rows.environment("local", record);
  ASSERT_EQ(revocation_list(rows, "local"), folder.path("list.json"));
  RealDisk disk;
  auto gone = examine_list(disk, "local", folder.path("list.json"));
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->level, Finding::Level::red);
  EXPECT_EQ(gone->what.find("the revocation list cannot be read: "), 0U) << gone->what;
  EXPECT_EQ(gone->next, "give local a revocation list that can be read, or let it require none");
  ASSERT_TRUE(
      write_atomically(disk, folder.path("list.json"), R"({"schema":"sluice.revocation-list.v1","revoked":[]})", 0644));
  EXPECT_FALSE(examine_list(disk, "local", folder.path("list.json")));
}

TEST_F(DoctorTest, FindsUnknownPacksAndOtherVersions) {
  bind("gitops", "acme.gitops.x@1.0.0");
  env::State state(rows.rows);
  state.packs(env::EnvId("local")).put(4, {.slot = "state", .kind = "sluice.state.memory@2.0.0"});
  EXPECT_EQ(found(),
            "yellow sluice.state.memory@2.0.0 is of another version than this program's 1.x\n"
            "yellow this program has no pack acme.gitops.x@1.0.0 for the slot gitops\n");
}

TEST_F(DoctorTest, SessionsInRedisNeedToKnowWhereItIs) {
  env::State(rows.rows).packs(env::EnvId("local")).put(3, {.slot = "sessions", .kind = "sluice.sessions.redis@1.0.0"});
  const std::string kMemory = "yellow session pins are to be in Redis, and are in the routers' memory alone: ";
  EXPECT_EQ(found(), kMemory + "no redis_url says where it is\n");
  EXPECT_EQ(examine(rows, "local")[0].next, "set redis_url in the config of local");
  auto values = config::State(rows.rows).values(config::ConfigId("local"));
  values.push({.key = "redis_url", .value = "rediss://cache.example"});
  EXPECT_EQ(
      found(),
      kMemory + "redis_url cannot be used: a router speaks no TLS to Redis; expected redis:// or redis+unix://\n");
  values.put(0, {.key = "redis_url", .value = "redis://cache.example"});
  EXPECT_EQ(found(), "");
}

TEST_F(DoctorTest, AMissingDeployerIsRed) {
  env::State(rows.rows).packs(env::EnvId("local")).erase(0);
  EXPECT_EQ(found(), "red nothing serves the slot deployer\n");
}

TEST_F(DoctorTest, FindsRoutedRevisionsThatAreNotReadyAndFailedOnes) {
  rows.deployment("d1");
  rows.revision("r1", "d1", 1, revision::RevisionLifecycle::failed);
  rows.split("d1", {{"r1", 9000}, {"r2", 1000}});
  EXPECT_EQ(found(),
            "yellow shop gives 9000 bps to r1, which is failed\n"
            "yellow shop gives 1000 bps to r2, which is gone\n"
            "yellow shop@1 failed: : \n");
}

TEST_F(DoctorTest, AFailedRevisionBeforeTheOneThatServesIsNobodysConcern) {
  rows.deployment("d1");
  rows.revision("r1", "d1", 1, revision::RevisionLifecycle::failed);
  rows.revision("r2", "d1", 2, revision::RevisionLifecycle::ready);
  rows.revision("r3", "d1", 3, revision::RevisionLifecycle::failed);
  rows.split("d1", {{"r2", 10'000}});
  EXPECT_EQ(found(), "yellow shop@3 failed: : \n") << "the version after it did not start";
}

TEST_F(DoctorTest, FindsProgramsThatGoOnWithAnOlderSecret) {
  rows.deployment("d1");
  rows.revision("r1", "d1", 1, revision::RevisionLifecycle::ready);
  rows.revision("r2", "d1", 2, revision::RevisionLifecycle::ready);
  rows.split("d1", {{"r1", 10'000}});
  secret::State secrets(rows.rows);
  secrets.put(secret::SecretId("local/shop/KEY"),
              {.environment = "local", .name = "shop/KEY", .provider = "vault", .version = "2"});
  revision::State(rows.rows).secret_versions(revision::RevisionId("r1")).push({.name = "shop/KEY", .version = "1"});
  EXPECT_EQ(found(), "") << "it is about to get it";
  for (const char* each : {"r1", "r2"}) secrets.put(secret::SecretNId(each), {.renewProblem = "it ended"});
  EXPECT_EQ(found(),
            "yellow shop@1 still has version 1 of shop/KEY, not 2: it ended\n"
            "yellow shop@2 runs with values that were discovered earlier: it ended\n");
  EXPECT_EQ(examine(rows, "local")[0].next, "Secret/noticed name=shop/KEY provider=vault environment=local version=2");
}

}  // namespace doctor_test
}  // namespace sluice::deploy::views
