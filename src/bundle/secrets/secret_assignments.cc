// Names and values are judged by words and by how their characters are spread.
#include "bundle/secrets/secret_assignments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "bundle/secrets/secret_letters.h"

namespace sluice::bundle {

namespace {

char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool is_name_character(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

constexpr std::array<std::string_view, 14> kSecretWords = {
    "password", "passwd", "passphrase", "secret",      "token",      "apikey",     "api_key",
    "api-key",  "pwd",    "credential", "private_key", "privatekey", "access_key", "accesskey"};
// Names that speak of a secret without holding one.
constexpr std::array<std::string_view, 20> kHarmlessEnds = {
    "file", "path",  "name", "url",   "uri",  "_id",    "type",   "length", "size",  "field",
    "hint", "label", "ttl",  "regex", "kind", "prefix", "expiry", "count",  "class", "header"};

}  // namespace

std::optional<Assignment> assignment_at(std::string_view text, size_t sign) {
  // Backwards: blanks, a closing quote, the name.
  size_t end = sign;
  if (end > 0 && text[sign] == '=' && text[end - 1] == ':') --end;  // :=
  while (end > 0 && is_blank(text[end - 1])) --end;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'' || text[end - 1] == ']')) --end;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'')) --end;
  size_t begin = end;
  while (begin > 0 && end - begin < 80 && is_name_character(text[begin - 1])) --begin;
  if (begin == end) return std::nullopt;
  Assignment found{.name = text.substr(begin, end - begin)};
  size_t line = begin;
  if (text.substr(0, line).ends_with("export ")) line -= 7;
  found.at_line_start = line == 0 || text[line - 1] == '\n';
  // Forwards: the rest of the sign, blanks, the value in quotes or to the next blank.
  size_t at = sign + 1;
  if (at < text.size() && text[at] == '>') ++at;                                      // =>
  if (at < text.size() && (text[at] == '=' || text[at] == ':')) return std::nullopt;  // ==, ::, and := counts at its =
  while (at < text.size() && is_blank(text[at])) ++at;
  std::string_view rest = text.substr(at, 600);
  if (rest.empty()) return std::nullopt;
  char quote = rest.front();
  if (quote == '"' || quote == '\'' || quote == '`') {
    rest.remove_prefix(1);
    size_t close = rest.find_first_of(std::string{quote, '\n'});
    if (close == std::string_view::npos || rest[close] != quote) return std::nullopt;
    found.value = rest.substr(0, close);
    found.quoted = true;
  } else {
    found.value = rest.substr(0, std::min(rest.find_first_of(" \t\r\n,;\"'`<>"), rest.size()));
  }
  if (found.value.empty()) return std::nullopt;
  return found;
}

bool names_a_secret(std::string_view name) {
  if (name == "PWD" || name == "OLDPWD") return false;  // every shell's folders
  std::string small = lowered(name);
  bool found = std::any_of(kSecretWords.begin(), kSecretWords.end(),
                           [&](std::string_view word) { return small.find(word) != std::string::npos; });
  bool harmless = std::any_of(kHarmlessEnds.begin(), kHarmlessEnds.end(),
                              [&](std::string_view end) { return small.ends_with(end); });
  return found && !harmless;
}

bool is_placeholder(std::string_view value) {
  if (value.empty()) return true;
  std::string small = lowered(value);
  static constexpr std::array<std::string_view, 17> kWords = {
      "example",  "changeme", "change_me", "change-me", "placeholder",     "your",
      "xxxx",     "****",     "....",      "dummy",     "redacted",        "password",
      "passw0rd", "secret",   "<",         "insert",    "1234567890abcdef"};
  for (std::string_view word : kWords) {
    // Words such as "secret" stand in only if they are most of the value.
    size_t at = small.find(word);
    if (at != std::string::npos && word.size() * 2 >= small.size()) return true;
    if (at != std::string::npos && (word == "example" || word == "changeme" || word == "placeholder" ||
                                    word == "redacted" || word == "xxxx" || word == "your")) {
      return true;
    }
  }
  if (small.starts_with("${") || small.starts_with("$(") || small.starts_with("{{") || small.starts_with("<") ||
      small.starts_with("%(") || small.starts_with("$env") || small.starts_with("secret://") ||
      small.starts_with("runtime://")) {
    return true;
  }
  return small.front() == '$' && run_length(std::string_view(small).substr(1), is_name_character) + 1 == small.size();
}

bool looks_random(std::string_view value) {
  std::array<uint32_t, 256> counts{};
  bool has_digit = false;
  bool has_letter = false;
  for (char c : value) {
    // Code and prose have brackets and blanks; secrets do not.
    if (c <= ' ' || c >= 0x7f || c == '(' || c == ')' || c == '[' || c == ']' || c == '{' || c == '}') return false;
    ++counts[static_cast<unsigned char>(c)];
    has_digit = has_digit || is_digit(c);
    has_letter = has_letter || is_upper(c) || is_lower(c);
  }
  double entropy = 0;
  for (uint32_t count : counts) {
    if (count == 0) continue;
    double share = static_cast<double>(count) / static_cast<double>(value.size());
    entropy -= share * std::log2(share);
  }
  // Hex has at most 4 bits a character, short values fewer.
  double wanted = value.size() >= 20 ? 3.0 : 2.8;
  return has_digit && has_letter && value.size() >= 12 && entropy >= wanted;
}

}  // namespace sluice::bundle
