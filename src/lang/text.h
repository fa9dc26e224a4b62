// Source text: reading it from disk within a limit, refusing bytes that no source file should hold, and the small
// questions about characters and names that lexer, messages and formatter share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::lang {

class Diagnostics;

constexpr size_t kMaxSourceBytes = 8 << 20;

// The file's text. A file above kMaxSourceBytes is refused by its size, before it is read.
Result<std::string> read_source(const std::string& path);

// Reports the first byte sequence that is not UTF-8, NUL or another control character but tab and line ends, a CR
// without LF, or a character that changes the direction of text (which could make code read other than it runs), and
// a text that is too large. True if there is none.
bool check_source(std::string_view text, const std::string& file, Diagnostics& found);

struct CodePoint {
  uint32_t value = 0;
  uint32_t size = 1;  // bytes; 1 if invalid
  bool valid = false;
};

// The code point at `at`, which must be inside `text`.
CodePoint decode(std::string_view text, size_t at);
void append_utf8(std::string& out, uint32_t point);

// Control characters and those that change text direction: allowed in a string only as an escape.
bool is_forbidden(uint32_t point);

// Columns that a character takes in a terminal: 0 for combining marks, 2 for wide East Asian and emoji, else 1.
uint32_t display_width(uint32_t point);
uint32_t count_code_points(std::string_view text);

// The candidate nearest to `name` by edit distance, if it is near enough to be what was meant; else empty.
std::string nearest(std::string_view name, std::span<const std::string_view> candidates);

// A double-quoted string literal with escapes, as the lexer reads it back.
std::string quote(std::string_view text);

// The numbers of all lines that hold nothing but blanks, ascending.
std::vector<uint32_t> blank_lines(std::string_view text);

}  // namespace sluice::lang
