// Names and values are judged by words and by how their characters are spread.
#include "bundle/secrets/secret_assignments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "bundle/secrets/secret_letters.h"
#include "crypto/base64.h"

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
constexpr std::array<std::string_view, 28> kHarmlessEnds = {
    "file", "path",  "name",   "url",      "uri",     "_id",       "type",   "length", "size",  "field",
    "hint", "label", "ttl",    "regex",    "kind",    "prefix",    "expiry", "count",  "class", "header",
    "_arn", "ref",   "policy", "endpoint", "version", "algorithm", "issuer", "mount"};

bool is_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return std::ranges::equal(text, word, {}, lower); });
}

// The value of the attribute whose closing quote stands before `end`, and its name.
struct Attribute {
  std::string_view name;
  std::string_view value;
};
std::optional<Attribute> attribute_before(std::string_view text, size_t end) {
  if (end == 0 || (text[end - 1] != '"' && text[end - 1] != '\'')) return std::nullopt;
  const size_t open = text.substr(0, end - 1).rfind(text[end - 1]);
  if (open == std::string_view::npos || open == 0 || end - open > 120 || text[open - 1] != '=') return std::nullopt;
  size_t begin = open - 1;
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  return Attribute{text.substr(begin, open - 1 - begin), text.substr(open + 1, end - open - 2)};
}

// Addresses, paths, and words with signs between them have digits, too, and were not made to be hard to guess.
bool is_spelled(std::string_view value) {
  if (value.find("://") != std::string_view::npos) return true;
  const bool is_path = value.starts_with('/') || value.starts_with("./") || value.starts_with("../");
  if (is_path && std::ranges::none_of(value, is_upper)) return true;
  size_t words = 0;
  for (size_t at = 0; at <= value.size(); ++words) {
    const size_t end = std::min(value.find_first_of("-_./:", at), value.size());
    std::string_view word = value.substr(at, end - at);
    at = end + 1;
    const size_t capitals = run_length(word, is_upper);
    size_t letters = capitals + run_length(word.substr(capitals), is_lower);
    if (capitals > 1 && letters > capitals) return false;
    if (run_length(word.substr(letters), is_digit) + letters != word.size() || word.size() - letters > 4) return false;
  }
  return words >= 3;
}

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
    // The end of a list or a map that the value stands in: `[{name: a, value: b}]`.
    if (found.value.find_first_of("{[") == std::string_view::npos) {
      while (found.value.ends_with('}') || found.value.ends_with(']')) found.value.remove_suffix(1);
    }
  }
  if (found.value.empty()) return std::nullopt;
  return found;
}

std::optional<Assignment> element_at(std::string_view text, size_t close) {
  if (close == 0 || close + 1 >= text.size()) return std::nullopt;
  const char first = text[close + 1];
  if (first == '<' || first == '\n' || first == '\r' || first == ' ') return std::nullopt;
  Assignment found;
  size_t begin = close;
  while (begin > 0 && close - begin < 80 && is_name_character(text[begin - 1])) --begin;
  if (begin < close) {
    size_t tag = begin;  // of a name space
    if (tag > 0 && text[tag - 1] == ':') --tag;
    while (tag > 0 && begin - tag < 40 && is_name_character(text[tag - 1])) --tag;
    if (tag == 0 || text[tag - 1] != '<') return std::nullopt;
    found.name = text.substr(begin, close - begin);
  } else {
    auto attribute = attribute_before(text, close);
    if (!attribute || !is_word(attribute->name, {"name", "key", "id"})) return std::nullopt;
    found.name = attribute->value;
  }
  std::string_view rest = text.substr(close + 1, 600);
  const size_t end = rest.find('<');
  if (end == std::string_view::npos || !rest.substr(end).starts_with("</")) return std::nullopt;
  found.value = rest.substr(0, end);
  found.quoted = true;
  return found;
}

std::optional<Assignment> docker_env_at(std::string_view text, size_t line) {
  std::string_view rest = text.substr(line, 600);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  if (rest.size() < 4 || !is_blank(rest[3]) || !is_word(rest.substr(0, 3), {"env", "arg"})) return std::nullopt;
  rest = rest.substr(4, rest.find('\n', 4) - 4);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  const size_t name = run_length(rest, is_name_character);
  if (name == 0 || name >= rest.size() || !is_blank(rest[name])) return std::nullopt;
  Assignment found{.name = rest.substr(0, name), .quoted = true};
  rest.remove_prefix(name + 1);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  while (!rest.empty() && (is_blank(rest.back()) || rest.back() == '\r')) rest.remove_suffix(1);
  if (rest.size() >= 2 && (rest.front() == '"' || rest.front() == '\'') && rest.back() == rest.front()) {
    rest = rest.substr(1, rest.size() - 2);
  }
  if (rest.empty() || rest.find(' ') != std::string_view::npos) return std::nullopt;
  found.value = rest;
  return found;
}

