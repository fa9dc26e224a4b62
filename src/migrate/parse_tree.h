// What PostgreSQL's own grammar makes of a statement: its parse tree, from libpg_query, which is that grammar as a
// library. Nothing of a database is needed, so names are as they are written: what they mean is not looked up.
//
//   auto tree = parse_postgres("ALTER TABLE app.users DROP COLUMN name");
//   tree->kind                                           "AlterTableStmt"
//   table_of(*tree->at("relation").if_object())          "app.users"
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace sluice::migrate {

using TableNames = std::set<std::string>;  // as table_of gives them

// A field of a node; null if it is not set, as what is false, zero or empty is not.
const json::value& field_of(const json::value& node, std::string_view name);
std::string_view text_in(const json::value& node, std::string_view name);
bool is_set(const json::value& node, std::string_view name);
// The items of a field that is a list; empty if it is not set.
const json::array& items_in(const json::value& node, std::string_view name);

struct ParseTree {
  std::string kind;  // "AlterTableStmt", "SelectStmt", …
  json::value node;  // its fields
};

// What cannot be parsed is an error at its place in the text: `position` has line and column from 1.
Result<ParseTree> parse_postgres(const std::string& statement);

// A node is an object of one member: its kind and its fields.
std::string_view kind_of(const json::value& node);
const json::value& fields_of(const json::value& node);

// The statement that a field holds, as EXPLAIN does.
ParseTree statement_in(const json::value& node, std::string_view name);

// "public.users" of a RangeVar's fields, or of a name that is given in parts. What names no schema is taken to be in
// public: another search path makes more of what is reported, never less.
std::string table_of(const json::value& relation);
std::string table_of(const json::array& parts, size_t count);

}  // namespace sluice::migrate
