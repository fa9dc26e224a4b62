// libyaml's problems are matched by their words, which are the only thing that tells them apart.
#include "base/yaml_fault.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace sluice {
namespace {

// A problem of libyaml in our words. `at_start` puts it where the construct begins that could not be read, which for
// anything unclosed says more than the end of the text.
struct Problem {
  std::string_view problem;
  std::string_view context;  // only in this context; empty for any
  std::string_view message;
  std::string_view next;
  bool at_start = false;
};

constexpr std::array kProblems = {
    Problem{"mapping values are not allowed in this context", "", "a ':' stands where no key can be",
            "quote a value that contains ': ', and indent keys of one map alike"},
    Problem{"mapping keys are not allowed in this context", "", "a '?' stands where no key can begin",
            "quote a value that begins with '? '"},
    Problem{"block sequence entries are not allowed in this context", "", "a '-' stands where no list item can begin",
            "begin the list on its own line, and quote a value that begins with '- '"},
    Problem{"could not find expected ':'", "", "this line has no ':' after its key",
            "write 'key: value'; a longer text needs quotes, '|' or '>' or deeper indentation", true},
    Problem{"found unexpected end of stream", "while scanning a quoted scalar", "this quoted string is never closed",
            "close it with the quote that it began with", true},
    Problem{"found unexpected document indicator", "while scanning a quoted scalar",
            "this quoted string is not closed before the document ends", "close it, or indent the '---' inside it",
            true},
    Problem{"found unknown escape character", "", "this escape is unknown in double quotes",
            "write a backslash as '\\\\', or use single quotes", false},
    Problem{"did not find expected hexdecimal number", "", "this escape needs hexadecimal digits",
            "write \\xHH, \\uHHHH or \\UHHHHHHHH"},
    Problem{"found invalid Unicode character escape code", "", "this escape is not a Unicode character",
            "write characters beyond U+FFFF as \\UHHHHHHHH, not as two surrogates"},
    Problem{"found a tab character that violates indentation", "", "a tab is used for indentation", "use spaces"},
    Problem{"found a tab character where an indentation space is expected", "", "a tab is used for indentation",
            "use spaces"},
    Problem{"did not find expected comment or line break", "while scanning a block scalar",
            "text follows the '|' or '>' of a block scalar on its line", "begin the text on the next line, indented"},
    Problem{"found an indentation indicator equal to 0", "", "a block scalar cannot be indented by 0",
            "use an indicator from 1 to 9, or none"},
    Problem{"did not find expected alphabetic or numeric character", "while scanning an alias",
            "a '*' must be followed by the name of an anchor", "quote a value that begins with '*'"},
    Problem{"did not find expected alphabetic or numeric character", "while scanning an anchor",
            "a '&' must be followed by a name of letters, digits, '-' and '_'", "quote a value that begins with '&'"},
    Problem{"did not find expected whitespace or line break", "while scanning a tag", "this tag is not well formed",
            "quote a value that begins with '!'"},
    Problem{"did not find expected tag URI", "", "this tag is not well formed", "quote a value that begins with '!'"},
    Problem{"did not find the expected '>'", "", "this tag is not well formed", "close the tag with '>'"},
    Problem{"found undefined tag handle", "", "this tag has a prefix that no %TAG line declares",
            "only !!str !!int !!float !!bool !!null !!map !!seq are known"},
    Problem{"did not find expected <document start>", "", "text follows the end of the document",
            "check the indentation, or begin another document with '---'"},
    Problem{"did not find expected node content", "", "a value is missing here", "write a value, or null"},
    Problem{"did not find expected '-' indicator", "", "this line does not belong to the list above it",
            "begin list items with '- ' at one indentation"},
    Problem{"did not find expected key", "", "this line does not belong to the map around it",
            "indent the keys of one map alike, and quote a value that continues after its closing quote"},
    Problem{"did not find expected ',' or ']'", "", "the list that '[' begins is not closed",
            "separate its items with ',' and close it with ']'", true},
    Problem{"did not find expected ',' or '}'", "", "the map that '{' begins is not closed",
            "separate its members with ',' and close it with '}'", true},
    Problem{"found incompatible YAML document", "", "this version of YAML is not known",
            "write %YAML 1.2, or leave it out"},
    Problem{"found duplicate %YAML directive", "", "a second %YAML line", "remove it"},
    Problem{"found duplicate %TAG directive", "", "a second %TAG line for the same prefix", "remove it"},
    Problem{"found unexpected ':'", "", "a ':' ends a plain value inside '[' or '{'", "quote the value"},
    Problem{"found unexpected non-alphabetical character", "while scanning a directive",
            "a line that begins with '%' is a directive, and this one is not well formed",
            "quote a key or value that begins with '%'"},
    Problem{"found unknown directive name", "", "a line that begins with '%' is a directive, and this one is unknown",
            "only %YAML and %TAG are known; quote a value that begins with '%'"},
};

// "found character that cannot start any token" covers several mistakes; the character tells which.
Problem bad_start(char found) {
  switch (found) {
    case '\t':
      return {.message = "a tab is used for indentation", .next = "use spaces"};
    case '@':
    case '`':
      return {.message = "a value cannot begin with '@' or '`'", .next = "quote it"};
    case '%':
      return {.message = "a value cannot begin with '%'", .next = "quote it"};
    default:
      return {.message = "no value can begin with this character", .next = "quote the value"};
  }
}

// The byte at a character index, found by counting: only errors ask.
size_t byte_of(std::string_view text, size_t index) {
  size_t at = 0;
  while (at < text.size()) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80 && index-- == 0) break;
    ++at;
  }
  return at;
}

