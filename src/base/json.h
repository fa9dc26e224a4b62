// JSON text to a Document and back. Reading is strict RFC 8259: UTF-8 only, one value, no comments, no trailing
// commas, and no key twice in an object, because readers disagree on which of two would count. Errors say line:column;
// their code is `limit` if the text is beyond the limits, else `invalid`.
//
// Numbers: one without fraction and exponent is an integer and must fit into 64 bits (signed or unsigned), so that no
// digit is ever lost; every other number is the nearest double. One too large for a double is refused. The one
// exception is an integer beyond 64 bits whose digits are those of a double in canonical JSON (100000000000000000000
// for 1e20): it is that double, so that canonical text can be read again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/document.h"
#include "base/result.h"

namespace sluice {

class TextBuffer;  // base/json_text.h

struct JsonLimits {
  size_t max_depth = 128;  // of arrays and objects in each other; the same as of YAML, so that each reads the other's
  size_t max_bytes = size_t{64} << 20;
  size_t max_nodes = 1'000'000;  // values of all kinds; what bounds the memory, as a value of one digit takes 32 bytes
};

// Parses one JSON value, with a mark for each node. `file` is how errors name the text; it may be empty.
Result<Document> parse_json(std::string_view text, std::string file = "", JsonLimits limits = {});

// The same without marks, for much text whose places nobody asks for; an error has its place all the same.
Result<json::value> parse_json_value(std::string_view text, JsonLimits limits = {});

// The value as text without white space, members in their order. What it writes reads back as an equal value. Strings
// that are not UTF-8 get U+FFFD where they are broken; a NaN or an infinity, which JSON cannot say, becomes null.
std::string write(const json::value& value);

// The same at the end of a buffer.
void append_json_value(TextBuffer& out, const json::value& value);

// The same for people: two spaces a level, "key": value, and a newline at the end.
std::string write_pretty(const json::value& value);

}  // namespace sluice
