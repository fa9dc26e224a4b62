// SQL as text: names and strings in quotes, and a file cut into its statements, without knowing what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "migrate/database.h"

namespace sluice::migrate {

std::string quoted_name(std::string_view name);
std::string quoted_text(std::string_view text);

// The parts of a name as SQL writes it: `users`, `app.users`, `app."User List"`. What has no quotes is small in
// PostgreSQL.
Result<std::vector<std::string>> parse_name(Engine engine, std::string_view text);
// "app"."users"
std::string quoted_name(const std::vector<std::string>& parts);

struct Statement {
  std::string text;   // without comments before it and without the semicolon
  uint32_t line = 1;  // where it begins
  uint32_t column = 1;
  std::string first;         // its first words, in capitals and without comments: "CREATE INDEX CONCURRENTLY IF NOT"
  std::string last_comment;  // the comments before it, line by line
  std::vector<std::string> tokens;  // words in capitals, names in their quotes, ' for any text, else single characters

  bool operator==(const Statement&) const = default;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

// Cuts at semicolons that stand in no string, quoted name, comment, dollar quote, or body of a trigger or function.
// What ends in the middle of one of these is an error with the line where that began.
Result<std::vector<Statement>> split_statements(Engine engine, std::string_view text, const std::string& file);

}  // namespace sluice::migrate
