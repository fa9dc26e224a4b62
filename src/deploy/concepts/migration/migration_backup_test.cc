// A backup comes before whatever changes a schema, says nothing to whoever reads it, and is never restored over a
// database.
#include <filesystem>

#include "base/atomic_file.h"
#include "deploy/concepts/migration/testing_migration.h"

namespace sluice::deploy::migration {
namespace migration_backup_test {

class MigrationBackupTest : public MigrationTest {};

const std::string kBackedUp = "storage: [{name: data}]\nmigrations: {file: data/app.db}\n";

std::vector<std::string> backups_of(KitEngine& kit, const std::string& revision) {
  auto status = kit.query("Migration/status", {{"migration", revision}});
  std::vector<std::string> all;
  for (const json::value& each : status.fields.at("backups").as_array()) all.emplace_back(each.as_string());
  return all;
}

TEST_F(MigrationBackupTest, ABackupComesBeforeWhatChanges) {
  auto first = up(world.put("shop", "1", kBackedUp, kFirst));
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  const std::string v1 = text(first, "revision");
  EXPECT_TRUE(backups_of(kit, v1).empty());  // there was nothing
  EXPECT_EQ(kit.run("Migration/restore", {{"migration", v1}, {"into", "data/old.db"}}).variant, "failed");
  ask(first, "INSERT INTO users VALUES (1, 'Mary Ann', 'Lee')");
  auto second = up(world.put("shop", "2", kBackedUp, kSecond));
  ASSERT_EQ(second.variant, "ok") << write(second.fields);
  const std::string v2 = text(second, "revision");
  ASSERT_EQ(backups_of(kit, v2).size(), 1U);
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
  ASSERT_EQ(act("contract", v2).variant, "ok");
  ASSERT_EQ(backups_of(kit, v2).size(), 2U);
  auto asked = act("backup", v2);
  ASSERT_EQ(asked.variant, "ok") << write(asked.fields);
  EXPECT_EQ(asked.fields.at("backup"), json::value(backups_of(kit, v2).back()));
  size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder.path("backups"))) {
    ++files;
    EXPECT_EQ(each.path().extension(), ".backup") << "what is in the clear is gone: " << each.path();
    EXPECT_EQ(read_file(disk, each.path(), 1 << 20)->find("Mary Ann"), std::string::npos);
  }
  EXPECT_EQ(files, 3U);

  // As it was before the contraction, beside the database and never over one.
  auto restore = [&](const std::string& into, const std::string& backup) {
    return kit.run("Migration/restore", {{"migration", v2}, {"into", into}, {"backup", backup}});
  };
  const std::string before = backups_of(kit, v2)[1];
  auto restored = restore("data/old.db", before);
  ASSERT_EQ(restored.variant, "ok") << write(restored.fields);
  auto old = migrate::open_sqlite(stored.folder_of(std::string(deployment(second).at("storage").as_string())) +
                                  "/data/old.db");
  ASSERT_TRUE(old);
  EXPECT_EQ(*(*old)->value("SELECT first FROM users"), "Mary Ann");
  const std::string id = "SELECT database_id FROM _sluice_owner";
  EXPECT_NE(*(*old)->value(id), ask(second, id).substr(0, 26)) << "what is known of the one does not hold for it";
  auto again = restore("data/app.db", before);
  ASSERT_EQ(again.variant, "failed");
  EXPECT_NE(text(again, "reason").find("is there already"), std::string::npos) << text(again, "reason");
  EXPECT_EQ(restore("../../outside.db", before).variant, "failed");
  EXPECT_EQ(restore("data/other.db", "none").variant, "failed");
}

TEST_F(MigrationBackupTest, WithoutItsBackupNothingIsChanged) {
  auto first = up(world.put("shop", "1", kBackedUp, kFirst));
  ASSERT_EQ(first.variant, "ok");
  ask(first, "INSERT INTO users VALUES (1, 'Mary Ann', 'Lee')");
  ASSERT_TRUE(write_atomically(disk, folder.path("backups"), "in the way", 0600));
  EXPECT_EQ(act("backup", text(first, "revision")).variant, "failed");
  auto refused = up(world.put("shop", "2", kBackedUp, kSecond));
  ASSERT_EQ(refused.variant, "failed");
  EXPECT_EQ(text(refused, "check"), "schema");
  EXPECT_EQ(ask(first, "SELECT * FROM users"), "1|Mary Ann|Lee|");
}

}  // namespace migration_backup_test
}  // namespace sluice::deploy::migration
