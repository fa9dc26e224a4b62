// Reads a `.sync` file: synchronizations and guards. docs/internals/language.md has the grammar; both spellings of a
// sync are accepted (with and without outer braces), and Clef's action form in a `where` becomes a `latest` pattern.
//
// parse_sync and load_sync return nothing if there was an error; the sink has all that could be found in one run, and
// warnings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/syntax/ast.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::lang {

// The rules that are whole: one with an error is left out, and the others are still there to be judged.
SyncFile parse_whole_rules(std::string_view text, const std::string& file, Diagnostics& found);

std::optional<SyncFile> parse_sync(std::string_view text, const std::string& file, Diagnostics& found);

// The same from a file, which is not read if it is too large.
std::optional<SyncFile> load_sync(const std::string& path, Diagnostics& found);

}  // namespace sluice::lang
