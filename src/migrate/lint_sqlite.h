// The rules for SQLite. A statement is prepared on a copy of the schema, without rows, and SQLite's own authorizer
// tells what it does there: also by triggers, and to tables that a name only seems to mean. Then it is run there if it
// changes the schema, so that the next one finds what it makes. What cannot be prepared, as it speaks of tables that
// were never shown, is looked at word by word.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "migrate/database.h"
#include "migrate/lint_rules.h"
#include "migrate/sql_text.h"

struct sqlite3;

namespace sluice::migrate {

class SqliteLint {
 public:
  SqliteLint();  // an empty schema
  ~SqliteLint();
  SqliteLint(const SqliteLint&) = delete;
  SqliteLint& operator=(const SqliteLint&) = delete;

  // The schema of this database; without Sluice's own tables and triggers.
  Result<void> copy_schema(Database& database);
  // What is made from here on is new: nobody has it yet.
  void begin_expansion() { own_.clear(); }
  std::vector<Broken> look(const Statement& statement);

 private:
  struct Act {
    int what;
    std::string name;
    std::string detail;
    bool by_trigger;
  };

  static int note(void* self, int what, const char* name, const char* detail, const char* database,
                  const char* trigger);
  bool is_there(const std::string& table);
  bool requires_newest_column(const std::string& table);
  std::vector<Broken> judge(const Statement& statement);

  sqlite3* connection_ = nullptr;
  std::vector<Act> acts_;  // of the statement that is being prepared
  std::set<std::string> own_;
};

}  // namespace sluice::migrate
