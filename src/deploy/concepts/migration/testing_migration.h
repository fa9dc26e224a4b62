// The kit with a bundle that brings the schema of a SQLite file, and the application's own connection to it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "base/real_disk.h"
#include "deploy/concepts/migration/migration_work.h"
#include "deploy/migrate_means.h"
#include "deploy/stored_data.h"
#include "deploy/testing_workflow.h"
#include "migrate/database.h"

namespace sluice::deploy::migration {

inline const std::map<std::string, std::string> kFirst = {
    {"migrations/0001_init.sql", "CREATE TABLE users(id INTEGER PRIMARY KEY, first TEXT, last TEXT);"}};
inline const std::map<std::string, std::string> kSecond = {
    {"migrations/0001_init.sql", kFirst.begin()->second},
    {"migrations/0002_name/expand.sql",
     "ALTER TABLE users ADD COLUMN name TEXT; CREATE UNIQUE INDEX u ON users(name);"},
    {"migrations/0002_name/migration.yaml",
     "copy: [{table: users, key: [id], forward: {name: \"first || ' ' || last\"}, back: {first: \"substr(name, 1, "
     "instr(name, ' ') - 1)\", last: \"substr(name, instr(name, ' ') + 1)\"}}]"},
    {"migrations/0002_name/contract.sql", "ALTER TABLE users DROP COLUMN first; ALTER TABLE users DROP COLUMN last;"}};
inline const std::string kMore = "storage: [{name: data}]\nmigrations: {file: data/app.db, backupBefore: false";

class MigrationTest : public WorkflowTest {
 protected:
  MigrationTest() {
    kit.tools().add(stored);
    kit.tools().add(means);
  }
  // What only syncs ask for is reached by what people do.
  ~MigrationTest() override {
    for (const char* verb : {"attend", "stall", "pursue", "step"}) kit.ends(std::string("Migration/") + verb);
  }

  engine::End bring(const std::string& version, const std::map<std::string, std::string>& files,
                    const std::string& keys = "") {
    return up(world.put("shop", version, kMore + keys + "}\n", files));
  }
  engine::End act(const std::string& verb, const std::string& revision) {
    return kit.run("Migration/" + verb, {{"migration", revision}});
  }
  // The application's own connection.
  std::string ask(const engine::End& end, const std::string& sql) {
    const std::string storage(deployment(end).at("storage").as_string());
    auto database = migrate::open_sqlite(stored.folder_of(storage) + "/data/app.db");
    EXPECT_TRUE(database) << database.error().message;
    auto rows = (*database)->query(sql);
    EXPECT_TRUE(rows) << rows.error().message;
    std::string all;
    for (const auto& row : *rows) {
      for (const auto& each : row) all += each.value_or("NULL") + "|";
    }
    return all;
  }
  json::value migration(const std::string& revision) { return kit.row("Migration", revision); }

  RealDisk disk;
  RealRandom random;
  StoredData stored{folder.path("storage")};
  RealClock clock;
  process::RealRunner runner{clock};
  MigrateMeans means{
      disk, random, runner, world.backup_keys(), {.id = folder.path("sluice-id"), .backups = folder.path("backups")}};
};

}  // namespace sluice::deploy::migration
