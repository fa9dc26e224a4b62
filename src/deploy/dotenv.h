// Files of variables: KEY=VALUE a line, `export` before it if you like, comments from # on, values plain or in quotes.
// In double quotes \n, \t, \", \$ and \\ mean what they do in a shell; nothing is expanded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace sluice::deploy {

struct DotenvFault {
  int64_t line = 0;
  std::string what;  // quotes nothing of the file
};

std::variant<std::map<std::string, std::string>, DotenvFault> parse_dotenv(std::string_view text);

}  // namespace sluice::deploy
