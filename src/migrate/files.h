// The files of migrations, as a bundle brings them: a folder `0007_split_name` with `expand.sql` and, where they are
// needed, `migration.yaml`, `check.sql` and `contract.sql`; or `0001_init.sql`, an expand alone. Numbers begin at 1 and
// have no gaps.
//
//   auto files = read_migrations(Engine::postgres, {{"0001_init.sql", "CREATE TABLE …"}});
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "migrate/database.h"
#include "migrate/sql_text.h"

namespace sluice::migrate {

// What keeps two sides of a table equal: `forward` makes the new side's columns of the old one's, `back` the old side's
// of the new one's. Columns are named as SQL names them; expressions are the database's own.
struct CopyRule {
  std::string table;
  std::vector<std::string> key;
  std::map<std::string, std::string> forward;
  std::map<std::string, std::string> back;
  static constexpr std::string_view kDefaulted[] = {"back"};
  bool operator==(const CopyRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(CopyRule, (), (table, key, forward, back))

struct Migration {
  int64_t number = 0;
  std::string name;  // "0007_split_name"
  std::vector<Statement> expand;
  std::vector<CopyRule> copy;
  std::vector<Statement> check;              // each returns no row
  std::vector<Statement> contract;           // none: nothing is ever removed
  std::map<std::string, std::string> files;  // each file's digest, "sha256:…", by its name
};

// By number, from 1.
using Migrations = std::vector<Migration>;

// Texts by their paths below the folder.
using Texts = std::map<std::string, std::string>;

Result<Migrations> read_migrations(Engine engine, const Texts& texts);
Result<Texts> read_texts(Disk& disk, const std::string& folder);

}  // namespace sluice::migrate
