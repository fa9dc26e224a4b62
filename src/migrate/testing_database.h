// A SQLite database in a folder of the test, and a runner over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/testing_folder.h"
#include "migrate/database.h"
#include "migrate/files.h"
#include "migrate/runner.h"

namespace sluice::migrate {

class TestingDatabase {
 public:
  TestingDatabase();

  Database& database() { return *database_; }
  const std::string& path() const { return path_; }
  // Another connection, as the application has.
  std::unique_ptr<Database> connection();

  // Statements of a script, which must go well.
  void run(const std::string& script);
  // Rows with | between their values, one a line.
  std::string rows(const std::string& sql);

  Runner runner(const Migrations& migrations, const std::string& sluice = "sluice-1");
  // Up to the end of the phase; the last progress.
  Progress expand(const Migrations& migrations, int64_t number);
  Progress migrate(const Migrations& migrations, int64_t number);

 private:
  TestingFolder folder_;
  std::string path_ = folder_.path("app.db");
  std::unique_ptr<Database> database_;
  RealClock clock_;
};

// Names of people in two columns, which become one.
Migrations split_names(
    const std::string& contract = "ALTER TABLE users DROP COLUMN first; ALTER TABLE users DROP COLUMN last;");

}  // namespace sluice::migrate
