// What is kept reaches as far back as either rule says, and always without a gap.
#include "deploy/backup_retention.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"

namespace sluice::deploy {
namespace backup_retention_test {

constexpr int64_t kDay = int64_t{24} * 3'600 * 1'000;

// Five, made a day apart: the first five days ago.
std::string gone(int64_t keep, int64_t days) {
  std::vector<KeptBackup> all;
  for (int64_t age = 5; age >= 1; --age) all.push_back({.id = std::to_string(age), .made_ms = (100 - age) * kDay});
  std::string ids;
  for (const KeptBackup& each : outdated(all, keep, days, 100 * kDay)) ids += each.id;
  return ids;
}

TEST(BackupRetention, KeepsWhatEitherRuleNeeds) {
  EXPECT_EQ(gone(0, 0), "");
  EXPECT_EQ(gone(2, 0), "543");
  EXPECT_EQ(gone(9, 0), "");
  EXPECT_EQ(gone(0, 3), "54") << "the moments of three days need the backup that is three days old";
  EXPECT_EQ(gone(0, 1), "5432");
  EXPECT_EQ(gone(0, 9), "") << "nothing is as old as that, so all are needed";
  EXPECT_EQ(gone(1, 3), "54");
  EXPECT_EQ(gone(4, 1), "5");
}

TEST(BackupRetention, IsOfTheFolderThatIsConfiguredAlone) {
  RowsInMemory rows;
  backup::State state(rows.rows);
  state.put_whole({.place = "/backups", .recipient = "key", .keep = 1});
  state.put(backup::BackupId("a"), {.folder = "/backups/a", .madeAt = {1}});
  state.put(backup::BackupId("b"), {.folder = "/elsewhere/b", .madeAt = {2}});
  state.put(backup::BackupId("c"), {.folder = "/backups/c", .madeAt = {3}});
  const auto found = outdated(state, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "a");
  EXPECT_EQ(backup_place(rows).folder, "/backups");
}

}  // namespace backup_retention_test
}  // namespace sluice::deploy
