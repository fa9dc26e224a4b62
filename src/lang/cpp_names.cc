// Words, keywords and comments.
#include "lang/cpp_names.h"

#include <algorithm>
#include <array>

namespace sluice::lang {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// C++20's keywords, namespaces that a member must not hide, and common macros.
constexpr std::array<std::string_view, 100> kReserved{
    "alignas",      "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",        "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",     "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",      "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",     "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",         "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",       "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",    "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",           "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",     "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast",  "std",      "sluice",     "struct",    "switch",    "template",     "this",
    "thread_local", "throw",    "true",       "try",       "typedef",   "typeid",       "typename",
    "union",        "unsigned", "using",      "virtual",   "void",      "volatile",     "wchar_t",
    "while",        "xor",      "xor_eq",     "errno",     "assert",    "linux",        "unix",
    "NULL",         "lang"};

}  // namespace

std::string camel_case(std::string_view name) {
  std::string result;
  bool start = true;
  for (char c : name) {
    if (!is_word(c)) {
      start = true;
    } else {
      result += start ? upper(c) : c;
      start = false;
    }
  }
  return result;
}

std::string snake_case(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size(); i++) {
    char c = name[i];
    if (!is_word(c)) {
      if (!result.empty() && result.back() != '_') result += '_';
      continue;
    }
    bool word_starts =
        is_upper(c) && i > 0 &&
        (is_lower(name[i - 1]) || is_digit(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1])));
    if (word_starts && !result.empty() && result.back() != '_') result += '_';
    result += lower(c);
  }
  return result;
}

std::string singular(std::string_view name) {
  std::string word = camel_case(name);
  if (word.size() > 3 && word.ends_with("ies")) return word.substr(0, word.size() - 3) + "y";
  if (word.size() > 2 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")) {
    return word.substr(0, word.size() - 1);
  }
  return word + "Item";
}

std::string member_name(std::string_view name) {
  bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  return std::string(name) + (reserved ? "_" : "");
}

bool is_identifier(std::string_view text) {
  if (text.empty() || is_digit(text[0])) return false;
  // A final underscore would be taken off again on its way to JSON.
  return text.back() != '_' && std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == '_'; });
}

std::string cpp_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte >= 0x20 && byte != 0x7f) {
      result += c;
    } else {
      // Octal, as it is the one escape that has a fixed length.
      result += '\\';
      for (int shift : {6, 3, 0}) result += static_cast<char>('0' + (byte >> shift & 7));
    }
  }
  return result + "\"";
}

std::string one_line(std::string_view prose) {
  std::string result;
  for (char c : prose) {
    bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string comment(std::string_view prose, size_t indent) {
  constexpr size_t kColumns = 120;
  std::string words = one_line(prose);
  std::string result;
  std::string start = std::string(indent, ' ') + "//";
  std::string line = start;
  auto end_line = [&] {
    // A backslash at the end would join the next line to the comment.
    if (line != start) result += line + (line.ends_with('\\') ? ".\n" : "\n");
    line = start;
  };
  std::string_view rest = words;
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (line.size() + 1 + word.size() > kColumns) end_line();
    line.append(" ").append(word);
  }
  end_line();
  return result;
}

}  // namespace sluice::lang
