// The canonical form of `.concept` and `.sync` files: what `sluice kit fmt` writes.
//
// Formatting keeps the meaning (parse(format(x)) == parse(x)), all comments, and blank lines between rules and
// between actions; it is idempotent (format(parse(format(x))) == format(x)). Sections, clauses and fixtures come in
// one order, syncs lose their outer braces, and Clef's spellings become Sluice's.
#pragma once

#include <string>

#include "lang/syntax/ast.h"

namespace sluice::lang {

std::string format(const Concept& source);
std::string format(const SyncFile& source);

}  // namespace sluice::lang
