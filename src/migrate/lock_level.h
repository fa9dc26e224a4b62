// What a statement locks in PostgreSQL: the strongest lock that it takes on a table, view, index or sequence that was
// there before. It reads the words of the statement, as lint does, and asks no database.
//
// A lock keeps others out: ACCESS EXCLUSIVE everybody, EXCLUSIVE to SHARE those who write, what is weaker only others
// who change the schema.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::migrate {

using Tokens = std::span<const std::string>;  // as Statement has them
using TableNames = std::set<std::string>;     // as name_at gives them

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
LockLevel lock_of(Tokens tokens, const TableNames& own);

// ---- tokens, for lint too

bool begins(Tokens tokens, std::initializer_list<std::string_view> words);
bool has(Tokens tokens, std::initializer_list<std::string_view> words);
bool is_one_of(const std::string& token, std::initializer_list<std::string_view> words);
// What follows a word; empty if it is not there.
Tokens after(Tokens tokens, std::string_view word);
// Without IF EXISTS, IF NOT EXISTS and ONLY, which say nothing of what is done.
Tokens after_conditions(Tokens tokens);
// What follows the name that stands here.
Tokens after_name(Tokens tokens);
// "USERS" of app.users (…), as far as names can be told apart.
std::string name_at(Tokens tokens);
// The parts between commas that stand in no brackets.
std::vector<Tokens> parts_of(Tokens tokens);
// Whether what follows ADD is a constraint of the table, and no column.
bool is_constraint(Tokens added);

}  // namespace sluice::migrate
