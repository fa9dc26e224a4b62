// How two sides of a table are kept equal: triggers that copy what either side is written, and batches that copy what
// was there before.
//
// A row of which only one side is written gets the other from it; a row of which both are written stays as it is.
// A side counts as not written while its columns are NULL or have their default. A copy never fires the copy back, so
// "Mary Ann" and "Lee" stay that, whatever `back` would make of "Mary Ann Lee".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"

namespace sluice::migrate {

struct Column {
  std::string name;  // in quotes
  std::string expression;
  std::string fallback;  // the constant that it has by default; empty if it has none
};

// A rule that was looked up in the database.
struct Copy {
  Engine engine = Engine::sqlite;
  std::string name;   // sluice_copy_0007_0
  std::string table;  // as statements name it
  std::string alias;  // the table's own name, by which expressions may name it
  std::vector<std::string> key;
  std::vector<Column> forward;
  std::vector<Column> back;
  std::vector<std::string> columns;  // all of the table
};

// `invalid` if the table or a column is not there, the key is none, or a default is none that can be told from a value.
Result<Copy> look_up(Database& database, const CopyRule& rule, int64_t number, size_t place);

// sluice_copy_0007_0
std::string trigger_name(int64_t number, size_t place);
// Each is run in a transaction of its own, and all of them in one when they are dropped.
std::vector<std::string> make_triggers(const Copy& copy);
std::vector<std::string> drop_triggers(Engine engine, const std::string& name, const std::string& table);

// The statements of a batch, within one transaction: `begin`, then the update, then `end`.
struct BatchSql {
  std::string begin;  // from here copies fire nothing
  std::string bound;  // the key of the last row of the next batch, and how many it has; $1 is its size at most
  std::string update;
  std::string end;
};
// `after` and `last` are keys as SQL writes them; an empty `after` is the beginning, an empty `last` the end.
BatchSql batch_sql(const Copy& copy, const std::string& after, const std::string& last);
// The same for one row.
std::string row_update(const Copy& copy, const std::string& key);
// How many rows a table has, about; its name is as statements name it.
std::string count_sql(Engine engine, const std::string& table);

}  // namespace sluice::migrate
