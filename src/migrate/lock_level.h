// What a statement locks in PostgreSQL: the strongest lock that it takes on a table, view, index or sequence that was
// there before. It reads the statement's parse tree, as lint does, and asks no database.
//
// A lock keeps others out: ACCESS EXCLUSIVE everybody, EXCLUSIVE to SHARE those who write, what is weaker only others
// who change the schema.
#pragma once

#include <string_view>

#include "migrate/parse_tree.h"

namespace sluice::migrate {

enum class LockLevel {
  none,
  access_share,
  row_share,
  row_exclusive,
  share_update_exclusive,
  share,
  share_row_exclusive,
  exclusive,
  access_exclusive,
  unknown,  // a block or a procedure takes what it likes
};

// "ACCESS EXCLUSIVE", as pg_locks and the manual have it; empty for none.
std::string_view lock_name(LockLevel level);
// Tables in `own` are those that nobody has yet.
LockLevel lock_of(const ParseTree& tree, const TableNames& own);

}  // namespace sluice::migrate
