// Reads a `.concept` file. docs/internals/language.md has the grammar.
//
// parse_concept and load_concept return nothing if there was an error; all that could be found in one run are in the
// sink. Sections may stand in any order; an unknown one is an error, never skipped.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/syntax/ast.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::lang {

// The state's components and the actions that are whole: those with an error are left out, and the types of the others
// are still there to be judged.
Concept parse_whole_parts(std::string_view text, const std::string& file, Diagnostics& found);

std::optional<Concept> parse_concept(std::string_view text, const std::string& file, Diagnostics& found);

// The same from a file, which is not read if it is too large.
std::optional<Concept> load_concept(const std::string& path, Diagnostics& found);

}  // namespace sluice::lang
