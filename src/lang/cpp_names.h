// Names of a `.concept` as names of C++. Fields and enumerators keep their spelling, which is their name in JSON; a C++
// word gets an underscore at its end, which base/json_fields.h leaves out again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lang {

// `checkConcept` → `CheckConcept`; what is not a letter or digit starts a new word.
std::string camel_case(std::string_view name);
// `checkConcept`, `IaC` → `check_concept`, `ia_c`.
std::string snake_case(std::string_view name);
// One of a list: `steps` → `Step`, `entries` → `Entry`, `history` → `HistoryItem`.
std::string singular(std::string_view name);

// The name as a member, an enumerator or a function: itself, or with an underscore if C++ or the generated code has
// other use for it.
std::string member_name(std::string_view name);
bool is_identifier(std::string_view text);

// A C++ string literal.
std::string cpp_string(std::string_view text);

// Prose as `// ` lines of at most 120 columns, each indented; empty prose gives nothing.
std::string comment(std::string_view prose, size_t indent);
// Words of the prose with single blanks between them.
std::string one_line(std::string_view prose);

}  // namespace sluice::lang
