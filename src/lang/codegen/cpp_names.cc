// Words, keywords and comments.
#include "lang/codegen/cpp_names.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"

namespace sluice::lang {
namespace {

bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// C++20's keywords and the words that compilers add to them, namespaces that must not be hidden, and the macros of the
// C and POSIX headers that begin with a small letter.
constexpr std::string_view kCppWords[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq",
                                          "boost",
                                          "lang",
                                          "sluice",
                                          "std",
                                          "alloca",
                                          "assert",
                                          "assert_perror",
                                          "d_fileno",
                                          "errno",
                                          "h_addr",
                                          "h_errno",
                                          "htonl",
                                          "htons",
                                          "i386",
                                          "linux",
                                          "math_errhandling",
                                          "ntohl",
                                          "ntohs",
                                          "offsetof",
                                          "s6_addr",
                                          "sa_handler",
                                          "sa_sigaction",
                                          "sched_priority",
                                          "setjmp",
                                          "si_addr",
                                          "si_band",
                                          "si_fd",
                                          "si_int",
                                          "si_overrun",
                                          "si_pid",
                                          "si_ptr",
                                          "si_status",
                                          "si_stime",
                                          "si_timerid",
                                          "si_uid",
                                          "si_utime",
                                          "si_value",
                                          "sigmask",
                                          "sigsetjmp",
                                          "st_atime",
                                          "st_ctime",
                                          "st_mtime",
                                          "stderr",
                                          "stdin",
                                          "stdout",
                                          "strdupa",
                                          "strndupa",
                                          "unix",
                                          "va_arg",
                                          "va_copy",
                                          "va_end",
                                          "va_start"};

// What generated structs and enumerations call their own parts, and the types that they use unqualified.
constexpr std::string_view kGeneratedNames[] = {"engine", "int64_t", "kAction", "kDefaulted", "kVariant", "kVariants"};

bool is_one_of(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::find(words, name) != words.end();
}

// Macros are written in capitals, and those of <cinttypes> begin with them.
bool may_be_macro(std::string_view name) {
  bool printf_macro = name.starts_with("PRI") || name.starts_with("SCN");
  return name.size() > 1 && (printf_macro || std::ranges::none_of(name, is_lower));
}

// A name must not begin with a digit, nor be nothing.
std::string startable(std::string name, char start) { return name.empty() || is_digit(name[0]) ? start + name : name; }

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
  // Capitals are for types and macros, a leading underscore is for the compiler, and the last one is taken off again.
  bool plain = !name.empty() && is_lower(name[0]) && name.back() != '_';
  bool taken = is_one_of(name, kCppWords) || is_one_of(name, kGeneratedNames);
  return std::string(name) + (plain && !taken ? "" : "_");
}

std::string function_name(std::string_view name) { return member_name(startable(snake_case(name), 'n')); }

std::string type_word(std::string_view name) { return startable(camel_case(name), 'N'); }

std::string type_name(std::string word) {
  if (may_be_macro(word)) word += "Type";
  return word;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || is_digit(text[0])) return false;
  return std::ranges::all_of(text, [](char c) { return is_word(c) || c == '_'; });
}

bool is_namespace(std::string_view text) {
  for (bool first = true;; first = false) {
    size_t end = text.find("::");
    std::string_view part = text.substr(0, end);
    bool taken = is_one_of(part, kCppWords) && !(first && part == "sluice");
    bool reserved = part.starts_with('_') || part.find("__") != std::string_view::npos;
    if (!is_identifier(part) || taken || reserved || may_be_macro(part)) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
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
