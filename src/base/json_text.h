// The two hard parts of writing JSON, shared by the plain and the canonical writer: strings with their escapes, and
// doubles as ECMAScript prints them (the shortest digits that read back to the same number).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Appends the string in quotes. Escapes are the fewest that JSON allows: quote, backslash and control characters, in
// their short form where there is one. Bytes that are not UTF-8 become U+FFFD; false says that there were some.
bool append_json_string(std::string& out, std::string_view text);

// Appends a finite double as ECMAScript's Number::toString does: 1e21 is "1e+21", 1.0 is "1", -0.0 is "0".
void append_json_number(std::string& out, double number);

}  // namespace sluice
