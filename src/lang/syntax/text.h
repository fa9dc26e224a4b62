// Source text: reading it from disk within a limit, refusing bytes that no source file should hold, and the small
// questions about characters and names that lexer, messages and formatter share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace sluice::lang {

class Diagnostics;

constexpr size_t kMaxSourceBytes = 8 << 20;

// The file's text. A file above kMaxSourceBytes is refused by its size, before it is read.
Result<std::string> read_source(const std::string& path);
// The same of a file that is open already; `path` is for messages.
Result<std::string> read_source(File& file, const std::string& path);

// Reports the first byte sequence that is not UTF-8, NUL or another control character but tab and line ends, a CR
// without LF, or a character that changes the direction of text or cannot be seen (which could make code read other
// than it runs), and a text that is too large. True if there is none.
bool check_source(std::string_view text, const std::string& file, Diagnostics& found);

// Control characters, those that change text direction and those that cannot be seen: allowed in a string only as an
// escape.
bool is_forbidden(char32_t point);

// Those that a reader cannot see: the forbidden ones, and joiners and variation selectors, which belong in emoji.
bool is_invisible(char32_t point);

// `U+200B`
std::string code_point_name(char32_t point);

uint32_t count_code_points(std::string_view text);

// A name as a message shows it: between backquotes.
std::string quoted(std::string_view word);

// A double-quoted string literal with escapes, as the lexer reads it back.
std::string quote(std::string_view text);

// The numbers of all lines that hold nothing but blanks, ascending.
std::vector<uint32_t> blank_lines(std::string_view text);

}  // namespace sluice::lang
