// The rules for PostgreSQL, each over the parse tree of a statement.
#pragma once

#include <vector>

#include "migrate/lint_rules.h"
#include "migrate/parse_tree.h"

namespace sluice::migrate {

// Tables in `own` are those that nobody has yet.
std::vector<Broken> rules_broken(const ParseTree& tree, const TableNames& own);
// Takes down the tables that a statement makes, so that nobody else can have them.
void note_own_tables(const ParseTree& tree, TableNames& own);

}  // namespace sluice::migrate
