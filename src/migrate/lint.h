// What an expansion must not do: whatever the version before still needs, or the application would have to wait for.
// PostgreSQL's own grammar says what a statement is; of SQLite it is SQLite, on a copy of the schema.
//
//   Linter linter(engine);
//   for (const Migration& each : migrations) show(linter.look(each));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"
#include "migrate/lint_rules.h"

namespace sluice::migrate {

class SqliteLint;

// A rule is one of
//   destroys  it removes what the version before reads or writes, with its data
//   renames   the version before knows it by its old name
//   breaks    what the version before writes is refused from then on
//   rewrites  the table is written anew, while nobody reads or writes it
//   scans     every row is looked at while the table is locked
//   locks     nobody writes, or reads, until it is done
//   hides     what it does cannot be told from its words
//   unparsed  it is no SQL that the database's grammar knows
struct Finding {
  std::string file;
  uint32_t line = 0;
  std::string rule;
  std::string message;  // what it does, and what to write instead

  bool operator==(const Finding&) const = default;
};
BOOST_DESCRIBE_STRUCT(Finding, (), (file, line, rule, message))

inline constexpr std::string_view kWholeDatabase = "the database";

// What a statement does to others while it runs.
struct Impact {
  std::string file;
  uint32_t line = 0;
  std::string statement;
  std::string lock;  // in PostgreSQL the strongest one (lock_level.h), in SQLite "the database"; empty for none
  std::vector<Finding> findings;

  bool operator==(const Impact&) const = default;
};
BOOST_DESCRIBE_STRUCT(Impact, (), (file, line, statement, lock, findings))

// "0002_name/expand.sql:3  ACCESS EXCLUSIVE  ALTER TABLE …"
std::string to_line(const Impact& impact);
// "0002_name/expand.sql:3: destroys: …"
std::string to_line(const Finding& finding);

// Looks at migrations one after another: what one makes is there for the next.
class Linter {
 public:
  explicit Linter(Engine engine);
  Linter(Linter&&) noexcept;
  Linter& operator=(Linter&&) = delete;
  ~Linter();

  // From the schema of this database, not from an empty one.
  Result<void> begin_at(Database& database);

  // Each statement of its expansion and of its contraction, and others that cannot be parsed. What is parsed can be
  // wrong in an expansion alone, where a comment before it lets it through: -- sluice: allow RULE because REASON
  std::vector<Impact> look(const Migration& migration);

 private:
  Engine engine_;
  std::unique_ptr<SqliteLint> sqlite_;  // none: PostgreSQL
};

// The first finding as an error.
Result<void> check(const std::vector<Impact>& impacts);

}  // namespace sluice::migrate
