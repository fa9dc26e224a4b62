// Names of a `.concept` as names of C++, all of which are made here. Fields and enumerators keep their spelling, which
// is their name in JSON; those that C++ or the generated code has other use for get an underscore at their end, which
// base/json_fields.h leaves out again. Which names two types would share is lang/codegen/cpp_types.h's to settle.
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

// The name of a field, variant or literal as a member or an enumerator: itself; or with an underscore at its end if it
// is a word or macro of C++, stands for something else in generated code, does not begin with a small letter, or ends
// in an underscore. Different names stay different, and no member has the name of a type.
std::string member_name(std::string_view name);
// The same for a function: `checkConcept` → `check_concept`, `delete` → `delete_`.
std::string function_name(std::string_view name);
// The name as the beginning of a type's name, `checkConcept` → `CheckConcept`, `_1` → `N1`; and a whole type's name,
// with an underscore if there could be a macro of it: `EOF` → `EOF_`.
std::string type_word(std::string_view name);
std::string type_name(std::string word);
bool is_identifier(std::string_view text);
// `sluice::deploy::rollout`, with no word of C++ in it and none that generated code needs, such as `std`.
bool is_namespace(std::string_view text);

// A C++ string literal.
std::string cpp_string(std::string_view text);

// Prose as `// ` lines of at most 120 columns, each indented; empty prose gives nothing.
std::string comment(std::string_view prose, size_t indent);
// Words of the prose with single blanks between them.
std::string one_line(std::string_view prose);

}  // namespace sluice::lang
