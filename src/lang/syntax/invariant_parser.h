// Invariants of a concept, in all their spellings, and fixtures.
#pragma once

#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"

namespace sluice::lang {

// example forall always never eventually scenario
bool is_invariant_kind(const Token& word);

// At `invariant`, a kind's word, or `action` (a contract): adds what is there, and to `wrappers` the braces of
// `invariant { … }`.
void parse_invariants(Cursor& cursor, std::vector<Invariant>& into, std::vector<Span>& wrappers);

// At `fixture`. `expects`: it may say which fixtures go before it and what variant it ends in.
Fixture parse_fixture(Cursor& cursor, bool expects);

}  // namespace sluice::lang
