// Reads a `.concept` file. docs/internals/language.md has the grammar.
//
// Returns nothing if there was an error; all that could be found in one run are in the sink. Sections may stand in
// any order; an unknown one is an error, never skipped.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace sluice::lang {

std::optional<Concept> parse_concept(std::string_view text, const std::string& file, Diagnostics& found);

// The same from a file, which is not read if it is too large.
std::optional<Concept> load_concept(const std::string& path, Diagnostics& found);

}  // namespace sluice::lang