constexpr size_t kMaxKey = 1'024;  // libyaml forgets that a longer text may be a key, and then stumbles over its ':'

// Where a key that is too long begins, if that is what the problem comes from.
std::optional<yaml_mark_t> long_key(const yaml_parser_t& parser, std::string_view text) {
  bool no_colon = parser.problem != nullptr && std::string_view(parser.problem) == "could not find expected ':'";
  if (no_colon) {
    size_t begin = byte_of(text, parser.context_mark.index);
    size_t colon = text.find(": ", begin), line = text.find('\n', begin);
    bool is_key = colon < line || (line != std::string_view::npos && line > begin && text[line - 1] == ':');
    if (is_key && std::min(colon, line) - begin > kMaxKey) return parser.context_mark;
    return std::nullopt;
  }
  size_t colon = byte_of(text, parser.problem_mark.index);
  if (colon >= text.size() || text[colon] != ':') return std::nullopt;
  size_t begin = colon;
  yaml_mark_t mark = parser.problem_mark;
  while (begin > 0 && std::string_view("\n{,").find(text[begin - 1]) == std::string_view::npos) {
    --begin;
    if ((static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80) continue;
    --mark.index;
    --mark.column;
  }
  for (; text[begin] == ' '; ++begin, ++mark.index) ++mark.column;
  if (colon - begin <= kMaxKey) return std::nullopt;
  return mark;
}

}  // namespace

Error describe_problem(const yaml_parser_t& parser, std::string_view text, const std::string& file) {
  std::string_view problem = parser.problem != nullptr ? parser.problem : "out of memory";
  std::string_view context = parser.context != nullptr ? parser.context : "";
  Problem said{.message = problem};
  if (problem == "found character that cannot start any token") {
    size_t at = byte_of(text, parser.problem_mark.index);
    said = bad_start(at < text.size() ? text[at] : '\0');
  } else {
    const auto* known = std::find_if(kProblems.begin(), kProblems.end(), [&](const Problem& row) {
      return row.problem == problem && (row.context.empty() || row.context == context);
    });
    if (known != kProblems.end()) said = *known;
  }
  yaml_mark_t mark = said.at_start ? parser.context_mark : parser.problem_mark;
  if (auto key = long_key(parser, text)) {
    said = {.message = "a key has at most 1,024 characters", .next = "shorten it"};
    mark = *key;
  }
  return Error{
      .code = Code::invalid,
      .message = std::string(said.message),
      .next = std::string(said.next),
      .position = Position{file, static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)}};
}

}  // namespace sluice