std::string_view name_of_value(std::string_view text, std::string_view own_name, size_t at) {
  if (!is_word(own_name, {"value", "string", "parametervalue"})) return {};
  constexpr std::string_view kBetween = " \t\r\n\"',;";
  std::string_view before = text.substr(at > 240 ? at - 240 : 0, std::min<size_t>(at, 240));
  auto strip = [&](std::string_view signs) {
    while (!before.empty() && signs.find(before.back()) != std::string_view::npos) before.remove_suffix(1);
  };
  strip(" \t\r\n\"',;<");
  // `<key>DbPassword</key>` closes with the name of its tag.
  if (before.ends_with('>')) {
    const size_t tag = before.rfind("</");
    if (tag == std::string_view::npos) return {};
    if (!is_word(before.substr(tag + 2, before.size() - tag - 3), {"name", "key"})) return {};
    before = before.substr(0, tag);
    const size_t open = before.rfind('>');
    return open == std::string_view::npos ? std::string_view() : before.substr(open + 1);
  }
  size_t begin = before.size();
  while (begin > 0 && is_name_character(before[begin - 1])) --begin;
  std::string_view name = before.substr(begin);
  before = before.substr(0, begin);
  strip(kBetween.substr(0, 2));
  strip("\"'");
  strip(kBetween.substr(0, 2));
  if (before.empty() || (before.back() != ':' && before.back() != '=')) return {};
  before.remove_suffix(1);
  strip("\"' \t");
  begin = before.size();
  while (begin > 0 && is_name_character(before[begin - 1])) --begin;
  return is_word(before.substr(begin), {"name", "key", "parameterkey"}) ? name : std::string_view();
}

bool names_a_secret(std::string_view name) {
  if (name == "PWD" || name == "OLDPWD") return false;  // every shell's folders
  std::string small = lowered(name);
  bool found = std::any_of(kSecretWords.begin(), kSecretWords.end(),
                           [&](std::string_view word) { return small.find(word) != std::string::npos; });
  bool harmless = std::any_of(kHarmlessEnds.begin(), kHarmlessEnds.end(),
                              [&](std::string_view end) { return small.ends_with(end); });
  return (found || small.ends_with("_pass")) && !harmless;
}

bool names_a_password(std::string_view name) {
  const std::string small = lowered(name);
  return small.find("pass") != std::string::npos || small.find("pwd") != std::string::npos;
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
  return has_digit && has_letter && value.size() >= 12 && entropy >= wanted && !is_spelled(value);
}

bool looks_thought_up(std::string_view value) {
  if (value.size() < 8 || value.size() > 40 || is_spelled(value)) return false;
  bool has_small = false, has_capital = false, has_digit = false, has_sign = false;
  for (char c : value) {
    has_small = has_small || is_lower(c);
    has_capital = has_capital || is_upper(c);
    has_digit = has_digit || is_digit(c);
    const bool is_sign = std::string_view("!@#%^&*+?~$").find(c) != std::string_view::npos;
    has_sign = has_sign || is_sign;
    if (!is_alnum(c) && !is_sign && c != '-' && c != '_') return false;
  }
  return has_digit && has_small && (has_capital || has_sign);
}

bool is_login(std::string_view letters) {
  if (letters.size() < 8 || letters.size() > 400 ||
      !std::ranges::all_of(letters, [](char c) { return is_base64(c) || c == '='; })) {
    return false;
  }
  std::string padded(letters.substr(0, letters.find('=')));
  while (padded.size() % 4 != 0) padded += '=';
  auto decoded = crypto::from_base64(padded);
  if (!decoded) return false;
  const size_t colon = decoded->find(':');
  if (colon == std::string::npos || colon == 0) return false;
  if (!std::ranges::all_of(*decoded, [](char c) { return c > ' ' && c < 0x7f; })) return false;
  const std::string_view password = std::string_view(*decoded).substr(colon + 1);
  return password.size() >= 6 && !is_placeholder(password);
}

}  // namespace sluice::bundle
