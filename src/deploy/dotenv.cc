// One pass; a value in quotes may go on over lines.
#include "deploy/dotenv.h"

#include <algorithm>

#include "base/ascii.h"

namespace sluice::deploy {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_name(std::string_view name) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, fits);
}

char escaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c; }

}  // namespace

std::variant<std::map<std::string, std::string>, DotenvFault> parse_dotenv(std::string_view text) {
  constexpr std::string_view kExport = "export ";
  std::map<std::string, std::string> all;
  int64_t line = 0;
  while (!text.empty()) {
    line++;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = trimmed(text.substr(0, end));
    if (one.empty() || one.front() == '#') {
      text.remove_prefix(std::min(end + 1, text.size()));
      continue;
    }
    if (one.starts_with(kExport)) one = trimmed(one.substr(kExport.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) return DotenvFault{line, "there is no = in it"};
    const std::string_view name = trimmed(one.substr(0, equals));
    if (!is_name(name)) return DotenvFault{line, "what stands before the = is no variable's name"};
    std::string_view rest = one.substr(equals + 1);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) {
      all[std::string(name)] = std::string(trimmed(rest.substr(0, rest.find(" #"))));
      text.remove_prefix(std::min(end + 1, text.size()));
      continue;
    }
    const char quote = rest.front();
    std::string value;
    const int64_t begun = line;
    size_t at = static_cast<size_t>(rest.data() - text.data()) + 1;
    while (at < text.size() && text[at] != quote) {
      if (text[at] == '\n') line++;
      if (quote == '"' && text[at] == '\\' && at + 1 < text.size()) {
        value += escaped(text[++at]);
      } else {
        value += text[at];
      }
      at++;
    }
    if (at == text.size()) return DotenvFault{begun, "its quote is not closed"};
    const size_t close = std::min(text.find('\n', at), text.size());
    const std::string_view behind = trimmed(text.substr(at + 1, close - at - 1));
    if (!behind.empty() && behind.front() != '#') return DotenvFault{line, "there is more behind its quote"};
    all[std::string(name)] = std::move(value);
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  return all;
}

}  // namespace sluice::deploy
