// What an expansion must not do: whatever the version before still needs, or the application would have to wait for.
// It reads the words of a statement, and asks no database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"

namespace sluice::migrate {

// A rule is one of
//   destroys  it removes what the version before reads or writes, with its data
//   renames   the version before knows it by its old name
//   breaks    what the version before writes is refused from then on
//   rewrites  the table is written anew, while nobody reads or writes it
//   scans     every row is looked at while the table is locked
//   locks     nobody writes, or reads, until it is done
//   hides     what it does cannot be told from its words
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

// Each statement of its expansion and of its contraction; only those of an expansion can be wrong.
std::vector<Impact> impacts(Engine engine, const Migration& migration);
// "0002_name/expand.sql:3  ACCESS EXCLUSIVE  ALTER TABLE …"
std::string to_line(const Impact& impact);

// Of its expansion. A statement is let through by a comment before it: -- sluice: allow RULE because REASON
std::vector<Finding> lint(Engine engine, const Migration& migration);
// "0002_name/expand.sql:3: destroys: …"
std::string to_line(const Finding& finding);
// The first of them as an error.
Result<void> check_expansion(Engine engine, const Migration& migration);

}  // namespace sluice::migrate
